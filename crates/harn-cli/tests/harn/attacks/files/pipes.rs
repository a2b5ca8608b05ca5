//! Pipes, sockets and devices in place of files.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{Place, in_a_tool};

/// Longer than anything here takes, shorter than for ever.
const LONG: Duration = Duration::from_secs(30);

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("the folder is ours");
}

#[test]
fn a_pipe_does_not_hold_up_a_tool() {
    let place = Place::new();
    make_pipe(&place.programs.path("work/in/pipe"));
    let _listener = UnixListener::bind(place.programs.path("work/in/socket")).expect("it is ours");
    let mut work = String::new();
    for path in ["in/pipe", "in/socket"] {
        for call in [
            "read_file(P)",
            "read_file_bytes(P)",
            "read_lines(P)",
            "write_file(P, \"x\")",
            "append_file(P, \"x\")",
            "copy_file(P, \"in/copy\")",
            "render(P)",
            "agent_session_seed_from_jsonl(P)",
        ] {
            let call = call.replace('P', &format!("{path:?}"));
            work += &format!("  attempt(\"{path}\", {{ -> {call} }})\n");
        }
    }
    let began = Instant::now();
    let call = place.run(&in_a_tool(&work, ""), &[]).exits_with(0);
    assert!(began.elapsed() < LONG);
    assert_eq!(call.stdout.lines().count(), 16, "{call:?}");
    for line in call.stdout.lines() {
        let is_told = line.contains("is not a file") || line.contains("neither a regular file");
        assert!(is_told, "{line}");
    }
}

#[test]
fn a_pipe_does_not_hold_up_a_program_past_its_time() {
    for call in ["read_file(\"pipe\")", "write_file(\"pipe\", \"x\")"] {
        let place = Place::new();
        make_pipe(&place.programs.path("work/pipe"));
        let began = Instant::now();
        let program = format!("println(try {{ {call} }})\n");
        let call = place.run(&program, &["--timeout", "300ms"]);
        assert!(began.elapsed() < LONG, "{call:?}");
        assert_ne!(call.code, Some(0), "{call:?}");
    }
}

#[test]
fn a_program_reads_what_another_one_writes_into_a_pipe() {
    let place = Place::new();
    let pipe = place.programs.path("work/pipe");
    make_pipe(&pipe);
    let writer = std::thread::spawn(move || std::fs::write(pipe, "through a pipe"));
    let call = place.run("println(read_file(\"pipe\"))\n", &["--timeout", "30s"]);
    call.exits_with(0).says("through a pipe\n", "");
    writer
        .join()
        .expect("it does not panic")
        .expect("somebody reads");
}

#[test]
fn a_pipe_does_not_hold_up_a_chat() {
    for name in ["AGENTS.md", "CLAUDE.md", "harn.toml"] {
        let place = Place::new();
        make_pipe(&place.programs.path("work").join(name));
        place
            .programs
            .add("work/s.scenario.toml", "[[turn]]\ntext = \"Hello.\"\n");
        let mut command = place
            .programs
            .command(&["chat", "--scenario", "s.scenario.toml"]);
        command.current_dir(place.programs.path("work"));
        command.stdin(std::process::Stdio::null());
        let began = Instant::now();
        let mut child = command
            .spawn()
            .expect("the program was built with the tests");
        while child.try_wait().expect("it is ours").is_none() {
            if began.elapsed() > LONG {
                child.kill().expect("it is ours");
                panic!("{name} holds it up");
            }
            std::thread::yield_now();
        }
    }
}
