//! `harn doctor`: whether everything is in place, and what to do about what is not.

mod checks;
mod peers;
mod protocols;
mod storage;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Palette, Untrusted};

const EXAMPLES: &str = "  \
  harn doctor                          Keys, configuration, event log
  harn doctor --online                 Also whether providers can be reached
  harn doctor --json | jq '.findings[] | select(.status != \"ok\")'
  harn doctor protocols                What is spoken, and what peers answer";

/// Find out what keeps programs from working
///
/// Looks at the configuration, at keys (by the names of their variables, never by value), and
/// at the folders that programs write to. The exit code is 1 if something is broken; what is
/// only worth knowing is a warning.
///
/// With --json the answer is {"ok", "findings": [FINDING, …]}. FINDING has area, status (ok,
/// warning or broken), message and next.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Also ask each provider that has a key, and local ones, whether it is there
    #[arg(long)]
    online: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Protocols(protocols::Arguments),
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Report {
    ok: bool,
    findings: Vec<Finding>,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    area: &'static str,
    status: Status,
    message: String,
    /// What to do about it.
    next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warning,
    Broken,
}

impl Finding {
    fn ok(area: &'static str, message: impl Into<String>) -> Self {
        Self {
            area,
            status: Status::Ok,
            message: message.into(),
            next: None,
        }
    }

    fn warning(area: &'static str, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            area,
            status: Status::Warning,
            message: message.into(),
            next: Some(next.into()),
        }
    }

    fn broken(area: &'static str, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            status: Status::Broken,
            ..Self::warning(area, message, next)
        }
    }
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    if let Some(Command::Protocols(protocols)) = &arguments.command {
        return protocols::run(protocols, form, output);
    }
    let environment = environment::all();
    let mut findings = checks::offline(&environment);
    findings.extend(storage::findings(&environment));
    if arguments.online {
        findings.extend(checks::online(&environment));
    }
    let report = Report {
        ok: findings.iter().all(|one| one.status != Status::Broken),
        findings,
    };
    match form {
        Form::Json => output.json(&report)?,
        Form::Text => write(&report, output)?,
    }
    Ok(match report.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

fn write(report: &Report, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    for one in &report.findings {
        let area = palette.name(format!("{:<14}", one.area));
        let status = status(one.status, palette);
        writeln!(output, "{status} {area} {}", Untrusted(&one.message))?;
        if let Some(next) = &one.next {
            let label = palette.heading("next:");
            writeln!(output, "{:23}{label} {}", "", Untrusted(next))?;
        }
    }
    Ok(())
}

fn status(status: Status, palette: Palette) -> String {
    match status {
        Status::Ok => palette.fine("ok     ").to_string(),
        Status::Warning => palette.heading("warning").to_string(),
        Status::Broken => palette.problem("broken ").to_string(),
    }
}
