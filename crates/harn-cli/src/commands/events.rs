//! `harn events`: the event stream of agent sessions.
//!
//! ```text
//! log        which log is meant, and how it is opened
//! selection  which topics are meant
//! filter     which records are meant
//! records    reading them, a chunk at a time
//! line       a record as one line
//! ```
//!
//! What the commands over the event log share is above; each command has a file.

mod check;
pub(super) mod export;
pub(super) mod failure;
mod filter;
pub(super) mod line;
pub(super) mod log;
mod records;
mod repair;
mod selection;
mod show;
mod stats;
pub(super) mod summary;
mod tail;
mod topics;
mod types;
mod verify;

use std::io;

use clap::{Args, Subcommand};

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::output::Output;
use failure::Failure;

const EXAMPLES: &str = "  \
  harn events types tool_call          The fields of one event type
  harn events check logs/              Whether the JSONL logs in a folder are whole
  harn events topics                   What is in the event log
  harn events show --session s1        What happened in a session
  harn events tail -f                  What happens now
  harn events verify                   Whether anybody has tampered with the log";

/// Event types, JSONL logs and the event log
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Types(types::Arguments),
    Check(check::Arguments),
    Topics(topics::Arguments),
    Show(show::Arguments),
    Tail(tail::Arguments),
    Export(export::Arguments),
    Stats(stats::Arguments),
    Verify(verify::Arguments),
    Repair(repair::Arguments),
}

/// What a command over the event log works with.
pub(super) struct Ctx<'a> {
    pub(super) form: Form,
    pub(super) clock: Clock,
    pub(super) output: &'a mut Output,
}

pub(crate) fn run(
    arguments: &Arguments,
    form: Form,
    clock: Clock,
    output: &mut Output,
) -> io::Result<Outcome> {
    let mut ctx = Ctx {
        form,
        clock,
        output,
    };
    let outcome = match &arguments.command {
        Command::Types(arguments) => return types::run(arguments, form, ctx.output),
        Command::Check(arguments) => return check::run(arguments, form, ctx.output),
        Command::Topics(arguments) => topics::run(arguments, &mut ctx),
        Command::Show(arguments) => show::run(arguments, &mut ctx),
        Command::Tail(arguments) => tail::run(arguments, &mut ctx),
        Command::Export(arguments) => export::run(arguments, &mut ctx),
        Command::Stats(arguments) => stats::run(arguments, &mut ctx),
        Command::Verify(arguments) => verify::run(arguments, &mut ctx),
        Command::Repair(arguments) => repair::run(arguments, &mut ctx),
    };
    outcome.or_else(|failure| failure.tell(ctx.output))
}
