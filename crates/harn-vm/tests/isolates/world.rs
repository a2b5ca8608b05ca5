//! A world without surprises: time passes only when everybody waits.

use std::cell::RefCell;
use std::rc::Rc;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::{
    Answer, EffectFailure, EffectId, Effects, Entry, Failure, Inbox, Isolate, Limits, Outside,
    ProcessEnd, Request, Step, Stream, Value, inbox,
};

/// What happened in a world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What was written.
    pub(crate) output: String,
    /// What was asked for, and when.
    pub(crate) requests: Vec<String>,
}

/// The world.
pub(crate) struct Still {
    now: Rc<RefCell<i64>>,
    seen: Rc<RefCell<Seen>>,
    outside: Outside,
}

impl Effects for Still {
    fn perform(&mut self, request: &Request) -> Answer {
        let now = *self.now.borrow();
        match request {
            Request::Now | Request::Elapsed => return Answer::Number(now),
            _ => {}
        }
        let what = format!("{now}: {request:?}");
        self.seen.borrow_mut().requests.push(what);
        match request {
            Request::Random(count) => Answer::Octets(vec![42; *count]),
            Request::Process(request) => Answer::Process(ProcessEnd {
                status: Some(0),
                output: request.arguments.join(" ").into_bytes(),
                ..ProcessEnd::default()
            }),
            _ => Answer::Failed(EffectFailure {
                kind: std::io::ErrorKind::Unsupported,
                message: "not in this world".to_owned(),
            }),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        let answer = self.perform(&request);
        self.outside.complete(id, answer);
    }

    fn cancel(&mut self, _id: EffectId) {}

    fn write(&mut self, _stream: Stream, text: &str) {
        self.seen.borrow_mut().output.push_str(text);
    }
}

/// A program in such a world.
pub(crate) struct Run {
    pub(crate) isolate: Isolate,
    pub(crate) seen: Rc<RefCell<Seen>>,
    now: Rc<RefCell<i64>>,
}

impl Run {
    /// A program that is ready to run.
    pub(crate) fn of(text: &str, limits: &Limits) -> Self {
        let files = MemoryFiles::new();
        files.write("/p/main.harn", text);
        let mut workspace = Workspace::new(Box::new(files));
        let parsed = workspace
            .parsed("/p/main.harn")
            .expect("it was just written");
        assert!(
            parsed.parsed.errors.is_empty(),
            "{:?}",
            parsed.parsed.errors
        );
        let (outside, inbox): (Outside, Inbox) = inbox();
        let seen = Rc::new(RefCell::new(Seen::default()));
        let now = Rc::new(RefCell::new(0));
        let world = Still {
            now: now.clone(),
            seen: seen.clone(),
            outside,
        };
        let registry = Rc::new(harn_vm::registry());
        let mut isolate = Isolate::new(registry, Box::new(world), inbox, limits);
        let loaded = isolate.load(&mut workspace, "/p/main.harn".as_ref(), &Entry::Default);
        loaded.expect("the program can be compiled");
        Self { isolate, seen, now }
    }

    /// Lets time pass.
    pub(crate) fn pass_until(&mut self, until: i64) {
        let now = *self.now.borrow();
        *self.now.borrow_mut() = until.max(now);
    }

    /// Runs it to its end. Time jumps to when something happens.
    pub(crate) fn finish(&mut self) -> Result<Value, Failure> {
        loop {
            match self.isolate.step() {
                Step::Done(result) => return result,
                Step::SliceSpent => {}
                Step::Awaiting { until: Some(until) } => self.pass_until(until),
                Step::Awaiting { until: None } => self.isolate.wait(None),
            }
        }
    }
}
