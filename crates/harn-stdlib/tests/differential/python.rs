//! Another implementation to compare with.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// What came of a script.
pub(crate) enum Python {
    /// What it printed.
    Said(String),
    /// There is no Python here.
    Missing,
}

/// Runs a script of Python to its end.
pub(crate) fn python(script: &str, argument: &str, input: &str) -> Python {
    let started = Command::new("python3")
        .args(["-c", script, argument])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("there is no python3 to compare with");
            return Python::Missing;
        }
        Err(error) => panic!("python3 cannot be started: {error}"),
    };
    let mut stdin = child.stdin.take().expect("it is piped");
    // Scripts read all before they print anything.
    stdin.write_all(input.as_bytes()).expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the script has failed");
    Python::Said(String::from_utf8(output.stdout).expect("it prints text"))
}
