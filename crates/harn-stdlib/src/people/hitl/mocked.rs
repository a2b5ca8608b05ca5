//! What a mocked host answers in place of people.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Value};

use super::Kind;
use crate::host;

/// The responses that a mocked host gives; none if it is not mocked.
pub(super) fn responses(
    context: &mut Context<'_>,
    kind: Kind,
    request: Value,
) -> Result<Vec<Value>, Failure> {
    let request = match request {
        Value::Dict(request) => request,
        _ => Dict::default(),
    };
    let Some(answer) = host::answered(context, "hitl", kind.name(), &request) else {
        return Ok(Vec::new());
    };
    let responses = match answer? {
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
