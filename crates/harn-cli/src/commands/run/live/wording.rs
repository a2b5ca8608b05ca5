//! What is told, in how many columns.

use serde_json::Value;

use super::activity::{Current, EndedCall, News, Spent};
use crate::amounts::{clock, dollars, time, tokens};
use crate::columns::{fit, width};
use crate::counting::count;
use crate::failure_line::failure_line;
use crate::output::{Untrusted, UntrustedText};

/// How long a plain line may be.
const PLAIN_COLUMNS: usize = 160;
/// Arguments are cut after so many characters: no line shows more.
const ARGUMENTS_CHARACTERS_MAX: usize = 200;
/// The call in the status line is left out rather than cut to less than this.
const DOING_COLUMNS_MIN: usize = 8;
/// What tells a call apart from others, most telling first.
const TELLING: [&str; 8] = [
    "path", "file", "command", "pattern", "query", "url", "name", "id",
];

/// What is going on: `turn 3 · read a.rs · 12s · 4.2k in · 310 out · $0.0120`. Where there is
/// less room the call is cut, then the cost, the tokens and the call are left out.
pub(super) fn status(current: &Current, columns: usize) -> String {
    let turn = format!("turn {}", current.turn);
    let elapsed = clock(current.ran_ms);
    let mut amounts = spent(&current.spent);
    if current.others > 0 {
        amounts.push(format!("{} more", current.others));
    }
    loop {
        let mut parts = vec![turn.clone(), elapsed.clone()];
        parts.extend(amounts.iter().cloned());
        let room = columns.saturating_sub(width(&parts.join(" · ")) + 3);
        let doing = Untrusted(&current.doing).to_string();
        if width(&doing) <= room || room >= DOING_COLUMNS_MIN {
            parts.insert(1, fit(&doing, room));
            return parts.join(" · ");
        }
        if amounts.pop().is_none() {
            return fit(&parts.join(" · "), columns);
        }
    }
}

/// A call that has ended: `✓ read a.rs  12ms`.
pub(super) fn call(call: &EndedCall, columns: usize) -> String {
    let mark = if call.error.is_some() { "✗" } else { "✓" };
    let took = call.took_ms.map(|ms| format!("  {}", time(ms)));
    let took = took.unwrap_or_default();
    let told = format!("{} {}", Untrusted(&call.name), Untrusted(&call.told));
    let why = UntrustedText(call.error.as_deref().unwrap_or_default()).to_string();
    let room = columns.saturating_sub(width(mark) + 1 + width(&took));
    format!("{mark} {}{took}", failure_line(&told, &why, room))
}

/// Who is waited for, and how they answer: `? deploy v2: harn hitl answer ID`. The id is never
/// cut, because somebody will copy it.
pub(super) fn asked(request_id: &str, prompt: &str, columns: usize) -> String {
    let answer = format!(": harn hitl answer {}", Untrusted(request_id));
    let room = columns.saturating_sub(width(&answer) + 2);
    let prompt = Untrusted(&shortened(prompt)).to_string();
    format!("? {}{answer}", fit(&prompt, room.max(DOING_COLUMNS_MIN)))
}

/// News in a plain line, if they are worth one.
pub(super) fn plain(news: &News) -> Option<String> {
    let line = |start: String, took_ms: u64, took: &Spent| {
        let parts = [start, time(took_ms)].into_iter().chain(spent(took));
        parts.collect::<Vec<_>>().join(" · ")
    };
    match news {
        News::Changed => None,
        News::CallEnded(ended) => Some(call(ended, PLAIN_COLUMNS)),
        News::Asked { request_id, prompt } => Some(asked(request_id, prompt, PLAIN_COLUMNS)),
        News::TurnEnded {
            turn,
            took_ms,
            spent,
        } => Some(line(format!("turn {turn}"), *took_ms, spent)),
        News::LoopEnded {
            turns,
            took_ms,
            spent,
        } => {
            let turns = count(*turns as u64, "turn");
            Some(line(format!("ended after {turns}"), *took_ms, spent))
        }
    }
}

/// Tokens and money, if there are any.
fn spent(spent: &Spent) -> Vec<String> {
    let mut parts = Vec::new();
    if spent.input_tokens + spent.output_tokens > 0 {
        parts.push(format!("{} in", tokens(spent.input_tokens)));
        parts.push(format!("{} out", tokens(spent.output_tokens)));
    }
    if spent.cost_usd > 0.0 {
        parts.push(dollars(spent.cost_usd));
    }
    parts
}

/// The arguments of a call in short: what it is about, else all of them.
pub(in crate::commands) fn arguments(arguments: &Value) -> String {
    let Value::Object(fields) = arguments else {
        return match arguments {
            Value::Null => String::new(),
            Value::String(text) => shortened(text),
            other => shortened(&other.to_string()),
        };
    };
    let telling = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    let only = || match fields.len() {
        1 => fields.values().next()?.as_str(),
        _ => None,
    };
    match telling.or_else(only) {
        Some(text) => shortened(text),
        None if fields.is_empty() => String::new(),
        None => shortened(&arguments.to_string()),
    }
}

/// One line of a text, and not too much of it.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_cut = line.len() < text.trim_end().len();
    match line.char_indices().nth(ARGUMENTS_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if is_cut => format!("{line}…"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn current(doing: &str, others: usize) -> Current {
        Current {
            turn: 3,
            doing: doing.to_owned(),
            ran_ms: 12_300,
            spent: Spent {
                input_tokens: 4210,
                output_tokens: 310,
                cost_usd: 0.012,
            },
            others,
        }
    }

    #[test]
    fn the_status_says_less_where_there_is_less_room() {
        for (columns, expected) in [
            (
                79,
                "turn 3 · read a/long/path.rs · 12s · 4.2k in · 310 out · $0.0120",
            ),
            (
                60,
                "turn 3 · read a/long/pa… · 12s · 4.2k in · 310 out · $0.0120",
            ),
            (45, "turn 3 · read a/lo… · 12s · 4.2k in · 310 out"),
            (30, "turn 3 · read a/long/pa… · 12s"),
            (12, "turn 3 · 12s"),
            (8, "turn 3 …"),
        ] {
            let status = status(&current("read a/long/path.rs", 0), columns);
            assert!(width(&status) <= columns, "{status} in {columns}");
            assert_eq!(status, expected);
        }
        let several = status(&current("read", 2), 79);
        assert!(several.ends_with(" · $0.0120 · 2 more"), "{several}");
    }

    #[test]
    fn a_terminal_does_not_obey_what_a_model_writes() {
        let status = status(&current("read \u{1b}[2J", 0), 79);
        assert!(!status.contains('\u{1b}'));
    }

    #[test]
    fn a_call_is_a_line() {
        let ended = |error: Option<&str>| EndedCall {
            name: "run".to_owned(),
            told: "cargo test".to_owned(),
            took_ms: Some(1234),
            error: error.map(str::to_owned),
        };
        assert_eq!(call(&ended(None), 79), "✓ run cargo test  1.2s");
        let failed = ended(Some("status 1\nmore"));
        assert_eq!(call(&failed, 79), "✗ run cargo test: status 1 … more  1.2s");
        assert_eq!(call(&failed, 20), "✗ run cargo t…  1.2s");
    }

    #[test]
    fn a_question_says_how_it_is_answered() {
        let line = "? deploy v2: harn hitl answer hitl_1";
        assert_eq!(
            asked("hitl_1", "deploy v2\nnow", 80),
            line.replace("v2", "v2…")
        );
        assert_eq!(asked("hitl_1", "deploy v2", 80), line);
        assert!(asked("hitl_1", "deploy v2", 20).ends_with(": harn hitl answer hitl_1"));
    }

    #[test]
    fn arguments_are_told_by_what_they_are_about() {
        for (given, expected) in [
            (json!({"path": "a.rs", "limit": 3}), "a.rs"),
            (json!({"text": "hello"}), "hello"),
            (json!({"a": 1, "b": "x"}), r#"{"a":1,"b":"x"}"#),
            (json!({}), ""),
            (json!(null), ""),
            (json!("plain"), "plain"),
            (json!({"command": "ls\npwd"}), "ls…"),
        ] {
            assert_eq!(arguments(&given), expected);
        }
    }
}
