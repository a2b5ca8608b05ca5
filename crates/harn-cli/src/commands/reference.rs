//! `harn reference`: what the reference pages of the book are written from, as JSON.
//!
//! ```text
//! declarations of the command line ─┐
//! exit codes ───────────────────────┼─► JSON ─► cargo xtask gen ─► docs/src/reference
//! codes of diagnostics ─────────────┤
//! categories of errors ─────────────┘
//! ```
//!
//! The book repeats nothing by hand that the program knows: it asks the program. People have
//! `--help`, `harn explain` and `harn doc`, so this command is not listed.

mod commands;
mod errors;

use std::io;

use clap::Args;

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn reference                       Everything, for `cargo xtask gen`";

/// Describe the commands and the errors for the book, as JSON
///
/// The answer is {"commands": [COMMAND, …], "exit_codes", "diagnostics", "categories"} with or
/// without --json.
#[derive(Debug, Args)]
#[command(hide = true, after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, _: Form, output: &mut Output) -> io::Result<Outcome> {
    output.json(&serde_json::json!({
        "commands": commands::all(),
        "exit_codes": errors::exit_codes(),
        "diagnostics": errors::diagnostics(),
        "categories": errors::categories(),
    }))?;
    Ok(Outcome::Done)
}
