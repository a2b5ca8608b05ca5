//! What only the library may call: the parts of its functions that Harn cannot say, or not
//! fast enough.
//!
//! Their names begin with `__`. A program that calls one of them finds that it is not defined.

use super::table::builtins;

builtins! {
    "__agent_state_delete(handle: dict, key: string) -> nil" [] Io "Removes what an agent has kept.";
    "__agent_state_handoff(handle: dict, summary: dict, handoff: dict | nil) -> nil" [] Io "Keeps a summary for the next agent.";
    "__agent_state_init(arguments: list, session_id: string) -> dict" [] Io "Makes room for what an agent keeps.";
    "__agent_state_list(handle: dict) -> list<string>" [] Io "Lists what an agent has kept.";
    "__agent_state_read(handle: dict, key: string) -> string | nil" [] Io "Gives what an agent has kept.";
    "__agent_state_resume(root: string, session_id: string, options: dict | nil) -> dict" [] Io "Finds what an agent has kept.";
    "__agent_state_write(handle: dict, key: string, text: string) -> nil" [] Io "Keeps a text of an agent.";
    "__apart(items: list, keys: list) -> list<list>" [] Pure "Separates the items with a truthy key from the others.";
    "__broadcast(readers: int) -> any" [] Pure "Makes what several readers of one source share.";
    "__broadcast_add(shared: any, item: any) -> nil" [] Pure "Hands an item to all readers of a source.";
    "__broadcast_next(shared: any, reader: int) -> list | nil" [] Pure "Gives a list of the next item of a reader, if one is there.";
    "__callable(value: any) -> bool" [] Pure "Tells whether a value can be called.";
    "__command_context(params: dict, policy: dict) -> dict" [] Io "Tells what policies see of a command.";
    "__command_doubt(params: dict) -> string | nil" [] Pure "Tells why a command is not understood.";
    "__command_hook_begun() -> nil" [] Pure "Notes that a task runs a hook of a policy.";
    "__command_hook_ended() -> nil" [] Pure "Notes that a task runs a hook of a policy no longer.";
    "__command_in_hook() -> bool" [] Pure "Tells whether a task runs a hook of a policy.";
    "__command_not_run(params: dict, status: string, reason: string) -> dict" [] Clock "Gives the result of a command that was not run.";
    "__command_pattern(params: dict, patterns: list<string>) -> string | nil" [] Pure "Gives the first pattern that a command fits.";
    "__command_policy() -> dict | nil" [] Pure "Gives the policy that decides about commands.";
    "__context_packed(pieces: dict, scores: list | nil) -> dict" [] Pure "Packs pieces of artifacts into a budget of tokens.";
    "__context_pieces(options: dict) -> dict" [] Pure "Cuts the artifacts of a context into pieces.";
    "__distinct(items: list, keys: list) -> list" [] Pure "Keeps the first item of every key.";
    "__drain(source: iter) -> list | nil" [] Pure "Gives all items of an iterator that needs no code to be run.";
    "__elapsed() -> int" [] Clock "Gives the milliseconds of the clock that tasks sleep by.";
    "__event_log_after(topic: string, cursor: int) -> list<dict>" [] Io "Waits for the events of a topic after a cursor, and gives some of them.";
    "__event_log_cursor(cursor: any) -> int" [] Pure "Gives the cursor a program passes, or fails.";
    "__event_log_topic(topic: any) -> string" [] Io "Gives the topic a program passes, or fails.";
    "__greatest(items: list, keys: list) -> any" [] Pure "Gives the first item with the greatest key.";
    "__group(items: list, keys: list) -> dict" [] Pure "Sorts items into lists by their keys.";
    "__hitl_approve_action(n: any, m: any, action: any, approvers: any) -> string" [] Io "Waits until enough people have approved of something, and gives the id of the request.";
    "__hitl_executed(request: string) -> nil" [] Io "Notes that something was done that people have approved of.";
    "__host_builtin(name: string, arguments: list) -> any" [] Io "Calls a function that nobody here has defined: the host may know it.";
    "__host_call(operation: any, params: any) -> any" [] Io "Calls an operation of the host, whatever policies say.";
    "__http_server_gate(arguments: list) -> dict" [] Io "Tells whether a server takes a request now.";
    "__http_server_match(arguments: list) -> dict" [] Io "Finds who answers a request.";
    "__http_server_readiness(arguments: list) -> dict" [] Io "Tells whether a server answers, or which function knows.";
    "__http_server_response(result: any) -> dict" [] Io "Makes a response of what a handler gives.";
    "__http_server_stop(arguments: list) -> dict" [] Io "Shuts a server down and gives the functions that want to know.";
    "__http_server_unready() -> dict" [] Io "Gives the response of a server that is not ready.";
    "__immediate(source: iter) -> bool" [] Pure "Tells whether an iterator never has to wait.";
    "__interval(per_second: int | float) -> int | nil" [] Pure "Gives the milliseconds between events of a rate, or nil if it is no rate.";
    "__iterable(value: any) -> bool" [] Pure "Tells whether a value can be iterated.";
    "__keep(members: dict | set, tests: list) -> dict | set" [] Pure "Keeps the entries or members whose test is truthy.";
    "__lazy(source: generator) -> iter" [] Pure "Makes an iterator of a generator.";
    "__least(items: list, keys: list) -> any" [] Pure "Gives the first item with the least key.";
    "__lift(source: any) -> iter" [] Pure "Makes an iterator over a value.";
    "__memory_forget(namespace: string, predicate: any, options: dict | nil) -> dict" [] Io "Forgets what matches.";
    "__memory_recall(namespace: string, query: string, k: int, options: dict | nil) -> list<dict>" [] Io "Gives what is remembered about something.";
    "__memory_store(namespace: string, key: string, value: any, tags: any, options: dict | nil) -> dict" [] Io "Remembers a value.";
    "__memory_summarize(namespace: string, window: any, options: dict | nil) -> dict" [] Io "Sums up what is remembered.";
    "__monitor_options(options: any) -> dict" [] Io "Reads what is to be waited for.";
    "__monitor_pushes(cursor: int, window_ms: int) -> list<dict>" [] Io "Waits for events that may end a wait, and gives them.";
    "__number(value: any) -> bool" [] Pure "Tells whether a value is an int or a float.";
    "__outcome(task: task_handle) -> Result<any, string>" [] Pure "Waits for a task and tells how it ended.";
    "__people_now() -> string" [] Clock "Gives the time as records show it.";
    "__process(builtin: string, params: dict) -> dict" [] Io "Starts a program, whatever policies say.";
    "__process_params(builtin: string, arguments: list) -> dict" [] Io "Reads what a program is to be started with.";
    "__project_ci(folder: string) -> dict" [] Io "Tells how a project is worked on.";
    "__project_files(folder: string, languages: list<string>) -> list<dict>" [] Io "Reads the files of a folder that tell the most about it.";
    "__project_start(path: any) -> string" [] Io "Names the folder that a program wants to have described, or fails.";
    "__pulled(task: task_handle, window_ms: int | nil) -> any" [] Clock "Gives the value of a task unless that takes longer, or else nil.";
    "__rekey(entries: dict, keys: list) -> dict" [] Pure "Gives entries other keys.";
    "__runtime_error(message: string) -> never" [] Pure "Fails with a run-time error.";
    "__set_of(members: list) -> set" [] Pure "Makes a set of members of which no two are equal.";
    "__sort(items: list, keys: list) -> list" [] Pure "Sorts items by their keys.";
    "__span_close(span: int | nil) -> nil" [] Clock "Ends a span of what a program does.";
    "__span_open(kind: string, name: string) -> int | nil" [] Clock "Begins a span of what a program does, if somebody wants to see it.";
    "__start(body: closure) -> task_handle" [] Pure "Starts a task that is a part of this one.";
    "__trace(on: bool) -> nil" [] Pure "Decides whether spans are kept.";
    "__trace_models(on: bool) -> nil" [] Pure "Decides whether calls of models are counted.";
    "__type_error(message: string) -> never" [] Pure "Fails with a type error.";
    "__wait_any(tasks: list) -> nil" [] Pure "Waits until one of some tasks has ended.";
    "__with_values(entries: dict, values: list) -> dict" [] Pure "Gives keys other values.";
}
