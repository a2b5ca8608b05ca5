//! What a mocked host answers in place of people.

use harn_machine::{Context, Failure, Fault, Value};

use super::Kind;

/// The responses that a mocked host gives; none if it is not mocked.
pub(super) fn responses(
    context: &mut Context<'_>,
    kind: Kind,
    request: Value,
) -> Result<Vec<Value>, Failure> {
    let Some(answer) = mock(context, kind, request) else {
        return Ok(Vec::new());
    };
    let responses = match answer {
        Value::List(responses) => responses.into_items(),
        response => vec![response],
    };
    match responses.iter().all(|one| matches!(one, Value::Dict(_))) {
        true => Ok(responses),
        false => Err(Fault::runtime(format!(
            "mocked HITL {} response must be a dict or list<dict>",
            kind.name()
        ))),
    }
}

fn mock(_context: &mut Context<'_>, _kind: Kind, _request: Value) -> Option<Value> {
    None
}
