//! Draws a chat.
//!
//! ```text
//! conversation            its end, or where somebody has scrolled to; or earlier sessions
//! what waits to be heard
//! a question              with what can be answered
//! ─────────────
//! > what is written
//! status                  what goes on, model, context, cost
//! ```

mod rows;
mod status;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::asked::Asked;
use super::draft::Draft;
use super::looks::Looks;
use super::picker::Picker;
use super::shared::State;
use super::view::View;
use super::wrap::wrap;
use crate::columns::{fit, width};

pub(super) use rows::{Cache, Manner};

/// What stands before what is written.
const PROMPT: &str = "> ";

/// What stands there while a question is to be answered.
const ANSWER: &str = "? ";

/// Where the conversation is looked at: its end, or a row from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scroll {
    /// `None`: the end, whatever is added.
    pub(super) top: Option<usize>,
    /// How many rows were shown, and how many there were.
    pub(super) shown: usize,
    pub(super) total: usize,
}

impl Scroll {
    /// Up by so many rows; down if they are negative.
    pub(super) fn up(&mut self, rows: isize) {
        let end = self.total.saturating_sub(self.shown);
        let top = self.top.unwrap_or(end).saturating_add_signed(-rows);
        self.top = (top < end).then_some(top);
    }
}

/// What is drawn.
pub(super) struct Scene<'a> {
    pub(super) state: &'a State,
    pub(super) draft: &'a Draft,
    pub(super) picker: Option<&'a Picker>,
    /// Whether keys answer the question.
    pub(super) is_asked: bool,
    pub(super) shows_thoughts: bool,
    pub(super) shows_results: bool,
    pub(super) looks: Looks,
    /// Since the chat began.
    pub(super) now_ms: u64,
    /// Since the epoch.
    pub(super) date_ms: i64,
}

/// What is remembered from one drawing to the next.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) cache: Cache,
    pub(super) scroll: Scroll,
}

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, scene: &Scene<'_>, memory: &mut Memory) {
    let area = frame.area();
    let columns = usize::from(area.width);
    if area.height == 0 || columns < PROMPT.len() + 1 {
        return;
    }
    let (written, cursor) = scene.draft.rows(draft_columns(columns));
    let below = below(scene, columns, usize::from(area.height));
    let room = usize::from(area.height) - 1;
    let written_max = (usize::from(area.height) / 3).max(1);
    let written_rows = written.len().min(written_max).min(room);
    let below_rows = below.len().min(room - written_rows);
    let above_rows = room - written_rows - below_rows;
    let mut y = area.y;
    let mut part = |rows: usize| {
        let height = u16::try_from(rows).unwrap_or(u16::MAX);
        let part = Rect { y, height, ..area };
        y += height;
        part
    };
    let above = part(above_rows);
    match scene.picker {
        Some(picker) => draw_picker(frame, above, picker, scene),
        None => draw_conversation(frame, above, scene, memory),
    }
    let from = below.len() - below_rows;
    draw_rows(frame, part(below_rows), &below[from..]);
    draw_draft(frame, part(written_rows), scene, &written, cursor);
    let row = status::row(&scene.state.view, scene.now_ms, columns);
    draw_rows(frame, part(1), &[Line::styled(row, scene.looks.faint())]);
}

/// How wide a row of what is written is.
pub(super) fn draft_columns(columns: usize) -> usize {
    columns.saturating_sub(PROMPT.len()).max(1)
}

fn draw_rows(frame: &mut Frame<'_>, area: Rect, rows: &[Line<'_>]) {
    let buffer = frame.buffer_mut();
    for (y, row) in (area.top()..area.bottom()).zip(rows) {
        buffer.set_line(area.x, y, row, area.width);
    }
}

fn draw_conversation(frame: &mut Frame<'_>, area: Rect, scene: &Scene<'_>, memory: &mut Memory) {
    let manner = Manner {
        columns: usize::from(area.width),
        shows_thoughts: scene.shows_thoughts,
        shows_results: scene.shows_results,
    };
    let view: &View = &scene.state.view;
    let entries = memory
        .cache
        .rows(view.entries(), view.forgotten(), manner, scene.looks);
    let total = entries.iter().map(|(_, rows)| rows.len()).sum();
    let shown = usize::from(area.height);
    let scroll = &mut memory.scroll;
    (scroll.total, scroll.shown) = (total, shown);
    let end = total.saturating_sub(shown);
    let top = scroll.top.unwrap_or(end).min(end);
    draw_rows(frame, area, &rows_from(entries, top, shown));
}

/// So many rows after the first `top`. Most entries are above them and not looked at row by row.
fn rows_from(
    entries: &[(u64, Vec<Line<'static>>)],
    top: usize,
    count: usize,
) -> Vec<Line<'static>> {
    let mut above = 0;
    let first = entries.iter().position(|(_, rows)| {
        above += rows.len();
        above > top
    });
    let Some(first) = first else {
        return Vec::new();
    };
    let skipped = top - (above - entries[first].1.len());
    let rows = entries[first..].iter().flat_map(|(_, rows)| rows);
    rows.skip(skipped).take(count).cloned().collect()
}

fn draw_picker(frame: &mut Frame<'_>, area: Rect, picker: &Picker, scene: &Scene<'_>) {
    let columns = usize::from(area.width);
    let looks = scene.looks;
    let title = match picker.is_loading() {
        true => "Sessions: reading the log …".to_owned(),
        false => format!(
            "Sessions: {}_  (Enter goes on, Esc back, letters filter)",
            picker.filter()
        ),
    };
    let mut rows = vec![Line::styled(fit(&title, columns), looks.heading())];
    let room = usize::from(area.height).saturating_sub(1);
    let (sessions, chosen) = picker.rows(columns.saturating_sub(2), room, scene.date_ms);
    if sessions.is_empty() && !picker.is_loading() {
        rows.push(Line::styled("  none", looks.faint()));
    }
    rows.extend(
        sessions
            .into_iter()
            .enumerate()
            .map(|(at, row)| match at == chosen {
                true => Line::styled(format!("> {row}"), looks.chosen()),
                false => Line::raw(format!("  {row}")),
            }),
    );
    draw_rows(frame, area, &rows);
}

/// What stands between the conversation and what is written.
fn below(scene: &Scene<'_>, columns: usize, height: usize) -> Vec<Line<'static>> {
    let looks = scene.looks;
    let mut rows = Vec::new();
    for text in &scene.state.unheard {
        let first = super::clean::clean_line(text);
        let row = format!("… {first}");
        rows.push(Line::styled(fit(&row, columns), looks.faint()));
    }
    if let Some(asked) = scene.state.asked.front() {
        rows.extend(question(asked, scene, columns, height / 2));
    }
    if height >= 6 {
        rows.push(Line::styled("─".repeat(columns), looks.faint()));
    }
    rows
}

fn question(
    asked: &Asked,
    scene: &Scene<'_>,
    columns: usize,
    rows_max: usize,
) -> Vec<Line<'static>> {
    let looks = scene.looks;
    let mut texts = wrap(&asked.text(), columns.saturating_sub(2));
    if texts.len() > rows_max.max(1) {
        texts.truncate(rows_max.max(1));
        texts.extend(["…".to_owned()]);
    }
    let more = scene.state.asked.len() - 1;
    let mut choices = match scene.is_asked {
        true => asked.choices(),
        false => format!("Tab, then: {}", asked.choices()),
    };
    if more > 0 {
        choices += &format!(" · {more} more");
    }
    let rows = texts.into_iter().enumerate().map(|(at, text)| {
        let mark = if at == 0 { ANSWER } else { "  " };
        Line::styled(format!("{mark}{text}"), looks.urgent())
    });
    let choices = wrap(&choices, columns.saturating_sub(2)).into_iter();
    let choices = choices.map(|row| Line::styled(format!("  {row}"), looks.heading()));
    rows.chain(choices).collect()
}

fn draw_draft(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &Scene<'_>,
    written: &[String],
    (row, column): (usize, usize),
) {
    let is_answer = scene.is_asked;
    let shown = usize::from(area.height);
    let from = (row + 1).saturating_sub(shown);
    let looks = scene.looks;
    let mark = if is_answer { ANSWER } else { PROMPT };
    let (mark_style, style): (Style, Style) = match is_answer {
        true => (looks.urgent(), looks.plain()),
        false => (looks.own(), looks.plain()),
    };
    let rows = written.iter().enumerate().skip(from).take(shown);
    let rows: Vec<Line<'_>> = rows
        .map(|(at, text)| {
            let start = if at == 0 { mark } else { "  " };
            Line::from(vec![
                Span::styled(start, mark_style),
                Span::styled(text.as_str(), style),
            ])
        })
        .collect();
    draw_rows(frame, area, &rows);
    if scene.picker.is_none() && shown > 0 {
        let x = area.x + u16::try_from(width(mark) + column).unwrap_or(0);
        let y = area.y + u16::try_from(row - from).unwrap_or(0);
        frame.set_cursor_position((x.min(area.right().saturating_sub(1)), y));
    }
}

#[cfg(test)]
mod tests;
