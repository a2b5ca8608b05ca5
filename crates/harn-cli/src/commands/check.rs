//! `harn check`: whether programs can run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::{Checks, Disk, Workspace};
use harn_check::{Analysis, CheckOptions, Phase, analyse};

use super::findings::{Findings, write_json};
use super::project::Projects;
use super::watching::watch;
use super::{Form, Outcome, sources};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn check main.harn                 One program
  harn check src/ --strict-types       All programs in a folder, strictly
  harn check . --watch                 Again whenever a file changes
  harn check . --json | jq '.files[].diagnostics[].message'";

/// Check programs without running them
///
/// Reads programs and what they import, checks names and types, and says what is wrong and
/// where. Warnings do not keep a program from running; errors do, and the exit code is 1.
///
/// With --json the answer is {"files": [FILE, …], "errors", "warnings"}. FILE has file and
/// diagnostics; each diagnostic has severity, code, message, line, column, end_line,
/// end_column, label, secondary, notes, help and fix. `harn explain CODE` tells more about a
/// code.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs, or folders of programs
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Warn about values from outside that are used without validation; also
    /// `strict_types = true` under `[check]` in harn.toml
    #[arg(long)]
    strict_types: bool,

    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let mut checker = Checker {
        workspace: Workspace::new(Box::new(Disk)),
        checks: Checks::new(),
        projects: Projects::default(),
        strict_types: arguments.strict_types,
    };
    let outcome = checker.check(&arguments.paths, form, output)?;
    if !arguments.watch {
        return Ok(outcome);
    }
    watch(&arguments.paths, output, |changed, output| {
        changed
            .iter()
            .for_each(|path| checker.workspace.refresh(path));
        checker.projects = Projects::default();
        checker.check(&arguments.paths, form, output).map(drop)
    })
}

/// What has been found out so far: a file that has not changed is not checked again.
struct Checker {
    workspace: Workspace,
    checks: Checks<Analysis>,
    projects: Projects,
    strict_types: bool,
}

impl Checker {
    fn check(&mut self, paths: &[PathBuf], form: Form, output: &mut Output) -> io::Result<Outcome> {
        let (files, mut is_fine) = sources::find(paths, output);
        let mut documents = Vec::new();
        for path in &files {
            let findings = match self.findings(path) {
                Ok(findings) => findings,
                Err(why) => {
                    is_fine = false;
                    output.error(format_args!("{}", Untrusted(why)));
                    continue;
                }
            };
            is_fine &= !findings.has_errors();
            let file = self.workspace.parsed(path).expect("it was read just now");
            match form {
                Form::Json => documents.push(serde_json::to_value(findings.json(&file))?),
                Form::Text if findings.diagnostics.is_empty() => {
                    writeln!(output, "{}: ok", Untrusted(&findings.name))?;
                }
                Form::Text => findings.show(&file, output),
            }
        }
        if form == Form::Json {
            write_json(&documents, output)?;
        }
        output.flush()?;
        Ok(match is_fine {
            true => Outcome::Done,
            false => Outcome::Problems,
        })
    }

    fn findings(&mut self, path: &Path) -> Result<Findings, String> {
        let settings = self.projects.settings(path)?;
        let options = CheckOptions {
            strict_types: self.strict_types || settings.check.strict_types,
        };
        let analysis = self
            .checks
            .get(&mut self.workspace, path, |file, imported| {
                analyse(file, imported, options)
            })
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut diagnostics = analysis.diagnostics.clone();
        if analysis.phase > Phase::Parse {
            // A run finds out only when an import is executed; here one wants to know before.
            let imports = self.workspace.import_diagnostics(path);
            let imports = imports.into_iter().map(|one| one.with_label("preflight"));
            diagnostics.splice(0..0, imports);
        }
        Ok(Findings {
            name: path.display().to_string(),
            diagnostics,
        })
    }
}
