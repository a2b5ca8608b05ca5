//! Our own programs, built and asked: the book runs them, and reference pages are answers of
//! `harn`.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;
use crate::process;
use crate::repo::Repo;

/// Builds what pages run, with cargo's output on the terminal. Building twice costs next to
/// nothing.
pub(crate) fn build(repo: &Repo) -> Result<(), Error> {
    let packages = ["-p", "harn-cli", "-p", "rust-sink"];
    let build = [&["build", "-q", "--locked"][..], &packages].concat();
    let cargo = process::cargo(repo, &build);
    let command = process::describe(&cargo);
    let status = process::live(cargo)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command,
        outcome: "the programs of the book do not build".to_string(),
    })
}

/// What `harn` prints for these arguments.
pub(crate) fn ask(repo: &Repo, arguments: &[&str]) -> Result<String, Error> {
    build(repo)?;
    let mut harn = Command::new(path(repo));
    // Nothing of the person who runs us may end up on a page.
    harn.env_clear().current_dir(repo.root()).args(arguments);
    process::capture(harn)
}

/// Where cargo puts it.
fn path(repo: &Repo) -> PathBuf {
    repo.target_dir().join("debug").join("harn")
}
