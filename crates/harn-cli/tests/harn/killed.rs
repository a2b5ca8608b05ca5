//! What becomes of the processes that a killed `harn` has started: `kill -9`, at moments that
//! differ from kill to kill, while programs, models and servers of tools have children and
//! grandchildren.
//!
//! Everything that is started here has a number of its test in its command line, by which it is
//! found in `/proc`.

#![cfg(target_os = "linux")]

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::language::Programs;

/// How long a machine with much to do may need for what takes two seconds at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts processes that stay, with grandchildren and in a pipeline, and then short ones, one
/// after the other.
const PROGRAM: &str = r#"
pipeline default() {
  let mark = env("MARK")
  spawn { exec("sh", "-c", "sleep ${mark} & sleep ${mark}; wait") }
  spawn { shell("sleep ${mark} | sleep ${mark}") }
  spawn { host_call("process.exec", {mode: "argv", argv: ["sleep", mark]}) }
  while true {
    exec("sh", "-c", "sleep 0.000${mark} & exit")
    println("again")
  }
}
"#;

/// Leaves something in the background, and goes on.
const LEAVING: &str = r#"
pipeline default() {
  exec("sh", "-c", "sleep ${env("MARK")} >/dev/null 2>&1 &")
  println("left")
  while true {
    exec("sleep", "0.000${env("MARK")}")
  }
}
"#;

const AGENT: &str = r#"
pipeline default() {
  agent_loop("Go.", nil, {tools: coding_tools(), session_id: "s"})
}
"#;

/// A model that asks for two commands at once, over and over.
fn scenario(mark: &str) -> String {
    let call = format!(
        "{{ tool = \"run\", arguments = {{ command = \"sleep {mark} & sleep {mark}; wait\" }} }}"
    );
    format!("[[turn]]\ncall = [{call}, {call}]\n")
}

const CLIENT: &str = r#"
pipeline default() {
  mcp_connect("sh", ["-c", "sleep ${env("MARK")} & sleep ${env("MARK")}; wait"])
}
"#;

/// A `harn` that runs and is going to be killed.
struct Victim {
    child: Child,
    said: BufReader<ChildStdout>,
    mark: String,
    _programs: Programs,
}

impl Victim {
    /// Runs `main.harn`; `number` tells the processes of this kill from all others.
    fn start(number: u32, main: &str, scenario: Option<fn(&str) -> String>) -> Self {
        // A time to sleep, and long enough.
        let mark = format!("1{:07}{number:03}", std::process::id());
        let programs = Programs::new(&[("main.harn", main)]);
        let mut command = programs.command(&["run", "main.harn"]);
        if let Some(scenario) = scenario {
            programs.add("model.toml", scenario(&mark));
            command.args(["--scenario", "model.toml"]);
        }
        command.env("PATH", "/usr/bin:/bin").env("MARK", &mark);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let said = BufReader::new(child.stdout.take().expect("it is piped"));
        Self {
            child,
            said,
            mark,
            _programs: programs,
        }
    }

    /// Waits until it has said so many lines.
    fn hear(&mut self, lines: u64) {
        let mut line = String::new();
        for _ in 0..lines {
            let read = self.said.read_line(&mut line);
            assert!(read.expect("the pipe is ours") > 0, "it ended by itself");
        }
    }

    /// Waits until one of its processes runs.
    #[track_caller]
    fn wait_for_children(&self) {
        until("its children begin", || !self.survivors().is_empty());
    }

    /// Kills it, and fails the test unless all that it had started ends.
    #[track_caller]
    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed");
        let watchdog = ["harn-watchdog".to_owned(), self.child.id().to_string()];
        until("its watchdog has done its work", || {
            command_lines().all(|(_, words)| !words.ends_with(&watchdog))
        });
        // The watchdog has sent the last signals; they need not have arrived.
        let start = Instant::now();
        while start.elapsed() < PATIENCE && !self.survivors().is_empty() {
            pause();
        }
        assert_eq!(self.survivors(), [""; 0]);
    }

    fn survivors(&self) -> Vec<String> {
        let is_ours = |words: &[String]| words.iter().any(|word| word.contains(&self.mark));
        let ours = command_lines().filter(|(_, words)| is_ours(words));
        ours.map(|(pid, words)| format!("{pid} {}", words.join(" ")))
            .collect()
    }
}

/// What every process was called with. Those that have ended and were not reaped have no words.
fn command_lines() -> impl Iterator<Item = (String, Vec<String>)> {
    let processes = fs::read_dir("/proc").expect("Linux has it");
    processes.filter_map(|process| {
        let process = process.ok()?;
        let pid = process.file_name().into_string().ok()?;
        pid.parse::<u32>().ok()?;
        let words = fs::read(process.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let words = words.trim_end_matches('\0').split('\0');
        Some((pid, words.map(str::to_owned).collect()))
    })
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        pause();
    }
}

fn pause() {
    std::thread::park_timeout(Duration::from_millis(5));
}

/// Turns of an idle loop, so that the kill hits any moment. The same for the same number.
fn spin(number: u32) {
    let turns = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 43;
    for turn in 0..turns {
        black_box(turn);
    }
}

#[test]
fn what_a_program_has_started_ends_with_a_killed_harn() {
    for number in 0..24 {
        let mut victim = Victim::start(number, PROGRAM, None);
        victim.hear(u64::from(number) % 6);
        spin(number);
        victim.kill();
    }
}

/// Their leaders are gone when the kill comes, and their numbers are known.
#[test]
fn what_a_program_has_left_in_the_background_ends_with_a_killed_harn() {
    for number in 0..8 {
        let mut victim = Victim::start(number, LEAVING, None);
        victim.hear(1);
        spin(number);
        victim.kill();
    }
}

#[test]
fn what_a_model_has_started_ends_with_a_killed_harn() {
    for number in 0..12 {
        let victim = Victim::start(number, AGENT, Some(scenario));
        victim.wait_for_children();
        spin(number);
        victim.kill();
    }
}

#[test]
fn servers_of_tools_end_with_a_killed_harn() {
    for number in 0..6 {
        let victim = Victim::start(number, CLIENT, None);
        victim.wait_for_children();
        spin(number);
        victim.kill();
    }
}

/// As `shell("server &")` in a terminal: it was asked for, and the program went on.
#[test]
fn what_a_program_leaves_in_the_background_survives_its_end() {
    for end in ["", "exit(0)"] {
        let main = format!(
            "exec(\"sh\", \"-c\", \"sleep ${{env(\"MARK\")}} >/dev/null 2>&1 &\")\n{end}\n"
        );
        let mut victim = Victim::start(end.len() as u32, &main, None);
        assert!(victim.child.wait().expect("it ends").success());
        let watchdog = ["harn-watchdog".to_owned(), victim.child.id().to_string()];
        until("its watchdog has gone", || {
            command_lines().all(|(_, words)| !words.ends_with(&watchdog))
        });
        let survivors = victim.survivors();
        assert_eq!(survivors.len(), 1, "{end}: {survivors:?}");
        let (pid, _) = survivors[0].split_once(' ').expect("a pid first");
        let killed = std::process::Command::new("kill").arg(pid).status();
        assert!(killed.expect("every system has kill").success());
    }
}
