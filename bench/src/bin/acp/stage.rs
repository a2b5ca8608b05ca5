//! The agents, and the folders they work in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const PROGRAM: &str = r#"
pipeline chat(prompt, session_id) {
  agent_loop(prompt, "You say one thing.", {session_id: session_id})
}
"#;

/// A folder with an agent in it.
pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    /// The model of the agent says this to every prompt.
    pub(crate) fn saying(text: &str) -> Result<Self, String> {
        Self::new(&format!("text = \"{text}\"\n"))
    }

    /// The model of the agent thinks in so many pieces. What it says comes in larger pieces the
    /// longer it is; what it thinks is told as it comes. Each piece is a whole word: what could be
    /// the beginning of a secret waits for the next one.
    pub(crate) fn thinking(pieces: usize) -> Result<Self, String> {
        let thoughts = "x ".repeat(pieces);
        Self::new(&format!("thinking = \"{thoughts}\"\ntext = \"Done.\"\n"))
    }

    fn new(answer: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
        let stage = Self { folder };
        stage.write("agent.harn", PROGRAM)?;
        let scenario = format!(
            "first_pause_ms = 0\npause_ms = 0\npiece_chars = 2\n\
             [[turn]]\nrepeat = true\n{answer}"
        );
        stage.write("agent.scenario.toml", &scenario)?;
        stage.write("harn.toml", "[package]\nname = \"stage\"\n")?;
        Ok(stage)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.folder().join(name), text).map_err(|why| format!("{name}: {why}"))
    }

    /// Starts our agent.
    pub(crate) fn ours(&self) -> Result<Command, String> {
        let mut command = Command::new(beside_us("harn")?);
        command.args(["serve", "acp", "agent.harn"]);
        command.args(["--scenario", "agent.scenario.toml"]);
        command.current_dir(self.folder());
        Ok(command)
    }

    /// Starts the agent on the Python SDK.
    pub(crate) fn python(&self) -> Result<Command, String> {
        let mut command = Command::new(peers()?.join("acp-python/bin/python"));
        command
            .arg(source("echo_agent.py"))
            .current_dir(self.folder());
        Ok(command)
    }
}

/// A program that was built with this one.
pub(crate) fn beside_us(name: &str) -> Result<PathBuf, String> {
    let us = std::env::current_exe().map_err(|why| why.to_string())?;
    let program = us.with_file_name(name);
    match program.exists() {
        true => Ok(program),
        false => Err(format!("there is no {}", program.display())),
    }
}

/// Where `cargo xtask peers` installs.
pub(crate) fn peers() -> Result<PathBuf, String> {
    let us = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut folders = us.ancestors().map(|folder| folder.join("peers"));
    folders
        .find(|folder| folder.join("acp/installed").exists())
        .ok_or_else(|| "`cargo xtask peers` installs what is missing".to_owned())
}

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/bin/acp")
        .join(name)
}
