//! Handles of connections, streams and servers.
//!
//! One counter numbers them all, so that no two handles of a run have the same number.

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Value, argument, thrown};

/// How many handles a run has made.
#[derive(Default)]
struct Counter(u64);

/// A new handle, such as `http-server-3`.
pub(crate) fn new_handle(context: &mut Context<'_>, kind: &str) -> Text {
    let counter = context.state::<Counter>();
    counter.0 += 1;
    Text::from(format!("{kind}-{}", counter.0))
}

/// The handle that is the first argument of a builtin: its text, or a dict with it as `id`.
///
/// # Errors
/// It is neither.
pub(crate) fn handle(builtin: &str, arguments: &[Value]) -> Result<Text, Failure> {
    let id = match argument(arguments, 0) {
        Value::Dict(handle) => handle.get("id").unwrap_or(&Value::Nil),
        handle => handle,
    };
    match id {
        Value::Text(id) => Ok(id.clone()),
        _ => thrown(format!(
            "{builtin}: first argument must be a handle string or dict"
        )),
    }
}
