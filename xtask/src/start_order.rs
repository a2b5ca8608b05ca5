//! `cargo xtask start-order`: which functions `harn` calls when it starts.
//!
//! The system maps a program in pieces of 64 KB around what is touched. What a start calls is
//! one function in fifty, spread over all of the program, so nearly a third of it came into
//! memory for `println("hello")`. The linker is given the list that this command writes, puts
//! those functions beside each other, and most of the program stays on the disk.
//!
//! A name that the linker does not find is no mistake: after a new compiler the names are
//! others, the program is as it was without the list, and `cargo xtask bench vm` tells that it
//! needs more memory than is asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;
use crate::repo::Repo;
use crate::scratch::Scratch;

/// What the build script of `harn-cli` hands to the linker.
const FILE: &str = "crates/harn-cli/start.order";
/// The program that does nothing but start.
const HELLO: &str = "bench/vm/startup/hello.harn";

/// Builds `harn`, watches it start and writes the list.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    if !arguments.is_empty() {
        return Err(Error::usage("start-order takes no arguments"));
    }
    let build = process::cargo(repo, &["build", "--release", "--locked", "-p", "harn-cli"]);
    if !process::live(build)?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let harn = repo.target_dir().join("release/harn");
    let called = called_at_start(repo, &harn)?;
    let mut nm = Command::new("nm");
    nm.arg("--defined-only").arg(&harn);
    let list = in_both(&called, &process::capture(nm)?);
    if list.is_empty() {
        return Err(Error::malformed(
            "what valgrind wrote",
            "it names no function of `harn`",
        ));
    }
    eprintln!("{} functions are called at the start", list.lines().count());
    repo.write(FILE, &list)?;
    Ok(ExitCode::SUCCESS)
}

/// What callgrind says of one start.
fn called_at_start(repo: &Repo, harn: &Path) -> Result<String, Error> {
    let scratch = Scratch::new("start-order")?;
    let report = scratch.path().join("calls");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no"]);
    // Each name is written out wherever it stands.
    valgrind.arg("--compress-strings=no");
    valgrind.arg(format!("--callgrind-out-file={}", report.display()));
    valgrind.arg(harn).arg("run").arg(repo.path(HELLO));
    process::capture(valgrind)?;
    std::fs::read_to_string(&report).map_err(Error::file(&report))
}

/// The functions that were called and are the program's own, a line each.
///
/// Callgrind also names functions of the system, and those that became part of another.
fn in_both(called: &str, symbols: &str) -> String {
    let called: BTreeSet<&str> = called.lines().filter_map(function).collect();
    let own = symbols.lines().filter_map(symbol);
    let list: BTreeSet<&str> = own.filter(|name| called.contains(name)).collect();
    list.into_iter().map(|name| format!("{name}\n")).collect()
}

/// The function that a line of callgrind's is about: `fn=NAME`, `cfn=NAME'2` for one that
/// calls itself.
fn function(line: &str) -> Option<&str> {
    let name = line.strip_prefix("fn=").or(line.strip_prefix("cfn="))?;
    Some(name.split_once('\'').map_or(name, |(name, _)| name))
}

/// The name in a line of `nm`, if it is code: `0000000000e0afc0 t NAME`.
fn symbol(line: &str) -> Option<&str> {
    let mut words = line.split(' ');
    let (_, kind, name) = (words.next()?, words.next()?, words.next()?);
    matches!(kind, "t" | "T" | "w" | "W").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_the_program_that_were_called_are_listed() {
        let called =
            "fn=main\n12 3\ncfn=_ZN4harn3runE\ncalls=1 0\nfn=memcpy\nfn=_ZN4harn5againE'2\n";
        let symbols = "00000001 T main\n00000002 t _ZN4harn3runE\n00000003 r _ZN4harn5tableE\n\
                       00000004 t _ZN4harn5neverE\n00000005 t _ZN4harn5againE\n";
        assert_eq!(
            in_both(called, symbols),
            "_ZN4harn3runE\n_ZN4harn5againE\nmain\n"
        );
    }
}
