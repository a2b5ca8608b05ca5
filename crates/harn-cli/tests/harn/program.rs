//! Calls `harn` and keeps what it said.

use std::process::{Command, Output};

use serde_json::Value;

/// What one call did.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program, with an environment that holds nothing of the person who runs
/// the tests.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_harn"));
    program.env_clear();
    program
}

/// Calls it with these arguments and both streams piped.
pub(crate) fn harn(arguments: &[&str]) -> Call {
    finished(program().args(arguments))
}

pub(crate) fn finished(program: &mut Command) -> Call {
    let output = program
        .output()
        .expect("the program was built with the tests");
    Call::of(output)
}

impl Call {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("we print UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("we print UTF-8"),
        }
    }

    /// The one JSON document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// Fails the test unless the exit code is this one.
    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Fails the test unless standard output has this line.
    #[track_caller]
    pub(crate) fn prints(self, line: &str) -> Self {
        assert!(
            self.stdout.lines().any(|one| one == line),
            "no `{line}` in {self:#?}"
        );
        self
    }
}
