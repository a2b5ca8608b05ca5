//! What reaches an isolate from outside.
//!
//! ```text
//! any thread:  Outside::complete(id, answer)  ─┐
//!              Outside::waker(id).wake()       │
//!              ClosureHandle::call(arguments)  ├─► Inbox ─► Isolate, on its own thread
//!              Outside::nudge()                │
//!              PendingCall, dropped            │
//!              the last ClosureHandle, dropped ┘
//! ```
//!
//! The queue has no bound: whoever sends may be the program's own thread, which must not wait
//! for itself. What is in it is bounded by its senders, each of which has one completion, one
//! wake and the calls whose values it waits for under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Wake, Waker};
use std::time::Duration;

use crate::effects::{Answer, EffectId};
use crate::handle::{ClosureHandle, HostCall};
use crate::sync::FiberId;

/// Something that reaches an isolate.
pub(crate) enum Message {
    /// An effect has its answer.
    Completed(EffectId, Answer),
    /// Whoever performs an effect wants to be called again.
    Woken(Arc<EffectWaker>),
    /// Somebody calls a function.
    Called(HostCall),
    /// Nobody wants the value of a call any more.
    Stopped(FiberId),
    /// Nobody can call a function any more.
    Released(u64),
    /// Whoever drives it has to look at something.
    Nudged,
}

/// Where completions and calls go, from any thread.
#[derive(Clone, Debug)]
pub struct Outside {
    sender: Sender<Message>,
}

impl Outside {
    /// An effect has its answer. If the program has ended, nobody wants it any more.
    pub fn complete(&self, id: EffectId, answer: Answer) {
        let _program_has_ended = self.sender.send(Message::Completed(id, answer));
    }

    /// What makes the isolate call [`Effects::resume`](crate::Effects::resume), on its own
    /// thread. Being woken several times before that counts once, as long as it is the same
    /// waker or a clone of it: an effect should ask for one and keep it.
    pub fn waker(&self, id: EffectId) -> Waker {
        Waker::from(Arc::new(EffectWaker {
            sender: self.sender.clone(),
            id,
            is_woken: AtomicBool::new(false),
        }))
    }

    /// Ends the waiting of whoever drives the isolate.
    pub fn nudge(&self) {
        let _program_has_ended = self.sender.send(Message::Nudged);
    }

    /// A handle of the function that [`Context::export`](crate::Context::export) gave a number.
    /// It is claimed once: the function can be called as long as the handle or a clone of it
    /// is there.
    pub fn claim(&self, number: u64) -> ClosureHandle {
        ClosureHandle::new(self.sender.clone(), number)
    }
}

/// Wakes whoever performs an effect.
pub(crate) struct EffectWaker {
    sender: Sender<Message>,
    id: EffectId,
    /// Whether a message is on its way.
    is_woken: AtomicBool,
}

impl EffectWaker {
    /// The effect to be resumed. Whoever wakes from now on sends another message: they may
    /// have seen something that the resumed one has not.
    pub(crate) fn take(&self) -> EffectId {
        // A swap and not a store: it is what makes visible here whatever those did who have
        // found it set.
        self.is_woken.swap(false, Ordering::AcqRel);
        self.id
    }
}

impl Wake for EffectWaker {
    fn wake(self: Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            let _program_has_ended = self.sender.send(Message::Woken(Arc::clone(&self)));
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Arc::clone(self).wake();
    }
}

/// Where completions and calls arrive.
#[derive(Debug)]
pub struct Inbox {
    receiver: Receiver<Message>,
    outside: Outside,
}

/// An inbox and its outside.
pub fn inbox() -> (Outside, Inbox) {
    let (sender, receiver) = mpsc::channel();
    let outside = Outside { sender };
    let inbox = Inbox {
        receiver,
        outside: outside.clone(),
    };
    (outside, inbox)
}

impl Inbox {
    /// What has arrived.
    pub(crate) fn try_receive(&self) -> Option<Message> {
        self.receiver.try_recv().ok()
    }

    /// Waits until something arrives or the time is over.
    pub(crate) fn receive(&self, time: Option<Duration>) -> Option<Message> {
        match time {
            None => self.receiver.recv().ok(),
            Some(time) => self.receiver.recv_timeout(time).ok(),
        }
    }

    /// Waits for the next answer and drops whatever else arrives, for those who perform effects
    /// without a program. `None` if none can come any more.
    pub fn next_answer(&self) -> Option<(EffectId, Answer)> {
        loop {
            if let Message::Completed(id, answer) = self.receiver.recv().ok()? {
                return Some((id, answer));
            }
        }
    }

    /// Where what arrives here is sent.
    pub(crate) fn outside(&self) -> &Outside {
        &self.outside
    }
}
