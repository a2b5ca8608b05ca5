//! A conversation on a terminal.

use std::collections::HashSet;
use std::io::{self, Write};

use super::conversation::{Call, Part};
use crate::columns::fit;
use crate::counting::count;
use crate::failure_line;
use crate::output::{Output, Untrusted, UntrustedText};

/// How many lines of a result are shown.
const RESULT_LINES: usize = 3;
/// How long a line may be where there is no terminal to say so.
const COLUMNS: usize = 200;

/// Whether results are shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    Folded,
    Whole,
}

/// Writes a conversation. `failures`: what failed calls have said; of these the last line is shown
/// as well. They are known by their text, because in messages calls have the ids that the model has
/// given them.
pub(super) fn write(
    parts: &[Part],
    failures: &HashSet<String>,
    results: Results,
    output: &mut Output,
) -> io::Result<()> {
    for part in parts {
        writeln!(output)?;
        match part {
            Part::Said { role, text, calls } => {
                let heading = output.palette().heading(Untrusted(role)).to_string();
                writeln!(output, "{heading}")?;
                write_text(text, "  ", Results::Whole, output)?;
                for call in calls {
                    let result = call.result.as_deref();
                    let has_failed = result.is_some_and(|result| failures.contains(result));
                    write_call(call, has_failed, results, output)?;
                }
            }
            Part::Summary { replaced, text } => {
                let (first, last) = (replaced.0 + 1, replaced.1 + 1);
                let heading = format!("summary of messages {first} to {last}, for the model");
                let heading = output.palette().faint(heading).to_string();
                writeln!(output, "{heading}")?;
                write_text(text, "  ", results, output)?;
            }
        }
    }
    Ok(())
}

fn write_call(
    call: &Call,
    has_failed: bool,
    results: Results,
    output: &mut Output,
) -> io::Result<()> {
    let columns = output.columns().unwrap_or(COLUMNS);
    let arguments = Untrusted(&call.arguments).to_string();
    let name = Untrusted(&call.name).to_string();
    let room = columns.saturating_sub(5 + crate::columns::width(&name));
    let arguments = match results {
        Results::Folded => fit(&arguments, room),
        Results::Whole => arguments,
    };
    let name = output.palette().name(name).to_string();
    writeln!(output, "  → {name} {arguments}")?;
    match &call.result {
        Some(result) if has_failed && results == Results::Folded => write_failure(result, output),
        Some(result) => write_text(result, "    ", results, output),
        None => {
            let missing = output.palette().problem("no result").to_string();
            writeln!(output, "    {missing}")
        }
    }
}

/// The first lines and the last one, which often says what came of it.
fn write_failure(text: &str, output: &mut Output) -> io::Result<()> {
    let text = text.trim_end();
    let (_, last) = failure_line::ends(text);
    let (start, last) = match (last, text.rsplit_once('\n')) {
        (Some(last), Some((start, _))) if text.lines().count() > RESULT_LINES => (start, last),
        _ => return write_text(text, "    ", Results::Folded, output),
    };
    write_text(start, "    ", Results::Folded, output)?;
    write_text(last, "    ", Results::Folded, output)
}

fn write_text(text: &str, indent: &str, results: Results, output: &mut Output) -> io::Result<()> {
    let text = UntrustedText(text.trim_end()).to_string();
    let shown = match results {
        Results::Folded => RESULT_LINES,
        Results::Whole => usize::MAX,
    };
    let columns = output.columns().unwrap_or(COLUMNS);
    for line in text.lines().take(shown) {
        let line = match results {
            Results::Folded => fit(line, columns.saturating_sub(indent.len())),
            Results::Whole => line.to_owned(),
        };
        writeln!(output, "{}", format!("{indent}{line}").trim_end())?;
    }
    let left = text.lines().count().saturating_sub(shown);
    if left > 0 {
        let left = format!("… {}", count(left as u64, "more line"));
        let left = output.palette().faint(left).to_string();
        writeln!(output, "{indent}{left}")?;
    }
    Ok(())
}
