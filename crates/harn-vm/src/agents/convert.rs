//! Arguments of a builtin as JSON, with the closures in them let out.

use std::rc::Rc;

use harn_machine::value::Text;
use harn_machine::{Closure, Context, Value};
use serde_json::{Map, Value as Json, json};

use crate::json::to_json;

/// How deep arguments may be nested; what is deeper is cut off.
const DEPTH_MAX: usize = 128;

/// A closure among the arguments.
struct Found {
    path: String,
    closure: Rc<Closure>,
    /// The names of parameters that the fields of a dict are spread over.
    spread: Option<Vec<String>>,
}

/// The arguments as JSON, and the closures in them: `[path, number, parameters]` each.
pub(super) fn arguments(context: &mut Context<'_>, arguments: &[Value]) -> (Json, Json) {
    let mut found = Vec::new();
    let json: Vec<Json> = arguments
        .iter()
        .enumerate()
        .map(|(at, value)| walk(value, &format!("/{at}"), DEPTH_MAX, &mut found))
        .collect();
    let closures: Vec<Json> = found
        .into_iter()
        .map(|found| json!([found.path, context.export(&found.closure), found.spread]))
        .collect();
    (Json::Array(json), Json::Array(closures))
}

fn walk(value: &Value, path: &str, depth: usize, found: &mut Vec<Found>) -> Json {
    let Some(depth) = depth.checked_sub(1) else {
        return Json::Null;
    };
    match value {
        Value::Closure(closure) => {
            found.push(Found {
                path: path.to_owned(),
                closure: Rc::clone(closure),
                spread: None,
            });
            Json::Null
        }
        Value::List(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| walk(item, &format!("{path}/{at}"), depth, found));
            items.collect()
        }
        Value::Dict(dict) => {
            let before = found.len();
            let fields = dict.iter().map(|(key, value)| {
                let place = format!("{path}/{}", escaped(key));
                (key.to_string(), walk(value, &place, depth, found))
            });
            let fields: Map<String, Json> = fields.collect();
            spread_over(dict.get("parameters"), path, &mut found[before..]);
            Json::Object(fields)
        }
        other => to_json(other),
    }
}

/// The handler of a tool that was declared as one takes its parameters one by one; one that was
/// attached to a tool takes a dict.
fn spread_over(parameters: Option<&Value>, path: &str, found: &mut [Found]) {
    let Some(Value::Dict(_)) = parameters else {
        return;
    };
    let place = format!("{path}/handler");
    if let Some(handler) = found.iter_mut().find(|found| found.path == place) {
        let function = &handler.closure.function;
        if function.is_tool {
            let names = function.parameters.iter().map(ToString::to_string);
            handler.spread = Some(names.collect());
        }
    }
}

/// A key as a part of a path.
fn escaped(key: &Text) -> String {
    match key.contains(['~', '/']) {
        true => key.replace('~', "~0").replace('/', "~1"),
        false => key.to_string(),
    }
}
