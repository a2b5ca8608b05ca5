//! How large our program is: its file, its memory, its build.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use harn_bench::time;
use tempfile::TempDir;

use crate::programs::FOLDER;

/// What a program that takes too long is given, in seconds.
const LIMIT: &str = "300";

/// The most memory `harn run FILE` ever had resident, in bytes.
///
/// GNU time asks the system for it after the process has ended, so that no moment is missed.
pub(crate) fn peak_resident(harn: &Path, file: &str, size: Option<usize>) -> Result<f64, String> {
    let folder = scratch()?;
    let report = folder.path().join("kilobytes");
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", "-o"]).arg(&report);
    command.args(["timeout", LIMIT]).arg(harn).arg("run");
    command.arg(Path::new(FOLDER).join(file));
    if let Some(size) = size {
        command.arg("--").arg(size.to_string());
    }
    succeed(command, "time")?;
    let report = fs::read_to_string(&report).map_err(|why| unreadable(&report, &why))?;
    let kilobytes: f64 = report
        .trim()
        .parse()
        .map_err(|_| format!("`time` wrote `{report}`"))?;
    Ok(kilobytes * 1024.0)
}

/// The size of a program without what only a debugger reads, in bytes.
pub(crate) fn stripped_size(program: &Path) -> Result<u64, String> {
    let folder = scratch()?;
    let stripped = folder.path().join("stripped");
    let mut command = Command::new("strip");
    command.arg("-o").arg(&stripped).arg(program);
    succeed(command, "binutils")?;
    let metadata = fs::metadata(&stripped).map_err(|why| unreadable(&stripped, &why))?;
    Ok(metadata.len())
}

/// How long it takes to build everything, with nothing built before.
pub(crate) fn build_from_clean() -> Result<Duration, String> {
    let folder = scratch()?;
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--locked"]);
    // From its root, for inside a package cargo builds only that.
    command.current_dir(Path::new(FOLDER).join("../.."));
    command.env("CARGO_TARGET_DIR", folder.path());
    let mut outcome = Ok(());
    let spent = time(|| outcome = succeed(command, "cargo"));
    outcome.map(|()| spent)
}

fn succeed(mut command: Command, package: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|why| {
        format!("cannot start `{program}`: {why}; it is in the Debian package `{package}`")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let talk = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}`: {}\n{talk}", output.status))
}

fn scratch() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|why| format!("cannot make a folder: {why}"))
}

fn unreadable(path: &Path, why: &io::Error) -> String {
    format!("cannot read {}: {why}", path.display())
}
