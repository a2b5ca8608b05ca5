//! `harn sessions`: what agents have done, as the event log keeps it.
//!
//! ```text
//! stored        which sessions a log holds, and what their journals and events say
//! tally, facts  a session in a few numbers
//! page, markdown its messages as people read them
//! timeline      its events, one a line
//! ```

mod export;
pub(super) mod facts;
mod list;
pub(super) mod markdown;
mod page;
mod removal;
mod show;
pub(super) mod stored;
mod tally;
mod timeline;

use std::io;

use clap::{Args, Subcommand};

pub(super) use harn_vm::agent::session::conversation;

use super::events::Ctx;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn sessions list                   What agents have done here
  harn sessions show s1                What was said and done in a session
  harn sessions show s1 --events       What happened when
  harn sessions export s1 --format md  The conversation, to be sent to somebody
  harn sessions rm s1                  A session, removed";

/// Sessions of agents
///
/// `harn run` keeps the sessions of a program in the event log of its project.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Export(export::Arguments),
    Rm(removal::Arguments),
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
        Command::List(arguments) => list::run(arguments, &mut ctx),
        Command::Show(arguments) => show::run(arguments, &mut ctx),
        Command::Export(arguments) => export::run(arguments, &mut ctx),
        Command::Rm(arguments) => removal::run(arguments, &mut ctx),
    };
    outcome.or_else(|failure| failure.tell(ctx.output))
}
