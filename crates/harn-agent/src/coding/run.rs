//! `run`: a command in the workspace.

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use harn_events::{SideEffectLevel, ToolKind};
use harn_llm::desk::Thrown;
use tokio::sync::oneshot;

use super::arguments::Arguments;
use super::declare::Declare;
use super::failed;
use super::lent::{TerminalCommand, TerminalEnd};
use super::process::{End, Leash, run};
use super::workspace::Workspace;
use crate::callback::BoxFuture;
use crate::command_gate::Admission;
use crate::shown::{Showing, Shown};
use crate::tool::{Declaration, Tool, ToolCall, ToolError};

/// What runs commands.
const SHELL: &str = "/bin/sh";

/// Where commands are looked for when the workspace was given no `PATH`.
pub(crate) const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Runs commands.
pub(super) struct Run {
    declaration: Declaration,
    workspace: Arc<Workspace>,
}

impl Run {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            declaration: declaration(&workspace),
            workspace,
        }
    }

    fn command(&self, text: &str) -> Command {
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(text);
        command.current_dir(&self.workspace.roots()[0]);
        command.env_clear().env("PATH", DEFAULT_PATH);
        command.envs(&self.workspace.environment);
        command
    }

    /// Runs a command in a terminal of the host; `None`: it lends none.
    async fn in_terminal(
        &self,
        call: ToolCall<'_>,
        text: &str,
        timeout: Duration,
        showing: &Showing,
    ) -> Option<Result<End, ToolError>> {
        let terminals = self.workspace.lent.terminals.as_ref()?;
        let environment = self.workspace.environment.iter().map(|(name, value)| {
            let text = |part: &OsString| part.to_string_lossy().into_owned();
            (text(name), text(value))
        });
        let environment: Vec<(String, String)> = environment.collect();
        let arguments = ["-c", text];
        let ended = terminals.run(TerminalCommand {
            call_id: call.id,
            session_id: call.session_id,
            program: SHELL,
            arguments: &arguments,
            environment: &environment,
            folder: &self.workspace.roots()[0],
            timeout,
            output_bytes_max: self.workspace.limits.run_output_bytes_max,
        });
        Some(match ended.await? {
            Ok(end) => {
                // The last word about a call replaces what was shown before, so that it has to
                // name the terminal again.
                let terminal_id = end.terminal_id.clone();
                showing.show(Shown::Terminal { terminal_id });
                Ok(end.into())
            }
            Err(reason) => Err(failed(format!("cannot run the command: {reason}"))),
        })
    }

    fn timeout(&self, arguments: Arguments<'_>) -> Result<Duration, ToolError> {
        let limits = &self.workspace.limits;
        let asked = arguments.number("timeout", 1)?.map(Duration::from_secs);
        Ok(asked
            .unwrap_or(limits.run_timeout)
            .min(limits.run_timeout_max))
    }
}

impl Tool for Run {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn takes_declared_only(&self) -> bool {
        true
    }

    /// # Cancel safety
    /// Dropping the future ends the command and all that it started.
    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move { self.call_showing(call, &Showing::default()).await })
    }

    /// A command in a terminal of the host is shown by that terminal.
    ///
    /// # Cancel safety
    /// Dropping the future ends the command and all that it started.
    fn call_showing<'a>(
        &'a self,
        call: ToolCall<'a>,
        showing: &'a Showing,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let arguments = Arguments(call.arguments);
            let text = arguments.text("command")?;
            if text.trim().is_empty() {
                return Err(failed("the command is empty"));
            }
            if text.contains('\0') {
                return Err(failed("the command contains a NUL character"));
            }
            let allowed = self.workspace.fence.run(SHELL);
            allowed.map_err(ToolError::Rejected)?;
            let timeout = self.timeout(arguments)?;
            let folder = self.workspace.roots()[0].to_string_lossy();
            let Some(gate) = &self.workspace.gate else {
                return self.run(call, text, timeout, showing).await?.said(timeout);
            };
            let text = match gate.admit(text, &folder).await.map_err(hook_failed)? {
                Admission::Run(text) => text,
                Admission::Blocked(result) => return Ok(result),
            };
            let mut end = self.run(call, &text, timeout, showing).await?;
            let after = gate.after(&text, &folder, end.exit_code, end.output).await;
            end.output = after.map_err(hook_failed)?;
            end.said(timeout)
        })
    }
}

impl Run {
    /// Runs a command to its end, in a terminal of the host if it lends one.
    ///
    /// # Cancel safety
    /// Dropping the future ends the command and all that it started.
    async fn run(
        &self,
        call: ToolCall<'_>,
        text: &str,
        timeout: Duration,
        showing: &Showing,
    ) -> Result<End, ToolError> {
        if let Some(end) = self.in_terminal(call, text, timeout, showing).await {
            return end;
        }
        let leash = Leash::default();
        let _waits = Waits(leash.clone());
        let (sender, receiver) = oneshot::channel();
        let command = self.command(text);
        let output_bytes_max = self.workspace.limits.run_output_bytes_max;
        let thread = thread::Builder::new().name("harn-run".to_owned());
        thread
            .spawn(move || {
                let end = run(command, timeout, output_bytes_max, &leash);
                let _nobody_may_wait = sender.send(end);
            })
            .map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        match receiver.await {
            Ok(Ok(Some(end))) => Ok(end),
            Ok(Err(error)) => Err(failed(format!("cannot run the command: {error}"))),
            Ok(Ok(None)) | Err(_) => Err(failed("the command was stopped")),
        }
    }
}

fn hook_failed(thrown: Thrown) -> ToolError {
    failed(format!("a hook of the command policy failed: {thrown:?}"))
}

fn declaration(workspace: &Workspace) -> Declaration {
    let limits = &workspace.limits;
    let about = format!(
        "Runs a command with sh in {}. Gives its exit code and what it wrote, errors among the rest. It cannot ask for input. What it leaves running in the background is ended with it.",
        workspace.roots()[0].display()
    );
    let timeout = format!(
        "After how many seconds it is stopped, at most {}; {} if left out.",
        limits.run_timeout_max.as_secs(),
        limits.run_timeout.as_secs()
    );
    Declare::new("run", about)
        .does(
            ToolKind::Execute,
            SideEffectLevel::ProcessExec,
            "process",
            "exec",
        )
        .needs("command", "string", "The command, as one would type it.")
        .takes("timeout", "integer", &timeout)
        .runs("command")
        .also("command", &["cmd"])
        .done()
}

impl End {
    /// The end of a command in words. The loop looks for `exit_code=` in them.
    fn said(self, timeout: Duration) -> Result<String, ToolError> {
        let end = self;
        let output = match end.output.trim_end_matches('\n') {
            "" => "[no output]",
            output => output,
        };
        let code = end.exit_code;
        match end.timed_out {
            false => Ok(format!("exit_code={code}\n{output}")),
            true => Err(failed(format!(
                "the command was stopped because it took longer than {} seconds; exit_code={code}\n{output}",
                timeout.as_secs_f64()
            ))),
        }
    }
}

impl From<TerminalEnd> for End {
    fn from(end: TerminalEnd) -> Self {
        let output = match end.is_cut {
            true => format!(
                "[... the beginning of the output is not shown ...]\n{}",
                end.output
            ),
            false => end.output,
        };
        Self {
            exit_code: end.exit_code,
            timed_out: end.timed_out,
            output,
        }
    }
}

/// As long as this lives, somebody waits for the command.
struct Waits(Leash);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.pull();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::fs::OpenOptionsExt;
    use std::task::{Context, Waker};

    use serde_json::json;

    use super::*;
    use crate::coding::lent::Terminals;
    use crate::coding::scene::Scene;
    use crate::coding::tools;

    /// Opening a pipe does not wait for the other end.
    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

    #[test]
    fn a_command_says_how_it_ended_and_what_it_wrote() {
        let scene = Scene::new();
        scene.write("file", "content\n");
        let rows = [
            ("cat file", "exit_code=0\ncontent"),
            ("true", "exit_code=0\n[no output]"),
            (
                "echo out; echo err >&2; echo out; exit 3",
                "exit_code=3\nout\nerr\nout",
            ),
            ("kill -9 $$", "exit_code=137\n[no output]"),
            ("no-such-command 2>/dev/null", "exit_code=127\n[no output]"),
            ("cat", "exit_code=0\n[no output]"),
            ("printf 'a\\377b'", "exit_code=0\na\u{fffd}b"),
            ("echo 'Grüße ✓'", "exit_code=0\nGrüße ✓"),
        ];
        for (command, expected) in rows {
            scene.says("run", json!({"command": command}), expected);
        }
        let root = scene.root();
        scene.says(
            "run",
            json!({"command": "pwd"}),
            &format!("exit_code=0\n{}", root.display()),
        );
        scene.fails("run", json!({}), "the argument `command` is missing");
        scene.fails("run", json!({"command": " "}), "the command is empty");
        scene.fails(
            "run",
            json!({"command": "a\0"}),
            "the command contains a NUL character",
        );
    }

    /// So there is no terminal that it could ask or write on.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_has_a_session_of_its_own() {
        let scene = Scene::new();
        let command = "read -r pid name state parent group session rest < /proc/$$/stat; \
                       [ $session = $$ ] && [ $group = $$ ] && echo own; true < /dev/tty";
        let text = scene.call("run", json!({"command": command})).unwrap();
        assert!(text.contains("\nown\n"), "{text}");
        assert!(!text.contains("exit_code=0"), "there is a terminal: {text}");
    }

    #[test]
    fn secrets_do_not_reach_a_command() {
        let mut scene = Scene::new();
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        scene.workspace = scene
            .workspace
            .with_environment([
                pair("PATH", "/usr/bin:/bin"),
                pair("LANG", "C"),
                pair("API_KEY", "secret"),
                pair("LD_PRELOAD", "x.so"),
            ])
            .with_variable("CI", "1");
        let text = scene.call("run", json!({"command": "env"})).unwrap();
        let mut names: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _)| name))
            // These the shell makes itself.
            .filter(|name| !["exit_code", "PWD", "OLDPWD", "SHLVL", "_"].contains(name))
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["CI", "LANG", "PATH"]);
    }

    #[test]
    fn a_long_output_keeps_its_start_and_its_end() {
        let scene = Scene::with_limits(|limits| limits.run_output_bytes_max = 20);
        let command = "i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done";
        let text = scene.call("run", json!({"command": command})).unwrap();
        assert!(
            text.starts_with("exit_code=0\nline0\nline\n[... "),
            "{text}"
        );
        assert!(
            text.ends_with("bytes of output not shown ...]\nline19999"),
            "{text}"
        );
    }

    /// A grandchild that says it is there, holds on to a pipe, and would write a file later.
    /// The pipe ends when everybody who holds it is gone, so nobody needs to sleep to know.
    fn grandchild(scene: &Scene) -> &'static str {
        let made = Command::new("mkfifo")
            .arg(scene.root().join("pipe"))
            .status();
        assert!(made.unwrap().success());
        "sh -c 'exec 3>pipe; echo there >&3; sleep 600; echo late > late' & wait"
    }

    /// Waits for what a grandchild says when it is there.
    fn greeted(scene: &Scene) -> (String, BufReader<File>) {
        let mut pipe = BufReader::new(File::open(scene.root().join("pipe")).unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        (line, pipe)
    }

    #[track_caller]
    fn assert_gone(scene: &Scene, mut pipe: BufReader<File>) {
        // This returns when the last holder is gone.
        let mut rest = String::new();
        pipe.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(!scene.root().join("late").exists());
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
        let scene = Scene::with_limits(|limits| limits.run_timeout = Duration::from_millis(500));
        let command = format!("echo begun; {}", grandchild(&scene));
        let (said, pipe) = thread::scope(|scope| {
            let greeted = scope.spawn(|| greeted(&scene));
            let said = scene.call("run", json!({"command": command})).unwrap_err();
            // On a busy machine the grandchild may not have come so far as to open the pipe.
            // Then this lets the reader go, and there is nobody left to wait for.
            let pipe = scene.root().join("pipe");
            let unblock = File::options()
                .write(true)
                .custom_flags(NONBLOCK)
                .open(pipe);
            let (line, pipe) = greeted.join().unwrap();
            drop(unblock);
            assert!(line == "there\n" || line.is_empty(), "{line}");
            (said.to_string(), pipe)
        });
        let expected =
            "the command was stopped because it took longer than 0.5 seconds; exit_code=124\n";
        assert!(said.starts_with(expected), "{said}");
        assert_gone(&scene, pipe);
    }

    #[test]
    fn the_time_that_a_model_asks_for_is_bounded() {
        let scene =
            Scene::with_limits(|limits| limits.run_timeout_max = Duration::from_millis(100));
        let result = scene.call("run", json!({"command": "sleep 600", "timeout": "900"}));
        assert!(
            result
                .unwrap_err()
                .to_string()
                .contains("longer than 0.1 seconds")
        );
    }

    #[test]
    fn a_command_that_nobody_waits_for_is_ended_with_all_it_started() {
        let scene = Scene::new();
        let command = grandchild(&scene);
        let tools = tools(scene.workspace.clone());
        let run = tools.last().unwrap();
        let arguments = json!({"command": command});
        let mut future = run.call(ToolCall {
            id: "call-1",
            session_id: "session",
            name: "run",
            arguments: &arguments,
        });
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending());
        let (line, pipe) = greeted(&scene);
        assert_eq!(line, "there\n");
        drop(future);
        assert_gone(&scene, pipe);
    }

    #[test]
    fn what_is_left_in_the_background_is_ended() {
        let scene = Scene::new();
        let background = grandchild(&scene).replace("& wait", "& read line < pipe; echo $line");
        scene.says("run", json!({"command": background}), "exit_code=0\nthere");
        assert!(!scene.root().join("late").exists());
    }

    /// A host with one terminal, in which every command ends the same way.
    struct Terminal {
        timed_out: bool,
    }

    impl Terminals for Terminal {
        fn run<'a>(
            &'a self,
            _: TerminalCommand<'a>,
        ) -> BoxFuture<'a, Option<Result<TerminalEnd, String>>> {
            let end = TerminalEnd {
                terminal_id: "t1".to_owned(),
                exit_code: 3,
                timed_out: self.timed_out,
                output: "out\n".to_owned(),
                is_cut: false,
            };
            Box::pin(std::future::ready(Some(Ok(end))))
        }
    }

    #[test]
    fn a_command_in_a_terminal_of_the_host_is_shown_by_it_however_it_ended() {
        for timed_out in [false, true] {
            let mut scene = Scene::new();
            scene.workspace.lent.terminals = Some(Arc::new(Terminal { timed_out }));
            let shown = Shown::Terminal {
                terminal_id: "t1".to_owned(),
            };
            assert_eq!(scene.shows("run", json!({"command": "make"})), [shown]);
        }
        let scene = Scene::new();
        assert_eq!(scene.shows("run", json!({"command": "true"})), []);
    }

    #[test]
    fn a_command_that_was_given_up_does_not_start() {
        let scene = Scene::new();
        let leash = Leash::default();
        leash.pull();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "echo > started"])
            .current_dir(scene.root());
        let end = run(command, Duration::from_secs(60), 100, &leash);
        assert_eq!(end.unwrap(), None);
        assert!(scene.names().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_leaves_the_group_does_not_keep_us() {
        let scene = Scene::new();
        // It ends by itself once the pipe is closed, after we have stopped waiting for it.
        let made = Command::new("mkfifo")
            .arg(scene.root().join("pipe"))
            .status();
        assert!(made.unwrap().success());
        let command = "setsid sh -c 'echo $$ > started; cat pipe' & while ! [ -s started ]; do :; done; echo done";
        scene.says("run", json!({"command": command}), "exit_code=0\ndone");
        // Nobody writes: opening and closing lets it go.
        drop(
            File::options()
                .write(true)
                .open(scene.root().join("pipe"))
                .unwrap(),
        );
    }
}
