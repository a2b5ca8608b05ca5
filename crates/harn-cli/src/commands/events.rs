//! `harn events`: the event stream of agent sessions.

mod check;
mod types;

use std::io;

use clap::{Args, Subcommand};

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn events types                    All event types, by group
  harn events types tool_call          The fields of one type
  harn events check logs/              Whether the logs in a folder are whole";

/// Event types and event logs
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
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    match &arguments.command {
        Command::Types(arguments) => types::run(arguments, form, output),
        Command::Check(arguments) => check::run(arguments, form, output),
    }
}
