//! A record as one line for people.

use std::io::{self, Write};

use clap::Args;
use harn_log::{EventId, Topic};

use super::records::Record;
use super::{Ctx, Failure, Form, summary};
use crate::clock::Clock;
use crate::columns::{fit, fit_end, width};
use crate::output::{Output, Untrusted};
use crate::timestamp::{relative, rfc3339};

/// Room for a kind; longer ones take what they need.
const KIND_COLUMNS: usize = 20;
/// Room for a topic, which may take a quarter of the line; of longer ones the end is
/// shown, where names differ.
const TOPIC_COLUMNS_MAX: usize = 32;
/// How long a line may be where there is no terminal to say so.
const COLUMNS: usize = 200;
/// Room for `364d ago`.
const RELATIVE_COLUMNS: usize = 8;

/// How times are shown.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::commands) struct TimeArguments {
    /// Show times in UTC instead of how long ago
    #[arg(long)]
    absolute: bool,
}

impl TimeArguments {
    pub(in crate::commands) fn show(self, ms: i64, clock: Clock) -> String {
        match self.absolute {
            true => rfc3339(ms),
            false => relative(ms, clock.now_ms()),
        }
    }
}

/// Writes records as lines, for people or for programs.
pub(super) struct Lines {
    time: TimeArguments,
    clock: Clock,
    form: Form,
    id_columns: usize,
    /// `None` where all records are of one topic.
    topic_columns: Option<usize>,
}

impl Lines {
    /// Lines for records of these topics, whose newest ids are known.
    pub(super) fn new<'a>(
        ctx: &Ctx<'_>,
        time: TimeArguments,
        ends: impl Iterator<Item = (&'a Topic, EventId)>,
    ) -> Self {
        let (mut topics, mut id_columns, mut topic_columns) = (0, 1, 0);
        for (topic, end) in ends {
            topics += 1;
            id_columns = id_columns.max(end.to_string().len());
            topic_columns = topic_columns.max(topic.as_str().len());
        }
        let columns = ctx.output.columns().unwrap_or(COLUMNS);
        let room = TOPIC_COLUMNS_MAX.min(columns / 4);
        Self {
            time,
            clock: ctx.clock,
            form: ctx.form,
            id_columns,
            topic_columns: (topics > 1).then_some(topic_columns.min(room)),
        }
    }

    pub(super) fn write(&self, record: &Record, output: &mut Output) -> Result<(), Failure> {
        match self.form {
            Form::Json => output.json(&record.json()?)?,
            Form::Text => self.write_text(record, output)?,
        }
        Ok(())
    }

    fn write_text(&self, record: &Record, output: &mut Output) -> io::Result<()> {
        let palette = output.palette();
        let columns = output.columns().unwrap_or(COLUMNS);
        let id = format!("{:>1$}", record.id, self.id_columns);
        let time = self.time.show(record.event.occurred_at_ms, self.clock);
        let time = format!("{time:>RELATIVE_COLUMNS$}");
        let kind = Untrusted(&record.event.kind).to_string();
        let topic = self.topic_columns.map(|columns| {
            let topic = fit_end(record.topic.as_str(), columns);
            format!("{topic:<columns$}  ")
        });
        let topic = topic.unwrap_or_default();
        let used = width(&id) + width(&time) + width(&topic) + 4;
        let kind = fit(&kind, columns.saturating_sub(used));
        write!(
            output,
            "{}  {}  {}{}",
            palette.faint(id),
            palette.faint(time),
            topic,
            palette.kind(&record.event.kind, &kind)
        )?;
        let padding = KIND_COLUMNS.saturating_sub(width(&kind)) + 2;
        let room = columns.saturating_sub(used + width(&kind) + padding);
        let told = summary::of(&record.event.kind, &record.event.payload);
        match told.is_empty() || room == 0 {
            true => writeln!(output),
            false => {
                let told = fit(&Untrusted(told).to_string(), room);
                writeln!(output, "{:padding$}{told}", "")
            }
        }
    }
}
