//! `harn completions`: what a shell has to know to complete our commands.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::{Form, Outcome};
use crate::arguments::{Cli, after_help};
use crate::output::Output;

const EXAMPLES: &str = "  \
  harn completions bash > ~/.local/share/bash-completion/completions/harn
  harn completions zsh > ~/.zfunc/_harn
  harn completions fish > ~/.config/fish/completions/harn.fish";

/// Print the completions of a shell
///
/// The answer is a script for the shell. Put it where the shell looks for such scripts, and
/// the next shell completes commands and options of `harn`.
///
/// With --json the answer is {"shell", "script"}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Cli::command(), "harn", &mut script);
    match form {
        Form::Text => output.write_all(&script)?,
        Form::Json => output.json(&serde_json::json!({
            "shell": arguments.shell.to_string(),
            "script": String::from_utf8_lossy(&script),
        }))?,
    }
    Ok(Outcome::Done)
}
