//! `harn fmt`: programs in canonical form.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::SourceFile;
use harn_syntax::{FormatOptions, SyntaxError, format};

use super::findings::Findings;
use super::project::Projects;
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
/// With --json the answer is {"changed": [PATH, …], "unchanged", "failed": [PATH, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs, or folders of programs; `-` is standard input
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
    if arguments.paths.iter().any(|path| path == Path::new("-")) {
        return format_input(arguments, output);
    }
    let (files, is_whole) = sources::find(&arguments.paths, output);
    let mut projects = Projects::default();
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    for path in &files {
        let name = path.display().to_string();
        match format_file(path, arguments, &mut projects) {
            Ok(false) => {}
            Ok(true) => changed.push(name),
            Err(problem) => {
                problem.tell(&name, output);
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
    fn tell(self, name: &str, output: &mut Output) {
        match self {
            Self::Told(why) => {
                output.error(format_args!("{}", Untrusted(format!("{name}: {why}"))))
            }
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
    let text = fs::read_to_string(path).map_err(|error| Problem::Told(error.to_string()))?;
    let options = options(arguments.width.or(settings.fmt.line_width));
    let formatted = format(&text, &options);
    let formatted = formatted.map_err(|errors| Problem::Syntax(text.clone(), errors))?;
    let changes = formatted != text;
    if changes && !arguments.check {
        replace(path, &formatted).map_err(|error| Problem::Told(error.to_string()))?;
    }
    Ok(changes)
}

fn options(width: Option<usize>) -> FormatOptions {
    let default = FormatOptions::default();
    FormatOptions {
        width: width.unwrap_or(default.width),
    }
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(&path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::write(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What could not be put in its place is of no use.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn format_input(arguments: &Arguments, output: &mut Output) -> io::Result<Outcome> {
    let mut text = String::new();
    if let Err(error) = io::stdin().read_to_string(&mut text) {
        output.error(format_args!("standard input: {error}"));
        return Ok(Outcome::Problems);
    }
    match format(&text, &options(arguments.width)) {
        Ok(formatted) if arguments.check => Ok(match formatted == text {
            true => Outcome::Done,
            false => Outcome::Problems,
        }),
        Ok(formatted) => {
            write!(output, "{formatted}")?;
            Ok(Outcome::Done)
        }
        Err(errors) => {
            Problem::Syntax(text, errors).tell("<stdin>", output);
            Ok(Outcome::Problems)
        }
    }
}
