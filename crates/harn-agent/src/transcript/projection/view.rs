//! What is left of messages.

use serde_json::Value;

use super::signed::is_signed;

/// What becomes of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    /// The model sees it.
    Kept,
    /// The model sees this instead.
    Redacted(Value),
    /// The model does not see it.
    Dropped,
}

/// What is left of messages, and how that came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct View {
    /// What the model sees.
    pub(super) messages: Vec<Value>,
    pub(super) kept: usize,
    pub(super) dropped: usize,
    pub(super) redacted: usize,
    /// Whether a message was redacted or dropped that its provider has signed.
    pub(super) touches_signed: bool,
}

impl View {
    /// The messages with their fates; one without a fate is kept.
    pub(super) fn of(messages: &[Value], fates: Vec<Fate>) -> Self {
        let mut view = Self::default();
        let mut fates = fates.into_iter();
        for message in messages {
            let fate = fates.next().unwrap_or(Fate::Kept);
            view.touches_signed |= fate != Fate::Kept && is_signed(message);
            match fate {
                Fate::Kept => {
                    view.kept += 1;
                    view.messages.push(message.clone());
                }
                Fate::Redacted(other) => {
                    view.redacted += 1;
                    view.messages.push(other);
                }
                Fate::Dropped => view.dropped += 1,
            }
        }
        view
    }

    /// Lets the model see one more message before all others.
    pub(super) fn put_before(&mut self, message: Value) {
        self.messages.insert(0, message);
    }
}
