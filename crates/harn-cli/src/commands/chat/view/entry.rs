//! What a conversation consists of, as somebody reads it.

use harn_events::ToolKind;
use serde_json::Value;

use super::super::clean::{clean, clean_line};
use super::super::diff;
use crate::commands::run::live::wording;

/// No entry shows more than this. A model or a tool that goes on for ever fills a log, not the
/// memory of whoever looks on.
const BYTES_MAX: usize = 256 * 1024;

/// Of a result that is longer, so much of its end is shown as well.
const END_BYTES: usize = 4096;

const MIDDLE_CUT: &str = "\n… (the middle is in the log)\n";

/// Something that was said or done. Everything in it is [cleaned](super::super::clean).
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Entry {
    pub(in super::super) kind: Kind,
    /// Rises with each change, so that whoever draws it knows when to draw it again.
    pub(in super::super) revision: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Kind {
    /// What the person wrote.
    Prompt(String),
    /// What the agent says.
    Answer(String),
    /// What the model thinks.
    Thought(String),
    Call(Call),
    /// What the program printed.
    Printed(String),
    /// What the chat itself says.
    Notice(String),
    /// What went wrong.
    Problem(String),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Call {
    pub(in super::super) name: String,
    pub(in super::super) kind: Option<ToolKind>,
    /// What it changes, if it is an edit.
    pub(in super::super) changes: Vec<diff::Line>,
    /// Its arguments, in short.
    pub(in super::super) told: String,
    pub(in super::super) state: CallState,
    /// What came of it.
    pub(in super::super) result: String,
    pub(in super::super) took_ms: Option<u64>,
    /// Whether an agent inside the agent made it.
    pub(in super::super) is_inner: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum CallState {
    /// It is known, and does not run yet.
    Pending,
    Running,
    Done,
    Failed,
}

impl Entry {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Prompt(text)
            | Kind::Answer(text)
            | Kind::Thought(text)
            | Kind::Printed(text)
            | Kind::Notice(text)
            | Kind::Problem(text) => text.len(),
            Kind::Call(call) => call.result.len(),
        }
    }

    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, revision: 0 }
    }

    /// Adds to a text, as far as there is room.
    pub(super) fn add(&mut self, more: &str) {
        self.revision += 1;
        match &mut self.kind {
            Kind::Prompt(text)
            | Kind::Answer(text)
            | Kind::Thought(text)
            | Kind::Printed(text)
            | Kind::Notice(text)
            | Kind::Problem(text) => add_within(text, &clean(more)),
            Kind::Call(_) => {}
        }
    }
}

impl Call {
    pub(super) fn new(name: &str, is_inner: bool) -> Self {
        Self {
            name: clean_line(name),
            kind: None,
            changes: Vec::new(),
            told: String::new(),
            state: CallState::Pending,
            result: String::new(),
            took_ms: None,
            is_inner,
        }
    }

    pub(super) fn set_arguments(&mut self, arguments: &Value) {
        self.told = clean_line(&wording::arguments(arguments));
        self.changes = diff::of_call(arguments);
    }

    pub(super) fn set_result(&mut self, text: &str) {
        self.result.clear();
        let text = text.trim_end();
        let start = first_bytes(text);
        add_within(&mut self.result, &clean(start));
        if let Some(end) = last_bytes(&text[start.len()..]) {
            self.result.push_str(MIDDLE_CUT);
            self.result.push_str(&clean(end));
        }
    }

    pub(in super::super) fn is_open(&self) -> bool {
        matches!(self.state, CallState::Pending | CallState::Running)
    }
}

fn first_bytes(text: &str) -> &str {
    let mut end = text.len().min(BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The end of what was cut off, which often says why something has failed.
fn last_bytes(rest: &str) -> Option<&str> {
    let mut start = rest.len().saturating_sub(END_BYTES);
    while !rest.is_char_boundary(start) {
        start += 1;
    }
    Some(&rest[start..]).filter(|end| !end.is_empty())
}

fn add_within(text: &mut String, more: &str) {
    const CUT: &str = "\n… (the rest is in the log)";
    let room = BYTES_MAX.saturating_sub(text.len());
    if more.len() <= room {
        return text.push_str(more);
    }
    if !text.ends_with(CUT) {
        let mut end = room.min(more.len());
        while !more.is_char_boundary(end) {
            end -= 1;
        }
        text.push_str(&more[..end]);
        text.push_str(CUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_bound() {
        let mut entry = Entry::new(Kind::Answer(String::new()));
        for _ in 0..1000 {
            entry.add(&"ä".repeat(1000));
        }
        let Kind::Answer(text) = &entry.kind else {
            panic!("{:?}", entry.kind);
        };
        assert!(text.len() < BYTES_MAX + 100, "{}", text.len());
        assert!(text.ends_with("is in the log)"));
    }

    #[test]
    fn of_a_long_result_the_end_is_kept_as_well() {
        let mut call = Call::new("run", false);
        call.set_result(&format!(
            "exit_code=1\n{}\nerror: no",
            "ä".repeat(BYTES_MAX)
        ));
        let bytes_max = BYTES_MAX + END_BYTES + MIDDLE_CUT.len();
        assert!(call.result.len() <= bytes_max, "{}", call.result.len());
        assert!(call.result.starts_with("exit_code=1\n"));
        assert!(call.result.contains(MIDDLE_CUT));
        assert!(call.result.ends_with("\nerror: no"));
        call.set_result("short\n");
        assert_eq!(call.result, "short");
    }
}
