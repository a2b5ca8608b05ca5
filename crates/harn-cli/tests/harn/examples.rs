//! The programs of `examples/`, run as their pages say, and by our own standards.
//!
//! The pages themselves are played by `cargo xtask test book`, letter by letter. Here each example
//! is looked at more closely: what it says, how it ends, and that it leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::program::{Call, finished, program};

/// The first thing that a newcomer runs should not keep anybody waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// What stands before the arguments of `harn` in commands for a checkout.
const FROM_CHECKOUT: &str = "cargo run -q -p harn-cli -- ";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The examples that are programs: those with a `main.harn`.
fn names() -> Vec<String> {
    let folders = fs::read_dir(repository().join("examples")).expect("the folder is ours");
    let folders = folders.map(|entry| entry.expect("the folder is ours").path());
    let programs = folders.filter(|folder| folder.join("main.harn").is_file());
    let name = |folder: PathBuf| {
        folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = programs.map(name).collect();
    names.sort();
    names
}

/// A copy of all examples, as in a checkout that nobody has worked in.
struct Checkout {
    folder: TempDir,
    temporary: TempDir,
    /// What is remembered of a person lies here, such as which tools of a server they know.
    home: TempDir,
    before: Vec<PathBuf>,
}

impl Checkout {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("the folder is ours");
        let examples = folder.path().join("examples");
        copy(&repository().join("examples"), &examples);
        Self {
            before: files(folder.path()),
            folder,
            temporary: tempfile::tempdir().expect("the folder is ours"),
            home: tempfile::tempdir().expect("the folder is ours"),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.home.path())
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", self.temporary.path())
            .env("USER", "ada");
        command
    }

    fn harn(&self, arguments: &[&str]) -> Call {
        finished(&mut self.command(arguments))
    }

    fn example(&self, name: &str) -> Call {
        let folder = format!("examples/{name}");
        self.harn(&["run", &folder, "--scenario", "--progress", "none"])
    }

    /// Nothing stays but the logs of events.
    #[track_caller]
    fn is_as_before(&self) {
        assert_eq!(files(self.folder.path()), self.before);
        assert_eq!(files(self.temporary.path()), Vec::<PathBuf>::new());
    }
}

/// All files below a folder, but for logs of events and what builds leave.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is ours") {
        let entry = entry.expect("the folder is ours");
        let name = entry.file_name();
        if name == ".harn" || name == "target" {
            continue;
        }
        match entry.file_type().expect("the folder is ours").is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).expect("the folder is ours"));
        fs::create_dir_all(target.parent().expect("the folder is ours"))
            .expect("the folder is ours");
        fs::copy(file, target).expect("the folder is ours");
    }
}

/// Runs an example, and says which lines it must print and how it must end.
#[track_caller]
fn check(name: &str, code: i32, lines: &[&str]) {
    let checkout = Checkout::new();
    let mut call = checkout.example(name).exits_with(code);
    assert_eq!(call.stderr, "", "{call:?}");
    for line in lines {
        call = call.prints(line);
    }
    checkout.is_as_before();
}

#[test]
fn every_example_has_a_page_a_script_and_a_place_in_the_cookbook() {
    let cookbook = fs::read_to_string(repository().join("docs/src/cookbook.md")).unwrap();
    for name in names() {
        let folder = repository().join("examples").join(&name);
        assert!(folder.join("README.md").is_file(), "{name}");
        assert!(folder.join("main.scenario.toml").is_file(), "{name}");
        let command = format!("$ harn run examples/{name} --scenario");
        assert!(
            cookbook.contains(&command) || name == "quickstart",
            "{name}"
        );
    }
}

#[test]
fn examples_are_fine_by_our_own_standards() {
    let checkout = Checkout::new();
    for check in [&["check"][..], &["fmt", "--check"], &["lint"]] {
        let call = checkout.harn(&[check, &["examples"]].concat());
        assert_eq!(call.exits_with(0).stderr, "", "{check:?}");
    }
}

#[test]
fn the_first_command_of_the_readme_repairs_a_project_again_and_again() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let mut lines = readme.lines();
    let command = lines.find_map(|line| line.strip_prefix("$ ")?.strip_prefix(FROM_CHECKOUT));
    let command = command.expect("the README begins with a command for a checkout");
    let arguments: Vec<&str> = command.split_whitespace().collect();
    assert!(arguments.contains(&"examples/quickstart"), "{command}");
    let checkout = Checkout::new();
    for _ in 0..2 {
        let started = Instant::now();
        let call = checkout.harn(&arguments).exits_with(0);
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
        call.prints("Tests before: 2 passed, 1 failed, 3 total")
            .prints("    edited 'pages.harn': 1 replacement, at line 5")
            .prints("Tests after:  3 passed, 3 total");
        checkout.is_as_before();
    }
    let sessions = checkout.harn(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn what_the_quickstart_says_to_look_at_can_be_looked_at() {
    let checkout = Checkout::new();
    let call = checkout.example("quickstart").exits_with(0);
    let hints = call.stdout.lines().filter_map(|line| {
        let command = line.trim_start().strip_prefix("harn ")?;
        command.split("  ").next()
    });
    let hints: Vec<&str> = hints.collect();
    assert_eq!(hints.len(), 3, "{call:?}");
    for hint in hints {
        let arguments: Vec<&str> = hint.split_whitespace().collect();
        let shown = checkout.harn(&arguments).exits_with(0);
        assert!(!shown.stdout.is_empty(), "{hint}");
    }
}

#[test]
fn a_change_is_reviewed() {
    check(
        "code-review",
        1,
        &["shop/orders.py:10: consider: a customer without orders makes this divide by zero"],
    );
}

#[test]
fn a_fix_that_is_none_is_found_out() {
    let lines = [
        "verified: the tests fail",
        "verified: the tests pass",
        "done after 5 turns",
    ];
    check("bug-fix", 0, &lines);
}

#[test]
fn three_readers_and_a_writer_answer() {
    let lines = [
        "district.md: 2 facts",
        "gas.md: 2 facts",
        "heat-pumps.md: 2 facts",
    ];
    check("research", 0, &lines);
}

#[test]
fn mail_becomes_tickets_also_after_a_wrong_answer() {
    check(
        "extraction",
        0,
        &[
            "{\"customer\":\"Alan\",\"file\":\"3.txt\",\"kind\":\"complaint\",\"order\":null,\
             \"summary\":\"Chair broke and he fell, wants the money back\",\"urgent\":true}",
        ],
    );
}

/// A line costs 120 * 2.5 + 30 * 10 millionths of a dollar, and a fourth one could not be paid.
#[test]
fn a_batch_stops_before_the_money_is_gone() {
    let lines = [
        "wool blanket: Warm in winter, light in summer.",
        "3 of 5 done for $0.0018 of $0.002",
        "left: tea pot",
        "left: garden table",
    ];
    check("batch", 1, &lines);
}

#[test]
fn the_skill_that_fits_is_used() {
    check("skills", 0, &["skill: release-notes", "tools: changes"]);
}

#[test]
fn the_tools_of_a_server_are_used() {
    let lines = [
        "called: library__find_book",
        "It is on shelf B4; two copies are there.",
    ];
    check("mcp-tools", 0, &lines);
}

#[test]
fn a_daemon_wakes_when_its_file_changes() {
    let lines = [
        "inbox.md: a line was written",
        "todo.md: - buy a lamp for the hall",
    ];
    check("file-watcher", 0, &lines);
}

/// Answers a release from another process as soon as it is asked for; gives what came of it.
fn answer_release(answer: &[&str]) -> String {
    let checkout = Checkout::new();
    let arguments = ["run", "examples/human-approval", "--scenario"];
    let mut running = checkout
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built with the tests");
    let mut told = BufReader::new(running.stderr.take().expect("it is a pipe")).lines();
    let asked = told.find_map(|line| {
        let line = line.expect("we print UTF-8");
        let id = line.strip_prefix("? release 1.5.0: harn hitl answer ")?;
        Some(id.to_owned())
    });
    let asked = asked.expect("somebody is asked");
    checkout
        .harn(&[&["hitl", "answer", &asked], answer].concat())
        .exits_with(0);
    // Who writes needs a reader until the end.
    told.for_each(drop);
    let ended = Call::of(running.wait_with_output().expect("it ends")).exits_with(0);
    checkout.is_as_before();
    ended.stdout
}

#[test]
fn a_person_decides_about_a_release() {
    assert_eq!(answer_release(&["--approve"]), "Release 1.5.0 is out.\n");
    assert_eq!(
        answer_release(&["--deny", "--reason", "not on a Friday"]),
        "There is no release: it was not approved.\n"
    );
}
