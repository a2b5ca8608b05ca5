//! Blocks that show a terminal: the commands are run and must print what the
//! page shows.
//!
//! ```text
//! $ harn --version        a command, run by bash in the block's own folder
//! harn 0.1.0              what it must print, stdout and stderr together
//! …                       any number of lines
//! ```
//!
//! All commands of a block share one fresh folder, which is also their home. A
//! command must succeed; a page that wants to show a failure writes
//! `harn … || echo "exit code $?"`. A command that ends in `\` goes on in the
//! next line, and one with `<<'END'` up to the line `END`.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::fences::Block;
use super::matching;
use crate::error::Error;
use crate::repo::Repo;
use crate::scratch::Scratch;
use crate::verdict::{Complaint, Verdict, complain};

/// A command of a page that takes longer is stuck.
const TIMEOUT_SECONDS: &str = "60";

/// What `timeout` answers when it had to step in.
const TIMED_OUT: i32 = 124;

/// A command and what the page says it prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) command: String,
    pub(super) output: String,
}

impl Exchange {
    /// Compares what was printed with what the page shows.
    pub(super) fn compare(&self, actual: &str) -> Verdict {
        if matching::agrees(&self.output, actual) {
            return Ok(());
        }
        complain(format!(
            "`{}` printed\n{}\nbut the page shows\n{}",
            self.command,
            actual.trim_end(),
            self.output.trim_end()
        ))
    }
}

/// Runs the block and compares.
pub(super) fn check(repo: &Repo, block: &Block) -> Verdict {
    let folder = Scratch::new("book")?;
    play(repo, folder.path(), &block.text)
}

fn play(repo: &Repo, folder: &Path, text: &str) -> Verdict {
    for exchange in exchanges(text)? {
        let actual = run(repo, folder, &exchange.command)?;
        exchange.compare(&actual)?;
    }
    Ok(())
}

/// The commands of a block, each with what follows it.
pub(super) fn exchanges(text: &str) -> Result<Vec<Exchange>, Complaint> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_string();
            while command.ends_with('\\') {
                let Some(more) = lines.next() else {
                    return complain("the last command is not finished");
                };
                command.push('\n');
                command += more;
            }
            if let Some(end) = here_document(&command).map(ToString::to_string) {
                loop {
                    let Some(more) = lines.next() else {
                        return complain(format!("`{end}` is missing after the last command"));
                    };
                    command.push('\n');
                    command += more;
                    if more == end {
                        break;
                    }
                }
            }
            exchanges.push(Exchange {
                command,
                output: String::new(),
            });
        } else if let Some(exchange) = exchanges.last_mut() {
            exchange.output += line;
            exchange.output.push('\n');
        } else {
            return complain("a console block begins with a command: `$ …`");
        }
    }
    if exchanges.is_empty() {
        return complain("there is no command to run");
    }
    Ok(exchanges)
}

/// The word that ends what a command is given in the next lines: `END` of `<<'END'`.
fn here_document(command: &str) -> Option<&str> {
    let (_, word) = command.split_once("<<")?;
    let word = word.trim_start_matches(['\'', '"']);
    let end = word.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    let word = &word[..end.unwrap_or(word.len())];
    (!word.is_empty()).then_some(word)
}

/// What the command prints; a command that fails is an error.
fn run(repo: &Repo, folder: &Path, command: &str) -> Result<String, Complaint> {
    let output = bash(repo, folder, command)
        .output()
        .map_err(|source| Error::Start {
            program: "bash".to_string(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(TIMED_OUT) {
        return complain(format!("`{command}` ran for {TIMEOUT_SECONDS} seconds"));
    }
    if !output.status.success() {
        return complain(format!(
            "`{command}` failed ({}) and printed\n{text}",
            output.status
        ));
    }
    Ok(text)
}

/// Nothing of the person who runs the tests leaks into the command: only the
/// program search path is kept, with our own build in front.
fn bash(repo: &Repo, folder: &Path, command: &str) -> Command {
    let mut path = repo.target_dir().join("debug").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));

    let mut bash = Command::new("timeout");
    bash.args([TIMEOUT_SECONDS, "bash", "-euo", "pipefail", "-c"]);
    // One pipe for both streams keeps them in the order they were written.
    bash.arg(format!("exec 2>&1\n{command}"));
    bash.current_dir(folder).stdin(Stdio::null());
    bash.env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("REPO", repo.root());
    bash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name` tells apart the folders of tests that run side by side.
    fn verdict(name: &str, text: &str) -> Verdict {
        let folder = Scratch::new(&format!("console-{name}"))?;
        play(&Repo::find()?, folder.path(), text)
    }

    #[test]
    fn commands_share_a_folder_and_print_what_the_page_shows() {
        assert_eq!(verdict("share", "$ echo hi > note\n$ cat note\nhi"), Ok(()));
    }

    #[test]
    fn a_different_output_is_a_mistake() {
        let why = verdict("differ", "$ echo one\ntwo\n").unwrap_err();
        assert_eq!(
            why.to_string(),
            "`echo one` printed\none\nbut the page shows\ntwo"
        );
    }

    #[test]
    fn both_streams_are_compared_in_order() {
        assert_eq!(
            verdict("streams", "$ echo a; echo b >&2; echo c\na\nb\nc"),
            Ok(())
        );
    }

    #[test]
    fn a_failing_command_is_a_mistake_unless_the_page_shows_it() {
        let why = verdict("fail", "$ false").unwrap_err();
        assert!(why.to_string().contains("failed"), "{why}");
        let shown = "$ false || echo \"exit code $?\"\nexit code 1";
        assert_eq!(verdict("fail", shown), Ok(()));
    }

    #[test]
    fn a_backslash_continues_the_command() {
        assert_eq!(verdict("continue", "$ echo a \\\n    b\na b"), Ok(()));
    }

    #[test]
    fn a_here_document_belongs_to_its_command() {
        let text = "$ cat > note <<'END'\necho no command\nEND\n$ cat note\necho no command";
        assert_eq!(verdict("here", text), Ok(()));
        assert!(exchanges("$ cat <<END\nopen").is_err());
        // A shift is no document.
        assert_eq!(verdict("shift", "$ echo $((1 << 3))\n8"), Ok(()));
    }

    #[test]
    fn the_environment_is_clean_except_for_what_pages_need() {
        for text in [
            "$ echo \"$NO_COLOR\" \"${CARGO:-none}\"\n1 none",
            "$ test \"$HOME\" = \"$PWD\"",
            "$ ls \"$REPO/Cargo.toml\" | wc -l\n1",
        ] {
            assert_eq!(verdict("clean", text), Ok(()));
        }
    }

    #[test]
    fn output_before_the_first_command_is_a_mistake() {
        assert!(exchanges("hello\n$ echo").is_err());
        assert!(exchanges("").is_err());
    }
}
