//! Functions of a program that can be called from outside.
//!
//! ```text
//! ClosureHandle::call ──► HostCall ──► fiber ──► reply, on the thread of the program
//!        │                   │           │
//!   PendingCall ─────────── Progress ────┘   waits ─► runs ─► over
//! ```
//!
//! Whoever calls and the isolate share how far the call has come. So a call that is given up
//! before it was taken is never begun, and one that is over costs nothing to give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};

use crate::async_call::AsyncCall;
use crate::data::Data;
use crate::fault::{Failure, Fault};
use crate::inbox::Message;
use crate::sync::FiberId;
use crate::value::Value;

/// Takes the value of a call or its error, on the thread of the program.
pub type Reply = Box<dyn FnOnce(Result<&Value, &Failure>) + Send>;

/// A function of a program, callable from any thread. Each call becomes a fiber of the
/// program. When the last clone is dropped the program forgets the function.
#[derive(Clone, Debug)]
pub struct ClosureHandle {
    claimed: Arc<Claimed>,
    /// What the task of a call knows besides what it knew where the function was let out.
    values: Vec<(&'static str, Data)>,
}

/// A number that stands for a function, as long as somebody can use it.
#[derive(Debug)]
struct Claimed {
    sender: Sender<Message>,
    function: u64,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let _program_has_ended = self.sender.send(Message::Released(self.function));
    }
}

impl ClosureHandle {
    pub(crate) fn new(sender: Sender<Message>, function: u64) -> Self {
        let claimed = Arc::new(Claimed { sender, function });
        Self {
            claimed,
            values: Vec::new(),
        }
    }

    /// The same function. The task of each call made through this handle has a value of that
    /// name, and so has everything that the task starts.
    pub fn with_value(&self, name: &'static str, value: Data) -> Self {
        let mut with = self.clone();
        with.values.push((name, value));
        with
    }

    /// Calls the function; `reply` is called on the thread of the program, once the call has
    /// ended. If the program has ended already it is called at once, with an error; if the
    /// program ends before the call has, it is dropped.
    ///
    /// The call is given up when what this gives is dropped.
    pub fn call(
        &self,
        arguments: Vec<Data>,
        reply: impl FnOnce(Result<&Value, &Failure>) + Send + 'static,
    ) -> PendingCall {
        let (pending, refused) = self.send(arguments, Box::new(reply));
        if let Some(refused) = refused {
            refused.answer(Err(Fault::own(HAS_ENDED)));
        }
        pending
    }

    /// Calls the function and waits for its value. Not to be used on the thread of the
    /// program, which would wait for itself.
    pub fn call_blocking(&self, arguments: Vec<Data>) -> Result<Data, String> {
        let (sender, receiver) = mpsc::channel();
        let (pending, refused) = self.send(
            arguments,
            Box::new(move |result| {
                let data = match result {
                    Ok(value) => Data::of(value).map_err(|failure| failure.text()),
                    Err(failure) => Err(failure.text()),
                };
                let _caller_has_gone = sender.send(data);
            }),
        );
        pending.detach();
        // Nobody would answer it, and nobody would drop it either.
        drop(refused);
        let ended = |_| Err(HAS_ENDED.to_owned());
        receiver.recv().unwrap_or_else(ended)
    }

    /// Calls the function, beginning at once, and gives what `convert` makes of its value or
    /// its error; `convert` runs on the thread of the program. `None` if the program ends
    /// before.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up: its fiber is stopped where it is.
    pub fn call_async<T: Send + 'static>(
        &self,
        arguments: Vec<Data>,
        convert: impl FnOnce(Result<&Value, &Failure>) -> T + Send + 'static,
    ) -> AsyncCall<T> {
        AsyncCall::begin(convert, |reply| self.send(arguments, reply).0)
    }

    /// Sends a call. Gives it back if nobody is there to take it.
    fn send(&self, arguments: Vec<Data>, reply: Reply) -> (PendingCall, Option<HostCall>) {
        let progress = Arc::new(Progress::default());
        let call = HostCall {
            function: self.claimed.function,
            arguments,
            values: self.values.clone(),
            reply,
            progress: Arc::clone(&progress),
        };
        let sender = self.claimed.sender.clone();
        let refused = match sender.send(Message::Called(call)) {
            Err(mpsc::SendError(Message::Called(call))) => Some(call),
            _ => None,
        };
        let progress = Some(progress);
        (PendingCall { sender, progress }, refused)
    }
}

const HAS_ENDED: &str = "the program has ended";

/// A call that somebody waits for. Dropping it gives the call up: if it is not over, its fiber
/// is stopped where it is and what it has begun is cancelled. That only leaves a message, and
/// never waits.
#[derive(Debug)]
#[must_use = "a call is given up when this is dropped"]
pub struct PendingCall {
    sender: Sender<Message>,
    /// `None` once nobody cares.
    progress: Option<Arc<Progress>>,
}

impl PendingCall {
    /// Gives the call up.
    pub fn cancel(self) {
        drop(self);
    }

    /// Lets the call go on, whatever becomes of whoever called.
    pub fn detach(mut self) {
        self.progress = None;
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        let before = self.progress.as_ref().map(|progress| progress.end());
        if let Some(Before::Ran(fiber)) = before {
            let _program_has_ended = self.sender.send(Message::Stopped(fiber));
        }
    }
}

/// A call from outside.
pub(crate) struct HostCall {
    /// The number of the function.
    pub(crate) function: u64,
    pub(crate) arguments: Vec<Data>,
    /// What its task knows about it.
    pub(crate) values: Vec<(&'static str, Data)>,
    pub(crate) reply: Reply,
    pub(crate) progress: Arc<Progress>,
}

impl HostCall {
    /// Ends a call that did not become a fiber.
    pub(crate) fn answer(self, result: Result<Value, Failure>) {
        answer(self.reply, &self.progress, result);
    }
}

/// Ends a call, unless it was given up.
pub(crate) fn answer(reply: Reply, progress: &Progress, result: Result<Value, Failure>) {
    if !matches!(progress.end(), Before::Over) {
        reply(result.as_ref());
    }
}

/// How far a call has come: it waits, is run by the fiber of this number, or is over.
#[derive(Debug, Default)]
pub(crate) struct Progress(AtomicU64);

/// Fibers are counted from one.
const WAITS: u64 = 0;
const OVER: u64 = u64::MAX;

/// What a call did before it was over.
enum Before {
    Waited,
    Ran(FiberId),
    Over,
}

impl Progress {
    /// A fiber begins to run the call. Gives `false` if it was given up.
    pub(crate) fn start(&self, fiber: FiberId) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.0
            .compare_exchange(WAITS, fiber.0, success, failure)
            .is_ok()
    }

    /// The call has ended or is given up, whichever comes first.
    fn end(&self) -> Before {
        match self.0.swap(OVER, Ordering::AcqRel) {
            WAITS => Before::Waited,
            OVER => Before::Over,
            fiber => Before::Ran(FiberId(fiber)),
        }
    }
}
