//! Programs that share a log: what one of them waits for, another one ends.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use harn_agent::log::{AnyEventLog, DEFAULT_QUEUE_DEPTH, MemoryEventLog};
use harn_agent::{BoxFuture, HostBridge, HostError, Seam};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{AgentOptions, EventLogOptions, Outcome, Program, RunOptions, Sink, WorldOptions};
use serde_json::{Value, json};

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

/// A host with one person, who says the same to every request.
#[derive(Default)]
struct Host {
    says: Mutex<Vec<Value>>,
    told: Mutex<Vec<(String, Value)>>,
}

impl HostBridge for Host {
    fn request<'a>(
        &'a self,
        _method: &'a str,
        _parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        Box::pin(async { Err("nobody is here".into()) })
    }

    fn notify(&self, method: &str, parameters: Value) {
        let mut told = self.told.lock().expect("nobody has panicked");
        told.push((method.to_owned(), parameters));
    }

    fn take_messages(&self, _session_id: &str, _seam: Seam) -> Vec<String> {
        Vec::new()
    }

    fn person_answers<'a>(&'a self, request_id: &'a str) -> BoxFuture<'a, Value> {
        let told = self.told.lock().expect("nobody has panicked");
        assert!(told.iter().any(|(_, told)| told["requestId"] == request_id));
        drop(told);
        let said = self.says.lock().expect("nobody has panicked").pop();
        Box::pin(async move {
            match said {
                Some(said) => said,
                None => std::future::pending().await,
            }
        })
    }

    fn take_resume(&self, _session_id: &str) -> bool {
        false
    }
}

/// What a program writes whose host has somebody to ask.
fn with_host(host: &Arc<Host>, text: &str) -> String {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", text);
    let kept = Kept {
        text: Arc::default(),
        heard: None,
    };
    let options = RunOptions {
        world: WorldOptions {
            agents: AgentOptions {
                bridge: Some(Arc::clone(host) as Arc<dyn HostBridge>),
                ..AgentOptions::default()
            },
            ..WorldOptions::default()
        },
        timeout: Some(Duration::from_secs(60)),
        ..RunOptions::default()
    };
    let ended = Program::new(&mut workspace, Path::new("/main.harn"))
        .run(&options, Box::new(kept.clone()))
        .expect("it compiles");
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    let written = kept.text.lock().expect("nobody has panicked");
    written.clone()
}

#[test]
fn a_host_is_told_and_its_person_answers() {
    let host = Arc::new(Host::default());
    // The last one is said first.
    *host.says.lock().expect("nobody has panicked") = vec![
        json!({"approved": true, "reviewer": "bob"}),
        json!({"approved": true, "reviewer": "ada"}),
        json!("blue"),
    ];
    let text = "\
println(ask_user(\"Which colour?\"))
let options = {quorum: 2, args: {password: \"p\", n: 1}}
println(request_approval(\"deploy\", options).reviewers)
";
    assert_eq!(with_host(&host, text), "blue\n[ada, bob]\n");
    let told = host.told.lock().expect("nobody has panicked");
    let told = |method: &str| {
        let told = told.iter().filter(|(one, _)| one == method);
        told.cloned().collect::<Vec<(String, Value)>>()
    };
    // Whoever was told of a request is told when nobody waits for it any more.
    let resolved = told("harn.hitl.resolved");
    let told = told("harn.hitl.requested");
    assert_eq!((told.len(), resolved.len()), (2, 2));
    assert_eq!(resolved[1].1["requestId"], told[1].1["requestId"]);
    assert_eq!(told[0].1["payload"]["prompt"], "Which colour?");
    let approval = &told[1].1["payload"]["approval_request"];
    assert_eq!(approval["approversRequired"], 2);
    assert_eq!(approval["args"], json!({"password": "[redacted]", "n": 1}));
}

#[test]
fn a_mock_answers_before_the_host() {
    let host = Arc::new(Host::default());
    *host.says.lock().expect("nobody has panicked") = vec![json!("of the host")];
    let text = "\
host_mock(\"hitl\", \"question\", {answer: \"of the mock\"})
println(ask_user(\"Which colour?\"))
";
    assert_eq!(with_host(&host, text), "of the mock\n");
    assert_eq!(host.told.lock().expect("nobody has panicked").len(), 0);
}
