//! `harn check`: whether programs can run.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::{Checks, Disk, Workspace};
use harn_check::{Analysis, CheckOptions, Phase, analyse};

use super::findings::{Findings, write_json};
use super::project::{Complaints, Projects, manifest_of};
use super::watching::watch;
use super::{Form, Outcome, matrix, sources};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn check main.harn                 One program
  harn check src/ --strict-types       All programs in a folder, strictly
  harn check . --watch                 Again whenever a file changes
  harn check --provider-matrix         Which models can do what
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
///
/// With --provider-matrix and --json the answer is {"rules": [RULE, …], "families"}. RULE has
/// provider, models, version_min, origin, capabilities, thinking_modes, tool_search, max_tools,
/// preferred_tool_format and tool_mode_parity.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs, or folders of programs
    #[arg(value_name = "PATH", required_unless_present = "provider_matrix")]
    paths: Vec<PathBuf>,

    /// Warn about values from outside that are used without validation; also
    /// `strict_types = true` under `[check]` in harn.toml
    #[arg(long)]
    strict_types: bool,

    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,

    /// Instead of checking, show which models can do what, rule by rule
    #[arg(long, conflicts_with_all = ["paths", "strict_types", "watch"])]
    provider_matrix: bool,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    if arguments.provider_matrix {
        return matrix::run(form, output);
    }
    let mut checker = Checker {
        workspace: Workspace::new(Box::new(Disk)),
        checks: Checks::new(),
        projects: Projects::default(),
        strict_types: arguments.strict_types,
        files: Vec::new(),
    };
    if !arguments.watch {
        return checker.check(&arguments.paths, form, output);
    }
    watch(&arguments.paths, output, |changed, output| {
        checker.forget(changed);
        checker.check(&arguments.paths, form, output)?;
        Ok(checker.read_files())
    })
}

/// What has been found out so far: a file that has not changed is not checked again.
struct Checker {
    workspace: Workspace,
    checks: Checks<Analysis>,
    projects: Projects,
    strict_types: bool,
    /// The programs of the last answer.
    files: Vec<PathBuf>,
}

impl Checker {
    /// Files have changed.
    fn forget(&mut self, changed: &[PathBuf]) {
        changed.iter().for_each(|path| self.workspace.refresh(path));
        let is_manifest = |path: &PathBuf| path.extension().is_some_and(|found| found == "toml");
        if changed.iter().any(is_manifest) {
            // What it says decides how files are checked.
            self.projects = Projects::default();
            self.checks = Checks::new();
        }
    }

    fn check(&mut self, paths: &[PathBuf], form: Form, output: &mut Output) -> io::Result<Outcome> {
        let (files, mut is_fine) = sources::find(paths, output);
        let mut complaints = Complaints::default();
        let mut documents = Vec::new();
        for path in &files {
            let findings = match self.findings(path) {
                Ok(findings) => findings,
                Err(why) => {
                    is_fine = false;
                    complaints.tell(why, output);
                    continue;
                }
            };
            is_fine &= !findings.has_errors();
            let file = self.workspace.parsed(path).expect("it was read just now");
            match form {
                Form::Json => documents.push((findings, file)),
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
        self.files = files;
        Ok(match is_fine {
            true => Outcome::Done,
            false => Outcome::Problems,
        })
    }

    /// The files that the last answer depends on: programs, what they import, and projects.
    fn read_files(&mut self) -> BTreeSet<PathBuf> {
        let mut read = BTreeSet::new();
        for path in &self.files {
            if !read.contains(&self.workspace.canonical(path)) {
                let files = self.workspace.reachable(path);
                read.extend(files.iter().map(|file| file.to_path_buf()));
            }
            read.extend(manifest_of(path));
        }
        read
    }

    fn findings(&mut self, path: &Path) -> Result<Findings, String> {
        let settings = self.projects.settings(path)?;
        let options = CheckOptions {
            strict_types: self.strict_types || settings.check.strict_types,
            before_a_run: true,
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
