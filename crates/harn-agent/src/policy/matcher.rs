//! When a rule of permissions is about a call.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{kind, truthy};
use harn_llm::sorted_json;
use harn_options::ARGUMENT_MATCHER;
use serde_json::{Map, Value};

use super::glob::{any_glob_matches, check_pattern, glob_matches};
use crate::callback::{Callback, Functions};
use crate::known_options::refuse_unknown;

/// One entry of `allow` or `deny`.
#[derive(Clone)]
pub struct Rule {
    /// A glob for the tools it is about.
    pub tool: String,
    /// Which of their calls it is about.
    pub matcher: Matcher,
}

/// Which calls of a tool a rule is about.
#[derive(Clone)]
pub enum Matcher {
    /// All of them.
    Always,
    /// None of them.
    Never,
    /// Calls with a text among their arguments that one of these globs matches. A call without
    /// texts is matched on its whole JSON.
    AnyText(Vec<String>),
    /// Calls whose argument `key` one of the globs matches. An argument that is no text is
    /// matched on its JSON.
    Argument {
        /// The argument.
        key: String,
        /// The globs.
        globs: Vec<String>,
    },
    /// Calls for whose arguments a function gives something truthy.
    Function(Arc<dyn Callback>),
}

impl Matcher {
    /// As a program writes it; a function becomes `of_function`.
    pub(super) fn to_value(&self, of_function: bool) -> Value {
        match self {
            Self::Always => Value::Bool(true),
            Self::Never => Value::Bool(false),
            Self::AnyText(globs) => serde_json::json!(globs),
            Self::Argument { key, globs } => {
                serde_json::json!({"arg_key": key, "patterns": globs})
            }
            Self::Function(_) => Value::Bool(of_function),
        }
    }
}

impl Rule {
    /// Whether the rule is about a call.
    ///
    /// # Errors
    /// What the function of the rule throws. It counts for neither answer: a rule that fails
    /// must not let a call pass.
    pub async fn matches(&self, tool: &str, arguments: &Value) -> Result<bool, Thrown> {
        if !glob_matches(&self.tool, tool) {
            return Ok(false);
        }
        Ok(match &self.matcher {
            Matcher::Always => true,
            Matcher::Never => false,
            Matcher::AnyText(globs) => any_text_matches(globs, arguments),
            Matcher::Argument { key, globs } => match arguments.get(key) {
                None => false,
                Some(Value::String(text)) => any_glob_matches(globs, text),
                Some(other) => any_glob_matches(globs, &sorted_json(other)),
            },
            Matcher::Function(function) => truthy(&function.call(vec![arguments.clone()]).await?),
        })
    }
}

/// Reads `allow` or `deny`: a list of globs, or a dict from glob to matcher; nil is neither.
///
/// `place` is the path of the value among the functions. A glob is one step of that path, in
/// which `~` is written `~0` and `/` is written `~1`, as JSON Pointer has it.
pub(super) fn read_rules(
    label: &str,
    value: &Value,
    place: &str,
    functions: &Functions,
) -> Result<Option<Vec<Rule>>, Thrown> {
    let rules = match value {
        Value::Null if functions.at(place).is_some() => {
            let text = format!("{label}: expected a list or dict, got closure");
            return Err(Thrown::Plain(text));
        }
        Value::Null => return Ok(None),
        Value::Array(globs) => globs.iter().map(|glob| read_glob(label, glob)).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(glob, matcher)| {
                check_pattern(label, glob)?;
                let function = functions.at(&format!("{place}/{}", step(glob)));
                let label = format!("{label}.{glob}");
                let matcher = read_matcher(&label, matcher, function)?;
                let tool = glob.clone();
                Ok(Rule { tool, matcher })
            })
            .collect(),
        other => Err(Thrown::Plain(format!(
            "{label}: expected a list or dict, got {}",
            kind(other)
        ))),
    };
    rules.map(Some)
}

/// A key as a step of a JSON Pointer.
fn step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn read_glob(label: &str, glob: &Value) -> Result<Rule, Thrown> {
    match glob.as_str() {
        Some(glob) => {
            check_pattern(label, glob)?;
            Ok(Rule {
                tool: glob.to_owned(),
                matcher: Matcher::Always,
            })
        }
        None => Err(Thrown::Plain(format!(
            "{label}: list entries must be strings"
        ))),
    }
}

fn read_matcher(
    label: &str,
    value: &Value,
    function: Option<&Arc<dyn Callback>>,
) -> Result<Matcher, Thrown> {
    if let Some(function) = function {
        return Ok(Matcher::Function(Arc::clone(function)));
    }
    match value {
        Value::Null | Value::Bool(true) => Ok(Matcher::Always),
        Value::Bool(false) => Ok(Matcher::Never),
        Value::String(_) | Value::Array(_) => {
            let globs = read_globs(label, value)?;
            Ok(Matcher::AnyText(globs.unwrap_or_default()))
        }
        Value::Object(fields) => read_argument(label, fields),
        Value::Number(_) => Err(Thrown::Plain(format!(
            "{label}: unsupported matcher type {}",
            kind(value)
        ))),
    }
}

fn read_argument(label: &str, fields: &Map<String, Value>) -> Result<Matcher, Thrown> {
    let first = |keys: &[&str]| {
        let mut given = keys.iter().filter_map(|key| fields.get(*key));
        given.find(|value| !value.is_null())
    };
    let key = first(&["arg_key", "key"]).and_then(Value::as_str);
    let globs = match first(&["patterns", "arg_patterns", "allow"]) {
        Some(value) => read_globs(label, value)?,
        None => None,
    };
    match (key, globs) {
        (Some(key), Some(globs)) => {
            refuse_unknown(label, &ARGUMENT_MATCHER, fields)?;
            let key = key.to_owned();
            Ok(Matcher::Argument { key, globs })
        }
        _ => Err(Thrown::Plain(format!(
            "{label}: dict matchers must include arg_key and patterns"
        ))),
    }
}

/// Globs: a text or a list of texts; `None` for anything else.
fn read_globs(label: &str, value: &Value) -> Result<Option<Vec<String>>, Thrown> {
    let globs = match value {
        Value::String(glob) => vec![glob.clone()],
        Value::Array(items) => {
            let globs = items.iter().map(|item| item.as_str().map(str::to_owned));
            globs.collect::<Option<Vec<String>>>().ok_or_else(|| {
                Thrown::Plain(format!("{label}: pattern list entries must be strings"))
            })?
        }
        _ => return Ok(None),
    };
    for glob in &globs {
        check_pattern(label, glob)?;
    }
    Ok(Some(globs))
}

fn any_text_matches(globs: &[String], arguments: &Value) -> bool {
    let fields = arguments.as_object().into_iter().flatten();
    let texts: Vec<&str> = fields.filter_map(|(_, value)| value.as_str()).collect();
    match texts.is_empty() {
        true => any_glob_matches(globs, &sorted_json(arguments)),
        false => texts.iter().any(|text| any_glob_matches(globs, text)),
    }
}

#[cfg(test)]
mod tests {
    use harn_log::block_on;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(matcher: Value, arguments: Value, expected: bool) {
        let rules = json!({"run*": matcher});
        let rules = read_rules("p.allow", &rules, "/allow", &Functions::default());
        let rules = rules
            .expect("the rules are well formed")
            .expect("they are given");
        let matched = block_on(rules[0].matches("run_it", &arguments));
        assert_eq!(matched, Ok(expected), "{arguments}");
        assert_eq!(block_on(rules[0].matches("other", &arguments)), Ok(false));
    }

    #[test]
    fn matchers_match() {
        let rows = [
            (json!(null), json!({}), true),
            (json!(true), json!({}), true),
            (json!(false), json!({}), false),
            (json!("ls*"), json!({"a": "rm", "b": "ls -l"}), true),
            (json!("ls*"), json!({"a": "rm"}), false),
            (json!(["x", "rm"]), json!({"a": "rm"}), true),
            (json!([]), json!({"a": "rm"}), false),
            (json!("{\"a\":1}"), json!({"a": 1}), true),
            (json!("\\{*"), json!({}), true),
            (json!("\\{*"), json!({"a": "b"}), false),
            (
                json!({"arg_key": "c", "patterns": ["ls*"]}),
                json!({"c": "ls"}),
                true,
            ),
            (
                json!({"arg_key": "c", "patterns": ["ls*"]}),
                json!({"d": "ls"}),
                false,
            ),
            (
                json!({"key": "c", "arg_patterns": "ls"}),
                json!({"c": "ls"}),
                true,
            ),
            (json!({"key": "c", "allow": ["5"]}), json!({"c": 5}), true),
            (json!({"key": "c", "allow": ["5"]}), json!({"c": 6}), false),
        ];
        for (matcher, arguments, expected) in rows {
            check(matcher, arguments, expected);
        }
    }

    #[test]
    fn functions_are_found_and_asked() {
        let mut functions = Functions::default();
        let path = "/allow/a~1b~0*";
        let safe = |arguments: Vec<Value>| Ok(json!(arguments[0]["safe"] == json!(true)));
        functions.insert(path, Arc::new(safe));
        let rules = read_rules("p.allow", &json!({"a/b~*": null}), "/allow", &functions);
        let rules = rules
            .expect("the rules are well formed")
            .expect("they are given");
        let ask = |arguments: Value| block_on(rules[0].matches("a/b~c", &arguments));
        assert_eq!(ask(json!({"safe": true})), Ok(true));
        assert_eq!(ask(json!({"safe": false})), Ok(false));
    }

    #[test]
    fn what_cannot_be_read_is_thrown() {
        let rows = [
            (json!([1]), "p.allow: list entries must be strings"),
            (json!("run"), "p.allow: expected a list or dict, got string"),
            (json!(true), "p.allow: expected a list or dict, got bool"),
            (
                json!({"run": [1]}),
                "p.allow.run: pattern list entries must be strings",
            ),
            (
                json!({"run": {"key": "c", "patterns": [1]}}),
                "p.allow.run: pattern list entries must be strings",
            ),
            (
                json!({"run": {"key": "c"}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {"patterns": ["c"]}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {"key": 1, "patterns": ["c"]}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": 5}),
                "p.allow.run: unsupported matcher type int",
            ),
            (
                json!({"run": 1.5}),
                "p.allow.run: unsupported matcher type float",
            ),
        ];
        for (value, text) in rows {
            let thrown = read_rules("p.allow", &value, "/allow", &Functions::default());
            assert_eq!(thrown.err(), Some(Thrown::Plain(text.to_owned())));
        }
        let mut functions = Functions::default();
        functions.insert("/allow", Arc::new(|_: Vec<Value>| Ok(Value::Null)));
        let thrown = read_rules("p.allow", &json!(null), "/allow", &functions);
        let text = "p.allow: expected a list or dict, got closure";
        assert_eq!(thrown.err(), Some(Thrown::Plain(text.to_owned())));
    }
}
