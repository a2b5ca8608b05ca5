//! `harn serve`: programs, for others to talk to.

mod access;
mod acp;
mod listening;
mod network;

use std::io;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::output::Output;

pub(super) use acp::take_streams;
pub(super) use listening::{Callers, callers};

const EXAMPLES: &str = "  \
  harn serve acp                       A coding agent, for an editor
  harn serve acp agent.harn            The agent of a program
  harn serve acp --listen 127.0.0.1:7331
                                       The same, for clients on the network";

/// Serve a program to others
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Acp(acp::Arguments),
}

pub(crate) fn run(arguments: &Arguments, clock: Clock, output: &mut Output) -> io::Result<Outcome> {
    match &arguments.command {
        Command::Acp(arguments) => acp::run(arguments, clock, output),
    }
}
