//! A project with an agent, and the editors that talk to it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// An agent that works on the files of its folder and, unless it is trusting, asks before it
/// changes one. Commands that somebody wants to see run in terminals of the editor.
const PROGRAM: &str = r#"
pipeline chat(prompt, session_id, mode) {
  let asking = if mode == "trusting" { [] } else { ["write", "edit"] }
  let place = if prompt.starts_with("show") { "client" } else { "local" }
  let result = agent_loop(
    prompt,
    "You look after some files.",
    {
      session_id: session_id,
      tools: coding_tools({terminals: place}),
      approval_policy: {auto_approve: ["read", "list", "run"], require_approval: asking},
    },
  )
  return result.visible_text
}
"#;

/// Its modes.
const MANIFEST: &str = r#"
[package]
name = "stage"

[[personas]]
name = "careful"
description = "Asks before it changes a file"

[[personas]]
name = "trusting"
description = "Changes files as it likes"
"#;

/// What its model says to what was said last, however often and in whichever process.
const SCENARIO: &str = r#"
first_pause_ms = 0
pause_ms = 0

[[turn]]
when = "hello*"
text = "Hello from Harn."
repeat = true

[[turn]]
when = "read*"
text = "Let me look."
call = [{ tool = "read", arguments = { path = "notes.txt" } }]
repeat = true

[[turn]]
when = "*remember the milk*"
text = "It is about milk."
repeat = true

[[turn]]
when = "write*"
call = [{ tool = "write", arguments = { path = "notes.txt", content = "new\n" } }]
repeat = true

[[turn]]
when = "*permission_denied*"
text = "I may not."
repeat = true

[[turn]]
when = "run slowly*"
call = [{ tool = "run", arguments = { command = "echo begun >> runs.txt; echo > begun; sleep 60" } }]
repeat = true

[[turn]]
when = "show slowly*"
call = [{ tool = "run", arguments = { command = "sleep 60" } }]
repeat = true

[[turn]]
when = "show*"
call = [{ tool = "run", arguments = { command = "echo shown" } }]
repeat = true

[[turn]]
when = "run*"
call = [{ tool = "run", arguments = { command = "echo quick" } }]
repeat = true

[[turn]]
text = "Done."
repeat = true
"#;

/// A folder with an agent in it.
pub(crate) struct Stage {
    root: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self::of(PROGRAM, SCENARIO);
        stage.write("notes.txt", "remember the milk\n");
        stage.write("harn.toml", MANIFEST);
        // The slow command waits there until somebody wants to know that it has begun.
        let fifo = stage.project().join("begun");
        let made = Command::new("mkfifo").arg(fifo).status();
        assert!(made.expect("mkfifo is there").success());
        stage
    }

    /// A folder with a program in it, and with what its model says.
    pub(crate) fn of(program: &str, scenario: &str) -> Self {
        let root = tempfile::tempdir().expect("a scratch folder can be made");
        let stage = Self { root };
        for folder in ["project", "home", "wires"] {
            fs::create_dir(stage.root.path().join(folder)).expect("it is empty");
        }
        stage.write("agent.harn", program);
        stage.write("agent.scenario.toml", scenario);
        stage.write("harn.toml", "[package]\nname = \"stage\"\n");
        stage
    }

    /// Where the agent works.
    pub(crate) fn project(&self) -> PathBuf {
        let path = self.root.path().join("project");
        path.canonicalize().expect("it was made")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.project().join(name), text).expect("the folder can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).expect("the file is there")
    }

    /// A file of the stage that is none of the project's.
    pub(crate) fn aside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What the agent has said, one file for each connection. What it was told is beside it.
    fn wires(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.aside("wires")).expect("it was made");
        let files = files.map(|file| file.expect("the folder can be read").path());
        let mut wires: Vec<PathBuf> = files.filter(|file| file.extension().is_none()).collect();
        wires.sort();
        wires
    }

    /// Those who write down what an agent of this stage says, as long as it runs. Their ids are
    /// in the names of what they write; by now some may belong to others.
    pub(crate) fn recorders(&self) -> Vec<Pid> {
        let wires = self.wires();
        let names = wires.iter().filter_map(|wire| wire.file_name()?.to_str());
        let ids = names.filter_map(|name| name.strip_prefix("stdio-")?.parse().ok());
        let folder = self.aside("wires").display().to_string();
        let is_ours = |id: &i32| {
            let command = fs::read_to_string(format!("/proc/{id}/cmdline"));
            command.is_ok_and(|command| command.contains(&folder))
        };
        ids.filter(is_ours).filter_map(Pid::from_raw).collect()
    }

    /// Everything the agent has said so far.
    pub(crate) fn wire_text(&self) -> String {
        let texts = self.wires().into_iter().map(fs::read_to_string);
        texts.map(|text| text.expect("it is text")).collect()
    }

    /// What starts the agent, with its wire written down.
    pub(crate) fn agent(&self) -> Vec<String> {
        let file = |name: &str| self.project().join(name).display().to_string();
        let mut command = vec!["python3".to_owned(), ours("record.py")];
        command.push(self.aside("wires").display().to_string());
        command.push(self.aside("stderr").display().to_string());
        command.push(env!("CARGO_BIN_EXE_harn").to_owned());
        command.extend(["serve", "acp"].map(str::to_owned));
        command.push(file("agent.harn"));
        command.push("--scenario".to_owned());
        command.push(file("agent.scenario.toml"));
        command
    }

    /// The agent, listening on this machine for clients with this key, or for all of them.
    pub(crate) fn listen(&self, key: Option<&str>) -> Listening {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "acp", "agent.harn", "--listen", "127.0.0.1:0"]);
        command.args(["--scenario", "agent.scenario.toml"]);
        command.envs(key.map(|key| ("HARN_API_KEYS", format!("ci={key}"))));
        command.current_dir(self.project()).stdin(Stdio::null());
        let errors = File::create(self.aside("stderr")).expect("the folder can be written");
        command.stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().expect("it starts");
        let output = child.stdout.take().expect("it is piped");
        let mut listening = Listening {
            child,
            url: String::new(),
        };
        let mut line = String::new();
        let said = BufReader::new(output).read_line(&mut line);
        said.expect("it says where");
        let url = line.trim().strip_prefix("listening on http");
        url.expect("it listens").clone_into(&mut listening.url);
        listening
    }

    /// Lets an editor do these steps and gives what came of each.
    #[track_caller]
    pub(crate) fn editor(&self, editor: Editor, steps: &[Value]) -> Vec<Value> {
        let mut command = editor.command("client");
        command.arg(self.script(steps));
        command.arg("stdio").args(self.agent());
        self.finished(command, steps.len())
    }

    /// The same on the network, where the steps say where to connect to.
    #[track_caller]
    pub(crate) fn editor_on_network(&self, editor: Editor, steps: &[Value]) -> Vec<Value> {
        let mut command = editor.command("client");
        command.arg(self.script(steps));
        command.arg("net").arg(self.aside("wires"));
        self.finished(command, steps.len())
    }

    /// The file that says what to do.
    pub(crate) fn script(&self, steps: &[Value]) -> PathBuf {
        let file = self.aside("steps.json");
        fs::write(&file, json!(steps).to_string()).expect("the folder can be written");
        file
    }

    #[track_caller]
    fn finished(&self, mut command: Command, steps: usize) -> Vec<Value> {
        command.current_dir(self.project()).stdin(Stdio::null());
        let output = command.output().expect("the editor is installed");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let agent = fs::read_to_string(self.aside("stderr")).unwrap_or_default();
        let told = format!("stdout: {stdout}\nstderr: {stderr}\nagent: {agent}");
        assert!(output.status.success(), "{told}");
        // A library that does not understand an update says so there, and drops it.
        assert_eq!(stderr, "", "{told}");
        let lines = stdout.lines();
        let outcomes: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).expect("a line is an outcome"))
            .collect();
        assert_eq!(outcomes.len(), steps, "{told}");
        outcomes
    }

    /// Holds everything the agent has said so far against the schema of the protocol.
    #[track_caller]
    pub(crate) fn check_wire(&self) {
        check_wires(std::slice::from_ref(self));
    }
}

/// Holds everything that was said on these stages against the schema of the protocol. One for
/// all of them, because reading the schema takes most of the time.
#[track_caller]
pub(crate) fn check_wires(stages: &[Stage]) {
    let mut command = Command::new("node");
    command.arg(ours("check_wire.mjs"));
    command.args(stages.iter().flat_map(Stage::wires));
    command.env("HARN_TEST_PACKAGES", packages());
    let output = command.output().expect("node is installed");
    let told = String::from_utf8_lossy(&output.stdout);
    let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    });
    assert_eq!(told["problems"], json!([]));
    assert!(told["frames"].as_u64() > Some(0), "{told}");
}

/// An agent that listens, until this is dropped.
pub(crate) struct Listening {
    child: Child,
    /// Where, without the `http` or `ws` at its beginning.
    url: String,
}

impl Listening {
    pub(crate) fn url(&self, transport: &str) -> String {
        format!("{transport}{}", self.url)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client library of the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Editor {
    Python,
    TypeScript,
}

impl Editor {
    pub(crate) const ALL: [Self; 2] = [Self::Python, Self::TypeScript];

    /// Runs one of our programs on the library.
    pub(crate) fn command(self, program: &str) -> Command {
        let (mut command, ending) = match self {
            Self::Python => (Command::new(peers("acp-python").join("bin/python")), "py"),
            Self::TypeScript => (Command::new("node"), "mjs"),
        };
        command.arg(ours(&format!("{program}.{ending}")));
        command.env("HARN_TEST_PACKAGES", packages());
        command
    }
}

/// Where the Node packages are.
pub(crate) fn packages() -> PathBuf {
    peers("acp")
}

/// A folder of `cargo xtask peers`.
fn peers(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let folder = target.expect("it is in the target folder");
    let folder = folder.join("peers").join(name);
    assert!(
        folder.join("installed").exists(),
        "{} is missing; `cargo xtask peers` installs it",
        folder.display()
    );
    folder
}

fn ours(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp");
    folder.join(name).display().to_string()
}
