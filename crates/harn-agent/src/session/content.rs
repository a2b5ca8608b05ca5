//! What was said in a session.

use std::collections::BTreeSet;

use harn_llm::Messages;
use harn_llm::transcript::entering;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state::SessionState;
use super::transcript_event::TranscriptEvent;
use super::turns::Turns;
use super::untold::UntoldCall;
use crate::policy::SessionGrants;

/// What was said in a session: all that a fork takes along and that undoing puts back. The
/// fields are those of the [`SessionState`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// What the model sees.
    pub messages: Messages,
    /// For each of these, which of the recorded messages it is or stands for.
    pub origins: Vec<(usize, usize)>,
    /// Everything that was ever said.
    pub recorded: Messages,
    /// Which of these are shown as they were given.
    pub as_given: BTreeSet<usize>,
    /// The calls of the last turn whose results were not told yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<UntoldCall>,
    /// Transcript events that are no messages.
    pub events: Vec<TranscriptEvent>,
    /// Large things that messages refer to.
    pub assets: Vec<Value>,
    /// The transcript in short.
    pub summary: Option<String>,
    /// What a program noted about the transcript.
    pub metadata: Option<Value>,
    /// `active`, `paused`, …
    pub transcript_state: Option<String>,
}

impl Content {
    /// Messages that a program gives, and nothing else.
    pub fn of_messages(messages: impl Into<Messages>) -> Self {
        let messages = messages.into();
        let count = messages.len();
        Self {
            recorded: messages.clone(),
            origins: (0..count).map(|place| (place, place)).collect(),
            as_given: (0..count).collect(),
            messages,
            ..Self::default()
        }
    }

    /// The messages of a turn, without anything that was noted about earlier ones.
    pub(super) fn of_turn(content: Self) -> Self {
        Self {
            messages: content.messages,
            origins: content.origins,
            recorded: content.recorded,
            as_given: content.as_given,
            untold: content.untold,
            ..Self::default()
        }
    }

    /// The same, noted as what a session of this parent begins with.
    #[must_use]
    pub fn child_of(mut self, parent_id: &str) -> Self {
        match &mut self.metadata {
            Some(Value::Object(metadata)) => {
                metadata.insert("parent_session_id".to_owned(), json!(parent_id));
            }
            other => *other = Some(json!({"parent_session_id": parent_id})),
        }
        self
    }

    /// The first messages only. Other events may speak of messages that are gone, so they go.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        if count < self.messages.len() {
            self.untold.clear();
        }
        self.messages.truncate(count);
        self.origins.truncate(count);
        let recorded = self.origins.iter().map(|(_, last)| last + 1).max();
        let recorded = recorded.unwrap_or(0);
        self.recorded.truncate(recorded);
        self.as_given.retain(|place| *place < recorded);
        self.events.clear();
        self
    }

    /// The last messages only, and of what was ever said the part that they stand for.
    #[must_use]
    pub fn last(mut self, count: usize) -> Self {
        if count == 0 {
            self.untold.clear();
        }
        let cut = self.messages.len().saturating_sub(count);
        self.messages.drop_first(cut);
        self.origins.drain(..cut);
        let first = self.origins.iter().map(|(first, _)| *first).min();
        let first = first.unwrap_or(self.recorded.len());
        self.recorded.drop_first(first);
        for (from, to) in &mut self.origins {
            (*from, *to) = (*from - first, *to - first);
        }
        let left = self.as_given.split_off(&first);
        self.as_given = left.into_iter().map(|place| place - first).collect();
        self.events.clear();
        self
    }
}

impl SessionState {
    /// What was said so far.
    pub fn content(&self) -> Content {
        Content {
            messages: self.messages.clone(),
            origins: self.origins.clone(),
            recorded: self.recorded.clone(),
            as_given: self.as_given.clone(),
            untold: self.untold.clone(),
            events: self.events.clone(),
            assets: self.assets.clone(),
            summary: self.summary.clone(),
            metadata: self.metadata.clone(),
            transcript_state: self.transcript_state.clone(),
        }
    }

    pub(super) fn set_content(&mut self, content: Content) {
        self.messages = content.messages;
        self.origins = content.origins;
        self.recorded = content.recorded;
        self.as_given = content.as_given;
        self.untold = content.untold;
        self.events = content.events;
        self.assets = content.assets;
        self.summary = content.summary;
        self.metadata = content.metadata;
        self.transcript_state = content.transcript_state;
    }

    pub(super) fn fork(&mut self, content: Content) {
        self.set_content(content);
        self.active_skills.clear();
        self.grants = SessionGrants::default();
        self.turns = Turns::default();
    }

    /// The messages as a transcript shows them: what a program gave as it gave it, what the
    /// runtime wrote without the parts that are for providers only.
    pub fn shown_messages(&self) -> Vec<Value> {
        let both = self.messages.iter().zip(&self.origins);
        both.map(
            |(message, (first, last))| match first == last && self.as_given.contains(first) {
                true => message.clone(),
                false => entering(message.clone()),
            },
        )
        .collect()
    }

    /// The recorded messages that a range of visible ones stands for: the first and the last.
    pub fn standing_for(&self, from: usize, to: usize) -> (usize, usize) {
        let origins = self.origins.get(from..to).unwrap_or_default();
        let first = origins.first().map_or(0, |(first, _)| *first);
        let last = origins.last().map_or(first, |(_, last)| *last);
        (first, last)
    }
}

/// Which of the recorded messages each of the visible ones is or stands for, where that was not
/// written down. What both lists begin and end with stands for itself; whatever is visible in
/// between stands for all that was recorded there.
pub(super) fn origins(visible: &Messages, recorded: &Messages) -> Vec<(usize, usize)> {
    let head = visible.common_prefix(recorded);
    let (rest, left) = (visible.iter_from(head), recorded.iter_from(head));
    let both = rest.rev().zip(left.rev());
    let tail = both.take_while(|(one, other)| one == other).count();
    let end = recorded.len() - tail;
    let between = (head.min(end.saturating_sub(1)), end.saturating_sub(1));
    let origin = |at: usize| match at {
        at if at < head => (at, at),
        at if at < visible.len() - tail => between,
        at => {
            let place = recorded.len() + at - visible.len();
            (place, place)
        }
    };
    (0..visible.len()).map(origin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Change;

    fn said(texts: &[&str]) -> SessionState {
        let mut state = SessionState::default();
        for text in texts {
            let message = json!({"role": "user", "content": text, "messageId": text});
            state.apply(Change::MessageAdded { message });
        }
        state
    }

    #[test]
    fn the_first_messages_bring_only_what_they_stand_for() {
        let mut state = said(&["a", "b", "c", "d"]);
        let summary = json!({"role": "user", "content": "a and b"});
        state.apply(Change::Compacted {
            keep_first: 0,
            split: 2,
            replaced: state.standing_for(0, 2),
            message: summary.clone(),
        });
        let event = json!({"kind": "plan"});
        state.apply(Change::EventAdded {
            event: event.into(),
        });
        let cut = state.content().first(1);
        assert_eq!(cut.messages, [summary]);
        assert_eq!(cut.recorded.len(), 2);
        assert!(cut.events.is_empty());
        assert_eq!(state.content().first(0).recorded.len(), 0);
        assert_eq!(state.content().first(9).messages.len(), 3);
    }

    #[test]
    fn the_last_messages_bring_only_what_they_stand_for() {
        let mut state = said(&["a", "b", "c", "d"]);
        let given = json!({"role": "user", "content": "e"});
        state.apply(Change::Injected {
            message: given.clone(),
        });
        state.apply(Change::Compacted {
            keep_first: 1,
            split: 3,
            replaced: state.standing_for(1, 3),
            message: json!({"role": "user", "content": "b and c"}),
        });
        state.apply(Change::Trimmed { keep_last: 3 });
        assert_eq!(state.messages.len(), 3);
        assert_eq!(state.recorded.len(), 4);
        assert_eq!(state.origins, [(0, 1), (2, 2), (3, 3)]);
        assert_eq!(state.as_given, BTreeSet::from([3]));
        state.apply(Change::Trimmed { keep_last: 1 });
        assert_eq!(state.recorded, *std::slice::from_ref(&given));
        assert_eq!(state.origins, [(0, 0)]);
        assert_eq!(state.shown_messages(), [given]);
        state.apply(Change::Trimmed { keep_last: 0 });
        assert!(state.recorded.is_empty() && state.as_given.is_empty());
    }

    #[test]
    fn what_a_program_gives_is_shown_as_it_was_given() {
        let mut state = said(&["loop"]);
        let message = json!({"role": "tool_result", "content": "r", "tool_use_id": "t"});
        state.apply(Change::Injected {
            message: message.clone(),
        });
        let first = json!({"role": "user", "content": "first", "kept": 1});
        state.apply(Change::Prepended { message: first });
        assert_eq!(
            state.shown_messages(),
            [
                json!({"role": "user", "content": "first"}),
                json!({"role": "user", "content": "loop"}),
                message,
            ]
        );
    }

    #[test]
    fn where_messages_come_from_is_found_again() {
        #[track_caller]
        fn check(visible: &[&str], recorded: &[&str], expected: &[(usize, usize)]) {
            let [visible, recorded]: [Messages; 2] =
                [visible, recorded].map(|list| list.iter().map(|text| json!(text)).collect());
            assert_eq!(origins(&visible, &recorded), expected);
        }
        check(&[], &["a"], &[]);
        check(&["a", "b"], &["a", "b"], &[(0, 0), (1, 1)]);
        check(&["sum", "d"], &["a", "b", "c", "d"], &[(0, 2), (3, 3)]);
        check(
            &["a", "sum", "d"],
            &["a", "b", "c", "d"],
            &[(0, 0), (1, 2), (3, 3)],
        );
        check(&["a", "a"], &["a", "b", "a"], &[(0, 0), (2, 2)]);
        check(&["new", "a"], &["a"], &[(0, 0), (0, 0)]);
        check(&["a", "new"], &["a"], &[(0, 0), (0, 0)]);
        check(&["new"], &["a"], &[(0, 0)]);
    }

    #[test]
    fn a_child_knows_its_parent() {
        let content = Content {
            metadata: Some(json!({"topic": "x"})),
            ..Content::default()
        };
        let metadata = content.child_of("p").metadata;
        assert_eq!(
            metadata,
            Some(json!({"topic": "x", "parent_session_id": "p"}))
        );
        let metadata = Content::default().child_of("p").metadata;
        assert_eq!(metadata, Some(json!({"parent_session_id": "p"})));
    }
}
