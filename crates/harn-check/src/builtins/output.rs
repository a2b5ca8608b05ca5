//! Talking to the terminal: output, input, logging, timers, and what tests put in their place.

use super::table::builtins;

builtins! {
    "bold(text: string) -> string" [string] Io "Makes a text bold if the terminal shows colours.";
    "capture_stderr_start() -> nil" [nil] Io "Keeps what is written to standard error from now on.";
    "capture_stderr_take() -> string" [string] Io "Gives what was kept of standard error and stops keeping it.";
    "color(text: string, name: string) -> string" [string] Io "Paints a text if the terminal shows colours.";
    "dim(text: string) -> string" [string] Io "Makes a text dim if the terminal shows colours.";
    r#"eprint(value = "") -> nil"# [nil] Io "Writes a value to standard error.";
    r#"eprintln(value = "") -> nil"# [nil] Io "Writes a value and a line break to standard error.";
    "is_stderr_tty() -> bool" [bool] Io "Tells whether standard error is a terminal.";
    "is_stdin_tty() -> bool" [bool] Io "Tells whether standard input is a terminal.";
    "is_stdout_tty() -> bool" [bool] Io "Tells whether standard output is a terminal.";
    r#"log(value = "") -> nil"# [nil] Io "Writes a value as a line that starts with `[harn]`.";
    "log_debug(message: string, fields: dict | nil = nil) -> nil" [nil] Io "Writes a line of JSON of level debug.";
    "log_error(message: string, fields: dict | nil = nil) -> nil" [nil] Io "Writes a line of JSON of level error.";
    "log_info(message: string, fields: dict | nil = nil) -> nil" [nil] Io "Writes a line of JSON of level info.";
    "log_json(key: string, value: any) -> nil" [nil] Io "Writes a value under a key as a line of JSON.";
    r#"log_set_level(level: "debug" | "info" | "warn" | "error") -> nil"# [nil] Io "Suppresses log lines of lower levels.";
    "log_warn(message: string, fields: dict | nil = nil) -> nil" [nil] Io "Writes a line of JSON of level warn.";
    "mock_stdin(text: string) -> nil" [nil] Io "Makes a text stand for standard input.";
    r#"mock_tty(stream: "stdin" | "stdout" | "stderr", is_terminal: bool) -> nil"# [nil] Io "Decides whether a stream counts as a terminal.";
    r#"print(value = "") -> nil"# [nil] Io "Writes a value.";
    r#"println(value = "") -> nil"# [nil] Io "Writes a value and a line break.";
    "progress(phase: string, message: string, progress: int | dict | nil = nil, total: int | nil = nil) -> nil" [nil] Io "Writes a line about how far a phase has come.";
    r#"prompt_user(message: string = "") -> string | nil"# [string nil] Io "Writes a message and reads the line that answers it.";
    "read_line() -> string | nil" [string nil] Io "Reads a line of standard input, without its line break.";
    "read_stdin() -> string | nil" [string nil] Io "Reads the rest of standard input.";
    r#"set_color_mode(mode: "auto" | "always" | "never") -> nil"# [nil] Io "Decides whether texts are painted.";
    "timer_end(timer: dict) -> int" [int] Clock "Writes how many milliseconds a timer ran, and gives them.";
    r#"timer_start(name: string = "default") -> {name: string, start_ms: int}"# [dict] Clock "Starts a timer.";
    "unmock_stdin() -> nil" [nil] Io "Gives standard input back.";
    "unmock_tty() -> nil" [nil] Io "Lets streams count as what they are again.";
}
