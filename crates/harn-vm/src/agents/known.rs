//! What the parts of the library that are written in Harn say about options nobody reads.

use harn_agent::llm::options::known;
use harn_machine::{Context, Failure, Fault, Value, argument};
use harn_options::place_of;
use serde_json::Value as Json;

use crate::json::to_json;

/// `__known_options(builtin, options | nil)`: the options, after a look at their keys; none
/// without any.
pub(super) fn known_options(
    _: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let builtin = argument(arguments, 0).to_text();
    let options = argument(arguments, 1);
    let given = match to_json(options) {
        Json::Null if options.is_nil() => return Ok(Value::dict(Vec::new())),
        Json::Object(given) => given,
        _ => {
            let got = options.type_name();
            let text = format!("{builtin}: options must be a dict or nil; got {got}");
            return Err(Fault::thrown(text.as_str()));
        }
    };
    let place = place_of(&builtin).expect("functions of the library look at their own options");
    match known::refuse_unknown(&builtin, place.dict, &given, &|_| false) {
        Ok(()) => Ok(options.clone()),
        Err(invalid) => Err(Fault::thrown(invalid.to_string().as_str())),
    }
}
