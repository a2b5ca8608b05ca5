//! The events of a session, one a line.
//!
//! They are written while they are read: of a session of any length a chunk of records is held, and
//! of the pieces of a streamed answer what fits a line.

use std::io::Write;

use harn_events::SessionLists;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::super::Form;
use super::super::events::failure::Failure;
use super::super::events::log::OpenLog;
use super::super::events::{Ctx, summary};
use super::stored::{StoredEvent, StoredEvents};
use crate::columns::{fit, width};
use crate::counting::count;
use crate::failure_line::failure_line;
use crate::output::{Untrusted, UntrustedText};

/// How long a line may be where there is no terminal to say so.
const COLUMNS: usize = 200;
/// Room for a kind; longer ones take what they need.
const KIND_COLUMNS: usize = 20;
/// Of pieces that share a line, so much text is held: more than any line shows.
const JOINED_BYTES_MAX: usize = 4 * 1024;

/// What becomes of the pieces of a streamed answer that came one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pieces {
    /// They share a line.
    Joined,
    /// Each has a line of its own.
    Each,
}

/// Writes the events of a session.
pub(super) fn write(
    log: &OpenLog,
    id: &str,
    pieces: Pieces,
    ctx: &mut Ctx<'_>,
) -> Result<(), Failure> {
    let events = StoredEvents::of(log, id)?;
    match ctx.form {
        Form::Json => write_json(id, events, ctx.output),
        Form::Text => {
            let last_ms = events.last_ms()?;
            write_lines(events, last_ms, pieces, ctx)
        }
    }
}

/// An event in the answer. The names are a promise.
#[derive(Serialize)]
struct EventJson<'a> {
    id: u64,
    kind: &'a str,
    at_ms: i64,
    /// Milliseconds since the first event.
    after_ms: i64,
    event: Option<&'a RawValue>,
}

/// What is read of a record, without looking into the event.
#[derive(Deserialize)]
struct RecordJson<'a> {
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
}

/// Writes the answer for programs: `{"id", "events": […]}`, an event at a time.
fn write_json(
    id: &str,
    events: impl Iterator<Item = Result<StoredEvent, Failure>>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    write!(out, "{{\"id\":{},\"events\":[", Value::from(id))?;
    let mut lists = SessionLists::default();
    let mut start_ms = None;
    for stored in events {
        let stored = stored?;
        let comma = if start_ms.is_some() { "," } else { "" };
        out.write_all(comma.as_bytes())?;
        let record: RecordJson<'_> = serde_json::from_slice(&stored.payload).map_err(damaged)?;
        let whole = match &*stored.kind {
            "iteration_end" => whole(record.event, &mut lists).map_err(damaged)?,
            _ => None,
        };
        let line = EventJson {
            id: stored.id,
            kind: &stored.kind,
            at_ms: stored.at_ms,
            after_ms: stored.at_ms - *start_ms.get_or_insert(stored.at_ms),
            event: whole.as_deref().or(record.event),
        };
        serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
    }
    Ok(out.write_all(b"]}\n")?)
}

/// An event with its lists as they were told.
fn whole(
    event: Option<&RawValue>,
    lists: &mut SessionLists,
) -> serde_json::Result<Option<Box<RawValue>>> {
    let Some(event) = event else {
        return Ok(None);
    };
    let mut event: Value = serde_json::from_str(event.get())?;
    lists.complete_value(&mut event);
    to_raw_value(&event).map(Some)
}

fn damaged(error: serde_json::Error) -> Failure {
    Failure::Log(error.into())
}

/// Writes the lines for people. `last_ms`: when the last event happened, so that the times stand
/// below each other.
fn write_lines(
    events: impl Iterator<Item = Result<StoredEvent, Failure>>,
    last_ms: Option<i64>,
    pieces: Pieces,
    ctx: &mut Ctx<'_>,
) -> Result<(), Failure> {
    let mut start_ms = None;
    let mut time_columns = 0;
    let mut run: Option<Run> = None;
    for stored in events {
        let stored = stored?;
        let start_ms = *start_ms.get_or_insert_with(|| {
            let after_ms = last_ms.unwrap_or(stored.at_ms) - stored.at_ms;
            time_columns = since_start(0).len().max(since_start(after_ms).len());
            stored.at_ms
        });
        let line = Line::of(stored, start_ms).map_err(damaged)?;
        match &mut run {
            Some(run) if pieces == Pieces::Joined && run.is_continued_by(&line) => run.add(line),
            _ => {
                if let Some(run) = run.replace(Run::of(line)) {
                    write_run(&run, time_columns, ctx)?;
                }
            }
        }
    }
    match run {
        Some(run) => write_run(&run, time_columns, ctx)?,
        None => ctx.output.note(format_args!("no events")),
    }
    Ok(())
}

/// An event.
struct Line {
    kind: String,
    /// Milliseconds since the first event.
    after_ms: i64,
    /// The record, in which the event is.
    payload: Value,
}

impl Line {
    fn of(stored: StoredEvent, start_ms: i64) -> serde_json::Result<Self> {
        Ok(Self {
            payload: serde_json::from_slice(&stored.payload)?,
            after_ms: stored.at_ms - start_ms,
            kind: stored.kind,
        })
    }

    fn event(&self) -> &Value {
        &self.payload["event"]
    }

    /// The stream that the event is a piece of, if it is one: its kind and its call.
    fn stream(&self) -> Option<(&str, &str)> {
        let event = self.event();
        match &*self.kind {
            "agent_message_chunk" | "agent_thought_chunk" => Some((&self.kind, "")),
            // Arguments of a call that are still arriving.
            "tool_call_update"
                if event["status"] == "pending"
                    && ["raw_output", "error", "parsing"]
                        .iter()
                        .all(|name| event[name].is_null()) =>
            {
                Some((&self.kind, event["tool_call_id"].as_str()?))
            }
            _ => None,
        }
    }
}

/// An event, or the pieces of a stream that came one after the other.
struct Run {
    /// The last of them, and when the first one came.
    last: Line,
    first_after_ms: i64,
    pieces: u64,
    /// What they say together, as much as a line can show; `None` if one of them is no text.
    text: Option<String>,
}

impl Run {
    fn of(line: Line) -> Self {
        Self {
            first_after_ms: line.after_ms,
            pieces: 1,
            text: line.event()["content"].as_str().map(str::to_owned),
            last: line,
        }
    }

    fn is_continued_by(&self, line: &Line) -> bool {
        let stream = line.stream();
        stream.is_some() && stream == self.last.stream()
    }

    fn add(&mut self, line: Line) {
        self.pieces += 1;
        match (&mut self.text, line.event()["content"].as_str()) {
            (Some(text), Some(_)) if text.len() > JOINED_BYTES_MAX => {}
            (Some(text), Some(more)) => text.push_str(more),
            (text, None) => *text = None,
            (None, Some(_)) => {}
        }
        self.last = line;
    }
}

/// Writes an event, or the pieces of a stream, in a line.
fn write_run(run: &Run, time_columns: usize, ctx: &mut Ctx<'_>) -> Result<(), Failure> {
    let (palette, line) = (ctx.output.palette(), &run.last);
    let time = since_start(run.first_after_ms);
    let time = format!("{time:>time_columns$}");
    let kind = Untrusted(&line.kind).to_string();
    let kind = format!("{kind:KIND_COLUMNS$}");
    let columns = ctx.output.columns().unwrap_or(COLUMNS);
    let room = columns.saturating_sub(width(&time) + width(&kind) + 4);
    let told = match run.pieces {
        1 => told(line, room),
        _ => fit(&told_together(run), room),
    };
    let kind = match told.is_empty() {
        true => kind.trim_end(),
        false => &kind,
    };
    let text = format!(
        "{}  {}  {told}",
        palette.faint(time),
        palette.kind(&line.kind, kind)
    );
    writeln!(ctx.output, "{}", text.trim_end())?;
    Ok(())
}

/// What an event says, in so many columns.
fn told(line: &Line, columns: usize) -> String {
    let event = line.event();
    let failed = event["status"] == "failed";
    match (&*line.kind, event["error"].as_str()) {
        ("tool_call_update", Some(error)) if failed => {
            let name = event["tool_name"].as_str().unwrap_or_default();
            let told = format!("{} failed", Untrusted(name));
            let why = UntrustedText(error).to_string();
            failure_line(told.trim_start(), &why, columns)
        }
        (kind, _) => {
            let said = summary::of_payload(kind, &line.payload);
            fit(&Untrusted(said).to_string(), columns)
        }
    }
}

/// `12 pieces in 1.204s: ` and what they say together.
fn told_together(run: &Run) -> String {
    let last = &run.last;
    let said = match &run.text {
        None => summary::of_payload(&last.kind, &last.payload),
        Some(text) => {
            let mut payload = last.payload.clone();
            payload["event"]["content"] = Value::from(text.as_str());
            summary::of_payload(&last.kind, &payload)
        }
    };
    let pieces = count(run.pieces, "piece");
    let took = last.after_ms.saturating_sub(run.first_after_ms);
    let took = seconds(took.unsigned_abs());
    format!("{pieces} in {took}: {}", Untrusted(said))
}

/// `+1.204s`
fn since_start(after_ms: i64) -> String {
    let sign = if after_ms < 0 { '-' } else { '+' };
    format!("{sign}{}", seconds(after_ms.unsigned_abs()))
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}s", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(event: &Value) -> Line {
        Line {
            kind: event["type"].as_str().unwrap().to_owned(),
            after_ms: 0,
            payload: json!({"event": event}),
        }
    }

    #[track_caller]
    fn check_streams(one: Value, other: Value, are_one: bool) {
        let (one, other) = (line(&one), line(&other));
        let is_continued = Run::of(one).is_continued_by(&other);
        assert_eq!(is_continued, are_one, "{}", other.payload);
    }

    #[test]
    fn of_pieces_that_share_a_line_no_more_is_held_than_a_line_can_show() {
        let piece = json!({"type": "agent_message_chunk", "content": "x".repeat(100)});
        let mut run = Run::of(line(&piece));
        for _ in 0..1_000 {
            run.add(line(&piece));
        }
        let text = run.text.as_ref().unwrap();
        assert!(text.len() <= JOINED_BYTES_MAX + 100, "{}", text.len());
        assert!(told_together(&run).starts_with("1001 pieces in 0.000s: xxx"));
    }

    #[test]
    fn pieces_of_one_answer_and_of_one_call_belong_together() {
        let text = json!({"type": "agent_message_chunk", "content": "a"});
        let thought = json!({"type": "agent_thought_chunk", "content": "a"});
        let arriving = |id: &str| {
            json!({"type": "tool_call_update", "tool_call_id": id, "status": "pending",
                "raw_input_partial": "{", "raw_output": null, "error": null})
        };
        let mut running = arriving("1");
        running["status"] = json!("in_progress");
        check_streams(text.clone(), text.clone(), true);
        check_streams(text.clone(), thought, false);
        check_streams(text, arriving("1"), false);
        check_streams(arriving("1"), arriving("1"), true);
        check_streams(arriving("1"), arriving("2"), false);
        check_streams(arriving("1"), running.clone(), false);
        check_streams(running.clone(), running, false);
    }

    #[test]
    fn times_are_told_to_the_millisecond() {
        assert_eq!(since_start(0), "+0.000s");
        assert_eq!(since_start(61_204), "+61.204s");
        assert_eq!(since_start(-5), "-0.005s");
    }
}
