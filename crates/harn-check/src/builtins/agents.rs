//! Agents, their sessions, workers and daemons.

use super::table::builtins;

builtins! {
    "agent(name: string, config: dict | nil = nil) -> dict" [dict] Pure "Describes an agent.";
    "agent_config(agent: dict, prompt: string) -> dict" [dict] Pure "Gives what `agent_loop` is to be called with for an agent.";
    "agent_inject_feedback(session_id: string, kind: string, content: string) -> nil" [nil] Pure "Tells something to the model of a session.";
    "agent_loop(prompt: string, system: string | nil = nil, options: dict | nil = nil) -> dict" [dict] Model "Lets a model work with tools until it is done.";
    "agent_name(agent: dict) -> string | nil" [] Pure "Names an agent.";
    "agent_session_ancestry(id: string) -> dict | nil" [dict nil] Pure "Tells which sessions a session comes from.";
    "agent_session_close(id: string, status: string | dict | nil = nil) -> nil" [nil] Pure "Removes a session.";
    "agent_session_compact(id: string, options: dict | nil = nil) -> int" [int] Model "Shortens a session.";
    "agent_session_current_id() -> string | nil" [string nil] Pure "Gives the id of the session that is running.";
    "agent_session_exists(id: string) -> bool" [bool] Pure "Tells whether there is a session.";
    "agent_session_fork(source: string, target: string | nil = nil) -> string" [string] Random "Copies a session.";
    "agent_session_fork_at(source: string, keep_first: int, target: string | nil = nil) -> string" [string] Random "Copies the first messages of a session.";
    "agent_session_inject(id: string, message: dict) -> nil" [nil] Pure "Adds a message to a session.";
    "agent_session_length(id: string) -> int" [int] Pure "Counts the messages of a session.";
    "agent_session_open(id: string | nil = nil, options: dict | nil = nil) -> string" [string] Random "Opens a session and gives its id.";
    "agent_session_reset(id: string) -> nil" [nil] Pure "Empties a session.";
    "agent_session_snapshot(id: string) -> dict | nil" [dict nil] Pure "Gives the transcript of a session.";
    "agent_session_trim(id: string, keep_last: int) -> int" [int] Pure "Keeps the last messages of a session.";
    "agent_subscribe(session_id: string, callback: closure) -> nil" [nil] Pure "Shows every event of a session to a function.";
    "agent_trace() -> list<dict>" [list] Pure "Lists what agents have done.";
    "agent_trace_summary() -> dict" [dict] Pure "Sums up what agents have done.";
    "close_agent(worker: any) -> dict" [] Io "Stops a worker.";
    "daemon_resume(path: string) -> dict" [dict] Model "Starts a daemon again where it stopped.";
    "daemon_snapshot(daemon: any) -> dict" [dict] Io "Tells how a daemon is.";
    "daemon_spawn(config: dict) -> dict" [dict] Model "Starts an agent that waits for events.";
    "daemon_stop(daemon: any) -> dict" [dict] Io "Stops a daemon.";
    "daemon_trigger(daemon: any, payload: any) -> dict" [dict] Model "Sends an event to a daemon.";
    "list_agents() -> list<dict>" [list] Pure "Lists the workers.";
    "resume_agent(worker: any, input: any = nil) -> dict" [dict] Io "Takes a worker up again where it stopped.";
    "send_input(worker: any, task: string) -> dict" [] Model "Gives a worker that is done another task.";
    "spawn_agent(config: dict) -> dict" [] Model "Starts a worker.";
    "sub_agent_run(task: string, options: dict | nil = nil) -> dict" [dict] Model "Lets another agent do a task.";
    "wait_agent(worker: any) -> dict | list" [] Model "Waits for workers.";
    "worker_trigger(worker: any, payload: any) -> dict" [dict] Model "Wakes a worker that waits.";
}
