//! `harn test conformance`: programs with an expectation beside them.
//!
//! ```text
//! NAME.harn + NAME.expected   must succeed; warnings, then output, line by line
//! NAME.harn + NAME.error      must fail; the error matches one of the lines
//! NAME.harn alone             is not run
//! NAME.llm-mock.jsonl         what models answer; real ones are not asked
//! ```

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use harn_check::modules::{Disk, Workspace};
use harn_check::{CheckOptions, analyse};
use harn_syntax::Severity;
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::llm::catalog::resolve::CALLS_DISABLED;
use harn_vm::machine::{FaultKind, Stream};
use harn_vm::{
    AgentOptions, ModelOptions, Outcome as Ended, Program, RunOptions, Sink, WorldOptions,
};
use regex::Regex;

use super::super::mcp::Logins;
use super::super::{Form, Outcome, answers, sources, tool_servers};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn test conformance                The programs in ./conformance
  harn test conformance --filter match Those with `match` in their path";

/// Run programs against their expectations
///
/// Looks for programs below a folder that have an expectation beside them: NAME.expected with
/// the warnings and the output of a program that succeeds, or NAME.error with lines of which
/// one is part of the error of a program that fails; a line that begins with `re:` is a
/// regular expression. Models answer from NAME.llm-mock.jsonl, and real ones are not asked.
///
/// With --json the answer is {"passed", "failed": [{"program", "why"}, …]}.
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
    // Many programs are odd on purpose. What is expected of them is what they write.
    output.warnings().hand_to(Arc::new(|_| {}));
    let mut workspace = Workspace::new(Box::new(Disk));
    let (mut passed, mut failed) = (0, Vec::new());
    for path in files.into_iter().filter(is_wanted) {
        match expectation(&path).map(|expected| judge(&path, &expected?, &mut workspace)) {
            None => {}
            Some(Ok(Verdict::Passed)) => passed += 1,
            Some(Ok(Verdict::Failed(why)) | Err(why)) => failed.push((path, why)),
        }
    }
    report(form, passed, &failed, output)?;
    Ok(match is_whole && failed.is_empty() && passed > 0 {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

fn report(
    form: Form,
    passed: u64,
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
    if passed == 0 && failed.is_empty() {
        return writeln!(output, "No programs with an expectation found");
    }
    let mut summary = format!("{passed} passed");
    if !failed.is_empty() {
        summary += &format!(", {} failed", failed.len());
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
    let mut written: String = warnings
        .map(|one| format!("warning: {}\n", one.message))
        .collect();
    let error = match analysis.error {
        Some(error) => Some(error),
        None => execute(path, workspace, &mut written),
    };
    Ok(match (expected, error) {
        (Expected::Output(_), Some(error)) => Verdict::Failed(format!(
            "it should succeed, but fails with: {error}\n{written}"
        )),
        (Expected::Output(output), None) => compare(output, &written),
        (Expected::Error(lines), Some(error)) => match matches(lines, &error)? {
            true => Verdict::Passed,
            false => Verdict::Failed(format!("expected: {}\nfound:    {error}", lines.trim_end())),
        },
        (Expected::Error(lines), None) => Verdict::Failed(format!(
            "expected: {}\nfound nothing wrong\n{written}",
            lines.trim_end()
        )),
    })
}

/// How long a program may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Runs a program. Gives its error, if it fails.
fn execute(path: &Path, workspace: &mut Workspace, written: &mut String) -> Option<String> {
    let kept = Rc::new(RefCell::new(String::new()));
    let models = match answers::beside(path, &ModelOptions::default()) {
        Ok(models) => models,
        Err(why) => return Some(why),
    };
    let mut environment = environment::all();
    // A promise must not depend on what a real model says today.
    environment.insert(CALLS_DISABLED.to_owned(), "1".to_owned());
    let mut agents = AgentOptions::default();
    // Without a manifest nothing can be wrong with it.
    let trust = ProjectTrust::Trusted;
    let _there_is_no_manifest =
        tool_servers::add_to(&mut agents, None, trust, None, Logins::Unwanted);
    let options = RunOptions {
        world: WorldOptions {
            environment,
            models,
            agents,
            ..WorldOptions::default()
        },
        timeout: Some(TIME_LIMIT),
        ..RunOptions::default()
    };
    let outcome = Program::new(workspace, path).run(&options, Box::new(Kept(kept.clone())));
    written.push_str(&kept.borrow());
    match outcome {
        Err(error) => Some(error.to_string()),
        Ok(Ended::Interrupted) => Some("interrupted".to_owned()),
        Ok(Ended::TimedOut) => Some(format!("timed out after {}ms", TIME_LIMIT.as_millis())),
        Ok(Ended::Ended(Ok(_))) => None,
        Ok(Ended::Ended(Err(failure))) => match failure.kind {
            FaultKind::Exit(0) => None,
            _ => Some(failure.text()),
        },
    }
}

/// Output that is kept. What goes to the error stream is not compared.
struct Kept(Rc<RefCell<String>>);

impl Sink for Kept {
    fn write(&mut self, stream: Stream, text: &str) {
        if stream == Stream::Output {
            self.0.borrow_mut().push_str(text);
        }
    }

    fn flush(&mut self) {}
}

/// Compares line by line. How long a timer ran does not count.
fn compare(expected: &str, found: &str) -> Verdict {
    let timer = Regex::new(r"^(\[timer\] .*: )(\d+|<)ms>?$").expect("it is fixed");
    let lines = |text: &str| -> Vec<String> {
        let lines = text.trim_end().lines();
        lines
            .map(|line| timer.replace(line, "${1}<ms>").into_owned())
            .collect()
    };
    let (expected, found) = (lines(expected), lines(found));
    if expected == found {
        return Verdict::Passed;
    }
    let first = std::iter::zip(&expected, &found).take_while(|(one, other)| one == other);
    let at = first.count();
    let show = |lines: &[String]| {
        lines
            .get(at)
            .cloned()
            .unwrap_or_else(|| "(the end)".to_owned())
    };
    Verdict::Failed(format!(
        "line {}\nexpected: {}\nfound:    {}",
        at + 1,
        show(&expected),
        show(&found)
    ))
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
