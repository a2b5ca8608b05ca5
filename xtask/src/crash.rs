//! `cargo xtask crash`: the whole crash campaign, in release mode.
//!
//! The short part of it is among the tests of `harn-sim`, and of `harn-cli` where the processes
//! that are killed are those of `harn`.

use std::process::ExitCode;

use crate::error::Error;
use crate::process;
use crate::repo::Repo;

/// What is asked of the campaign if nobody asks for something else.
const FULL: &[&str] = &["run", "--scenarios", "100000"];

/// Runs the campaign, or what the arguments say.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    if kills_harn(arguments) {
        // The campaign looks for it beside itself.
        let build = process::cargo(repo, &["build", "--release", "--locked", "-p", "harn-cli"]);
        if !process::live(build)?.success() {
            return Ok(ExitCode::FAILURE);
        }
    }
    let mut command = process::cargo(repo, &["run", "--release", "--locked"]);
    command.args(["-p", "harn-sim", "--bin", "harn-crash", "--"]);
    match arguments.is_empty() {
        true => command.args(FULL),
        false => command.args(arguments),
    };
    Ok(match process::live(command)?.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Whether `harn` itself is among the programs that are killed.
fn kills_harn(arguments: &[String]) -> bool {
    let part = arguments.iter().position(|word| word == "--part");
    let part = part.and_then(|at| arguments.get(at + 1));
    let replays = arguments.first().is_some_and(|word| word == "replay");
    let names_session = arguments.iter().any(|word| word.starts_with("session-"));
    match part {
        Some(part) => ["sessions", "all"].contains(&part.as_str()),
        None => !replays || names_session,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harn_is_built_when_its_sessions_are_interrupted() {
        let asked = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for line in [
            "",
            "run --seed 7",
            "run --part sessions",
            "run --part all",
            "replay session-3",
        ] {
            assert!(kills_harn(&asked(line)), "{line}");
        }
        for line in [
            "run --part disk",
            "run --seed 7 --part kill",
            "replay disk-3 kill-4",
        ] {
            assert!(!kills_harn(&asked(line)), "{line}");
        }
    }
}
