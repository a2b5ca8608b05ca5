//! Turns that can be undone and done again.
//!
//! A turn begins with its loop. While a conversation only grows, what there was before is known
//! by counting; only a change in the middle of it needs a copy. So a long session does not
//! carry a copy of itself for each of its turns.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::content::Content;
use super::state::SessionState;
use super::untold::UntoldCall;

/// How many turns can be undone. Older ones are settled.
const TURNS_MAX: usize = 64;

/// The turns of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turns {
    done: Vec<Before>,
    undone: Vec<Undone>,
}

/// What there was before a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Before {
    /// The beginning of what there is after it.
    Beginning {
        messages: usize,
        recorded: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untold: Vec<UntoldCall>,
        events: usize,
        assets: usize,
        summary: Option<String>,
        transcript_state: Option<String>,
    },
    /// Something else.
    Whole(Box<Content>),
}

/// A turn that was undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Undone {
    before: Before,
    after: Box<Content>,
}

impl Turns {
    /// How many turns can be undone.
    pub fn done(&self) -> usize {
        self.done.len()
    }

    /// How many can be done again.
    pub fn undone(&self) -> usize {
        self.undone.len()
    }
}

impl SessionState {
    /// Notes what a change would make impossible to undo.
    pub(super) fn prepare_undoing(&mut self, change: &Change) {
        match change {
            Change::RunStarted { .. } => self.begin_turn(),
            Change::MessageAdded { .. } => self.turns.undone.clear(),
            Change::Injected { .. }
            | Change::Trimmed { .. }
            | Change::Prepended { .. }
            | Change::Restored { .. }
            | Change::Compacted { .. } => {
                self.turns.undone.clear();
                self.keep_whole();
            }
            _ => {}
        }
    }

    fn begin_turn(&mut self) {
        self.turns.undone.clear();
        if self.turns.done.len() == TURNS_MAX {
            self.turns.done.remove(0);
        }
        self.turns.done.push(Before::Beginning {
            messages: self.messages.len(),
            recorded: self.recorded.len(),
            untold: self.untold.clone(),
            events: self.events.len(),
            assets: self.assets.len(),
            summary: self.summary.clone(),
            transcript_state: self.transcript_state.clone(),
        });
    }

    /// Earlier turns count from what there was before later ones, so only the last can suffer.
    fn keep_whole(&mut self) {
        if let Some(before @ Before::Beginning { .. }) = self.turns.done.last() {
            let whole = before.clone().content(self.content());
            if let Some(last) = self.turns.done.last_mut() {
                *last = Before::Whole(Box::new(whole));
            }
        }
    }

    pub(super) fn roll_back(&mut self) {
        let Some(before) = self.turns.done.pop() else {
            return;
        };
        let after = self.content();
        self.set_content(before.clone().content(after.clone()));
        self.turns.undone.push(Undone {
            before,
            after: Box::new(after),
        });
    }

    pub(super) fn redo(&mut self) {
        if let Some(Undone { before, after }) = self.turns.undone.pop() {
            self.turns.done.push(before);
            self.set_content(*after);
        }
    }
}

impl Before {
    fn content(self, mut after: Content) -> Content {
        match self {
            Self::Whole(content) => *content,
            Self::Beginning {
                messages,
                recorded,
                untold,
                events,
                assets,
                summary,
                transcript_state,
            } => {
                after.messages.truncate(messages);
                after.origins.truncate(messages);
                after.recorded.truncate(recorded);
                after.as_given.retain(|place| *place < recorded);
                after.events.truncate(events);
                after.assets.truncate(assets);
                Content {
                    untold,
                    summary,
                    transcript_state,
                    ..after
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::TaskLedger;

    fn say(state: &mut SessionState, text: &str) {
        let message = json!({"role": "user", "content": text});
        state.apply(Change::MessageAdded { message });
    }

    fn turn(state: &mut SessionState, text: &str) {
        state.apply(Change::RunStarted {
            ledger: TaskLedger::default(),
            resumed_iterations: 0,
        });
        say(state, text);
        let event = json!({"kind": "plan", "text": text});
        state.apply(Change::EventAdded {
            event: event.into(),
        });
    }

    fn texts(state: &SessionState) -> Vec<&str> {
        let texts = state.messages.iter();
        texts.filter_map(|m| m["content"].as_str()).collect()
    }

    #[test]
    fn turns_are_undone_one_by_one_and_done_again() {
        let mut state = SessionState::default();
        turn(&mut state, "one");
        turn(&mut state, "two");
        let all = state.content();
        state.apply(Change::RolledBack);
        assert_eq!(texts(&state), ["one"]);
        assert_eq!(state.events.len(), 1);
        state.apply(Change::RolledBack);
        assert_eq!(state.content(), Content::default());
        state.apply(Change::RolledBack);
        assert_eq!((state.turns.done(), state.turns.undone()), (0, 2));
        state.apply(Change::Redone);
        state.apply(Change::Redone);
        state.apply(Change::Redone);
        assert_eq!(state.content(), all);
        assert_eq!((state.turns.done(), state.turns.undone()), (2, 0));
    }

    #[test]
    fn a_compaction_in_a_turn_is_undone_with_it() {
        let mut state = SessionState::default();
        turn(&mut state, "one");
        turn(&mut state, "two");
        let before = state.content();
        state.apply(Change::RunStarted {
            ledger: TaskLedger::default(),
            resumed_iterations: 0,
        });
        say(&mut state, "three");
        state.apply(Change::Compacted {
            keep_first: 0,
            split: 2,
            replaced: (0, 1),
            message: json!({"role": "user", "content": "short"}),
        });
        let summary = Some("short".to_owned());
        state.apply(Change::SummarySet { summary });
        assert_eq!(texts(&state), ["short", "three"]);
        state.apply(Change::RolledBack);
        assert_eq!(state.content(), before);
        state.apply(Change::RolledBack);
        assert_eq!(texts(&state), ["one"]);
        state.apply(Change::Redone);
        state.apply(Change::Redone);
        assert_eq!(texts(&state), ["short", "three"]);
    }

    #[test]
    fn after_something_else_was_said_nothing_is_done_again() {
        let mut state = SessionState::default();
        turn(&mut state, "one");
        state.apply(Change::RolledBack);
        say(&mut state, "other");
        state.apply(Change::Redone);
        assert_eq!(texts(&state), ["other"]);
    }

    #[test]
    fn what_was_put_in_after_a_turn_goes_with_it() {
        let mut state = SessionState::default();
        turn(&mut state, "one");
        turn(&mut state, "two");
        let message = json!({"role": "user", "content": "put in"});
        state.apply(Change::Injected { message });
        assert!(state.events.is_empty());
        state.apply(Change::RolledBack);
        assert_eq!(texts(&state), ["one"]);
        assert_eq!(state.events.len(), 1, "the events are back");
    }

    #[test]
    fn old_turns_are_settled() {
        let mut state = SessionState::default();
        for _ in 0..TURNS_MAX + 3 {
            turn(&mut state, "x");
        }
        assert_eq!(state.turns.done(), TURNS_MAX);
        for _ in 0..TURNS_MAX + 3 {
            state.apply(Change::RolledBack);
        }
        assert_eq!(state.messages.len(), 3);
    }
}
