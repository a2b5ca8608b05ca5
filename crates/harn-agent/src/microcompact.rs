//! Shortens what a tool has put out, so that one long output does not fill the context.
//!
//! The beginning and the end are kept, because a command says at the start what it does and at
//! the end how it went. Lines that look like diagnostics are kept too, wherever they stand:
//! they are what the model asked for. Sizes are bytes, and no character is ever cut in two.

use serde_json::json;

use crate::callback::Callback;

/// Limits below this are ignored: there would be nothing left to read.
const MAX_CHARS_LEAST: usize = 200;
/// How many diagnostic lines are kept.
const DIAGNOSTICS_MAX: usize = 32;
/// What the marks between the parts may take.
const MARKS_BYTES: usize = 64;
/// With less than this at both ends, diagnostics are not worth it.
const KEEP_BYTES_LEAST: usize = 80;

/// The output, shortened to about `max_chars` bytes.
pub fn microcompact(output: &str, max_chars: usize) -> String {
    if output.len() <= max_chars || max_chars < MAX_CHARS_LEAST {
        return output.to_owned();
    }
    let with_diagnostics = around_diagnostics(output, max_chars);
    with_diagnostics.unwrap_or_else(|| snipped(output, max_chars / 2))
}

/// The output of a tool, shortened by `compress` where that gives a text, otherwise by
/// [`microcompact`]. Whatever goes wrong in the callback, the tool's output gets through.
pub async fn compress(
    tool_name: &str,
    output: &str,
    max_chars: usize,
    compress: Option<&dyn Callback>,
) -> String {
    if output.len() <= max_chars {
        return output.to_owned();
    }
    if let Some(callback) = compress {
        let question = json!({"tool_name": tool_name, "output": output, "max_chars": max_chars});
        let answer = callback.call(vec![question]).await.unwrap_or_default();
        if let Some(text) = answer.as_str().filter(|text| !text.is_empty()) {
            return text.to_owned();
        }
    }
    microcompact(output, max_chars)
}

/// Both ends with the diagnostic lines between them, if there are any and there is room.
fn around_diagnostics(output: &str, max_chars: usize) -> Option<String> {
    let lines = output.lines().filter(|line| is_diagnostic(line));
    let lines: Vec<&str> = lines.take(DIAGNOSTICS_MAX).collect();
    if lines.is_empty() {
        return None;
    }
    let diagnostics = lines.join("\n");
    let keep = max_chars.saturating_sub(diagnostics.len() + MARKS_BYTES) / 2;
    if keep < KEEP_BYTES_LEAST || output.len() <= 2 * keep {
        return None;
    }
    let (head, tail) = (head(output, keep), tail(output, keep));
    Some(format!(
        "{head}\n\n[diagnostic lines preserved]\n{diagnostics}\n\n[... output compacted ...]\n\n{tail}"
    ))
}

/// Both ends, and how much is missing between them.
fn snipped(output: &str, keep: usize) -> String {
    let (head, tail) = (head(output, keep), tail(output, keep));
    let dropped = output.len().saturating_sub(head.len() + tail.len());
    format!("{head}\n\n[... {dropped} characters snipped ...]\n\n{tail}")
}

/// The whole lines within the first `keep` bytes, or these bytes if no line ends there.
fn head(output: &str, keep: usize) -> &str {
    let start = &output[..output.floor_char_boundary(keep)];
    match start.rfind('\n') {
        Some(newline) => &start[..=newline],
        None => start,
    }
}

/// What follows the first line end within the last `keep` bytes, or these bytes if no line ends
/// there.
fn tail(output: &str, keep: usize) -> &str {
    let from = output.len().saturating_sub(keep);
    let end = &output[output.ceil_char_boundary(from)..];
    end.find('\n').map_or(end, |newline| &end[newline + 1..])
}

/// Whether a line looks like the message of a compiler or of a test.
fn is_diagnostic(line: &str) -> bool {
    let line = line.trim();
    if ["FAIL", "panic", "Panic"]
        .iter()
        .any(|word| line.contains(word))
    {
        return true;
    }
    let lower = line.to_lowercase();
    if names_a_place(line) && complains(line, &lower) {
        return true;
    }
    let starts = ["error:", "warning:", "note:"];
    lower.contains(" error ")
        || lower.contains("panic:")
        || starts.iter().any(|start| lower.starts_with(start))
}

/// Whether a number follows the first colon, as in `main.rs:12`.
fn names_a_place(line: &str) -> bool {
    let after = line.split_once(':').map(|(_, after)| after);
    after.is_some_and(|after| after.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn complains(line: &str, lower: &str) -> bool {
    const AS_WRITTEN: [&str; 4] = ["error", "undefined", "expected", "got"];
    const IN_ANY_CASE: [&str; 8] = [
        "cannot find",
        "not found",
        "no such",
        "unresolved",
        "missing",
        "declared but not used",
        "unused",
        "mismatch",
    ];
    AS_WRITTEN.iter().any(|word| line.contains(word))
        || IN_ANY_CASE.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use harn_llm::desk::Thrown;
    use harn_log::block_on;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn short_output_and_tiny_limits_change_nothing() {
        let long = "x".repeat(300);
        assert_eq!(microcompact("short", 20_000), "short");
        assert_eq!(microcompact(&long, 300), long);
        assert_eq!(microcompact(&long, 199), long);
        assert_eq!(microcompact("", 0), "");
    }

    #[test]
    fn the_middle_of_one_long_line_is_snipped() {
        let output = format!("{}{}{}", "a".repeat(100), "b".repeat(50), "c".repeat(100));
        let expected = format!(
            "{}\n\n[... 50 characters snipped ...]\n\n{}",
            "a".repeat(100),
            "c".repeat(100)
        );
        assert_eq!(microcompact(&output, 200), expected);
    }

    #[test]
    fn ends_are_whole_lines() {
        // 60 lines of ten bytes each; 105 bytes at each end hold ten whole lines.
        let output: String = (0..60).map(|line| format!("line {line:04}\n")).collect();
        assert_eq!(output.len(), 600);
        let head: String = (0..10).map(|line| format!("line {line:04}\n")).collect();
        let tail: String = (50..60).map(|line| format!("line {line:04}\n")).collect();
        let expected = format!("{head}\n\n[... 400 characters snipped ...]\n\n{tail}");
        assert_eq!(microcompact(&output, 210), expected);
    }

    #[test]
    fn nothing_follows_a_line_end_at_the_very_end() {
        let output = format!("{}\n", "x".repeat(299));
        let expected = format!(
            "{}\n\n[... 200 characters snipped ...]\n\n",
            "x".repeat(100)
        );
        assert_eq!(microcompact(&output, 200), expected);
    }

    #[test]
    fn diagnostics_of_the_middle_survive() {
        let filler = "y".repeat(999);
        let output = format!("{filler}\nmain.rs:7: expected `;`\n{filler}");
        // 23 bytes of diagnostics and 64 of marks leave (400 - 87) / 2 = 156 for each end.
        let expected = format!(
            "{}\n\n[diagnostic lines preserved]\nmain.rs:7: expected `;`\n\n[... output compacted ...]\n\n{}",
            "y".repeat(156),
            "y".repeat(156)
        );
        assert_eq!(microcompact(&output, 400), expected);
    }

    #[test]
    fn diagnostics_without_room_are_given_up() {
        let filler = "y".repeat(500);
        let output = format!("{filler}\nFAIL {}\n{filler}", "z".repeat(100));
        // 105 + 64 bytes leave less than 80 for each end.
        let compacted = microcompact(&output, 300);
        let ends = "y".repeat(150);
        assert_eq!(
            compacted,
            format!("{ends}\n\n[... 807 characters snipped ...]\n\n{ends}")
        );
    }

    #[test]
    fn no_more_than_32_diagnostics_are_kept() {
        let output = "FAIL a\n".repeat(1000);
        let compacted = microcompact(&output, 1000);
        let (_, rest) = compacted
            .split_once("preserved]\n")
            .expect("it has diagnostics");
        let (diagnostics, _) = rest.split_once("\n\n[... output").expect("they end");
        assert_eq!(diagnostics.lines().count(), 32);
    }

    #[test]
    fn diagnostics_are_known_by_their_words() {
        let rows = [
            ("--- FAIL: TestX", true),
            ("thread panicked", true),
            ("Panic in the kitchen", true),
            ("a.go:3: x declared but not used", true),
            ("a.go:3: Unused variable", true),
            ("a.rs:12: Mismatch", true),
            ("a.rs:12: No such file", true),
            ("a.rs:12: undefined name", true),
            ("a.rs:12: want 1, got 2", true),
            ("a.rs:12: Error", false),
            ("a.rs: expected", false),
            ("a.rs:12: fine", false),
            ("first: then x:3 expected", false),
            ("an ERROR occurred", true),
            ("Error: no", true),
            ("WARNING: careful", true),
            ("note: see there", true),
            ("an error", false),
            ("all is well", false),
            ("", false),
        ];
        for (line, expected) in rows {
            assert_eq!(is_diagnostic(line), expected, "{line}");
        }
    }

    fn compressed(answer: Result<Value, Thrown>) -> String {
        let callback = move |arguments: Vec<Value>| {
            assert_eq!(arguments.len(), 1);
            assert_eq!(arguments[0]["tool_name"], "read");
            assert_eq!(arguments[0]["max_chars"], 200);
            assert_eq!(arguments[0]["output"].as_str().map(str::len), Some(300));
            answer.clone()
        };
        block_on(compress("read", &"x".repeat(300), 200, Some(&callback)))
    }

    #[test]
    fn a_callback_may_do_it_and_is_not_trusted() {
        assert_eq!(compressed(Ok(json!("mine"))), "mine");
        let usual = microcompact(&"x".repeat(300), 200);
        for answer in [json!(""), json!(null), json!(7), json!({"text": "t"})] {
            assert_eq!(compressed(Ok(answer)), usual);
        }
        assert_eq!(compressed(Err(Thrown::Plain("no".to_owned()))), usual);
        assert_eq!(block_on(compress("read", "short", 200, None)), "short");
    }

    proptest! {
        #[test]
        fn any_text_can_be_shortened(text in "(\\PC|\n|error: ){0,900}", max in 0usize..700) {
            let compacted = microcompact(&text, max);
            if text.len() > max && max >= MAX_CHARS_LEAST {
                prop_assert!(compacted.len() <= max + 128);
            } else {
                prop_assert_eq!(compacted, text);
            }
        }
    }
}
