//! What prompts say about tools.
//!
//! A prompt is prose, so what looks like a call may be none: code in fences and lines that say
//! so are not looked at, and a name that no tool has is only reported if it looks like one.

use std::collections::{BTreeSet, HashSet};

use harn_llm::options::value::display;

use super::{Diagnostic, Facts};

/// What is followed by a parenthesis without being a tool.
const NOT_TOOLS: [&str; 14] = [
    "if",
    "for",
    "while",
    "switch",
    "return",
    "function",
    "fn",
    "JSON",
    "print",
    "println",
    "contains",
    "len",
    "render",
    "render_prompt",
];

/// What a call begins with.
const CALL: &str = "<tool_call>";

pub(super) fn check(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let known: HashSet<&str> = facts.tools.iter().map(|tool| &*tool.name).collect();
    for prompt in facts.prompts {
        let prose = prose(prompt);
        let names = references(&prose).into_iter();
        found.extend(names.filter_map(|name| check_reference(name, &known, facts)));
        check_aliases(&prose, facts, found);
    }
}

fn check_reference(name: &str, known: &HashSet<&str>, facts: &Facts<'_>) -> Option<Diagnostic> {
    let (code, message) = match facts.active_tool(name) {
        Some(tool) if tool.is_deferred() && !facts.searches => (
            "DEFERRED_TOOL_PROMPT_REFERENCE",
            format!("prompt references deferred tool '{name}' but tool_search is not active"),
        ),
        Some(_) => return None,
        None if known.contains(name) => (
            "PROMPT_TOOL_NOT_IN_POLICY",
            format!("prompt references tool '{name}' outside the active policy"),
        ),
        None if looks_like_tool(name) => (
            "UNKNOWN_PROMPT_TOOL",
            format!("prompt references tool '{name}' which is not active"),
        ),
        None => return None,
    };
    Some(Diagnostic::warning(code, "prompt", message).about(name))
}

fn looks_like_tool(name: &str) -> bool {
    name.contains('_') || name.starts_with("tool") || name.starts_with("run")
}

fn check_aliases(prose: &str, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    for tool in facts.active_tools() {
        let name = &tool.name;
        let used = tool.aliases().filter(|(alias, _)| has_token(prose, alias));
        found.extend(used.map(|(alias, canonical)| {
            let canonical = display(canonical);
            let message = format!(
                "prompt mentions alias '{alias}' for tool '{name}'; \
                 use canonical argument '{canonical}'"
            );
            let field = format!("arg_schema.arg_aliases.{alias}");
            Diagnostic::warning("DEPRECATED_ARG_ALIAS", &field, message).about(name)
        }));
    }
}

/// The lines of a prompt that are looked at.
fn prose(prompt: &str) -> String {
    let mut out = String::with_capacity(prompt.len());
    let (mut in_fence, mut ignores, mut skips_next) = (false, false, false);
    for line in prompt.lines() {
        let is_skipped = std::mem::take(&mut skips_next);
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if line.contains("harn-tool-surface: ignore-start") {
            ignores = true;
        }
        if line.contains("harn-tool-surface: ignore-end") {
            ignores = false;
            continue;
        }
        if line.contains("harn-tool-surface: ignore-next-line") {
            skips_next = true;
            continue;
        }
        let ignores_line =
            line.contains("harn-tool-surface: ignore-line") || line.contains("tool-surface-ignore");
        if !(in_fence || ignores || is_skipped || ignores_line) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The names that are used like tools, sorted.
fn references(prose: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut at = 0;
    while let Some(distance) = prose[at..].find(is_word) {
        let (before, from) = prose.split_at(at + distance);
        let end = from.find(|one| !is_word(one)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let is_called = after.trim_start_matches([' ', '\t']).starts_with('(');
        let is_name = !word.starts_with(|one: char| one.is_ascii_digit());
        if (is_called || before.ends_with(CALL)) && is_name && !NOT_TOOLS.contains(&word) {
            found.insert(word);
        }
        at = before.len() + end;
    }
    found
}

/// Whether a text has a token, which need not be an identifier, with nothing around it that could
/// be a part of it.
fn has_token(text: &str, token: &str) -> bool {
    let mut places = text.match_indices(token);
    !token.is_empty()
        && places.any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + token.len()..]);
            !before.ends_with(is_word) && !after.starts_with(is_word)
        })
}

fn is_word(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &[&str]) {
        let prose = prose(prompt);
        let found: Vec<&str> = references(&prose).into_iter().collect();
        assert_eq!(found, expected, "{prompt}");
    }

    #[test]
    fn a_name_before_a_parenthesis_or_after_a_tag_is_a_reference() {
        check(
            "use read_file(path) and search (x)",
            &["read_file", "search"],
        );
        check("<tool_call>run({}) x<tool_call>look", &["look", "run"]);
        check("ä(x) 2x(y) (z) if (a) len(b) print(c)", &[]);
        check("", &[]);
    }

    #[test]
    fn a_token_stands_alone() {
        assert!(has_token("pass file-name here", "file-name"));
        assert!(has_token("pass datei, ok", "datei"));
        assert!(has_token("dateien, datei", "datei"));
        assert!(!has_token("pass dateien", "datei"));
        assert!(!has_token("my_file", "file"));
        assert!(!has_token("x", ""));
    }

    #[test]
    fn some_lines_are_not_looked_at() {
        check("```\na(1)\n```\nb(1)", &["b"]);
        let ignored = "harn-tool-surface: ignore";
        check(
            &format!("{ignored}-start\na(1)\n{ignored}-end\nb(1)"),
            &["b"],
        );
        check(&format!("a(1) {ignored}-line\nb(1)"), &["b"]);
        check("a(1) tool-surface-ignore\nb(1)", &["b"]);
        check(&format!("{ignored}-next-line\na(1)\nb(1)"), &["b"]);
    }
}
