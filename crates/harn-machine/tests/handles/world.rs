//! A world that performs effects on the thread of the program, as futures that it polls.

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_machine::{
    Answer, Closure, ClosureHandle, EffectId, Effects, Entry, Failure, Isolate, Limits, Outside,
    Request, Step, Stream, Value, inbox,
};

use crate::library::{LOOP, SLOW, registry};

/// What happened in a world.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) output: String,
    /// The slow effects that wait for their answers.
    pub(crate) slow: Vec<EffectId>,
    pub(crate) cancelled: Vec<EffectId>,
    pub(crate) resumed: Vec<EffectId>,
    pub(crate) threads: Vec<std::thread::ThreadId>,
}

pub(crate) type Work = Pin<Box<dyn Future<Output = String>>>;

/// What an effect does with the functions that it is given.
pub(crate) type Perform = fn(Vec<ClosureHandle>) -> Work;

struct World {
    outside: Outside,
    seen: Rc<RefCell<Seen>>,
    perform: Perform,
    running: HashMap<EffectId, (Work, Waker)>,
    /// So many times whoever is resumed asks for it once more.
    again: Rc<RefCell<u32>>,
}

impl World {
    fn poll(&mut self, id: EffectId) {
        let Some((work, waker)) = self.running.get_mut(&id) else {
            return;
        };
        let mut context = Context::from_waker(waker);
        if let Poll::Ready(text) = work.as_mut().poll(&mut context) {
            self.running.remove(&id);
            self.outside.complete(id, Answer::Text(Some(text)));
        }
    }
}

impl Effects for World {
    fn perform(&mut self, _: &Request) -> Answer {
        Answer::Number(0)
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        match request {
            Request::Other { kind, payload } if kind == LOOP => {
                let numbers = payload
                    .split_whitespace()
                    .map(|number| number.parse().expect("it is a number"));
                let handles = numbers.map(|number| self.outside.claim(number)).collect();
                let waker = self.outside.waker(id);
                self.running.insert(id, ((self.perform)(handles), waker));
                self.poll(id);
            }
            Request::Other { kind, .. } if kind == SLOW => self.seen.borrow_mut().slow.push(id),
            request => panic!("{request:?}"),
        }
    }

    fn cancel(&mut self, id: EffectId) {
        self.running.remove(&id);
        self.seen.borrow_mut().cancelled.push(id);
    }

    fn resume(&mut self, id: EffectId) {
        let mut seen = self.seen.borrow_mut();
        seen.resumed.push(id);
        seen.threads.push(std::thread::current().id());
        drop(seen);
        let mut again = self.again.borrow_mut();
        if *again > 0 {
            *again -= 1;
            self.outside.waker(id).wake();
        }
        drop(again);
        self.poll(id);
    }

    fn write(&mut self, _: Stream, text: &str) {
        self.seen.borrow_mut().output.push_str(text);
    }
}

/// A program in such a world.
pub(crate) struct Run {
    pub(crate) isolate: Isolate,
    pub(crate) outside: Outside,
    pub(crate) seen: Rc<RefCell<Seen>>,
    pub(crate) again: Rc<RefCell<u32>>,
}

impl Run {
    /// A program whose effects do nothing.
    pub(crate) fn of(text: &str) -> Self {
        Self::performing(text, |_| Box::pin(async { String::new() }))
    }

    /// A program whose effects call its functions.
    pub(crate) fn performing(text: &str, perform: Perform) -> Self {
        let files = MemoryFiles::new();
        files.write("/p/main.harn", text);
        let mut workspace = Workspace::new(Box::new(files));
        let parsed = workspace.parsed("/p/main.harn");
        let parsed = parsed.expect("it was just written");
        let errors = &parsed.parsed.errors;
        assert!(errors.is_empty(), "{errors:?}");
        let (outside, inbox) = inbox();
        let seen = Rc::<RefCell<Seen>>::default();
        let again = Rc::<RefCell<u32>>::default();
        let world = World {
            outside: outside.clone(),
            seen: seen.clone(),
            perform,
            running: HashMap::new(),
            again: again.clone(),
        };
        let limits = Limits::default();
        let mut isolate = Isolate::new(registry(), Box::new(world), inbox, &limits);
        let loaded = isolate.load(&mut workspace, "/p/main.harn".as_ref(), &Entry::Default);
        loaded.expect("the program can be compiled");
        Self {
            isolate,
            outside,
            seen,
            again,
        }
    }

    /// Runs it to its end.
    pub(crate) fn finish(&mut self) -> Result<Value, Failure> {
        loop {
            match self.isolate.step() {
                Step::Done(result) => return result,
                Step::SliceSpent => {}
                Step::Awaiting { .. } => self.isolate.wait(None),
            }
        }
    }

    /// The same, as text.
    pub(crate) fn end(&mut self) -> String {
        match self.finish() {
            Ok(value) => value.show(),
            Err(failure) => failure.text(),
        }
    }

    /// Runs it until it waits for something.
    pub(crate) fn settle(&mut self) {
        loop {
            match self.isolate.step() {
                Step::Done(_) => panic!("it has ended"),
                Step::SliceSpent => {}
                Step::Awaiting { .. } => return,
            }
        }
    }

    /// Runs a program that has ended, for calls from another thread, until that has ended.
    pub(crate) fn serve<T>(&mut self, caller: std::thread::JoinHandle<T>) -> T {
        while !caller.is_finished() {
            self.settle();
            self.isolate.wait(Some(Duration::from_millis(5)));
        }
        caller.join().expect("it has not panicked")
    }

    /// A program that has ended with a function.
    pub(crate) fn with_function(text: &str) -> (Self, Rc<Closure>) {
        let mut run = Self::of(text);
        match run.finish() {
            Ok(Value::Closure(closure)) => (run, closure),
            other => panic!("it gives {other:?} and no function"),
        }
    }

    pub(crate) fn output(&self) -> String {
        self.seen.borrow().output.clone()
    }
}
