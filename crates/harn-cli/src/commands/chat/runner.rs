//! What becomes of turns, told to whoever draws.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use harn_vm::machine::Stream;
use harn_vm::{TurnEnd, TurnListener};

use super::Message;
use super::shared::Shared;
use super::view::Ended;

/// Hears what becomes of turns. What the program prints is part of the conversation.
pub(super) struct Listener {
    pub(super) shared: Shared,
    pub(super) messages: SyncSender<Message>,
}

impl Listener {
    pub(super) fn new(shared: Shared, messages: SyncSender<Message>) -> Arc<Self> {
        Arc::new(Self { shared, messages })
    }
}

impl TurnListener for Listener {
    fn ended(&self, end: TurnEnd) {
        let ended = match end {
            TurnEnd::Well(text) => Ended::Well(text),
            TurnEnd::Told(text) => Ended::Told(text),
            TurnEnd::Cancelled => Ended::Cancelled,
            TurnEnd::Failed(failure) => {
                // The view marks it as an error itself.
                let report = failure.report.strip_prefix("error: ");
                Ended::Failed(report.unwrap_or(&failure.report).to_owned())
            }
        };
        let _nobody_looks_any_more = self.messages.send(Message::Ended(ended));
    }

    fn printed(&self, _stream: Stream, text: &str) {
        self.shared.change(|state| state.view.printed(text));
    }
}
