//! `harn mcp`: the tool servers of a project, and logins to them.

mod list;
mod login;
mod logout;
mod probe;
mod servers;
mod web;

use std::io;

use clap::{Args, Subcommand};

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

pub(super) use probe::{Answered, probe_configured};
pub(super) use web::{Logins, web};

const EXAMPLES: &str = "  \
  harn mcp list                        The servers of harn.toml
  harn mcp probe files                 What a server can do, and its tools
  harn mcp login github                Log in to a server, in a browser
  harn mcp logout github               Forget that login";

/// Tool servers and logins
///
/// Servers of the Model Context Protocol are described by the tables `[[mcp]]` of harn.toml.
/// Those that are reached over HTTP may want to know who asks. A login is kept in the keychain
/// of the system, or in a file below ~/.config/harn that only its owner can read; programs use
/// it without asking, and it is renewed as long as that is possible.
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
    Probe(probe::Arguments),
    Login(login::Arguments),
    Logout(logout::Arguments),
}

/// What these commands answer with.
struct Ctx<'a> {
    form: Form,
    output: &'a mut Output,
}

/// Why a command came to nothing.
struct Failed(String);

impl<T: std::fmt::Display> From<T> for Failed {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let mut ctx = Ctx { form, output };
    let outcome = match &arguments.command {
        Command::List(_) => list::run(&mut ctx),
        Command::Probe(arguments) => probe::run(arguments, &mut ctx),
        Command::Login(arguments) => login::run(arguments, &mut ctx),
        Command::Logout(arguments) => logout::run(arguments, &mut ctx),
    };
    outcome.unwrap_or_else(|Failed(why)| {
        ctx.output.error(format_args!("{}", Untrusted(why)));
        Ok(Outcome::Problems)
    })
}

/// Runs what waits for servers.
fn wait<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(work))
}
