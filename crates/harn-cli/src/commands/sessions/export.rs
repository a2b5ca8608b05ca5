//! `harn sessions export`: a session, to be kept or sent to somebody.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use harn_log::OnDamage;
use serde_json::json;

use super::super::events::Ctx;
use super::super::events::export::destination::FileInMaking;
use super::super::events::failure::Failure;
use super::super::events::log::{LogArguments, OpenLog};
use super::super::{Form, Outcome};
use super::facts::Facts;
use super::stored::{self, Stored, StoredUpTo};
use super::{conversation, markdown, show};
use crate::arguments::after_help;
use crate::hidden::escaped_json;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn sessions export s1 > s1.json              Its transcript, for transcript_import()
  harn sessions export s1 --format jsonl         Its journal and its events
  harn sessions export s1 --format md -o s1.md   The conversation, to be read";

/// Write a session to a file
///
/// As json it is the transcript that programs see. As jsonl it is all that the log has, in the
/// order it happened: lines {"topic", "id", "event"} like those of `harn events export`. As md
/// it is the conversation in Markdown. What a terminal would obey, or nobody would see, is in
/// letters in it, and escaped in both others.
///
/// With -o the file is there when it is complete, or not at all; an earlier one is replaced.
/// With -o and --json the answer is {"file", "id"}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The session; the start of its id is enough if no other one starts like that
    #[arg(value_name = "ID")]
    id: String,

    /// In which form
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    log: LogArguments,
}

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The transcript
    Json,
    /// The journal and the events
    Jsonl,
    /// The conversation
    Md,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Skip)?;
    let session = stored::one(&log, &arguments.id, StoredUpTo::End)?;
    show::tell_if_changed(&log, &session.id, ctx);
    let text = match arguments.format {
        Format::Json => {
            let transcript = show::transcript(&session.id, &session.state);
            escaped_json(&format!("{transcript:#}\n")).into_owned()
        }
        Format::Jsonl => escaped_json(&lines(&log, &session)?).into_owned(),
        Format::Md => {
            let facts = Facts::of(&session);
            markdown::of(&facts, &conversation::of(&session.state))
        }
    };
    let Some(path) = &arguments.output else {
        ctx.output.write_all(text.as_bytes())?;
        return Ok(Outcome::Done);
    };
    let mut file = FileInMaking::new(path)?;
    file.write_text(&text)?;
    file.finish()?;
    let (id, path) = (&session.id, path.display().to_string());
    match ctx.form {
        Form::Json => ctx.output.json(&json!({"file": path, "id": id}))?,
        Form::Text => {
            let (id, path) = (Untrusted(id), Untrusted(path));
            ctx.output
                .note(format_args!("session {id} written to {path}"));
        }
    }
    Ok(Outcome::Done)
}

fn lines(log: &OpenLog, session: &Stored) -> Result<String, Failure> {
    let mut records = stored::records_of(log, &session.id)?;
    records.sort_by_key(|record| record.event.occurred_at_ms);
    let lines = records.into_iter().map(|record| {
        let event = record.event;
        let event = json!({
            "kind": event.kind,
            "payload": event.payload,
            "headers": event.headers,
            "occurred_at_ms": event.occurred_at_ms,
        });
        let line = json!({"topic": record.topic.as_str(), "id": record.id, "event": event});
        format!("{line}\n")
    });
    Ok(lines.collect())
}
