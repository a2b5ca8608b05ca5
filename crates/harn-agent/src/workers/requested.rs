//! What whoever starts a worker wants of it.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display};
use serde_json::{Map, Value, json};

use crate::policy::{CapabilityPolicy, check_pattern};
use crate::registry::told;

/// The lists of a request, each with the short name it has too.
const LISTS: [(&str, &str); 4] = [
    ("research_questions", "questions"),
    ("action_items", "actions"),
    ("workflow_stages", "stages"),
    ("verification_steps", "verification"),
];

/// What a worker is asked for, in order.
pub(crate) fn request(task: &str, system: Option<&str>, config: &Map<String, Value>) -> Value {
    let given = Options(config);
    let mut request = json!({"task": task, "system": system});
    let mut filled = Map::new();
    for (name, short) in LISTS {
        let list = given.given(name).or_else(|| given.given(short));
        let list = match list {
            None => json!([]),
            Some(Value::Array(entries)) => json!(entries),
            Some(one) => json!([one]),
        };
        if list != json!([]) {
            filled.insert(name.to_owned(), list.clone());
        }
        request[name] = list;
    }
    request["payload"] = match given.given("request") {
        Some(payload) => payload.clone(),
        None if filled.is_empty() => Value::Null,
        None => Value::Object(filled),
    };
    request
}

/// The policy of a worker, as it was asked for.
///
/// # Errors
/// It is none.
pub(crate) fn read_policy(value: Option<&Value>) -> Result<Option<CapabilityPolicy>, Thrown> {
    let Some(value) = value else {
        return Ok(None);
    };
    match parse_policy(value) {
        Ok(policy) => Ok(Some(policy)),
        Err(error) => fail(&format!("policy parse error: {error}")),
    }
}

/// Reads a policy, word by word: one name instead of a list of names is a mistake here.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse_policy(value: &Value) -> Result<CapabilityPolicy, String> {
    for key in ["tools", "workspace_roots"] {
        if value[key].is_string() {
            return Err(format!(
                "policy.{key}: expected a list of strings, got string"
            ));
        }
    }
    CapabilityPolicy::read("policy", value).map_err(|thrown| told(&thrown))
}

/// A policy of tools alone, by their names.
///
/// # Errors
/// They are no names.
pub(crate) fn read_tools(value: Option<&Value>) -> Result<Option<CapabilityPolicy>, Thrown> {
    let Some(value) = value else {
        return Ok(None);
    };
    let names = value.as_array().and_then(|names| {
        let texts = names.iter().map(|name| name.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    });
    match names {
        None => fail("tools shorthand must be a list of strings"),
        Some(names) if names.is_empty() => {
            fail("tools shorthand must include at least one tool name")
        }
        Some(tools) => {
            for tool in &tools {
                check_pattern("spawn_agent: tools", tool)?;
            }
            Ok(Some(CapabilityPolicy {
                tools,
                ..CapabilityPolicy::default()
            }))
        }
    }
}

/// What both allow.
///
/// # Errors
/// The second asks for more than the first.
pub(crate) fn intersected(
    one: Option<CapabilityPolicy>,
    other: Option<CapabilityPolicy>,
) -> Result<Option<CapabilityPolicy>, Thrown> {
    match (one, other) {
        (Some(one), Some(other)) => match CapabilityPolicy::intersect(&one, &other) {
            Ok(both) => Ok(Some(both)),
            Err(error) => fail(&error),
        },
        (one, other) => Ok(one.or(other)),
    }
}

/// What the program catches.
pub(crate) fn fail<T>(problem: &str) -> Result<T, Thrown> {
    Err(Thrown::Runtime(format!("spawn_agent: {problem}")))
}

/// A text of a dict that is given and not empty.
pub(crate) fn text_of(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let value = Options(fields).given(key).map(display);
    value.filter(|text| !text.trim().is_empty())
}
