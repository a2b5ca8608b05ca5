//! `harn check --watch`: the answers come line by line, so nothing here waits for a time.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use super::Programs;

/// A program that watches, stopped at the end of the test.
pub(super) struct Watching {
    child: Child,
    answers: BufReader<ChildStdout>,
    talk: BufReader<ChildStderr>,
}

impl Watching {
    pub(super) fn start(programs: &Programs, arguments: &[&str]) -> Self {
        let mut command = programs.command(arguments);
        let started = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.expect("the program was built with the tests");
        Self {
            answers: BufReader::new(child.stdout.take().expect("it is piped")),
            talk: BufReader::new(child.stderr.take().expect("it is piped")),
            child,
        }
    }

    /// The next line of the answer.
    pub(super) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it prints UTF-8");
        line
    }

    #[track_caller]
    fn answers(&mut self, expected: &str) {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it prints UTF-8");
        assert_eq!(line.trim_end(), expected);
    }

    #[track_caller]
    fn says(&mut self, expected: &str) {
        let mut line = String::new();
        self.talk.read_line(&mut line).expect("it prints UTF-8");
        assert_eq!(line.trim_end(), expected);
    }

    /// The first answer is complete, and changes are noticed from here on.
    #[track_caller]
    fn is_watching(&mut self) {
        self.says("watching for changes, stop with Ctrl-C");
        assert!(self.child.try_wait().expect("it is our child").is_none());
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have stopped by itself, which the test has complained about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const WRONG: &str = "let n: int = \"x\"\n";
const WRONG_SAID: [&str; 4] = [
    "error: 'n' declared as int, but assigned string",
    "  --> a.harn:1:1",
    "   |",
    " 1 | let n: int = \"x\"",
];

#[test]
fn a_change_brings_a_new_answer() {
    let programs = Programs::new(&[("a.harn", "")]);
    let mut watching = Watching::start(&programs, &["check", "--watch", "a.harn"]);
    watching.answers("a.harn: ok");
    watching.is_watching();

    programs.add("a.harn", WRONG);
    WRONG_SAID.iter().for_each(|line| watching.says(line));

    programs.add("a.harn", "let n: int = 1\n");
    watching.answers("a.harn: ok");
}

#[test]
fn a_change_of_an_import_brings_a_new_answer() {
    let programs = Programs::new(&[
        ("lib.harn", "pub fn one() {\n  return 1\n}\n"),
        (
            "main.harn",
            "import { one } from \"./lib\"\n\nprintln(one())\n",
        ),
    ]);
    let mut watching = Watching::start(&programs, &["check", "--watch", "main.harn"]);
    watching.answers("main.harn: ok");
    watching.is_watching();

    programs.add("lib.harn", "pub fn two() {\n  return 2\n}\n");
    let mut first = String::new();
    watching.talk.read_line(&mut first).unwrap();
    assert!(
        first.starts_with("error: Import error: 'one' is not defined in "),
        "{first}"
    );
}

/// What decides the answer may lie outside of what was asked about.
#[test]
fn imports_and_projects_of_other_folders_are_watched() {
    let programs = Programs::new(&[
        ("harn.toml", "[package]\nname = \"p\"\n"),
        ("lib/one.harn", "pub fn one() {\n  return 1\n}\n"),
        (
            "app/main.harn",
            "import { one } from \"../lib/one\"\n\nprintln(one())\n",
        ),
    ]);
    let mut watching = Watching::start(&programs, &["check", "--watch", "app"]);
    watching.answers("app/main.harn: ok");
    watching.is_watching();

    programs.add("lib/one.harn", "pub fn two() {\n  return 2\n}\n");
    let mut first = String::new();
    watching.talk.read_line(&mut first).unwrap();
    assert!(
        first.starts_with("error: Import error: 'one' is not defined in "),
        "{first}"
    );

    // It may be seen before its text is there, and what the import lacks is told as well.
    programs.add("harn.toml", "[check");
    while !first.contains("/harn.toml:1:") {
        first.clear();
        let length = watching.talk.read_line(&mut first).unwrap();
        assert!(length > 0, "it has stopped");
    }
}

#[test]
fn a_new_program_of_a_folder_is_found() {
    let programs = Programs::new(&[("src/a.harn", "")]);
    let mut watching = Watching::start(&programs, &["check", "--watch", "src"]);
    watching.answers("src/a.harn: ok");
    watching.is_watching();

    programs.add("src/b.harn", "");
    watching.answers("src/a.harn: ok");
    watching.answers("src/b.harn: ok");
}

/// What the project asks for may change without any program changing.
#[test]
fn a_change_of_the_project_brings_a_new_answer() {
    let text = "fn f() {\n  let data = json_parse(\"{}\")\n  return data.name\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let mut watching = Watching::start(&programs, &["check", "--json", "--watch", "a.harn"]);
    let mut count = || {
        let mut line = String::new();
        watching.answers.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        answer["warnings"].as_u64().unwrap()
    };
    assert_eq!(count(), 0);
    programs.add("harn.toml", "[check]\nstrict_types = true\n");
    // The file may have been seen before its text was there.
    while count() != 1 {}
}
