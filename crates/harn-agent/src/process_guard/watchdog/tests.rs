//! Watchdogs of their own, whose pipe breaks while we look on.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use tempfile::TempDir;

use super::super::PipeMark;
use super::*;

/// A watchdog, and processes that say when they are gone.
struct Scene {
    watchdog: Watchdog,
    folder: TempDir,
}

/// A group of processes. All of them hold a pipe that ends with the last of them.
struct Group {
    leader: Child,
    held: BufReader<File>,
    path: PathBuf,
}

impl Scene {
    fn new() -> Self {
        Self {
            watchdog: Watchdog::new(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Runs a line in a shell that leads a group, and waits until it has said `there` to fd 3.
    fn group(&self, name: &str, line: &str) -> Group {
        let path = self.folder.path().join(name);
        start(&path, line, |_| {})
    }

    /// Breaks the pipe, as the death of this process would.
    fn die(&mut self) -> Child {
        self.watchdog.process.take().unwrap().child
    }
}

fn start(path: &Path, line: &str, settings: impl FnOnce(&mut Command)) -> Group {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
    let mut command = Command::new(SHELL);
    command.args(["-c", &format!("exec 3>'{}'; {line}", path.display())]);
    command.process_group(0).stdin(Stdio::null());
    settings(&mut command);
    let leader = command.spawn().unwrap();
    drop(command);
    let mut held = BufReader::new(File::open(path).unwrap());
    let mut said = String::new();
    held.read_line(&mut said).unwrap();
    assert_eq!(said, "there\n");
    let path = path.to_owned();
    Group { leader, held, path }
}

impl Group {
    fn number(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// Returns when the last of them is gone.
    fn wait_until_gone(mut self) {
        let mut rest = String::new();
        self.held.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        self.leader.wait().unwrap();
    }

    #[track_caller]
    fn end_alive(self) {
        let here = rustix::process::test_kill_process_group(self.number());
        assert!(here.is_ok(), "{} is gone", self.path.display());
        kill_process_group(self.number(), Signal::KILL).unwrap();
        self.wait_until_gone();
    }
}

#[test]
fn a_group_ends_with_all_its_members_when_the_pipe_breaks() {
    let mut scene = Scene::new();
    let first = scene.group("first", "sh -c 'echo there >&3; sleep 600' & wait");
    let second = scene.group("second", "echo there >&3; kill -STOP $$; sleep 600");
    for group in [&first, &second] {
        let entered = scene.watchdog.enter(Watched::Group(group.number()));
        entered.unwrap();
    }
    let mut watchdog = scene.die();
    first.wait_until_gone();
    second.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}

#[test]
fn what_was_removed_from_the_table_lives_on() {
    let mut scene = Scene::new();
    let removed = scene.group("removed", "echo there >&3; sleep 600");
    let watched = scene.group("watched", "echo there >&3; sleep 600");
    let place = scene.watchdog.enter(Watched::Group(removed.number()));
    let entered = scene.watchdog.enter(Watched::Group(watched.number()));
    entered.unwrap();
    let table = scene.watchdog.table.as_mut().unwrap();
    table.remove(place.unwrap()).unwrap();
    let mut watchdog = scene.die();
    watched.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
    removed.end_alive();
}

#[test]
fn what_does_not_end_when_asked_is_killed() {
    let mut scene = Scene::new();
    let deaf = scene.group(
        "deaf",
        "trap '' TERM HUP; echo there >&3; while :; do sleep 1; done",
    );
    scene.watchdog.enter(Watched::Group(deaf.number())).unwrap();
    let mut watchdog = scene.die();
    deaf.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}

#[test]
fn what_was_being_started_is_found_by_its_pipe() {
    let mut scene = Scene::new();
    let (output, writer) = io::pipe().unwrap();
    let mark = PipeMark::of(&writer).unwrap();
    let path = scene.folder.path().join("born");
    let born = start(&path, "echo there >&3; sleep 600", |command| {
        command.stdout(writer);
    });
    // We would hold it as well.
    drop(output);
    let other = scene.group("other", "echo there >&3; sleep 600");
    scene.watchdog.enter(Watched::Pipe(mark.0)).unwrap();
    let mut watchdog = scene.die();
    born.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
    other.end_alive();
}

/// It has ended already, and what it has started has the pipe.
#[test]
fn what_was_being_started_is_found_by_what_it_has_left() {
    let mut scene = Scene::new();
    let (output, writer) = io::pipe().unwrap();
    let mark = PipeMark::of(&writer).unwrap();
    drop(output);
    let path = scene.folder.path().join("born");
    let mut born = start(
        &path,
        "sh -c 'echo there >&3; exec sleep 600' &",
        |command| {
            command.stdout(writer);
        },
    );
    born.leader.wait().unwrap();
    scene.watchdog.enter(Watched::Pipe(mark.0)).unwrap();
    let mut watchdog = scene.die();
    born.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}

#[test]
fn what_a_leader_has_left_ends_also_before_the_leader_is_reaped() {
    let mut scene = Scene::new();
    let path = scene.folder.path().join("rest");
    let rest = start(&path, "sh -c 'echo there >&3; exec sleep 600' &", |_| {});
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(rest.number()), options).unwrap();
    scene.watchdog.enter(Watched::Rest(rest.number())).unwrap();
    let mut watchdog = scene.die();
    rest.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}

#[test]
fn what_a_reaped_leader_has_left_ends_and_a_stranger_of_its_number_lives_on() {
    let mut scene = Scene::new();
    let line = "sh -c 'echo there >&3; exec sleep 600' & read -r _";
    let (go, wait) = io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
    let path = scene.folder.path().join("rest");
    let mut rest = start(&path, line, |command| {
        command.stdin(wait);
    });
    drop(go);
    rest.leader.wait().unwrap();
    let stranger = scene.group("stranger", "echo there >&3; sleep 600");
    for leader in [rest.number(), stranger.number()] {
        scene.watchdog.enter(Watched::Rest(leader)).unwrap();
    }
    let mut watchdog = scene.die();
    rest.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
    stranger.end_alive();
}

/// As Ctrl-C, a closed terminal or a shutdown would.
#[test]
fn signals_do_not_end_a_watchdog() {
    let mut scene = Scene::new();
    let group = scene.group("group", "echo there >&3; sleep 600");
    scene
        .watchdog
        .enter(Watched::Group(group.number()))
        .unwrap();
    let process = &mut scene.watchdog.process.as_mut().unwrap();
    let number = Pid::from_child(&process.child);
    // It says that it listens by waiting for a pipe, which /proc tells.
    let ignored = |bit: u32| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", number.as_raw_nonzero()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap() >> (bit - 1) & 1 == 1
    };
    while !ignored(12) {
        std::thread::yield_now();
    }
    for signal in [Signal::INT, Signal::HUP, Signal::TERM, Signal::QUIT] {
        kill_process(number, signal).unwrap();
    }
    assert!(process.is_alive());
    let mut watchdog = scene.die();
    group.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}

#[test]
fn a_watchdog_that_was_killed_has_a_successor_that_knows_the_same() {
    let mut scene = Scene::new();
    let group = scene.group("group", "echo there >&3; sleep 600");
    scene
        .watchdog
        .enter(Watched::Group(group.number()))
        .unwrap();
    let process = scene.watchdog.process.as_mut().unwrap();
    process.child.kill().unwrap();
    while process.is_alive() {
        std::thread::yield_now();
    }
    scene.watchdog.enter(Watched::Pipe(0)).unwrap();
    let mut watchdog = scene.die();
    group.wait_until_gone();
    assert!(watchdog.wait().unwrap().success());
}
