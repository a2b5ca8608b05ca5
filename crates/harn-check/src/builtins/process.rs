//! Processes, the environment, the host, and which commands may run.

use super::table::builtins;

builtins! {
    "arch() -> string" [string] Io "Names the kind of processor.";
    "asset_root() -> string" [string] Io "Names the directory of the source file that is executing.";
    "command_llm_risk_scan(context: dict, options: dict = {}) -> dict" [dict] Model "Tells how risky a command is, by the judgement of a model.";
    "command_policy(config: dict) -> dict" [dict] Pure "Describes which commands may run.";
    "command_policy_pop() -> nil" [nil] Pure "Makes the policy before decide about commands again.";
    "command_policy_push(policy: dict) -> nil" [nil] Pure "Makes a policy decide about commands.";
    "command_result_scan(context: dict) -> dict" [dict] Pure "Tells how risky the output of a command is.";
    "command_risk_scan(context: dict) -> dict" [dict] Pure "Tells how risky a command is.";
    "cwd() -> string" [string] Io "Names the directory relative paths start at.";
    "env(name: string) -> string | nil" [string nil] Io "Gives an environment variable.";
    "env_or(name: string, fallback: any) -> any" [] Io "Gives an environment variable, or the fallback.";
    "exec(command: string, ...arguments: string) -> dict" [dict] Io "Runs a program and waits for it.";
    "exec_at(directory: string, command: string, ...arguments: string) -> dict" [dict] Io "Runs a program in a directory and waits for it.";
    "execution_root() -> string" [string] Io "Names the directory relative paths start at.";
    "exit(code: int = 0) -> never" [nil] Io "Ends the program.";
    "home_dir() -> string" [string] Io "Names the user's directory.";
    "host_call(operation: string, params: dict = {}) -> any" [] Io "Asks the host to do something.";
    "host_capabilities() -> dict" [dict] Io "Tells what the host can do.";
    "host_has(capability: string, operation: string | nil = nil) -> bool" [bool] Io "Tells whether the host can do something.";
    "host_mock(capability: string, operation: string, result: any = nil, params: dict | nil = nil) -> nil" [nil] Io "Makes an answer stand for one of the host.";
    "host_mock_calls() -> list<dict>" [list] Io "Lists the calls that mocked answers served.";
    "host_mock_clear() -> nil" [nil] Io "Forgets all mocked answers of the host.";
    "host_mock_pop_scope() -> nil" [nil] Io "Takes the mocked answers of the host up again.";
    "host_mock_push_scope() -> nil" [nil] Io "Sets the mocked answers of the host aside.";
    "host_tool_call(name: string, arguments: dict = {}) -> any" [] Io "Calls a tool of the host.";
    "host_tool_list() -> list<dict>" [list] Io "Lists the tools of the host.";
    "hostname() -> string" [string] Io "Names the machine.";
    "pid() -> int" [int] Io "Gives the id of this process.";
    "platform() -> string" [string] Io "Names the operating system.";
    "project_root() -> string | nil" [string] Io "Names the nearest directory above with a `harn.toml`.";
    "runtime_paths() -> dict" [dict] Io "Names the directories a program works with.";
    "shell(line: string) -> dict" [dict] Io "Runs a line in the default shell.";
    "shell_at(directory: string, line: string) -> dict" [dict] Io "Runs a line in the default shell, in a directory.";
    "source_dir() -> string" [string] Io "Names the directory of the source file that is executing.";
    "username() -> string" [string] Io "Names the user.";
}
