//! What is said about something that does not fit.

use std::fmt;

use serde_json::Value;

use super::Dict;

/// What every code begins with.
const PREFIX: &str = "TOOL_SURFACE_";

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It may surprise somebody.
    Warning,
    /// Nothing can be run like this.
    Error,
}

impl Severity {
    /// How programs see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something that does not fit. It is shown as `CODE: message`, as logs and errors have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of thing it is, such as `TOOL_SURFACE_MISSING_SCHEMA`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, for people.
    pub message: String,
    /// The name of the tool that it is about.
    pub tool: Option<String>,
    /// Where to look.
    pub field: Option<String>,
}

impl Diagnostic {
    /// A warning about no tool; `code` is what comes after the prefix.
    pub(super) fn warning(code: &str, field: &str, message: String) -> Self {
        Self {
            code: format!("{PREFIX}{code}"),
            severity: Severity::Warning,
            message,
            tool: None,
            field: Some(field.to_owned()),
        }
    }

    /// An error about no tool; `code` is what comes after the prefix.
    pub(super) fn error(code: &str, field: &str, message: String) -> Self {
        Self {
            severity: Severity::Error,
            ..Self::warning(code, field, message)
        }
    }

    /// The same about a tool.
    pub(super) fn about(mut self, tool: &str) -> Self {
        self.tool = Some(tool.to_owned());
        self
    }

    /// How programs see it: what it does not have is left out.
    pub fn to_value(&self) -> Value {
        let mut fields = Dict::new();
        let mut say = |key: &str, text: &str| fields.insert(key.to_owned(), text.into());
        say("code", &self.code);
        say("severity", self.severity.as_str());
        say("message", &self.message);
        if let Some(tool) = &self.tool {
            say("tool", tool);
        }
        if let Some(field) = &self.field {
            say("field", field);
        }
        fields.into()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_left_out() {
        let mut one = Diagnostic::error("X", "prompt", "it is wrong".to_owned()).about("run");
        assert_eq!(one.to_string(), "TOOL_SURFACE_X: it is wrong");
        assert_eq!(
            one.to_value(),
            json!({"code": "TOOL_SURFACE_X", "severity": "error", "message": "it is wrong",
                   "tool": "run", "field": "prompt"})
        );
        (one.tool, one.field, one.severity) = (None, None, Severity::Warning);
        assert_eq!(
            one.to_value(),
            json!({"code": "TOOL_SURFACE_X", "severity": "warning", "message": "it is wrong"})
        );
    }
}
