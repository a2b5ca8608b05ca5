//! The arguments of a call, as a model wrote them.

use harn_llm::options::value::{display, truthy};
use serde_json::Value;

use super::failed;
use crate::tool::ToolError;

/// The arguments of a call. What is wrong with them is said so that the model can mend it.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(pub(super) &'a Value);

impl<'a> Arguments<'a> {
    /// A text that must be there; it may be empty.
    pub(super) fn text(self, key: &str) -> Result<&'a str, ToolError> {
        let text = self.optional_text(key)?;
        text.ok_or_else(|| failed(format!("the argument `{key}` is missing")))
    }

    /// A text that may be there.
    pub(super) fn optional_text(self, key: &str) -> Result<Option<&'a str>, ToolError> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(failed(format!(
                "the argument `{key}` must be a string, not {}",
                display(other)
            ))),
        }
    }

    /// The path of a call; without one, or with an empty one, the workspace itself.
    pub(super) fn folder(self) -> Result<&'a str, ToolError> {
        let path = self.optional_text("path")?;
        Ok(path.filter(|path| !path.is_empty()).unwrap_or("."))
    }

    /// A whole number of at least `least`. Models like to send digits as a text.
    pub(super) fn number(self, key: &str, least: u64) -> Result<Option<u64>, ToolError> {
        let Some(value) = self.given(key) else {
            return Ok(None);
        };
        let number = match value {
            Value::String(digits) => digits.trim().parse().ok(),
            value => value.as_u64(),
        };
        match number {
            Some(number) if number >= least => Ok(Some(number)),
            _ => Err(failed(format!(
                "the argument `{key}` must be a whole number of at least {least}, not {}",
                display(value)
            ))),
        }
    }

    /// How many of something, at most so many as are allowed.
    pub(super) fn count(self, key: &str, default: usize, max: usize) -> Result<usize, ToolError> {
        let number = self.number(key, 1)?;
        let number = number.map_or(default, |number| usize::try_from(number).unwrap_or(max));
        Ok(number.min(max))
    }

    /// Whether something is wanted.
    pub(super) fn flag(self, key: &str) -> bool {
        match self.given(key) {
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            value => value.is_some_and(truthy),
        }
    }

    fn given(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_kindly() {
        let value = json!({
            "text": "a", "number": 7, "digits": " 8 ", "minus": -1, "zero": 0, "yes": true,
            "no": "false", "list": [1], "nil": null,
        });
        let arguments = Arguments(&value);
        assert_eq!(arguments.text("text"), Ok("a"));
        assert_eq!(arguments.optional_text("nil"), Ok(None));
        assert_eq!(arguments.count("number", 1, 100), Ok(7));
        assert_eq!(arguments.count("digits", 1, 5), Ok(5));
        assert_eq!(arguments.count("none", 3, 5), Ok(3));
        assert_eq!(arguments.number("zero", 0), Ok(Some(0)));
        assert!(arguments.flag("yes") && !arguments.flag("no") && !arguments.flag("none"));
        assert_eq!(arguments.folder(), Ok("."));
        let errors = [
            (arguments.text("nil").err(), "the argument `nil` is missing"),
            (
                arguments.text("list").err(),
                "the argument `list` must be a string, not [1]",
            ),
            (
                arguments.number("minus", 0).err(),
                "the argument `minus` must be a whole number of at least 0, not -1",
            ),
            (
                arguments.number("zero", 1).err(),
                "the argument `zero` must be a whole number of at least 1, not 0",
            ),
            (
                arguments.number("text", 1).err(),
                "the argument `text` must be a whole number of at least 1, not a",
            ),
        ];
        for (error, expected) in errors {
            assert_eq!(error, Some(failed(expected)));
        }
    }
}
