//! The patterns of hooks in manifests, which look into payloads.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, truthy};
use harn_options::TextPattern;
use regex::Regex;
use serde_json::Value;

/// When a hook is about an event.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Always: empty or `*`.
    All,
    /// `path =~ regex`: the regex matches somewhere in the text of the value.
    Matches(String, Regex),
    /// `path == v`: the value's text is this one.
    Equals(String, String),
    /// `path != v`: the value's text is not this one.
    Differs(String, String),
    /// A dotted path whose value is truthy. A tool with that very name is meant as well.
    Truthy(String),
    /// A pattern for the name of the tool.
    Tool(TextPattern),
}

impl Pattern {
    /// Reads a pattern. Of several operators the first one counts.
    ///
    /// # Errors
    /// A regex or a pattern that is none.
    pub fn read(text: &str) -> Result<Self, Thrown> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let operators = ["=~", "==", "!="].into_iter();
        let found = operators.filter_map(|operator| Some((text.find(operator)?, operator)));
        let Some((at, operator)) = found.min() else {
            let pattern = TextPattern::read(text)
                .map_err(|unreadable| Thrown::Runtime(unreadable.to_string()))?;
            return Ok(match text.contains('.') && pattern.is_plain() {
                true => Self::Truthy(text.to_owned()),
                false => Self::Tool(pattern),
            });
        };
        let path = text[..at].trim().to_owned();
        let value = unquoted(text[at + operator.len()..].trim());
        match operator {
            "=~" => {
                let regex = Regex::new(value).map_err(|error| {
                    Thrown::Runtime(format!("invalid hook pattern '{text}': {error}"))
                })?;
                Ok(Self::Matches(path, regex))
            }
            "==" => Ok(Self::Equals(path, value.to_owned())),
            _ => Ok(Self::Differs(path, value.to_owned())),
        }
    }

    /// Whether the pattern is about a payload. What a path does not find is nil.
    pub fn matches(&self, payload: &Value) -> bool {
        let tool = || payload.pointer("/tool/name").and_then(Value::as_str);
        match self {
            Self::All => true,
            Self::Matches(path, regex) => {
                let found = found(payload, path);
                !found.is_null() && regex.is_match(&display(found))
            }
            Self::Equals(path, value) => display(found(payload, path)) == *value,
            Self::Differs(path, value) => display(found(payload, path)) != *value,
            Self::Truthy(path) => truthy(found(payload, path)) || tool() == Some(path),
            Self::Tool(pattern) => tool().is_some_and(|name| pattern.matches(name)),
        }
    }
}

/// The value at a dotted path. A number is a place in a list.
fn found<'a>(payload: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(payload, |value, step| match value {
        Value::Object(fields) => fields.get(step).unwrap_or(&Value::Null),
        Value::Array(items) => {
            let item = step.parse().ok().and_then(|index: usize| items.get(index));
            item.unwrap_or(&Value::Null)
        }
        _ => &Value::Null,
    })
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_look_into_payloads() {
        let payload = json!({
            "event": "PostToolUse",
            "tool": {"name": "run_it", "args": {"path": "src/a.rs", "force": true, "n": 3,
                "list": ["x"]}},
            "result": {"text": "Error: none"},
        });
        let rows = [
            ("", true),
            ("  ", true),
            ("*", true),
            ("tool.args.path =~ \\.rs$", true),
            ("tool.args.path =~ rs", true),
            ("tool.args.path =~ \"^src\"", true),
            ("tool.args.path =~ ^a", false),
            ("tool.args.gone =~ .*", false),
            ("result.text =~ ^Error", true),
            ("tool.name == run_it", true),
            ("tool.name == \"run_it\"", true),
            ("tool.name == 'run_it'", true),
            ("tool.name == run", false),
            ("tool.name==run_it", true),
            ("tool.args.n == 3", true),
            ("tool.args.force == true", true),
            ("tool.args.gone == nil", true),
            ("tool.args.list.0 == x", true),
            ("tool.args.list.9 == x", false),
            ("tool.name != run", true),
            ("tool.name != run_it", false),
            ("tool.args.gone != x", true),
            ("event == PostToolUse", true),
            ("tool.args.path == a =~ b", false),
            ("tool.args.force", true),
            ("tool.args.gone", false),
            ("run_it", true),
            ("run*", true),
            ("*_it", true),
            ("*n_i*", true),
            ("r?n_it", true),
            ("{read,run}_it", true),
            ("[a-q]*", false),
            ("fs.{read,run}", false),
            ("read", false),
            ("fs.*", false),
        ];
        for (text, expected) in rows {
            let pattern = Pattern::read(text).expect("it is well formed");
            assert_eq!(pattern.matches(&payload), expected, "{text}");
        }
        let dotted = json!({"tool": {"name": "fs.read", "args": {}}});
        let pattern = Pattern::read("fs.read").expect("it is well formed");
        assert!(pattern.matches(&dotted));
        let turn = json!({"event": "PreAgentTurn"});
        let pattern = Pattern::read("run").expect("it is well formed");
        assert!(!pattern.matches(&turn));
    }

    #[test]
    fn a_regex_that_is_none_is_thrown() {
        let Err(Thrown::Runtime(text)) = Pattern::read("tool.name =~ [") else {
            panic!("the regex is not closed");
        };
        assert!(text.starts_with("invalid hook pattern 'tool.name =~ [': "));
        let Err(Thrown::Runtime(text)) = Pattern::read("run[") else {
            panic!("the letters are not closed");
        };
        assert_eq!(text, "pattern 'run[' cannot be read: a '[' is not closed");
    }
}
