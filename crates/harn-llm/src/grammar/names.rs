//! The names a model may call.

use std::collections::BTreeSet;

/// What the runtime itself answers, whether or not it was declared.
const PSEUDO_TOOLS: [&str; 2] = ["ledger", "load_skill"];

/// How many names an error offers.
const OFFERED_MAX: usize = 20;

/// The names of the declared tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolNames {
    declared: BTreeSet<String>,
}

impl ToolNames {
    /// Whether a call of that name is a call at all.
    pub fn knows(&self, name: &str) -> bool {
        self.declared.contains(name) || PSEUDO_TOOLS.contains(&name)
    }

    /// The first of them in alphabetical order, for an error.
    pub(super) fn offered(&self) -> String {
        let names: Vec<&str> = self
            .declared
            .iter()
            .take(OFFERED_MAX)
            .map(String::as_str)
            .collect();
        names.join(", ")
    }
}

impl<S: Into<String>> FromIterator<S> for ToolNames {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self {
            declared: names.into_iter().map(Into::into).collect(),
        }
    }
}

/// The name that a text begins with; empty if it begins with something else. Dots, dashes and
/// slashes belong to it, because tools of MCP servers have them.
pub(super) fn leading_name(text: &str) -> &str {
    let begins = text
        .chars()
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_');
    if !begins {
        return "";
    }
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')))
        .unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_answers_some_names_by_itself() {
        let names = ToolNames::from_iter(["b", "a"]);
        for (name, expected) in [
            ("a", true),
            ("ledger", true),
            ("load_skill", true),
            ("c", false),
        ] {
            assert_eq!(names.knows(name), expected, "{name}");
        }
        assert_eq!(names.offered(), "a, b");
    }

    #[test]
    fn an_error_offers_twenty_names() {
        let names: ToolNames = (10..40).map(|n| format!("t{n}")).collect();
        assert!(names.offered().ends_with(", t29"));
    }

    #[test]
    fn names_end_where_something_else_begins() {
        for (text, expected) in [
            ("read({})", "read"),
            ("fs.read-all(x", "fs.read-all"),
            ("_a b", "_a"),
            ("(a)", ""),
            ("1a", ""),
            ("", ""),
        ] {
            assert_eq!(leading_name(text), expected, "{text}");
        }
    }
}
