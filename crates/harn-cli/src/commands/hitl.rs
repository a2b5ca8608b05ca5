//! `harn hitl`: what programs ask people, and the answers.
//!
//! ```text
//! list    what is open
//! answer  an answer, an approval or a denial, from any process and at any time
//! ```

mod answer;
mod list;

use std::io;

use clap::{Args, Subcommand};
use harn_log::{AnyEventLog, block_on};
use harn_vm::agent::people::Requests;

use super::events::Ctx;
use super::events::failure::Failure;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn hitl list                       What programs wait for
  harn hitl answer ID --text blue      The answer to a question
  harn hitl answer ID --approve        Go ahead
  harn hitl answer ID --deny --reason 'not on a friday'";

/// What programs ask people
///
/// A program that calls ask_user, request_approval, dual_control or escalate_to waits until
/// somebody answers. Its request is in the event log of the project, so it can be answered in
/// another terminal. It stays there when the program is killed; started again, the program
/// goes on with the answer.
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
    Answer(answer::Arguments),
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
        Command::Answer(arguments) => answer::run(arguments, &mut ctx),
    };
    outcome.or_else(|failure| failure.tell(ctx.output))
}

/// The requests that a log knows of.
fn requests(log: &AnyEventLog) -> Result<Requests, Failure> {
    let mut requests = Requests::default();
    block_on(requests.read(log))?;
    Ok(requests)
}
