//! `harn test`: programs against what is expected of them.

mod conformance;

use std::io;

use clap::{Args, Subcommand};

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn test conformance                The programs in ./conformance
  harn test conformance tests/lang     Those of another folder";

/// Test programs
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Conformance(conformance::Arguments),
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    match &arguments.command {
        Command::Conformance(arguments) => conformance::run(arguments, form, output),
    }
}
