//! `harn test conformance`: programs with an expectation beside them.
//!
//! ```text
//! NAME.harn + NAME.expected   must succeed; warnings, then output, line by line
//! NAME.harn + NAME.error      must fail; the error matches one of the lines
//! NAME.harn alone             is not run
//! ```
//!
//! As long as there is no machine, what can be said without running is compared: a program
//! that should succeed must have exactly the warnings that are expected, and one that fails
//! before it runs must fail as expected. The others are counted as waiting for the machine.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use harn_check::modules::{Disk, Workspace};
use harn_check::{CheckOptions, Phase, analyse};
use harn_syntax::Severity;
use regex::Regex;

use super::super::{Form, Outcome, sources};
use crate::arguments::after_help;
use crate::counting::count;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn test conformance                The programs in ./conformance
  harn test conformance --filter match Those with `match` in their path";

/// Run programs against their expectations
///
/// Looks for programs below a folder that have an expectation beside them: NAME.expected with
/// the warnings and the output of a program that succeeds, or NAME.error with lines of which
/// one is part of the error of a program that fails; a line that begins with `re:` is a
/// regular expression.
///
/// With --json the answer is {"passed", "failed": [{"program", "why"}, …], "waiting"}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// The folder, or a single program
    #[arg(value_name = "DIR", default_value = "conformance")]
    folder: PathBuf,

    /// Only programs whose path contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// What came of a program.
enum Verdict {
    Passed,
    /// It is as expected so far, and the rest shows when it runs.
    Waiting,
    Failed(String),
}

pub(super) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let (files, is_whole) = sources::find(std::slice::from_ref(&arguments.folder), output);
    let is_wanted = |path: &PathBuf| {
        let path = path.display().to_string();
        arguments
            .filter
            .as_ref()
            .is_none_or(|part| path.contains(part))
    };
    let mut workspace = Workspace::new(Box::new(Disk));
    let (mut passed, mut waiting, mut failed) = (0, 0, Vec::new());
    for path in files.into_iter().filter(is_wanted) {
        match expectation(&path).map(|expected| judge(&path, &expected?, &mut workspace)) {
            None => {}
            Some(Ok(Verdict::Passed)) => passed += 1,
            Some(Ok(Verdict::Waiting)) => waiting += 1,
            Some(Ok(Verdict::Failed(why)) | Err(why)) => failed.push((path, why)),
        }
    }
    report(form, passed, waiting, &failed, output)?;
    Ok(
        match is_whole && failed.is_empty() && passed + waiting > 0 {
            true => Outcome::Done,
            false => Outcome::Problems,
        },
    )
}

fn report(
    form: Form,
    passed: u64,
    waiting: u64,
    failed: &[(PathBuf, String)],
    output: &mut Output,
) -> io::Result<()> {
    if form == Form::Json {
        let failed = failed.iter().map(
            |(path, why)| serde_json::json!({"program": path.display().to_string(), "why": why}),
        );
        return output.json(&serde_json::json!({
            "passed": passed,
            "failed": failed.collect::<Vec<_>>(),
            "waiting": waiting,
        }));
    }
    let palette = output.palette();
    for (path, why) in failed {
        let path = path.display().to_string();
        writeln!(output, "{}  {}", palette.problem("FAIL"), Untrusted(path))?;
        for line in why.lines() {
            writeln!(output, "      {}", Untrusted(line))?;
        }
    }
    if passed + waiting == 0 && failed.is_empty() {
        return writeln!(output, "No programs with an expectation found");
    }
    let mut summary = format!("{passed} passed");
    if !failed.is_empty() {
        summary += &format!(", {} failed", failed.len());
    }
    if waiting > 0 {
        let programs = count(waiting, "program");
        let they_run = if waiting == 1 { "it runs" } else { "they run" };
        summary += &format!(", {programs} as expected before {they_run}");
    }
    let is_fine = failed.is_empty();
    match is_fine {
        true => writeln!(output, "{}", palette.fine(summary)),
        false => writeln!(output, "{}", palette.problem(summary)),
    }
}

/// What is expected of a program.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Output(String),
    Error(String),
}

/// The expectation beside a program, if there is one.
fn expectation(path: &Path) -> Option<Result<Expected, String>> {
    let beside = |extension: &str| {
        let path = path.with_extension(extension);
        path.exists().then(|| {
            let text = fs::read_to_string(&path);
            text.map_err(|error| format!("{}: {error}", path.display()))
        })
    };
    match (beside("expected"), beside("error")) {
        (None, None) => None,
        (Some(output), None) => Some(output.map(Expected::Output)),
        (None, Some(error)) => Some(error.map(Expected::Error)),
        (Some(_), Some(_)) => Some(Err("it has both .expected and .error".to_owned())),
    }
}

fn judge(path: &Path, expected: &Expected, workspace: &mut Workspace) -> Result<Verdict, String> {
    let file = workspace.parsed(path).map_err(|error| error.to_string())?;
    let imported = workspace.imported(path);
    let analysis = analyse(&file, &imported, CheckOptions::default());
    let warnings = analysis.diagnostics.iter();
    let warnings = warnings.filter(|one| one.severity == Severity::Warning);
    let warnings: String = warnings
        .map(|one| format!("warning: {}\n", one.message))
        .collect();
    Ok(match (expected, analysis.error) {
        (Expected::Output(_), Some(error)) => {
            Verdict::Failed(format!("it should succeed, but fails with: {error}"))
        }
        (Expected::Output(output), None) => judge_warnings(output, &warnings),
        (Expected::Error(lines), Some(error)) => match matches(lines, &error)? {
            true => Verdict::Passed,
            false => Verdict::Failed(format!("expected: {}\nfound:    {error}", lines.trim_end())),
        },
        (Expected::Error(lines), None) => {
            debug_assert_eq!(analysis.phase, Phase::Run);
            match is_static(lines) {
                true => Verdict::Failed(format!(
                    "expected before it runs: {}\nfound nothing wrong",
                    lines.trim_end()
                )),
                false => Verdict::Waiting,
            }
        }
    })
}

/// Compares the warnings with how the expected text begins.
fn judge_warnings(output: &str, warnings: &str) -> Verdict {
    let is_warning = |line: &&str| line.starts_with("warning: ");
    let expected = output.lines().take_while(is_warning);
    let expected: String = expected.map(|line| format!("{line}\n")).collect();
    match expected == warnings {
        true => Verdict::Waiting,
        false => Verdict::Failed(format!("expected warnings:\n{expected}found:\n{warnings}")),
    }
}

/// Whether an error is one of those that are expected.
///
/// # Errors
/// One of them is not a regular expression.
fn matches(lines: &str, error: &str) -> Result<bool, String> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    let mut is_match = false;
    for line in lines {
        is_match |= match line.strip_prefix("re:") {
            None => error.contains(line.trim_end()),
            Some(pattern) => {
                let pattern = Regex::new(pattern.trim()).map_err(|why| why.to_string())?;
                pattern.is_match(error)
            }
        };
    }
    Ok(is_match)
}

/// Whether an expected error can only arise before a program runs: run-time errors say what
/// kind they are, or are thrown.
fn is_static(lines: &str) -> bool {
    const BEFORE_RUN: [&str; 16] = [
        "Argument ",
        "Builtin function '",
        "Expected ",
        "Field '",
        "Function '",
        "Non-exhaustive match",
        "Or-pattern alternatives",
        "Type '",
        "Unexpected ",
        "Unterminated ",
        "call target `",
        "can't ",
        "return type doesn't match",
        "type parameter '",
        "unknown struct type",
        "unreachable() argument",
    ];
    let mut lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines.all(|line| {
        let line = line
            .strip_prefix("re:")
            .unwrap_or(line)
            .trim()
            .trim_start_matches('^');
        line.contains("' declared as ") || BEFORE_RUN.iter().any(|start| line.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0: a line is part of the error, or a regular expression found in it.
    #[test]
    fn one_line_has_to_match() {
        let is_match = |lines: &str| matches(lines, "Expected =, got 5 at 1:7").unwrap();
        assert!(is_match("got 5"));
        assert!(is_match("something else\n\nExpected =\n"));
        assert!(is_match(r"re:got \d at 1:\d$"));
        assert!(!is_match("expected"));
        assert!(!is_match(""));
        assert!(!is_match("\n\n"));
        assert!(matches("re:(", "x").is_err());
    }
}
