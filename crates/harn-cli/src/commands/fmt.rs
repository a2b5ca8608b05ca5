//! `harn fmt`: programs in canonical form.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::SourceFile;
use harn_syntax::{FormatOptions, SyntaxError, format};

use super::findings::Findings;
use super::project::{Complaints, Projects};
use super::replacing::replace;
use super::{Form, Outcome, sources};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn fmt main.harn                   One program, in place
  harn fmt .                           All programs below here
  harn fmt --check .                   Which ones would change
  harn fmt - < main.harn               From standard input to standard output";

/// Format programs
///
/// Rewrites programs in canonical form. What they mean and their comments stay as they are. A
/// program that cannot be read is left alone, and the exit code is 1.
///
/// With --json the answer is {"changed": [PATH, …], "unchanged", "failed": [PATH, …]}; for
/// standard input there is also "text", unless it failed or --check was given.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs, or folders of programs; `-` alone is standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Change nothing, and say which files would change; then the exit code is 1
    #[arg(long)]
    check: bool,

    /// How long lines may be; also `line_width` under `[fmt]` in harn.toml  [default: 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    if arguments.paths == [Path::new("-")] {
        return format_input(arguments, form, output);
    }
    let (files, is_whole) = sources::find(&arguments.paths, output);
    let mut projects = Projects::default();
    let mut complaints = Complaints::default();
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    for path in &files {
        let name = path.display().to_string();
        match format_file(path, arguments, &mut projects) {
            Ok(false) => {}
            Ok(true) => changed.push(name),
            Err(problem) => {
                problem.tell(&name, &mut complaints, output);
                failed.push(name);
            }
        }
    }
    match form {
        Form::Json => output.json(&serde_json::json!({
            "unchanged": files.len() - changed.len() - failed.len(),
            "changed": &changed,
            "failed": &failed,
        }))?,
        Form::Text => {
            let what = if arguments.check {
                "would change"
            } else {
                "formatted"
            };
            for name in &changed {
                writeln!(output, "{}: {what}", Untrusted(name))?;
            }
        }
    }
    let is_kept = !arguments.check || changed.is_empty();
    let is_fine = is_whole && failed.is_empty() && is_kept;
    Ok(match is_fine {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// Why a file is left alone.
enum Problem {
    /// In words.
    Told(String),
    /// It is no program.
    Syntax(String, Vec<SyntaxError>),
}

impl Problem {
    fn of_file(path: &Path, error: &io::Error) -> Self {
        Self::Told(format!("{}: {error}", path.display()))
    }

    fn tell(self, name: &str, complaints: &mut Complaints, output: &mut Output) {
        match self {
            Self::Told(why) => complaints.tell(why, output),
            Self::Syntax(text, errors) => {
                let findings = Findings {
                    name: name.to_owned(),
                    diagnostics: errors.into_iter().map(|error| error.diagnostic).collect(),
                };
                findings.show(&SourceFile::of_text(&text), output);
            }
        }
    }
}

/// Formats a file, and says whether that changes it.
fn format_file(
    path: &Path,
    arguments: &Arguments,
    projects: &mut Projects,
) -> Result<bool, Problem> {
    let settings = projects.settings(path).map_err(Problem::Told)?;
    let text = fs::read_to_string(path).map_err(|error| Problem::of_file(path, &error))?;
    let options = options(arguments.width.or(settings.fmt.line_width));
    let formatted = format(&text, &options);
    let formatted = formatted.map_err(|errors| Problem::Syntax(text.clone(), errors))?;
    let changes = formatted != text;
    if changes && !arguments.check {
        replace(path, &formatted).map_err(|error| Problem::of_file(path, &error))?;
    }
    Ok(changes)
}

fn options(width: Option<usize>) -> FormatOptions {
    let default = FormatOptions::default();
    FormatOptions {
        width: width.unwrap_or(default.width),
    }
}

/// How standard input is called.
const INPUT: &str = "<stdin>";

fn format_input(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let formatted = read_input(arguments);
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    let mut shown = None;
    match formatted {
        Err(problem) => {
            problem.tell(INPUT, &mut Complaints::default(), output);
            failed.push(INPUT);
        }
        Ok((changes, text)) => {
            changed.extend(changes.then_some(INPUT));
            shown = (!arguments.check).then_some(text);
        }
    }
    match (form, &shown) {
        (Form::Json, _) => {
            let mut answer = serde_json::json!({
                "unchanged": 1 - changed.len() - failed.len(),
                "changed": &changed,
                "failed": &failed,
            });
            if let Some(text) = &shown {
                answer["text"] = text.as_str().into();
            }
            output.json(&answer)?;
        }
        (Form::Text, Some(text)) => write!(output, "{text}")?,
        (Form::Text, None) if !changed.is_empty() => writeln!(output, "{INPUT}: would change")?,
        (Form::Text, None) => {}
    }
    let is_kept = !arguments.check || changed.is_empty();
    Ok(match failed.is_empty() && is_kept {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// What standard input is in canonical form, and whether that is something else.
fn read_input(arguments: &Arguments) -> Result<(bool, String), Problem> {
    let settings = Projects::default().settings_here().map_err(Problem::Told)?;
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text);
    read.map_err(|error| Problem::of_file(Path::new(INPUT), &error))?;
    let options = options(arguments.width.or(settings.fmt.line_width));
    match format(&text, &options) {
        Ok(formatted) => Ok((formatted != text, formatted)),
        Err(errors) => Err(Problem::Syntax(text, errors)),
    }
}
