//! What reaches an isolate from outside.
//!
//! ```text
//! any thread:  Outside::complete(id, answer) ─┐
//!              ClosureHandle::call(arguments) ─┴─► Inbox ─► Isolate, on its own thread
//! ```

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use crate::data::Data;
use crate::effects::{Answer, EffectId};

/// Something that reaches an isolate.
pub(crate) enum Message {
    /// An effect has its answer.
    Completed(EffectId, Answer),
    /// Somebody calls a function.
    Called(HostCall),
}

/// A call from outside.
pub(crate) struct HostCall {
    /// The number of the function.
    pub(crate) function: u64,
    pub(crate) arguments: Vec<Data>,
    pub(crate) reply: Reply,
}

/// Takes the value of a call, or the text of its error.
pub(crate) type Reply = Box<dyn FnOnce(Result<Data, String>) + Send>;

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
}

/// Where completions and calls arrive.
#[derive(Debug)]
pub struct Inbox {
    receiver: Receiver<Message>,
    sender: Sender<Message>,
    /// Whoever holds a handle holds this.
    handles: Arc<()>,
}

/// An inbox and its outside.
pub fn inbox() -> (Outside, Inbox) {
    let (sender, receiver) = mpsc::channel();
    let outside = Outside {
        sender: sender.clone(),
    };
    let inbox = Inbox {
        receiver,
        sender,
        handles: Arc::new(()),
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

    /// A handle of the function with that number.
    pub(crate) fn handle(&self, function: u64) -> ClosureHandle {
        ClosureHandle {
            sender: self.sender.clone(),
            function,
            held: Arc::clone(&self.handles),
        }
    }

    /// Whether somebody outside could still call.
    pub(crate) fn has_handles(&self) -> bool {
        Arc::strong_count(&self.handles) > 1
    }
}

/// A function of a program, callable from any thread. The call becomes a fiber of the
/// program; its value, or the text of its error, comes back when it has ended.
#[derive(Clone, Debug)]
pub struct ClosureHandle {
    sender: Sender<Message>,
    function: u64,
    #[expect(
        dead_code,
        reason = "it is held so that the program knows of the handle"
    )]
    held: Arc<()>,
}

impl ClosureHandle {
    /// Calls the function; `reply` is called on the thread of the program. If the program has
    /// ended it is called at once, with an error.
    pub fn call(
        &self,
        arguments: Vec<Data>,
        reply: impl FnOnce(Result<Data, String>) + Send + 'static,
    ) {
        let call = HostCall {
            function: self.function,
            arguments,
            reply: Box::new(reply),
        };
        if let Err(error) = self.sender.send(Message::Called(call))
            && let Message::Called(call) = error.0
        {
            (call.reply)(Err("the program has ended".to_owned()));
        }
    }

    /// Calls the function and waits for its value. Not to be used on the thread of the
    /// program, which would wait for itself.
    pub fn call_blocking(&self, arguments: Vec<Data>) -> Result<Data, String> {
        let (sender, receiver) = mpsc::channel();
        self.call(arguments, move |result| {
            let _caller_has_gone = sender.send(result);
        });
        let ended = || Err("the program has ended".to_owned());
        receiver.recv().unwrap_or_else(|_| ended())
    }
}
