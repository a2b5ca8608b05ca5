//! A projection that the program makes itself.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::pairs::{halves, without_places};
use super::policy::function;
use super::signed::is_signed;
use super::view::View;
use crate::callback::Functions;

/// What the program's function leaves of messages. If it has taken away one half of a call and
/// its result, the other half goes too.
pub(super) async fn view(messages: &[Value], functions: &Functions) -> Result<View, Thrown> {
    let function = function(functions).ok_or_else(|| {
        Thrown::Plain("transcript_project: policy 'custom' requires a closure".to_owned())
    })?;
    let Value::Array(chosen) = function.call(vec![json!(messages)]).await? else {
        return Err(Thrown::Plain(
            "transcript_project: custom policy must return a message list".to_owned(),
        ));
    };
    Ok(compared(messages, paired(messages, &chosen)))
}

/// What was chosen, without halves of pairs. Halves that were there before stay: the last calls
/// of a conversation may have no results yet.
fn paired(messages: &[Value], chosen: &[Value]) -> Vec<Value> {
    let before: Vec<&Value> = halves(messages)
        .into_iter()
        .map(|place| &messages[place.message])
        .collect();
    let new = halves(chosen)
        .into_iter()
        .filter(|place| !before.contains(&&chosen[place.message]));
    without_places(chosen, &new.collect(), |_| String::new()).messages
}

/// Counts what is still there.
fn compared(messages: &[Value], chosen: Vec<Value>) -> View {
    let mut unmatched: Vec<&Value> = messages.iter().collect();
    let mut kept = 0;
    for message in &chosen {
        if let Some(index) = unmatched.iter().position(|other| *other == message) {
            unmatched.remove(index);
            kept += 1;
        }
    }
    let redacted = (chosen.len() - kept).min(unmatched.len());
    View {
        kept,
        redacted,
        dropped: unmatched.len() - redacted,
        touches_signed: unmatched.into_iter().any(is_signed),
        messages: chosen,
    }
}
