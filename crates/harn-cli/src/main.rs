//! The `harn` program.
//!
//! ```text
//! arguments, environment ──► commands::run ──► Output ──► stdout (data), stderr (talk)
//!                                  │
//!                                  └─► Outcome ──► exit code 0, 1 or 2
//! ```
//!
//! Everything a command can do lives in the crates below; what is here reads
//! arguments, calls one of them and shows the answer. There is one file per
//! subcommand under `commands`.

mod amounts;
mod arguments;
mod clock;
mod columns;
mod commands;
mod counting;
mod environment;
mod failure_line;
mod hidden;
mod output;
mod progress;
mod secrets;
mod suggestion;
mod table;
mod timestamp;
mod warnings;
mod wrapping;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use arguments::Cli;
use commands::Outcome;
use environment::Environment;
use mimalloc::MiMalloc;
use output::Output;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    secrets::guard();
    let words: Vec<OsString> = std::env::args_os().collect();
    let environment = Environment::read();
    // Help and usage mistakes are printed before there are parsed arguments, and
    // they have to obey `--color` as well.
    let color = arguments::color_of(&words);
    let mut output = Output::new(color, &environment);
    output.warnings().listen();
    let outcome = match arguments::parse(words) {
        Ok(cli) => run(&cli, &environment, &mut output),
        Err(stopped) => output.show(&stopped),
    };
    exit_code(outcome, &mut output)
}

fn run(cli: &Cli, environment: &Environment, output: &mut Output) -> io::Result<Outcome> {
    let outcome = commands::run(cli, environment, output)?;
    output.flush()?;
    Ok(outcome)
}

fn exit_code(outcome: io::Result<Outcome>, output: &mut Output) -> ExitCode {
    match outcome {
        Ok(outcome) => outcome.into(),
        // The reader has seen enough, as in `harn … | head`. Nothing went wrong.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            output.error(format_args!("cannot write the answer: {error}"));
            Outcome::Problems.into()
        }
    }
}
