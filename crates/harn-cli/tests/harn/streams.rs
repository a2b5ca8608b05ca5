//! Colours, closed pipes and full disks.

use std::io;
use std::process::Stdio;

use crate::log_file::{Logs, message};
use crate::program::{finished, harn, program};

const ESCAPE: char = '\u{1b}';

/// A call of each kind: data, help, a mistake, a failure.
const CALLS: &[&[&str]] = &[
    &["events", "types"],
    &["events", "types", "plan"],
    &["--help"],
    &["events", "check", "--help"],
    &["evens"],
    &["events", "types", "pln"],
];

#[test]
fn pipes_get_no_colours() {
    for arguments in CALLS {
        let call = harn(arguments);
        let text = call.stdout.clone() + &call.stderr;
        assert!(!text.contains(ESCAPE), "{arguments:?}: {call:?}");
    }
}

#[test]
fn colours_can_be_asked_for_whatever_the_stream_and_the_environment() {
    for arguments in CALLS {
        let mut colourful = program();
        colourful.args(["--color", "always"]).args(*arguments);
        let call = finished(colourful.env("NO_COLOR", "1"));
        let text = call.stdout.clone() + &call.stderr;
        assert!(text.contains(ESCAPE), "{arguments:?}: {call:?}");
    }
}

#[test]
fn colours_can_be_refused() {
    for arguments in CALLS {
        let mut plain = program();
        // Variables that other programs obey must not bring colours back.
        plain
            .env("CLICOLOR_FORCE", "1")
            .env("TERM", "xterm-256color");
        let call = finished(plain.args(["--color=never"]).args(*arguments));
        let text = call.stdout.clone() + &call.stderr;
        assert!(!text.contains(ESCAPE), "{arguments:?}: {call:?}");
    }
}

#[test]
fn colours_add_nothing_to_the_text() {
    let logs = Logs::with("log.jsonl", &(message(0, "s") + &message(2, "s")));
    let path = logs.argument("log.jsonl");
    for arguments in [
        &["events", "types", "plan"][..],
        &["events", "check", &path],
    ] {
        let plain = harn(arguments);
        let coloured = harn(&[&["--color", "always"], arguments].concat());
        assert_eq!(without_escapes(&coloured.stdout), plain.stdout);
        assert_eq!(without_escapes(&coloured.stderr), plain.stderr);
        assert_eq!(coloured.code, plain.code);
    }
}

/// The text without sequences of the form `ESC [ … m`.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (_, rest) = part.split_once('m').expect("styles end in m");
        text + rest
    })
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    for arguments in [
        &["events", "types"][..],
        &["--json", "events", "types"],
        &["--help"],
    ] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let child = program()
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn();
        let output = child
            .and_then(|child| child.wait_with_output())
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn nobody_listening_to_mistakes_does_not_change_the_exit_code() {
    for (arguments, code) in [(&["evens"][..], 2), (&["events", "types", "pln"], 1)] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let status = program()
            .args(arguments)
            .stderr(writer)
            .status()
            .expect("it runs");
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let mut call = program();
    let child = call
        .args(["events", "types"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn();
    let output = child
        .and_then(|child| child.wait_with_output())
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("error: cannot write the answer: "),
        "{complaint}"
    );
}
