//! Calls of a turn whose results the model was not told yet.
//!
//! Between a call and the message with its result a process may die, so the session knows of each
//! call whether it has begun and what came of it, and the next loop tells what is known. Where
//! calls travel in the text, the results of a turn are told together, once all of them are there.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conversation::TEXT_RESULTS;
use super::state::SessionState;

/// A call of a turn whose results were not told yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UntoldCall {
    /// The id that events carry.
    pub id: String,
    /// The id that the model knows it by; may be empty.
    pub model_id: String,
    /// The tool.
    pub name: String,
    /// Whether its result is a message of its own. Otherwise the results of its turn are told
    /// together, as text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_channel: bool,
    /// Whether it has begun. Earlier versions did not note that.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_begun: bool,
    /// What came of it, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl UntoldCall {
    /// Whether a message has the result of the call.
    pub(crate) fn is_told_in(&self, message: &Value) -> bool {
        ToldCall::in_message(message).is_some_and(|told| self.has_channel && told.is(self))
    }
}

impl SessionState {
    /// Notes that a call has begun.
    pub(super) fn note_beginning(&mut self, id: &str, name: &str) {
        let find = |is_meant: &dyn Fn(&UntoldCall) -> bool| {
            let mut calls = self.untold.iter();
            calls.position(|call| !call.has_begun && call.result.is_none() && is_meant(call))
        };
        let found = find(&|call| call.id == id).or_else(|| find(&|call| call.name == name));
        if let Some(at) = found {
            self.untold[at].has_begun = true;
        }
    }

    /// Notes what came of a call, if its turn is one whose results are told as text.
    pub(super) fn note_result(&mut self, id: &str, name: &str, text: &str) {
        let find = |is_meant: &dyn Fn(&UntoldCall) -> bool| {
            let mut calls = self.untold.iter();
            calls.position(|call| call.result.is_none() && is_meant(call))
        };
        // Of two calls with one id that run together, one is given an id that is not listed.
        let found = find(&|call| call.id == id).or_else(|| find(&|call| call.name == name));
        if let Some(at) = found {
            self.untold[at].result = Some(text.to_owned());
        }
    }

    /// A message that tells the results of a turn tells all of them; one with the result of a
    /// call tells that.
    pub(super) fn note_telling(&mut self, message: &Value) {
        if self.untold.is_empty() {
            return;
        }
        let mut calls = self.untold.iter();
        if let Some(told) = calls.position(|call| call.is_told_in(message)) {
            self.untold.remove(told);
            return;
        }
        let content = message["content"].as_str();
        if content.is_some_and(|text| text.starts_with(TEXT_RESULTS)) {
            self.untold.clear();
        }
    }
}

/// The call that a message has the result of.
enum ToldCall<'a> {
    ById(&'a str),
    /// Some servers know results by the name of their tool and by nothing else.
    ByName(&'a str),
}

impl<'a> ToldCall<'a> {
    fn in_message(message: &'a Value) -> Option<Self> {
        let block = &message["content"][0];
        let ids = [
            &message["tool_call_id"],
            &message["tool_use_id"],
            &block["tool_use_id"],
        ];
        let id = ids.into_iter().find_map(Value::as_str).map(Self::ById);
        id.or_else(|| message["tool_name"].as_str().map(Self::ByName))
    }

    fn is(&self, call: &UntoldCall) -> bool {
        match self {
            Self::ById(id) => call.model_id == *id,
            Self::ByName(name) => call.name == *name,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::TaskLedger;
    use crate::session::{CallOutcome, Change};

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    fn results() -> Value {
        user(&format!("{TEXT_RESULTS}\nall\n</runtime_feedback>"))
    }

    fn listed(id: &str, name: &str) -> UntoldCall {
        UntoldCall {
            id: id.to_owned(),
            model_id: id.to_owned(),
            name: name.to_owned(),
            has_channel: false,
            has_begun: false,
            result: None,
        }
    }

    /// A loop that makes the calls of a turn.
    fn busy(calls: &[UntoldCall]) -> SessionState {
        let mut state = SessionState::default();
        state.apply(Change::RunStarted {
            ledger: TaskLedger::default(),
            resumed_iterations: 0,
        });
        state.apply(Change::IterationStarted { iteration: 0 });
        let turn = json!({"role": "assistant", "content": "calls"});
        for message in [user("go"), turn] {
            state.apply(Change::MessageAdded { message });
        }
        let calls = calls.to_vec();
        state.apply(Change::CallsListed { calls });
        state
    }

    fn finish(state: &mut SessionState, id: &str, name: &str, text: &str) {
        state.apply(Change::CallFinished {
            id: id.to_owned(),
            name: name.to_owned(),
            outcome: CallOutcome::Ok,
            text: text.to_owned(),
        });
    }

    fn known(state: &SessionState) -> Vec<Option<&str>> {
        let calls = state.untold.iter();
        calls.map(|call| call.result.as_deref()).collect()
    }

    #[test]
    fn results_are_known_until_they_are_told() {
        let calls = [("a", "look"), ("b", "find"), ("c", "write")];
        let mut state = busy(&calls.map(|(id, name)| listed(id, name)));
        finish(&mut state, "a", "look", "seen");
        state.apply(Change::CallAnswered {
            id: "b".to_owned(),
            name: "find".to_owned(),
            text: "refused".to_owned(),
        });
        assert_eq!(known(&state), [Some("seen"), Some("refused"), None]);
        state.apply(Change::Resumed);
        assert_eq!(state.untold.len(), 3, "another process has not told them");
        let message = results();
        state.apply(Change::MessageAdded { message });
        assert_eq!(state.untold, []);
    }

    #[test]
    fn each_result_belongs_to_one_of_the_calls_with_its_id() {
        let mut state = busy(&[listed("a", "look"), listed("a", "look")]);
        finish(&mut state, "a", "look", "first");
        finish(&mut state, "a-2", "look", "second");
        assert_eq!(known(&state), [Some("first"), Some("second")]);
        finish(&mut state, "a", "look", "third");
        assert_eq!(known(&state), [Some("first"), Some("second")]);
    }

    #[test]
    fn a_message_waits_also_between_two_calls() {
        let mut state = busy(&[listed("a", "look"), listed("b", "look")]);
        finish(&mut state, "a", "look", "seen");
        let message = user("mid");
        state.apply(Change::Injected { message });
        state.apply(Change::Resumed);
        let message = results();
        state.apply(Change::MessageAdded { message });
        assert_eq!(state.messages.to_vec()[2..], [results(), user("mid")]);
    }

    #[test]
    fn they_go_where_their_turn_goes() {
        let state = busy(&[listed("a", "look")]);
        assert_eq!(state.content().first(2).untold, state.untold);
        assert_eq!(state.content().first(1).untold, []);
        assert_eq!(state.content().last(1).untold, state.untold);
        assert_eq!(state.content().last(0).untold, []);
        let mut undone = state.clone();
        undone.apply(Change::RolledBack);
        assert_eq!(undone.untold, []);
        undone.apply(Change::Redone);
        assert_eq!(undone.untold, state.untold);
        let mut reset = state;
        reset.apply(Change::Reset);
        assert_eq!(reset.untold.len(), 1, "the loop is busy with them");
        let status = "error".to_owned();
        reset.apply(Change::RunEnded { status });
        assert_eq!(reset.untold.len(), 1, "nobody has told them");
        reset.apply(Change::Reset);
        assert_eq!(reset.untold, []);
    }

    /// A turn that begins by telling them is undone.
    #[test]
    fn undoing_a_turn_takes_their_telling_back() {
        let mut state = busy(&[listed("a", "look")]);
        let before = state.untold.clone();
        state.apply(Change::RunStarted {
            ledger: TaskLedger::default(),
            resumed_iterations: 0,
        });
        let message = results();
        state.apply(Change::MessageAdded { message });
        state.apply(Change::RolledBack);
        assert_eq!(state.untold, before);
    }
}
