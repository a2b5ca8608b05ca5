//! What prompts say about tools.
//!
//! A prompt is prose, so what looks like a call may be none: code in fences and lines that say
//! so are not looked at, and a name that no tool has is only reported if it looks like one.

use std::collections::{BTreeSet, HashSet};

use harn_machine::value::Text;

use super::{Report, Surface};

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

pub(super) fn check(surface: &Surface<'_>, report: &mut Report) {
    let known: HashSet<&str> = surface.tools.iter().map(|tool| &*tool.name).collect();
    for prompt in &surface.prompts {
        let prose = prose(prompt);
        for name in references(&prose) {
            check_reference(name, &known, surface, report);
        }
        check_aliases(&prose, surface, report);
    }
}

fn check_reference(name: &str, known: &HashSet<&str>, surface: &Surface<'_>, report: &mut Report) {
    let name = Text::new(name);
    let (code, end) = match surface.active.get(&name) {
        Some(at) if surface.tools[*at].is_deferred() && !surface.searches => {
            let message =
                format!("prompt references deferred tool '{name}' but tool_search is not active");
            report.warn(
                "DEFERRED_TOOL_PROMPT_REFERENCE",
                Some(&name),
                "prompt",
                message,
            );
            return;
        }
        Some(_) => return,
        None if known.contains(&*name) => {
            ("PROMPT_TOOL_NOT_IN_POLICY", "outside the active policy")
        }
        None if looks_like_tool(&name) => ("UNKNOWN_PROMPT_TOOL", "which is not active"),
        None => return,
    };
    let message = format!("prompt references tool '{name}' {end}");
    report.warn(code, Some(&name), "prompt", message);
}

fn looks_like_tool(name: &str) -> bool {
    name.contains('_') || name.starts_with("tool") || name.starts_with("run")
}

fn check_aliases(prose: &str, surface: &Surface<'_>, report: &mut Report) {
    let words: HashSet<&str> = prose.split(|one| !is_word(one)).collect();
    for tool in surface.active_tools() {
        let used = tool
            .aliases()
            .filter(|(alias, _)| words.contains(&***alias));
        for (alias, canonical) in used {
            let name = &tool.name;
            let message = format!(
                "prompt mentions alias '{alias}' for tool '{name}'; \
                 use canonical argument '{canonical}'"
            );
            let field = format!("arg_schema.arg_aliases.{alias}");
            report.warn("DEPRECATED_ARG_ALIAS", Some(name), &field, message);
        }
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
