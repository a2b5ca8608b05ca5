//! The hooks a program registers: a few words, and so part of its state.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, kind};
use harn_options::TOOL_HOOK;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::known_options::refuse_unknown;
use crate::policy::{check_pattern, glob_forbids};

/// What `register_tool_hook` was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredHook {
    /// A pattern for the tools it is about.
    pub pattern: String,
    /// Denies their calls with this text.
    pub deny: Option<String>,
    /// Shortens their results to about this many bytes.
    pub max_output: Option<usize>,
}

impl RegisteredHook {
    /// Reads the argument of `register_tool_hook`. A key that is nil is absent, and so is a
    /// `max_output` that is no int or negative.
    ///
    /// # Errors
    /// An argument that is no dict, has a key that hooks do not have, or a pattern that cannot be
    /// read.
    pub fn read(config: &Value) -> Result<Self, Thrown> {
        let Value::Object(fields) = config else {
            let got = kind(config);
            let text = format!("register_tool_hook: expected a config dict, got {got}");
            return Err(Thrown::Plain(text));
        };
        refuse_unknown("register_tool_hook", &TOOL_HOOK, fields)?;
        let options = Options(fields);
        let pattern = options.given_text("pattern");
        let pattern = pattern.unwrap_or_else(|| "*".to_owned());
        check_pattern("register_tool_hook", &pattern)?;
        Ok(Self {
            pattern,
            deny: options.given_text("deny"),
            max_output: options
                .int("max_output")
                .and_then(|bytes| usize::try_from(bytes).ok()),
        })
    }

    /// Whether the hook is about a tool.
    pub fn is_about(&self, tool: &str) -> bool {
        glob_forbids(&self.pattern, tool)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_is_read() {
        let hook = |pattern: &str, deny: Option<&str>, max_output: Option<usize>| RegisteredHook {
            pattern: pattern.to_owned(),
            deny: deny.map(str::to_owned),
            max_output,
        };
        let rows = [
            (json!({}), hook("*", None, None)),
            (
                json!({"pattern": null, "deny": null}),
                hook("*", None, None),
            ),
            (
                json!({"pattern": "r*", "deny": "no"}),
                hook("r*", Some("no"), None),
            ),
            (json!({"max_output": 500}), hook("*", None, Some(500))),
            (json!({"max_output": -1}), hook("*", None, None)),
            (json!({"max_output": "9"}), hook("*", None, None)),
        ];
        for (config, expected) in rows {
            let read = RegisteredHook::read(&config).expect("it is a dict");
            assert_eq!(read, expected);
            let written = serde_json::to_value(&read).expect("it is data");
            assert_eq!(serde_json::from_value(written).ok(), Some(read));
        }
        let text = "register_tool_hook: expected a config dict, got string";
        let thrown = RegisteredHook::read(&json!("x"));
        assert_eq!(thrown, Err(Thrown::Plain(text.to_owned())));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_thrown() {
        let thrown = RegisteredHook::read(&json!({"pattern": "ru[", "deny": "no"}));
        let text = "pattern 'ru[' cannot be read: a '[' is not closed (in register_tool_hook)";
        assert_eq!(thrown, Err(Thrown::Plain(text.to_owned())));
    }
}
