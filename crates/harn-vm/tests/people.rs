//! Programs that share a log: what one of them waits for, another one ends.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use harn_agent::log::{AnyEventLog, DEFAULT_QUEUE_DEPTH, MemoryEventLog};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{EventLogOptions, Outcome, Program, RunOptions, Sink, WorldOptions};

/// A log that several programs have open.
#[derive(Clone)]
struct Shared(Arc<AnyEventLog>);

impl Shared {
    fn new() -> Self {
        let log = MemoryEventLog::new(DEFAULT_QUEUE_DEPTH);
        Self(Arc::new(AnyEventLog::Memory(log)))
    }

    /// What a program writes. Each line is also told to `heard` as soon as it is written.
    #[track_caller]
    fn run(&self, text: &str, heard: Option<Sender<String>>) -> String {
        let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
        workspace.set_text("/main.harn", text);
        let log = Arc::clone(&self.0);
        let options = RunOptions {
            world: WorldOptions {
                event_log: EventLogOptions {
                    open: Some(Arc::new(move || Some(Arc::clone(&log)))),
                    ..EventLogOptions::default()
                },
                ..WorldOptions::default()
            },
            timeout: Some(Duration::from_secs(60)),
            ..RunOptions::default()
        };
        let kept = Kept {
            text: Arc::default(),
            heard,
        };
        let ended = Program::new(&mut workspace, Path::new("/main.harn"))
            .run(&options, Box::new(kept.clone()))
            .expect("it compiles");
        let written = kept.text.lock().expect("nobody has panicked").clone();
        assert!(
            matches!(ended, Outcome::Ended(Ok(_))),
            "{ended:?} {written}"
        );
        written
    }
}

#[derive(Clone)]
struct Kept {
    text: Arc<Mutex<String>>,
    heard: Option<Sender<String>>,
}

impl Sink for Kept {
    fn write(&mut self, _stream: Stream, text: &str) {
        let mut kept = self.text.lock().expect("nobody has panicked");
        kept.push_str(text);
        if let Some(heard) = &self.heard {
            let _nobody_may_listen = heard.send(text.to_owned());
        }
    }

    fn flush(&mut self) {}
}

#[test]
fn a_waitpoint_outlives_the_program_that_made_it() {
    let log = Shared::new();
    log.run("waitpoint_create({id: \"build\", by: \"first\"})", None);
    let second = "import { complete } from \"std/waitpoint\"\ncomplete(\"build\", {n: 1.0})";
    log.run(second, None);
    let third = "\
import { wait } from \"std/waitpoint\"
println(wait(\"build\").value)
println(waitpoint_create(\"build\").created_by)
";
    assert_eq!(log.run(third, None), "{n: 1.0}\nfirst\n");
}

#[test]
fn a_wait_that_was_over_is_over_in_the_next_program_too() {
    let log = Shared::new();
    let wait = "println(waitpoint_wait(\"build\", {timeout: 0, wait_id: \"w\"}).status)";
    assert_eq!(log.run(wait, None), "timed_out\n");
    log.run("waitpoint_complete(\"build\")", None);
    assert_eq!(log.run(wait, None), "timed_out\n");
}

#[test]
fn a_program_goes_on_when_another_completes_what_it_waits_for() {
    let log = Shared::new();
    let (heard, hears) = channel();
    let waiter = {
        let log = log.clone();
        let text = "\
import { create, wait } from \"std/waitpoint\"
println(create(\"build\").status)
println(wait(\"build\").value)
";
        thread::spawn(move || log.run(text, Some(heard)))
    };
    hears.recv().expect("it says that the waitpoint is there");
    log.run(
        "import { complete } from \"std/waitpoint\"\ncomplete(\"build\", 7)",
        None,
    );
    assert_eq!(waiter.join().expect("it ends"), "open\n7\n");
}

#[test]
fn a_question_is_answered_by_another_program() {
    let log = Shared::new();
    let asking = {
        let log = log.clone();
        thread::spawn(move || log.run("println(ask_user(\"Which colour?\"))", None))
    };
    let answering = "\
let asked = event_log.subscribe(\"hitl.questions\").next().value.payload
println(asked.prompt)
println(hitl_pending()[0].request_id == asked.request_id)
let response = {request_id: asked.request_id, answer: \"blue\"}
event_log.emit(\"hitl.questions\", \"hitl.response_received\", response)
";
    assert_eq!(log.run(answering, None), "Which colour?\ntrue\n");
    assert_eq!(asking.join().expect("it ends"), "blue\n");
    assert_eq!(log.run("println(hitl_pending())", None), "[]\n");
}

#[test]
fn a_question_is_taken_back_by_another_program() {
    let log = Shared::new();
    let asking = {
        let log = log.clone();
        let text = "println(unwrap_err(try { ask_user(\"Which colour?\") }).message)";
        thread::spawn(move || log.run(text, None))
    };
    let taking_back = "\
let waitpoint = event_log.subscribe(\"waitpoints\").next().value.payload
waitpoint_cancel(waitpoint.id, {reason: \"never mind\"})
";
    log.run(taking_back, None);
    assert_eq!(asking.join().expect("it ends"), "never mind\n");
}
