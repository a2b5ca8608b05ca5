//! `harn models`: which models can be asked, and whether they answer.

mod facts;
mod list;
mod probe;
mod show;

use std::collections::BTreeMap;
use std::io;

use clap::{Args, Subcommand};
use harn_vm::KnownModels;
use harn_vm::llm::catalog::ProjectTrust;

use super::project::manifest_here;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted};

pub(super) use facts::{Key, abilities, key_of, next_step};

const EXAMPLES: &str = "  \
  harn models list --available         What can be asked now
  harn models show sonnet              All that is known about a model
  harn models probe anthropic          Whether a provider answers
  harn models probe openai gpt-4o      Whether a model does";

/// Providers and models
///
/// What is known comes with the program, from the provider file (HARN_PROVIDERS_CONFIG, or
/// ~/.config/harn/providers.toml) and from `[llm]` and `[capabilities]` in harn.toml.
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
    Probe(probe::Arguments),
}

/// What these commands look at.
struct Ctx<'a> {
    form: Form,
    known: KnownModels,
    environment: BTreeMap<String, String>,
    output: &'a mut Output,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let environment = environment::all();
    let known = match KnownModels::read(
        manifest_here().as_deref(),
        ProjectTrust::Trusted,
        &environment,
    ) {
        Ok(known) => known,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let mut ctx = Ctx {
        form,
        known,
        environment,
        output,
    };
    match &arguments.command {
        Command::List(arguments) => list::run(arguments, &mut ctx),
        Command::Show(arguments) => show::run(arguments, &mut ctx),
        Command::Probe(arguments) => probe::run(arguments, &mut ctx),
    }
}
