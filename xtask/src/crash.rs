//! `cargo xtask crash`: the whole crash campaign, in release mode.
//!
//! The short part of it is among the tests of `harn-sim`.

use std::process::ExitCode;

use crate::error::Error;
use crate::process;
use crate::repo::Repo;

/// What is asked of the campaign if nobody asks for something else.
const FULL: &[&str] = &["run", "--scenarios", "100000"];

/// Runs the campaign, or what the arguments say.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
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
