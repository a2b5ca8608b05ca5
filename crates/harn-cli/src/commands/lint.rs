//! `harn lint`: what would make programs better.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::{Disk, SourceFile, Workspace};
use harn_check::{LintOptions, lint, rules};

use super::findings::{Findings, write_json};
use super::fixing::fixed;
use super::project::{Complaints, Projects, Settings};
use super::replacing::replace;
use super::{Form, Outcome, sources};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};
use crate::suggestion;

const EXAMPLES: &str = "  \
  harn lint src/                       All programs in a folder
  harn lint main.harn --fix            Settle what can be settled mechanically
  harn explain shadow-variable         What a rule asks for, and why";

/// How often fixing starts over, because settling one finding may bring another to light.
const FIX_ROUNDS_MAX: usize = 10;

/// Look for what would make programs better
///
/// Each finding names the rule it comes from, as in `lint[shadow-variable]`. Rules are
/// switched off by `disabled = ["RULE"]` under `[lint]` in harn.toml. The exit code is 1 if
/// there are errors among the findings; warnings alone are no problem.
///
/// With --json the answer is that of `harn check --json`.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs, or folders of programs
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Change the programs as the findings suggest; one that can run still can afterwards
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let (files, mut is_fine) = sources::find(&arguments.paths, output);
    let mut workspace = Workspace::new(Box::new(Disk));
    let mut projects = Projects::default();
    let mut complaints = Complaints::default();
    let mut documents = Vec::new();
    for path in &files {
        let looked = look(path, arguments.fix, &mut workspace, &mut projects);
        let (findings, file) = match looked {
            Ok(looked) => looked,
            Err(why) => {
                is_fine = false;
                complaints.tell(why, output);
                continue;
            }
        };
        is_fine &= !findings.has_errors();
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
    Ok(match is_fine {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// What there is to say about a file, after fixing it if that is wanted.
fn look(
    path: &Path,
    fix: bool,
    workspace: &mut Workspace,
    projects: &mut Projects,
) -> Result<(Findings, SourceFile), String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let options = options(&projects.settings(path)?)?;
    let file = workspace
        .parsed(path)
        .map_err(|error| named(error.to_string()))?;
    let imported = workspace.imported(path);
    let look = |text: &str| {
        let file = SourceFile::of_text(text);
        let errors = &file.parsed.errors;
        let diagnostics = match errors.is_empty() {
            true => lint(text, &file.parsed.module, &imported, &options),
            false => errors
                .iter()
                .map(|error| error.diagnostic.clone())
                .collect(),
        };
        (diagnostics, file)
    };
    let (mut diagnostics, mut current) = look(&file.text);
    for _ in 0..FIX_ROUNDS_MAX {
        let fixed = fix.then(|| fixed(&current, &diagnostics, &imported));
        let Some(fixed) = fixed.flatten() else { break };
        replace(path, &fixed).map_err(|error| named(error.to_string()))?;
        (diagnostics, current) = look(&fixed);
        workspace.refresh(path);
    }
    let findings = Findings {
        name: path.display().to_string(),
        diagnostics,
    };
    Ok((findings, current))
}

fn options(settings: &Settings) -> Result<LintOptions, String> {
    let lint = &settings.lint;
    let is_rule = |name: &str| rules().iter().any(|rule| rule.name == name);
    if let Some(unknown) = lint.disabled.iter().find(|name| !is_rule(name)) {
        let manifest = settings
            .manifest
            .as_deref()
            .unwrap_or(Path::new("harn.toml"));
        let manifest = manifest.display();
        let names = rules().iter().map(|rule| rule.name);
        let hint = suggestion::closest(unknown, names);
        let hint = hint.map(|name| format!("; did you mean `{name}`?"));
        let hint = hint.unwrap_or_default();
        return Err(format!(
            "{manifest}: there is no lint rule `{unknown}` to disable{hint}"
        ));
    }
    let default = LintOptions::default();
    Ok(LintOptions {
        disabled: lint.disabled.clone(),
        complexity_max: lint.complexity_max.unwrap_or(default.complexity_max),
        require_file_header: lint.require_file_header,
    })
}
