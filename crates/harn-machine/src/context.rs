//! What the body of a builtin can see and do.

use std::any::{Any, TypeId};
use std::rc::Rc;

use hashbrown::HashMap;

use crate::budget::Budget;
use crate::closure::Closure;
use crate::code::Source;
use crate::effects::{Answer, EffectFailure, EffectId, Effects, Request, Stream};
use crate::entrance::Entrance;
use crate::exports::{Export, Exports};
use crate::fault::{Failure, Fault};
use crate::fiber::Strand;
use crate::scheduler::Scheduler;
use crate::sync::{FiberId, Task, Waiters};
use crate::value::Value;

/// What the body of a builtin can see and do.
pub struct Context<'a> {
    /// The world outside.
    pub(crate) effects: &'a mut dyn Effects,
    pub(crate) library: &'a mut LibraryState,
    pub(crate) exports: &'a mut Exports,
    pub(crate) scheduler: &'a mut Scheduler,
    pub(crate) strand: &'a mut Strand,
    /// The file of the function that calls.
    pub(crate) source: &'a Rc<Source>,
    /// How many calls of the program's own functions are nested.
    pub(crate) depth: u32,
    /// Why the policy of the run forbade the last thing that was asked for, if it did.
    pub(crate) refusal: Option<String>,
}

impl Context<'_> {
    /// Asks the world for something that it knows at once.
    pub fn perform(&mut self, request: &Request) -> Answer {
        match request {
            // These are never forbidden, and say nothing about what was asked before.
            Request::Now | Request::Elapsed | Request::Random(_) => self.effects.perform(request),
            _ => {
                self.effects.enter(&self.strand.values);
                let answer = self.effects.perform(request);
                if let Request::File(request) = request {
                    self.scheduler.budget.has_asked(request.octets());
                }
                self.noted(answer)
            }
        }
    }

    /// Keeps why something was refused and makes a failure of it, so that no body takes a
    /// refusal for success. If the body then fails, its error is the refusal.
    fn noted(&mut self, answer: Answer) -> Answer {
        match answer {
            Answer::Refused(reason) => {
                self.refusal = Some(reason.clone());
                Answer::Failed(EffectFailure {
                    kind: std::io::ErrorKind::PermissionDenied,
                    message: reason,
                })
            }
            answer => {
                self.refusal = None;
                answer
            }
        }
    }

    /// Why the policy of the run forbade the last thing that was asked for, if it did. For
    /// bodies that would otherwise take it for something that is not there.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Milliseconds since the epoch.
    pub fn now(&mut self) -> i64 {
        match self.perform(&Request::Now) {
            Answer::Number(now) => now,
            _ => 0,
        }
    }

    /// Writes to the output of the task.
    pub fn write(&mut self, text: &str) {
        if self.strand.muted > 0 {
            return;
        }
        if self.strand.is_root {
            return self.effects.write(Stream::Output, text);
        }
        let home = self.strand.caller.as_ref().and_then(|caller| caller.home);
        match home {
            Some(home) => self.scheduler.write_to(home, text),
            None => self.strand.output.push_str(text),
        }
    }

    /// Writes to the standard error stream.
    pub fn write_error(&mut self, text: &str) {
        self.effects.write(Stream::Errors, text);
    }

    /// What a part of the library remembers during this run.
    pub fn state<T: Default + 'static>(&mut self) -> &mut T {
        self.library.get()
    }

    /// The same for a part that keeps values of the program, so that they are counted as part
    /// of the memory that it uses.
    pub fn holding<T: Holds>(&mut self) -> &mut T {
        self.library.get_holding()
    }

    /// Where the program begins, whoever calls.
    pub fn entrance(&mut self) -> &Entrance {
        self.library.get::<Entrance>()
    }

    /// The folder of the file whose function calls.
    pub fn source_folder(&self) -> Option<&std::path::Path> {
        self.source.folder.as_deref()
    }

    /// The file whose function calls.
    pub fn source(&self) -> &Rc<Source> {
        self.source
    }

    /// The task that calls.
    pub fn strand(&mut self) -> &mut Strand {
        self.strand
    }

    /// The fiber that calls.
    pub fn fiber(&self) -> FiberId {
        self.strand.id
    }

    /// Milliseconds of the clock that fibers sleep by.
    pub fn elapsed(&mut self) -> i64 {
        match self.perform(&Request::Elapsed) {
            Answer::Number(now) => now,
            _ => 0,
        }
    }

    /// Wakes everybody who waits there.
    pub fn wake(&mut self, waiters: &Waiters) {
        self.scheduler.wake_all(waiters);
    }

    /// Asks a task to stop. It has a while to notice.
    pub fn request_stop(&mut self, task: &Task) {
        let now = self.elapsed();
        self.scheduler.request_stop(task, now);
    }

    /// Fails if a value of so many bytes would not fit into the memory that is allowed.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        self.scheduler.budget.reserve(bytes)
    }

    /// What the program may still use. A body that works for long says so there.
    pub fn budget(&mut self) -> &mut Budget {
        &mut self.scheduler.budget
    }

    /// Stops a task where it is.
    pub fn stop(&mut self, task: &Rc<Task>) {
        for effect in self.scheduler.stop(task) {
            self.effects.cancel(effect);
        }
    }

    /// Lets a function be called from outside. Its calls are a part of what this task does:
    /// they start with its values, write where it writes, and nest as deep. Whoever gets the
    /// number has to claim it ([`Outside::claim`](crate::Outside::claim)), because the function
    /// is kept until the handle is dropped.
    pub fn export(&mut self, closure: &Rc<Closure>) -> u64 {
        let export = Export::of(closure, self.strand, self.depth);
        self.exports.add(export)
    }

    /// How many calls of the program's own functions are nested here, those of the tasks that
    /// this one is called for included.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The tasks of the run.
    pub fn scheduler(&mut self) -> &mut Scheduler {
        self.scheduler
    }
}

/// What the parts of the library remember during a run, each by its own type.
#[derive(Default)]
pub struct LibraryState {
    parts: HashMap<TypeId, Box<dyn Any>>,
    /// How to find the values in those parts that keep some.
    holding: HashMap<TypeId, EachValue>,
}

type EachValue = fn(&dyn Any, &mut dyn FnMut(&Value));

/// A part of the library that keeps values of the program.
pub trait Holds: Default + 'static {
    /// Shows every value that it keeps.
    fn each_value(&self, each: &mut dyn FnMut(&Value));
}

impl LibraryState {
    /// What one part remembers.
    pub fn get<T: Default + 'static>(&mut self) -> &mut T {
        let part = self.parts.entry(TypeId::of::<T>());
        let part = part.or_insert_with(|| Box::new(T::default()));
        part.downcast_mut().expect("parts are kept by their type")
    }

    /// The same for a part that keeps values of the program.
    pub fn get_holding<T: Holds>(&mut self) -> &mut T {
        self.holding
            .entry(TypeId::of::<T>())
            .or_insert(|part, each| {
                if let Some(part) = part.downcast_ref::<T>() {
                    part.each_value(each);
                }
            });
        self.get()
    }

    /// Shows every value that is kept.
    pub(crate) fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for (part, find) in &self.holding {
            if let Some(part) = self.parts.get(part) {
                find(&**part, each);
            }
        }
    }
}

/// What a body that waits says it waits for, and remembers between two calls.
#[derive(Default)]
pub struct Waiting {
    /// When it stops waiting, by [`Context::elapsed`].
    pub until: Option<i64>,
    /// What it has begun.
    pub(crate) effect: Option<EffectId>,
    /// The answer to that.
    pub(crate) answer: Option<Box<Answer>>,
    /// Whether this is not the first call.
    pub(crate) resumed: bool,
    /// The tasks that it waits for, which end with it.
    pub(crate) group: Option<Rc<crate::run::Group>>,
    /// Whatever else it needs.
    pub note: Option<Box<dyn Any>>,
    /// Whether being asked to stop ends the wait at once.
    pub stops_at_once: bool,
}

impl Waiting {
    /// Whether this is not the first call.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Waits until something changes there.
    pub fn on(&mut self, waiters: &Waiters, context: &Context<'_>) {
        waiters.add(context.fiber());
    }

    /// Begins something, or gives the answer to it.
    pub fn effect(
        &mut self,
        context: &mut Context<'_>,
        request: impl FnOnce() -> Request,
    ) -> Option<Answer> {
        if let Some(answer) = self.answer.take() {
            self.effect = None;
            return Some(context.noted(*answer));
        }
        if self.effect.is_none() {
            let id = context.scheduler.begin(context.strand.id);
            self.effect = Some(id);
            let request = request();
            context.effects.enter(&context.strand.values);
            context.effects.begin(id, request);
        }
        None
    }

    /// Gives up what was begun and has no answer yet.
    pub fn give_up(&mut self, context: &mut Context<'_>) {
        self.answer = None;
        if let Some(effect) = self.effect.take() {
            context.scheduler.forget(effect);
            context.effects.cancel(effect);
        }
    }

    /// Sets the time when the wait ends, unless it is set already.
    pub fn set_timeout(&mut self, context: &mut Context<'_>, milliseconds: i64) {
        if self.until.is_none() {
            self.until = Some(context.elapsed().saturating_add(milliseconds.max(0)));
        }
    }

    /// Whether the time is over.
    pub fn is_over(&self, context: &mut Context<'_>) -> bool {
        self.until.is_some_and(|until| context.elapsed() >= until)
    }
}

/// The argument at a position, or nil.
pub fn argument(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(&Value::Nil)
}

/// Takes the argument at a position, or nil.
pub fn take(arguments: &mut [Value], at: usize) -> Value {
    arguments
        .get_mut(at)
        .map(std::mem::take)
        .unwrap_or_default()
}

/// A shorthand for a text that is thrown.
pub fn thrown<T>(text: impl AsRef<str>) -> Result<T, Failure> {
    Err(Fault::thrown(text.as_ref()))
}
