//! Whether people agreed to a plan.

use serde_json::{Map, Value, json};

use super::{text, texts};

/// The approval of a plan, `{state, …}`. A text is the state alone.
pub(super) fn read(written: Option<&Value>) -> Value {
    let mut approval = Map::new();
    let state = match written {
        Some(Value::String(state)) => state.trim().to_owned(),
        Some(written) => text(written, &["state"]).unwrap_or_default(),
        None => String::new(),
    };
    approval.insert("state".to_owned(), json!(normal_state(&state)));
    let Some(written) = written else {
        return Value::Object(approval);
    };
    for key in ["request_id", "reviewer", "approved_at", "reason"] {
        if let Some(text) = text(written, &[key]) {
            approval.insert(key.to_owned(), json!(text));
        }
    }
    if let Some(Value::Array(reviewers)) = written.get("reviewers") {
        approval.insert("reviewers".to_owned(), json!(texts(reviewers)));
    }
    Value::Object(approval)
}

fn normal_state(written: &str) -> &'static str {
    let states = ["requested", "approved", "rejected"];
    let known = states
        .into_iter()
        .find(|state| written.eq_ignore_ascii_case(state));
    known.unwrap_or("unrequested")
}
