//! The events of a session, one a line.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use super::super::Form;
use super::super::events::failure::Failure;
use super::super::events::{Ctx, summary};
use super::stored::Placed;
use crate::columns::{fit, width};
use crate::output::Untrusted;

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

/// Writes the events of a session.
pub(super) fn write(id: &str, records: &[Placed], ctx: &mut Ctx<'_>) -> Result<(), Failure> {
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
    let times: Vec<String> = events
        .iter()
        .map(|line| since_start(line.after_ms))
        .collect();
    let columns = times.iter().map(String::len).max().unwrap_or(0);
    for (line, time) in events.iter().zip(times) {
        write_line(line, &format!("{time:>columns$}"), ctx)?;
    }
    Ok(())
}

fn write_line(line: &Line<'_>, time: &str, ctx: &mut Ctx<'_>) -> Result<(), Failure> {
    let palette = ctx.output.palette();
    let kind = Untrusted(line.kind).to_string();
    let kind = format!("{kind:KIND_COLUMNS$}");
    let payload = serde_json::json!({"event": line.event}).to_string();
    let told = Untrusted(summary::of(line.kind, payload.as_bytes())).to_string();
    let columns = ctx.output.columns().unwrap_or(COLUMNS);
    let told = fit(
        &told,
        columns.saturating_sub(width(time) + width(&kind) + 4),
    );
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

/// `+1.204s`
fn since_start(after_ms: i64) -> String {
    let sign = if after_ms < 0 { '-' } else { '+' };
    let ms = after_ms.unsigned_abs();
    format!("{sign}{}.{:03}s", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_millisecond() {
        assert_eq!(since_start(0), "+0.000s");
        assert_eq!(since_start(61_204), "+61.204s");
        assert_eq!(since_start(-5), "-0.005s");
    }
}
