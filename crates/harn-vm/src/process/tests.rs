use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use harn_machine::{Inbox, inbox};

use super::*;

/// A process that runs a line in a shell, and leads a group.
fn shell(line: &str) -> Start {
    Start {
        request: ProcessRequest {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            ..ProcessRequest::default()
        },
        file: None,
        environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
    }
}

fn begun(start: Start) -> (Processes, Inbox) {
    let (outside, inbox) = inbox();
    let processes = Processes::new(outside);
    processes.begin(EffectId(1), start);
    (processes, inbox)
}

fn answer(start: Start) -> Answer {
    let (_processes, inbox) = begun(start);
    inbox.next_answer().unwrap().1
}

#[track_caller]
fn end(start: Start) -> ProcessEnd {
    match answer(start) {
        Answer::Process(end) => end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn outputs_and_status_are_told() {
    let end = end(shell("echo out; echo err >&2; exit 3"));
    assert_eq!(
        (end.output, end.errors),
        (b"out\n".to_vec(), b"err\n".to_vec())
    );
    assert_eq!((end.status, end.timed_out), (Some(3), false));
}

#[test]
fn a_signal_leaves_no_status() {
    assert_eq!(end(shell("kill -9 $$")).status, None);
}

/// More than fits into the pipes, both ways at once.
#[test]
fn much_is_read_and_written_at_once() {
    let input = vec![b'x'; 1 << 20];
    let mut start = shell("cat; echo done >&2");
    start.request.input = Some(input.clone());
    let end = end(start);
    assert!(end.output == input);
    assert_eq!(end.errors, b"done\n");
}

#[test]
fn input_that_nobody_reads_is_no_error() {
    let mut start = shell("echo done");
    start.request.input = Some(vec![b'x'; 1 << 20]);
    assert_eq!(end(start).output, b"done\n");
    let mut start = shell("cat");
    start.request.input = Some(Vec::new());
    assert_eq!(end(start).output, b"");
}

#[test]
fn a_process_that_prints_for_ever_is_ended() {
    match answer(shell("yes >&2 & yes")) {
        Answer::Failed(failure) => {
            assert_eq!(failure.message, "it wrote more than 64 MiB and was ended");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_process_whose_time_is_over_is_ended() {
    for line in ["sleep 600", "exec >&- 2>&-; sleep 600"] {
        let mut start = shell(line);
        start.request.timeout = Some(100);
        let end = end(start);
        assert!(end.timed_out && end.status.is_none(), "{line}");
    }
}

/// A line that starts a grandchild which holds on to a pipe. The pipe ends when everybody who
/// holds it is gone.
fn with_grandchild(folder: &Path) -> Start {
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let line = format!(
        "sh -c 'exec 3>{}; echo there >&3; sleep 600' & wait",
        pipe.display()
    );
    shell(&line)
}

#[test]
fn what_a_process_has_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for is_dropped in [false, true] {
        let (processes, _inbox) = begun(with_grandchild(folder.path()));
        let pipe = folder.path().join("pipe");
        let mut heard = BufReader::new(File::open(&pipe).unwrap());
        let mut line = String::new();
        heard.read_line(&mut line).unwrap();
        assert_eq!(line, "there\n");
        match is_dropped {
            true => drop(processes),
            false => processes.cancel(EffectId(1)),
        }
        let mut rest = String::new();
        heard.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        std::fs::remove_file(pipe).unwrap();
    }
}

/// A name is looked up where the process will look, and a script may leave out what runs it.
#[test]
fn programs_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("harn-script");
    std::fs::write(&file, "echo \"$0 of $PATH\"\n").unwrap();
    let named = |path: &str| {
        let mut start = shell("");
        start.request.program = "harn-script".to_owned();
        start.request.arguments = Vec::new();
        start.request.environment = vec![("PATH".to_owned(), path.to_owned())];
        start
    };
    let path = folder.path().to_string_lossy().into_owned();
    let denied = answer(named(&path));
    assert!(matches!(denied, Answer::Failed(_)), "{denied:?}");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    let ran = end(named(&path));
    assert_eq!(
        String::from_utf8_lossy(&ran.output),
        format!("{path}/harn-script of {path}\n")
    );
    let unknown = answer(named("/usr/bin"));
    assert!(matches!(unknown, Answer::Failed(_)), "{unknown:?}");
}

#[test]
fn what_cannot_be_started_is_said() {
    let mut start = shell("");
    start.request.program = "/no/such/program".to_owned();
    match answer(start) {
        Answer::Failed(failure) => {
            assert_eq!(failure.message, "No such file or directory (os error 2)");
        }
        other => panic!("{other:?}"),
    }
}
