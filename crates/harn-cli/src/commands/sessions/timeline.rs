//! The events of a session, one a line.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use super::super::Form;
use super::super::events::failure::Failure;
use super::super::events::{Ctx, summary};
use super::stored::Placed;
use crate::columns::{fit, width};
use crate::counting::count;
use crate::failure_line::failure_line;
use crate::output::{Untrusted, UntrustedText};

/// How long a line may be where there is no terminal to say so.
const COLUMNS: usize = 200;
/// Room for a kind; longer ones take what they need.
const KIND_COLUMNS: usize = 20;

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Timeline<'a> {
    id: &'a str,
    events: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    id: u64,
    kind: &'a str,
    at_ms: i64,
    /// Milliseconds since the first event.
    after_ms: i64,
    event: &'a Value,
}

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
    id: &str,
    records: &[Placed],
    pieces: Pieces,
    ctx: &mut Ctx<'_>,
) -> Result<(), Failure> {
    let records = records.iter().filter(|record| !record.is_of_journal());
    let mut start_ms = None;
    let lines = records.map(|record| {
        let at_ms = record.event.occurred_at_ms;
        Line {
            id: record.id,
            kind: &record.event.kind,
            at_ms,
            after_ms: at_ms - *start_ms.get_or_insert(at_ms),
            event: &record.event.payload["event"],
        }
    });
    let events: Vec<Line<'_>> = lines.collect();
    if ctx.form == Form::Json {
        return Ok(ctx.output.json(&Timeline { id, events })?);
    }
    if events.is_empty() {
        ctx.output.note(format_args!("no events"));
    }
    let times = events.iter().map(|line| since_start(line.after_ms).len());
    let columns = times.max().unwrap_or(0);
    let runs = events.chunk_by(|one, next| match (pieces, stream_of(one)) {
        (Pieces::Joined, Some(stream)) => stream_of(next) == Some(stream),
        (Pieces::Joined, None) | (Pieces::Each, _) => false,
    });
    for run in runs {
        let time = since_start(run[0].after_ms);
        write_run(run, &format!("{time:>columns$}"), ctx)?;
    }
    Ok(())
}

/// The stream that an event is a piece of, if it is one: its kind and its call.
fn stream_of<'a>(line: &Line<'a>) -> Option<(&'a str, &'a str)> {
    let event = line.event;
    match line.kind {
        "agent_message_chunk" | "agent_thought_chunk" => Some((line.kind, "")),
        // Arguments of a call that are still arriving.
        "tool_call_update"
            if event["status"] == "pending"
                && ["raw_output", "error", "parsing"]
                    .iter()
                    .all(|name| event[name].is_null()) =>
        {
            Some((line.kind, event["tool_call_id"].as_str()?))
        }
        _ => None,
    }
}

/// Writes an event, or the pieces of a stream, in a line.
fn write_run(run: &[Line<'_>], time: &str, ctx: &mut Ctx<'_>) -> Result<(), Failure> {
    let (palette, line) = (ctx.output.palette(), &run[0]);
    let kind = Untrusted(line.kind).to_string();
    let kind = format!("{kind:KIND_COLUMNS$}");
    let columns = ctx.output.columns().unwrap_or(COLUMNS);
    let room = columns.saturating_sub(width(time) + width(&kind) + 4);
    let told = match run {
        [line] => told(line, room),
        run => fit(&told_together(run), room),
    };
    let kind = match told.is_empty() {
        true => kind.trim_end(),
        false => &kind,
    };
    let text = format!(
        "{}  {}  {told}",
        palette.faint(time),
        palette.kind(line.kind, kind)
    );
    writeln!(ctx.output, "{}", text.trim_end())?;
    Ok(())
}

/// What an event says, in so many columns.
fn told(line: &Line<'_>, columns: usize) -> String {
    let event = line.event;
    let failed = event["status"] == "failed";
    match (line.kind, event["error"].as_str()) {
        ("tool_call_update", Some(error)) if failed => {
            let name = event["tool_name"].as_str().unwrap_or_default();
            let told = format!("{} failed", Untrusted(name));
            let why = UntrustedText(error).to_string();
            failure_line(told.trim_start(), &why, columns)
        }
        _ => fit(&Untrusted(said_by(line.kind, event)).to_string(), columns),
    }
}

/// `12 pieces in 1.204s: ` and what they say together.
fn told_together(run: &[Line<'_>]) -> String {
    let (first, last) = (&run[0], &run[run.len() - 1]);
    let mut event = last.event.clone();
    let texts = run.iter().map(|line| line.event["content"].as_str());
    if let Some(text) = texts.collect::<Option<String>>() {
        event["content"] = Value::String(text);
    }
    let said = Untrusted(said_by(last.kind, &event)).to_string();
    let pieces = count(run.len() as u64, "piece");
    let took = seconds(last.after_ms.saturating_sub(first.after_ms).unsigned_abs());
    format!("{pieces} in {took}: {said}")
}

fn said_by(kind: &str, event: &Value) -> String {
    let payload = serde_json::json!({"event": event}).to_string();
    summary::of(kind, payload.as_bytes())
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

    #[track_caller]
    fn check_streams(one: Value, other: Value, are_one: bool) {
        let line = |event: &Value| {
            let kind = event["type"].as_str().unwrap().to_owned();
            (kind, event.clone())
        };
        let (one, other) = (line(&one), line(&other));
        let [one, other] = [&one, &other].map(|(kind, event)| {
            stream_of(&Line {
                id: 1,
                kind,
                at_ms: 0,
                after_ms: 0,
                event,
            })
        });
        assert_eq!(one.is_some() && one == other, are_one, "{one:?} {other:?}");
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
