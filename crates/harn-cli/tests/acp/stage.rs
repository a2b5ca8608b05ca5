//! A project with an agent, and the editors that talk to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// An agent that works on the files of its folder and asks before it changes one.
const PROGRAM: &str = r#"
pipeline chat(prompt, session_id) {
  let result = agent_loop(
    prompt,
    "You look after a folder.",
    {
      session_id: session_id,
      tools: coding_tools(),
      approval_policy: {auto_approve: ["read", "list", "run"], require_approval: ["write", "edit"]},
    },
  )
  return result.visible_text
}
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
        let root = tempfile::tempdir().expect("a scratch folder can be made");
        let stage = Self { root };
        for folder in ["project", "home"] {
            fs::create_dir(stage.root.path().join(folder)).expect("it is empty");
        }
        stage.write("agent.harn", PROGRAM);
        stage.write("agent.scenario.toml", SCENARIO);
        stage.write("notes.txt", "remember the milk\n");
        stage.write("harn.toml", "[package]\nname = \"stage\"\n");
        // The slow command waits there until somebody wants to know that it has begun.
        let fifo = stage.project().join("begun");
        let made = Command::new("mkfifo").arg(fifo).status();
        assert!(made.expect("mkfifo is there").success());
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

    fn wire(&self) -> PathBuf {
        self.root.path().join("wire")
    }

    /// Everything the agent has said so far.
    pub(crate) fn wire_text(&self) -> String {
        fs::read_to_string(self.wire()).expect("the agent has spoken")
    }

    /// What starts the agent, with its wire written down.
    pub(crate) fn agent(&self) -> Vec<String> {
        let file = |name: &str| self.project().join(name).display().to_string();
        let mut command = vec!["python3".to_owned(), ours("record.py")];
        command.push(self.wire().display().to_string());
        command.push(self.root.path().join("stderr").display().to_string());
        command.push(env!("CARGO_BIN_EXE_harn").to_owned());
        command.extend(["serve", "acp"].map(str::to_owned));
        command.push(file("agent.harn"));
        command.push("--scenario".to_owned());
        command.push(file("agent.scenario.toml"));
        command
    }

    /// Lets an editor do these steps and gives what came of each.
    #[track_caller]
    pub(crate) fn editor(&self, editor: Editor, steps: &[Value]) -> Vec<Value> {
        let file = self.root.path().join("steps.json");
        fs::write(&file, json!(steps).to_string()).expect("the folder can be written");
        let mut command = editor.command();
        command.arg(&file).arg("stdio").args(self.agent());
        self.finished(command, steps.len())
    }

    #[track_caller]
    fn finished(&self, mut command: Command, steps: usize) -> Vec<Value> {
        command.current_dir(self.project()).stdin(Stdio::null());
        let output = command.output().expect("the editor is installed");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let agent = fs::read_to_string(self.root.path().join("stderr")).unwrap_or_default();
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
        let mut command = Command::new("node");
        command.arg(ours("check_wire.mjs")).arg(self.wire());
        command.env("HARN_TEST_PACKAGES", packages());
        let output = command.output().expect("node is installed");
        let told = String::from_utf8_lossy(&output.stdout);
        let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        });
        assert_eq!(told["problems"], json!([]));
        assert!(told["frames"].as_u64() > Some(0), "{told}");
    }
}

/// A client library of the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Editor {
    Python,
    TypeScript,
}

impl Editor {
    fn command(self) -> Command {
        let mut command = match self {
            Self::Python => Command::new(peers("acp-python").join("bin/python")),
            Self::TypeScript => Command::new("node"),
        };
        command.arg(ours(match self {
            Self::Python => "client.py",
            Self::TypeScript => "client.mjs",
        }));
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
