//! The subcommands, one file each.

mod answering;
mod answers;
mod bench;
mod chat;
mod check;
mod completions;
mod disasm;
mod doc;
mod doctor;
mod events;
mod explain;
mod findings;
mod fixing;
mod fmt;
mod hitl;
mod journal_key;
mod lint;
mod matrix;
mod mcp;
mod models;
mod new;
mod parse;
mod permissions;
mod pins;
mod project;
mod reference;
mod repl;
mod replacing;
mod run;
mod safety_file;
mod serve;
mod sessions;
mod sources;
mod test;
mod tool_servers;
mod trust;
mod watching;

use std::io;
use std::process::ExitCode;

use clap::Subcommand;

use crate::arguments::Cli;
use crate::environment::Environment;
use crate::output::Output;

/// What `harn` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Arguments),
    Chat(chat::Arguments),
    Serve(serve::Arguments),
    New(new::Arguments),
    Check(check::Arguments),
    Fmt(fmt::Arguments),
    Lint(lint::Arguments),
    Test(test::Arguments),
    Bench(bench::Arguments),
    Repl(repl::Arguments),
    Doc(doc::Arguments),
    Explain(explain::Arguments),
    Parse(parse::Arguments),
    Disasm(disasm::Arguments),
    Sessions(sessions::Arguments),
    Hitl(hitl::Arguments),
    Events(events::Arguments),
    Mcp(mcp::Arguments),
    Trust(trust::Arguments),
    Models(models::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Reference(reference::Arguments),
}

/// How a command ended. The numbers are a promise to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command did what it was asked for.
    Done,
    /// It found problems, or failed.
    Problems,
    /// It was not understood.
    WrongUsage,
    /// The program that was run ended with this status.
    Status(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Problems => ExitCode::from(1),
            Outcome::WrongUsage => ExitCode::from(2),
            Outcome::Status(status) => ExitCode::from(status),
        }
    }
}

/// In which form a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

/// Runs the command.
///
/// # Errors
/// Only when its answer cannot be written; every other failure is an outcome.
pub(crate) fn run(
    cli: &Cli,
    environment: &Environment,
    output: &mut Output,
) -> io::Result<Outcome> {
    let form = if cli.json { Form::Json } else { Form::Text };
    match &cli.command {
        Command::Run(arguments) => run::run(arguments, output),
        Command::Chat(arguments) => chat::run(arguments, environment.clock, output),
        Command::Serve(arguments) => serve::run(arguments, environment.clock, output),
        Command::New(arguments) => new::run(arguments, form, output),
        Command::Check(arguments) => check::run(arguments, form, output),
        Command::Fmt(arguments) => fmt::run(arguments, form, output),
        Command::Lint(arguments) => lint::run(arguments, form, output),
        Command::Test(arguments) => test::run(arguments, form, output),
        Command::Bench(arguments) => bench::run(arguments, form, output),
        Command::Repl(arguments) => repl::run(arguments, output),
        Command::Doc(arguments) => doc::run(arguments, form, output),
        Command::Explain(arguments) => explain::run(arguments, form, output),
        Command::Parse(arguments) => parse::run(arguments, form, output),
        Command::Disasm(arguments) => disasm::run(arguments, form, output),
        Command::Mcp(arguments) => mcp::run(arguments, form, output),
        Command::Trust(arguments) => trust::run(arguments, form, environment.clock, output),
        Command::Models(arguments) => models::run(arguments, form, output),
        Command::Doctor(arguments) => doctor::run(arguments, form, output),
        Command::Completions(arguments) => completions::run(arguments, form, output),
        Command::Reference(arguments) => reference::run(arguments, form, output),
        Command::Sessions(arguments) => sessions::run(arguments, form, environment.clock, output),
        Command::Hitl(arguments) => hitl::run(arguments, form, environment.clock, output),
        Command::Events(arguments) => events::run(arguments, form, environment.clock, output),
    }
}
