//! A folder with a program whose agent talks to our server, and the ways to run it.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::problem;
use crate::campaign::model::{Checked, violation};
use crate::random::Random;

/// Each call tells the server that it takes effect. `look` says of itself that it only reads, so
/// the loop does not wait for a sync before it.
const PROGRAM: &str = r#"
fn note(text) {
  http_post("URL/effect", text)
  return "noted ${text}"
}

pipeline answer(prompt, session_id) {
  let what = {what: {type: "string"}}
  let tools = tool_registry()
    |> tool_define(_, "look", "Looks.", {
      parameters: what,
      annotations: {kind: "read"},
      handler: { a -> note(a.what) },
    })
    |> tool_define(_, "paint", "Paints.", {parameters: what, handler: { a -> note(a.what) }})
  if WATCHED {
    agent_subscribe(session_id, { event ->
      if event.type == "loop_checkpoint" && event.kind == "pre_tool_dispatch" {
        http_post("URL/between", "")
      }
    })
  }
  agent_loop(prompt, "You work.", {
    session_id: session_id,
    tools: tools,
    tool_format: "FORMAT",
    provider: "ours",
    model: "m-1",
    stream: STREAMED,
  })
}
"#;

const MANIFEST: &str = r#"
[llm]
default_provider = "ours"

[llm.providers.ours]
base_url = "URL"
auth_style = "none"
chat_endpoint = "/chat/completions"

[llm.models."m-1"]
name = "M"
provider = "ours"
context_window = 1000000
"#;

/// What differs between projects.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProjectFeatures {
    backend: &'static str,
    /// How calls are written: `native` or `text`.
    pub(super) format: &'static str,
    is_streamed: bool,
    /// Whether a closure of the program runs between an answer and its first call.
    pub(super) is_watched: bool,
}

impl ProjectFeatures {
    pub(super) fn of(random: &mut Random) -> Self {
        Self {
            backend: *random.pick::<&str>(&["sqlite", "file"]),
            format: *random.pick::<&str>(&["native", "text"]),
            is_streamed: random.percent(50),
            is_watched: random.percent(40),
        }
    }
}

/// The folder in which all processes of a conversation work.
pub(super) struct AgentProject {
    folder: TempDir,
    harn: PathBuf,
    backend: &'static str,
}

impl AgentProject {
    pub(super) fn new(features: ProjectFeatures, url: &str, harn: &Path) -> Checked<Self> {
        let folder = tempfile::tempdir().map_err(problem("no folder"))?;
        let program = PROGRAM
            .replace("URL", url)
            .replace("FORMAT", features.format)
            .replace("WATCHED", &features.is_watched.to_string())
            .replace("STREAMED", &features.is_streamed.to_string());
        let manifest = MANIFEST.replace("URL", url);
        for (name, text) in [("agent.harn", program), ("harn.toml", manifest)] {
            fs::write(folder.path().join(name), text).map_err(problem("no file"))?;
        }
        Ok(Self {
            folder,
            harn: harn.to_owned(),
            backend: features.backend,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.harn);
        command.env_clear().current_dir(self.folder());
        command.env("HARN_EVENT_LOG_BACKEND", self.backend);
        command.args(arguments);
        command
    }

    /// The command that serves an editor. What it says to people goes to a file.
    pub(super) fn serve(&self) -> Checked<Command> {
        let told = self.folder().join("told.txt");
        let told = File::options().create(true).append(true).open(told);
        let mut command = self.command(&["serve", "acp", "agent.harn"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(told.map_err(problem("no file"))?);
        Ok(command)
    }

    /// The end of what was said to people.
    pub(super) fn told(&self) -> String {
        let told = fs::read_to_string(self.folder().join("told.txt")).unwrap_or_default();
        let lines: Vec<&str> = told.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// `harn events verify` finds nothing.
    pub(super) fn verify(&self) -> Checked {
        self.output(&["events", "verify"]).map(drop)
    }

    /// The changes in the journal of a session, in order.
    pub(super) fn journal(&self, session: &str) -> Checked<Vec<Value>> {
        let export = self.output(&["sessions", "export", session, "--format", "jsonl"])?;
        let mut changes = Vec::new();
        for line in export.lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else {
                return violation!("the export has a line that is not JSON: {line}");
            };
            let topic = record["topic"].as_str().unwrap_or_default();
            if topic.starts_with("agent_sessions.") {
                changes.push(record["event"]["payload"].clone());
            }
        }
        Ok(changes)
    }

    fn output(&self, arguments: &[&str]) -> Checked<String> {
        let output = self.command(arguments).output();
        let output = output.map_err(problem("harn cannot be started"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(text),
            false => {
                let told = String::from_utf8_lossy(&output.stderr);
                violation!("harn {} failed: {text}{told}", arguments.join(" "))
            }
        }
    }
}
