//! Entries as rows of a terminal.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::diff;
use super::super::looks::Looks;
use super::super::view::{Call, CallState, Entry, Kind};
use super::super::wrap::wrap;
use crate::amounts::time;
use crate::columns::{fit, width};
use crate::failure_line::failure_line;

/// How many lines of a difference are shown while results are folded.
const DIFF_ROWS_FOLDED: usize = 12;

/// How many lines of a command's output are, from its end.
const OUTPUT_ROWS_FOLDED: usize = 4;

/// How many lines of anything are when they are not folded.
const ROWS_UNFOLDED: usize = 300;

/// How entries are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Manner {
    pub(in super::super) columns: usize,
    pub(in super::super) shows_thoughts: bool,
    pub(in super::super) shows_results: bool,
}

/// The rows of entries as they were drawn last, so that only what has changed is made again.
#[derive(Default)]
pub(in super::super) struct Cache {
    manner: Option<Manner>,
    forgotten: usize,
    rows: Vec<(u64, Vec<Line<'static>>)>,
}

impl Cache {
    /// The rows of entries. `forgotten` entries were there before the first of them.
    pub(super) fn rows(
        &mut self,
        entries: &[Entry],
        forgotten: usize,
        manner: Manner,
        looks: Looks,
    ) -> &[(u64, Vec<Line<'static>>)] {
        if self.manner != Some(manner) || self.forgotten != forgotten {
            self.rows.clear();
            (self.manner, self.forgotten) = (Some(manner), forgotten);
        }
        self.rows.truncate(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            match self.rows.get_mut(at) {
                Some((revision, _)) if *revision == entry.revision => {}
                Some(known) => *known = (entry.revision, rows(entry, manner, looks)),
                None => self.rows.push((entry.revision, rows(entry, manner, looks))),
            }
        }
        &self.rows
    }

    /// Everything is made again: the entries are others.
    pub(in super::super) fn forget(&mut self) {
        self.manner = None;
    }
}

/// The rows of one entry.
pub(super) fn rows(entry: &Entry, manner: Manner, looks: Looks) -> Vec<Line<'static>> {
    let columns = manner.columns;
    match &entry.kind {
        Kind::Prompt(text) => apart(marked("> ", text.trim_end(), looks.own(), columns)),
        Kind::Answer(text) => apart(answer(text.trim_end(), looks, columns)),
        Kind::Thought(text) if manner.shows_thoughts => {
            marked("~ ", text.trim_end(), looks.faint(), columns)
        }
        Kind::Thought(text) => vec![folded(text, looks, columns)],
        Kind::Call(call) => call_rows(call, manner, looks),
        Kind::Printed(text) => marked("| ", text.trim_end(), looks.plain(), columns),
        Kind::Notice(text) => marked("· ", text.trim_end(), looks.faint(), columns),
        Kind::Problem(text) => apart(marked("! ", text.trim_end(), looks.bad(), columns)),
    }
}

/// With an empty row before it.
fn apart(mut rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
    rows.insert(0, Line::default());
    rows
}

/// A text with a mark before its first row, and room below the mark.
fn marked(mark: &str, text: &str, style: Style, columns: usize) -> Vec<Line<'static>> {
    let indent = width(mark);
    let rows = wrap(text, columns.saturating_sub(indent)).into_iter();
    let rows = rows.enumerate().map(|(at, row)| {
        let start = match at {
            0 => mark.to_owned(),
            _ => " ".repeat(indent),
        };
        Line::from(vec![Span::styled(start, style), Span::styled(row, style)])
    });
    rows.collect()
}

/// What an agent says. Models write Markdown; headings and the fences of code are told apart.
fn answer(text: &str, looks: Looks, columns: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let mut is_code = false;
    for line in text.split('\n') {
        let is_fence = line.trim_start().starts_with("```");
        let style = match () {
            () if is_fence => looks.faint(),
            () if !is_code && line.starts_with('#') => looks.heading(),
            () => looks.plain(),
        };
        is_code ^= is_fence;
        let wrapped = wrap(line, columns).into_iter();
        rows.extend(wrapped.map(|row| Line::styled(row, style)));
    }
    rows
}

/// A thought in one row.
fn folded(text: &str, looks: Looks, columns: usize) -> Line<'static> {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    let more = text.lines().count().saturating_sub(1);
    let row = match more {
        0 => format!("~ {first}"),
        more => {
            let end = format!(" (+{more})");
            let room = columns.saturating_sub(2 + width(&end));
            format!("~ {}{end}", fit(first, room))
        }
    };
    Line::styled(fit(&row, columns), looks.faint())
}

fn call_rows(call: &Call, manner: Manner, looks: Looks) -> Vec<Line<'static>> {
    let mut rows = vec![headline(call, manner.columns, looks)];
    rows.extend(diff_rows(call, manner, looks));
    rows.extend(result_rows(call, manner, looks));
    rows
}

/// `✓ read src/main.rs  12ms`
fn headline(call: &Call, columns: usize, looks: Looks) -> Line<'static> {
    let (mark, style) = match call.state {
        CallState::Pending => ("·", looks.faint()),
        CallState::Running => ("»", looks.urgent()),
        CallState::Done => ("✓", looks.good()),
        CallState::Failed => ("✗", looks.bad()),
    };
    let inner = if call.is_inner { "  " } else { "" };
    let took = call.took_ms.filter(|_| call.state == CallState::Done);
    let took = took.map_or_else(String::new, |ms| format!("  {}", time(ms)));
    let told = format!("{} {}", call.name, call.told);
    let why = match call.state {
        CallState::Failed => &*call.result,
        CallState::Pending | CallState::Running | CallState::Done => "",
    };
    let room = columns.saturating_sub(width(inner) + width(mark) + 1 + width(&took));
    Line::from(vec![
        Span::styled(format!("{inner}{mark} "), style),
        Span::raw(failure_line(&told, why, room)),
        Span::styled(took, looks.faint()),
    ])
}

fn diff_rows(call: &Call, manner: Manner, looks: Looks) -> Vec<Line<'static>> {
    let rows = call.changes.iter().map(|line| {
        let (mark, text, style) = match line {
            diff::Line::Kept(text) => (" ", text, looks.faint()),
            diff::Line::Removed(text) => ("-", text, looks.bad()),
            diff::Line::Added(text) => ("+", text, looks.good()),
        };
        let room = manner.columns.saturating_sub(4);
        let row = format!("  {mark} {}", fit(text, room));
        Line::styled(row, style)
    });
    let max = match manner.shows_results {
        true => ROWS_UNFOLDED,
        false => DIFF_ROWS_FOLDED,
    };
    first(rows.collect(), max, looks)
}

/// What came of a call: all of it if somebody wants to see it, else the end of what a command
/// wrote.
fn result_rows(call: &Call, manner: Manner, looks: Looks) -> Vec<Line<'static>> {
    let room = manner.columns.saturating_sub(4);
    let row = |text: &str| Line::styled(format!("    {}", fit(text, room)), looks.faint());
    if manner.shows_results {
        let rows = call.result.lines().map(row).collect();
        return first(rows, ROWS_UNFOLDED, looks);
    }
    let runs = matches!(call.kind, Some(harn_events::ToolKind::Execute));
    if !runs || call.is_open() {
        return Vec::new();
    }
    let lines: Vec<&str> = call.result.lines().collect();
    let from = lines.len().saturating_sub(OUTPUT_ROWS_FOLDED);
    let cut = (from > 0).then(|| row(&format!("… {from} lines more (Ctrl-O)")));
    let rest = lines[from..].iter().map(|line| row(line));
    cut.into_iter().chain(rest).collect()
}

/// The first rows, and how many are missing.
fn first(mut rows: Vec<Line<'static>>, max: usize, looks: Looks) -> Vec<Line<'static>> {
    let missing = rows.len().saturating_sub(max);
    if missing > 0 {
        rows.truncate(max);
        let text = format!("    … {missing} lines more (Ctrl-O)");
        rows.push(Line::styled(text, looks.faint()));
    }
    rows
}
