//! The calls of a turn that have no results yet.
//!
//! Providers refuse a call whose result does not follow it. So while a loop is busy with calls,
//! what a program does to its session leaves the turn whole: a message that is put in waits
//! until the results are there, and what is cut away ends before the turn.

use serde_json::{Value, json};

use super::state::{RunState, SessionState};

impl SessionState {
    /// Puts in what a program gives. Whatever the loop noted about a turn it is busy with stays.
    pub(super) fn inject(&mut self, message: Value) {
        if self.open_turn() > 0 && !is_result(&message) {
            return self.held.push(message);
        }
        self.add_given(message);
        self.events.clear();
    }

    /// Puts in what was held back, once nothing is in its way.
    pub(super) fn release_held(&mut self) {
        if !self.held.is_empty() && !self.waits_for_results() {
            for message in std::mem::take(&mut self.held) {
                self.add_given(message);
            }
        }
    }

    fn add_given(&mut self, message: Value) {
        self.as_given.insert(self.recorded.len());
        self.add_message(message);
    }

    /// How many messages at the end a running loop is busy with: the turn whose calls it makes,
    /// and what it answers. 0: it makes no calls.
    pub(crate) fn open_turn(&self) -> usize {
        let is_assistant = |message: &Value| message["role"] == "assistant";
        let is_user = |message: &Value| message["role"] == "user" && !is_result(message);
        if !self.run.is_going_on() || !self.waits_for_results() {
            return 0;
        }
        let Some(turn) = self.messages.iter().rposition(is_assistant) else {
            return 0;
        };
        let first = self.messages.iter().take(turn).rposition(is_user);
        self.messages.len() - first.unwrap_or(turn)
    }

    fn waits_for_results(&self) -> bool {
        !self.run.open_calls.is_empty()
            || !self.untold.is_empty()
            || !missing_results(&self.messages).is_empty()
    }
}

impl RunState {
    /// Whether a loop has begun and not ended.
    fn is_going_on(&self) -> bool {
        self.status.is_empty() && self.total_iterations > 0
    }
}

/// Whether a message is what came of a call.
fn is_result(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("tool" | "tool_result"))
        || message["content"][0]["type"] == "tool_result"
}

/// What the model reads of a call that never had one.
pub(crate) const INTERRUPTED: &str = "Error: the call was interrupted before it had a result. It may or \
                           may not have taken effect; check before you repeat it.";

/// What the model reads of a call that was never made.
pub(crate) const NOT_MADE: &str = "Error: the call was not made, because the program ended before. Nothing has happened; make \
                           it again if it is still wanted.";

/// The results that the last turn with calls lacks.
pub(crate) fn missing_results<'a>(
    messages: impl IntoIterator<Item = &'a Value, IntoIter: DoubleEndedIterator>,
) -> Vec<Value> {
    let mut newest_first = messages.into_iter().rev();
    let mut results = Vec::new();
    let turn = loop {
        match newest_first.next() {
            Some(message) if is_result(message) => results.push(message),
            Some(turn) => break turn,
            None => return Vec::new(),
        }
    };
    // Models give two calls one id now and then, so each result stands for one of them.
    let mut answered: Vec<&str> = Vec::new();
    let mut answered_names: Vec<&str> = Vec::new();
    for message in results {
        let ids = [
            &message["tool_call_id"],
            &message["tool_use_id"],
            &message["content"][0]["tool_use_id"],
        ];
        answered.extend(ids.into_iter().filter_map(Value::as_str));
        answered_names.extend(message["tool_name"].as_str());
    }
    let calls = turn["tool_calls"].as_array().into_iter().flatten();
    let mut missing: Vec<Value> = Vec::new();
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default();
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Some servers know results by the name of their tool and by nothing else.
        if !take(&mut answered_names, name) && !take(&mut answered, id) {
            missing.push(match function["arguments"].is_string() {
                true => json!({"role": "tool", "tool_call_id": id, "content": INTERRUPTED}),
                false => json!({"role": "tool", "tool_name": name, "content": INTERRUPTED}),
            });
        }
    }
    let blocks = turn["content"].as_array().into_iter().flatten();
    for block in blocks.filter(|block| block["type"] == "tool_use") {
        let id = block["id"].as_str().unwrap_or_default();
        if turn["role"] == "assistant" && !take(&mut answered, id) {
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED});
            missing.push(json!({"role": "user", "content": [result]}));
        }
    }
    missing
}

/// Takes one entry out; says whether there was one.
fn take(entries: &mut Vec<&str>, entry: &str) -> bool {
    let at = entries.iter().position(|known| *known == entry);
    at.map(|at| entries.remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::session::Change;

    fn call(id: &str, arguments: Value) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}})
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "x"})
    }

    /// A loop that makes two calls.
    fn busy() -> (SessionState, Value) {
        let mut state = SessionState::default();
        let turn = json!({
            "role": "assistant",
            "tool_calls": [call("a", json!("{}")), call("b", json!("{}"))],
        });
        state.apply(Change::IterationStarted { iteration: 0 });
        for message in [user("before"), user("go"), turn.clone()] {
            state.apply(Change::MessageAdded { message });
        }
        (state, turn)
    }

    fn inject(state: &mut SessionState, message: Value) {
        state.apply(Change::Injected { message });
    }

    fn answer(state: &mut SessionState, id: &str) {
        let message = result(id);
        state.apply(Change::MessageAdded { message });
    }

    #[test]
    fn a_message_waits_for_the_results_of_all_calls() {
        let (mut state, turn) = busy();
        inject(&mut state, user("mid"));
        answer(&mut state, "a");
        inject(&mut state, user("later"));
        assert_eq!(state.messages.len(), 4, "nobody comes between");
        answer(&mut state, "b");
        let all = [
            user("before"),
            user("go"),
            turn,
            result("a"),
            result("b"),
            user("mid"),
            user("later"),
        ];
        assert_eq!(state.messages, all);
        assert_eq!(state.recorded, all);
        assert_eq!(state.as_given, BTreeSet::from([5, 6]));
    }

    #[test]
    fn messages_that_wait_survive_a_crash() {
        let (mut state, _) = busy();
        inject(&mut state, user("mid"));
        state.apply(Change::Resumed);
        for message in missing_results(&state.messages) {
            assert_ne!(state.messages.last(), Some(&user("mid")));
            state.apply(Change::MessageAdded { message });
        }
        assert_eq!(state.messages.last(), Some(&user("mid")));
    }

    #[test]
    fn without_a_loop_nothing_waits() {
        let (mut state, _) = busy();
        let status = "failed".to_owned();
        state.apply(Change::RunEnded { status });
        inject(&mut state, user("after"));
        assert_eq!(state.messages.last(), Some(&user("after")));
    }

    #[test]
    fn what_is_cut_away_ends_before_the_turn() {
        let (mut state, turn) = busy();
        state.apply(Change::Trimmed { keep_last: 0 });
        assert_eq!(state.messages, [user("go"), turn.clone()]);
        let (mut state, _) = busy();
        state.apply(Change::Reset);
        assert_eq!(state.messages, [user("go"), turn.clone()]);
        assert_eq!(state.recorded, state.messages);
        answer(&mut state, "a");
        answer(&mut state, "b");
        state.apply(Change::Reset);
        assert_eq!(state.messages, Vec::<Value>::new());
    }

    #[test]
    fn every_call_gets_a_result() {
        let turn = json!({
            "role": "assistant",
            "content": "",
            "tool_calls": [call("a", json!("{}")), call("b", json!("{}"))],
        });
        let user = json!({"role": "user", "content": "go"});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        let missing = missing_results(&[user.clone(), turn.clone(), result.clone()]);
        assert_eq!(
            missing,
            [json!({"role": "tool", "tool_call_id": "b", "content": INTERRUPTED})]
        );
        let all = [turn, result, missing[0].clone()];
        assert_eq!(missing_results(&all), Vec::<Value>::new());
        assert_eq!(missing_results(&[user]), Vec::<Value>::new());
        assert_eq!(missing_results(&[]), Vec::<Value>::new());
        let twice = json!({
            "role": "assistant",
            "tool_calls": [call("a", json!("{}")), call("a", json!("{}"))],
        });
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        assert_eq!(missing_results(&[twice, result]).len(), 1);
    }

    #[test]
    fn providers_have_shapes_of_their_own() {
        let anthropic = json!({
            "role": "assistant",
            "content": [
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "t", "name": "look", "input": {}},
            ],
        });
        let missing = missing_results(&[anthropic]);
        assert_eq!(missing[0]["content"][0]["tool_use_id"], "t");
        let ollama = json!({
            "role": "assistant",
            "content": "",
            "tool_calls": [call("", json!({})), call("", json!({}))],
        });
        let result = json!({"role": "tool", "tool_name": "look", "content": "x"});
        let missing = missing_results(&[ollama, result]);
        assert_eq!(
            missing,
            [json!({"role": "tool", "tool_name": "look", "content": INTERRUPTED})]
        );
    }
}
