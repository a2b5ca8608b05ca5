//! Running other programs: live, captured, or both at once.
//!
//! Everything a chore does to the machine goes through here, so that a program
//! that is missing or fails is reported the same way everywhere.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::Error;
use crate::repo::Repo;

/// Which of a program's streams [`lines`] reads. The other one goes straight
/// to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// The cargo that runs us, started in the root of the repository.
pub(crate) fn cargo(repo: &Repo, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(repo.root()).args(arguments);
    for (name, _) in std::env::vars_os() {
        if is_about_us(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    if std::env::var_os("CI").is_some() {
        // A build server builds once. What would make a second build quick makes the first slow.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether a variable is what cargo tells a program that it runs about that program's package.
/// Some build scripts look at these, and would be run anew whenever somebody uses cargo by hand,
/// with all that depends on them.
fn is_about_us(variable: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"]
        .iter()
        .any(|prefix| variable.starts_with(prefix))
}

/// Runs with both streams on the terminal.
pub(crate) fn live(mut command: Command) -> Result<ExitStatus, Error> {
    command.status().map_err(could_not_start(&command))
}

/// Runs in silence and returns stdout; failing is an error that quotes stderr.
pub(crate) fn capture(mut command: Command) -> Result<String, Error> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(could_not_start(&command))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Failed {
            command: describe(&command),
            outcome: format!("{}\n{}", output.status, stderr.trim_end()),
        });
    }
    String::from_utf8(output.stdout)
        .map_err(|why| Error::malformed(format!("the output of `{}`", describe(&command)), why))
}

/// Whether a program exists and runs happily with these arguments.
pub(crate) fn succeeds(mut command: Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs and hands over each line of one stream as it appears, so that a caller
/// can show, count and keep lines of a program that is still working.
pub(crate) fn lines(
    mut command: Command,
    stream: Stream,
    mut on_line: impl FnMut(&str),
) -> Result<ExitStatus, Error> {
    match stream {
        Stream::Stdout => command.stdout(Stdio::piped()),
        Stream::Stderr => command.stderr(Stdio::piped()),
    };
    let mut child = command.spawn().map_err(could_not_start(&command))?;
    let pipe: Option<Box<dyn Read>> = match stream {
        Stream::Stdout => child.stdout.take().map(|pipe| Box::new(pipe) as _),
        Stream::Stderr => child.stderr.take().map(|pipe| Box::new(pipe) as _),
    };
    let pipe = pipe.expect("the stream was piped a few lines above");
    let read = each_line(BufReader::new(pipe), &mut on_line);
    let status = child.wait().map_err(could_not_start(&command))?;
    read.map_err(could_not_start(&command))?;
    Ok(status)
}

/// The command as a person would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text += &argument.to_string_lossy();
    }
    text
}

/// Reads bytes rather than text: what a test or a fuzz target prints need not
/// be valid UTF-8, and must not stop us from listening.
fn each_line(mut reader: impl BufRead, on_line: &mut impl FnMut(&str)) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        on_line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
        line.clear();
    }
    Ok(())
}

fn could_not_start(command: &Command) -> impl FnOnce(io::Error) -> Error {
    let program = describe(command);
    move |source| Error::Start { program, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_describes_our_package_is_told_from_what_describes_the_machine() {
        let ours = ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_MANIFEST_DIR"];
        assert!(ours.into_iter().all(is_about_us));
        let others = ["CARGO", "CARGO_HOME", "CARGO_TARGET_DIR", "PATH"];
        assert!(!others.into_iter().any(is_about_us));
    }

    #[test]
    fn lines_arrive_in_order_and_the_status_is_kept() {
        let mut seen = Vec::new();
        let status = lines(
            bash("echo one; printf '\\xff\\n'; echo two; exit 3"),
            Stream::Stdout,
            |line| seen.push(line.to_string()),
        )
        .unwrap();
        assert_eq!(seen, ["one", "\u{fffd}", "two"]);
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_failed_capture_quotes_what_the_program_complained_about() {
        let error = capture(bash("echo broken >&2; exit 1")).unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error_and_not_a_panic() {
        let error = live(Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"));
    }
}
