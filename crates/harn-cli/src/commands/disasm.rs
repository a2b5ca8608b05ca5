//! `harn disasm`: what a program is compiled to.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use harn_check::modules::{Disk, Workspace};
use harn_check::refusals;
use harn_vm::machine::{Entry, Stream};
use harn_vm::{Program, RunOptions, Sink};

use super::findings::Findings;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn disasm main.harn                The instructions of a program
  harn disasm main.harn --all          Also those of the modules it imports
  harn disasm a.harn --pipeline test_a With another pipeline than the one that would run";

/// Show what a program is compiled to
///
/// Prints the instructions of a program and of the functions in it, without running it. A
/// register that is read for the last time has a star. Of several pipelines only the one is
/// compiled that would run.
///
/// With --json the answer is {"files": [{"file", "code"}, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// A program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Also show the modules it imports
    #[arg(long)]
    all: bool,

    /// The pipeline that is the entry
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let mut workspace = Workspace::new(Box::new(Disk));
    if !can_be_compiled(arguments, &mut workspace, output) {
        return Ok(Outcome::Problems);
    }
    let options = RunOptions {
        entry: arguments
            .pipeline
            .clone()
            .map_or(Entry::Default, Entry::Named),
        ..RunOptions::default()
    };
    let loaded = Program::new(&mut workspace, &arguments.file).load(&options, Box::new(Silent));
    let mut files = match loaded {
        Ok(program) => program.disassemble(),
        Err(error) => {
            output.error(format_args!("compile error: {}", Untrusted(error)));
            return Ok(Outcome::Problems);
        }
    };
    if !arguments.all {
        // What a file imports comes before it.
        files.drain(..files.len().saturating_sub(1));
    }
    match form {
        Form::Json => {
            let files = files
                .iter()
                .map(|(file, code)| serde_json::json!({"file": file, "code": code}));
            output.json(&serde_json::json!({"files": files.collect::<Vec<_>>()}))?;
        }
        Form::Text => {
            let palette = output.palette();
            for (at, (file, code)) in files.iter().enumerate() {
                if arguments.all {
                    let gap = if at > 0 { "\n" } else { "" };
                    writeln!(output, "{gap}{}\n", palette.heading(Untrusted(file)))?;
                }
                for line in code.lines() {
                    writeln!(output, "{}", Untrusted(line))?;
                }
            }
        }
    }
    Ok(Outcome::Done)
}

/// Whether the file is a program that can be compiled; says what is wrong if not.
fn can_be_compiled(arguments: &Arguments, workspace: &mut Workspace, output: &mut Output) -> bool {
    let name = arguments.file.display().to_string();
    let file = match workspace.parsed(&arguments.file) {
        Ok(file) => file,
        Err(error) => {
            output.error(format_args!("{}: {error}", Untrusted(name)));
            return false;
        }
    };
    let errors = file.parsed.errors.iter();
    let mut diagnostics: Vec<_> = errors.map(|error| error.diagnostic.clone()).collect();
    if diagnostics.is_empty() {
        let refusals = refusals(&file.parsed.module).into_iter();
        diagnostics.extend(refusals.map(|refusal| refusal.diagnostic));
    }
    let is_fine = diagnostics.is_empty();
    Findings { name, diagnostics }.show(&file, output);
    is_fine
}

/// Nothing runs, so nothing is written.
struct Silent;

impl Sink for Silent {
    fn write(&mut self, _stream: Stream, _text: &str) {}

    fn flush(&mut self) {}
}
