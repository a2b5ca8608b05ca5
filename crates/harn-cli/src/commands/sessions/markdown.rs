//! A conversation as Markdown.

use std::fmt::Write;

use super::conversation::{Call, Part};
use super::facts::Facts;
use crate::output::UntrustedText;
use crate::timestamp::rfc3339;

/// The conversation of a session. Nothing that was said controls the terminal of its reader.
pub(in crate::commands) fn of(facts: &Facts, parts: &[Part]) -> String {
    let mut text = format!(
        "# Session {}\n\n{}: {}. Last active at {}.\n",
        facts.id,
        facts.status,
        facts.in_words(),
        rfc3339(facts.active_at_ms)
    );
    for part in parts {
        match part {
            Part::Said {
                role,
                text: said,
                calls,
            } => {
                add(&mut text, &format!("\n## {role}\n"));
                if !said.trim().is_empty() {
                    add(&mut text, &format!("\n{}\n", said.trim_end()));
                }
                calls.iter().for_each(|call| add_call(&mut text, call));
            }
            Part::Summary {
                replaced,
                text: said,
            } => {
                let (first, last) = (replaced.0 + 1, replaced.1 + 1);
                let heading = format!("\n## Summary of messages {first} to {last}\n");
                add(&mut text, &heading);
                add(&mut text, &format!("\n{}\n", said.trim_end()));
            }
        }
    }
    UntrustedText(text).to_string()
}

fn add_call(text: &mut String, call: &Call) {
    let arguments = fenced(&call.arguments, "json");
    add(text, &format!("\n**{}**\n\n{arguments}", call.name));
    if let Some(result) = &call.result {
        add(text, &format!("\n{}", fenced(result, "")));
    }
}

/// A text that Markdown leaves alone: the fence is longer than any in it.
fn fenced(text: &str, language: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

fn add(text: &mut String, more: &str) {
    text.write_str(more).expect("a text has room for more");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_is_inside() {
        assert_eq!(fenced("a", "json"), "```json\na\n```\n");
        assert_eq!(fenced("```\nb\n```", ""), "````\n```\nb\n```\n````\n");
    }
}
