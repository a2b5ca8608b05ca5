//! Arguments that are commands of a shell.
//!
//! ```text
//! permissions, constraints ─► patterns ─► rules ─┐
//! argument of a call ─► parts (harn-shell) ──────┴─► every part allowed? ─► one part denied?
//! ```
//!
//! A pattern about such an argument is a rule about what the shell would run, not about the
//! text: `cargo *` says nothing about what comes after a semicolon. What cannot be taken apart
//! is allowed by nothing and denied by everything.

use harn_shell::{
    NotUnderstood, Purpose, Rule, RuleError, Script, Surroundings, parse, parse_argv,
};
use serde_json::Value;

/// A command among arguments, taken apart: a text for a shell, or a list of words.
pub(crate) fn parts(value: &Value) -> Result<Script, NotUnderstood> {
    let unknown = || NotUnderstood {
        reason: "an argument that is no command".to_owned(),
        position: 0,
    };
    match value {
        Value::String(text) => parse(text),
        Value::Array(words) => {
            let words = words.iter().map(|word| word.as_str().map(str::to_owned));
            parse_argv(&words.collect::<Option<Vec<String>>>().ok_or_else(unknown)?)
        }
        _ => Err(unknown()),
    }
}

/// Whether patterns allow a command: each of its parts. A pattern that cannot be read, or that
/// would allow everything, allows nothing.
pub(super) fn allows(patterns: &[String], command: &Value, place: &dyn Surroundings) -> bool {
    let rules = patterns.iter();
    let rules = rules.filter_map(|pattern| Rule::parse(pattern, Purpose::Allow).ok());
    let rules: Vec<Rule> = rules.collect();
    harn_shell::allows(parts(command).as_ref(), &rules, place).is_ok()
}

/// Whether patterns deny a command: one of its parts, for certain or perhaps. A pattern that
/// cannot be read denies everything.
pub(super) fn denies(patterns: &[String], command: &Value, place: &dyn Surroundings) -> bool {
    let rules = patterns.iter();
    let rules: Result<Vec<Rule>, RuleError> = rules
        .map(|pattern| Rule::parse(pattern, Purpose::Deny))
        .collect();
    match rules {
        Ok(rules) => harn_shell::denies(parts(command).as_ref(), &rules, place).is_some(),
        Err(_) => true,
    }
}

/// Refuses patterns about commands that nobody can read or that allow everything. Which tools
/// have commands is known later; `run` and arguments called `command` are known to be some.
///
/// # Errors
/// What is wrong with the first of them.
pub(super) fn check_patterns(
    tool: &str,
    key: Option<&str>,
    patterns: &[String],
    purpose: Purpose,
) -> Result<(), RuleError> {
    let is_command = match key {
        Some(key) => key == "command",
        None => tool == "run",
    };
    if !is_command {
        return Ok(());
    }
    let mut patterns = patterns.iter();
    patterns.try_for_each(|pattern| Rule::parse(pattern, purpose).map(drop))
}

#[cfg(test)]
mod tests {
    use harn_shell::Nowhere;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_of_a_command_has_to_be_allowed() {
        let patterns = ["cargo *", "ls *"].map(str::to_owned);
        let allowed = |command: Value| allows(&patterns, &command, &Nowhere);
        assert!(allowed(json!("cargo test; ls -l")));
        assert!(allowed(json!(["cargo", "a; rm b"])));
        for command in [
            json!("cargo test; curl x"),
            json!("cargo test\ncurl x"),
            json!("cargo $(curl x)"),
            json!("cargo 'a"),
            json!(["sh", "-c", "curl x"]),
            json!([1]),
            json!(1),
        ] {
            assert!(!allowed(command.clone()), "{command}");
        }
        assert!(!allows(&["a | b".to_owned()], &json!("a"), &Nowhere));
    }

    #[test]
    fn one_part_is_enough_to_be_denied() {
        let patterns = ["touch *".to_owned()];
        let denied = |command: Value| denies(&patterns, &command, &Nowhere);
        assert!(!denied(json!("ls; cat touch")));
        for command in [
            json!("ls; touch x"),
            json!("env touch x"),
            json!("$x y"),
            json!("ls '"),
            json!(["busybox", "touch", "x"]),
            json!(1),
        ] {
            assert!(denied(command.clone()), "{command}");
        }
        assert!(denies(&["a | b".to_owned()], &json!("ls"), &Nowhere));
    }
}
