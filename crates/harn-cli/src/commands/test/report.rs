//! What is told about tests: for people while they run, for programs at the end.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::super::Form;
use super::coverage::{Counts, Covered, CoveredJson};
use super::discovery::{Suite, Test};
use super::isolated::Ran;
use crate::counting::count;
use crate::output::{Output, Untrusted, UntrustedText};
use crate::progress::Progress;

/// Columns in front of what went wrong.
const INDENT: &str = "        ";

/// The report of a run.
pub(super) struct Report<'a> {
    suite: &'a Suite,
    form: Form,
    progress: Progress,
    ran: Vec<Ran>,
    /// Which lines have run, if they are counted.
    counts: Option<Counts>,
}

/// What came of all tests, in their order.
pub(super) struct Results {
    pub(super) ran: Vec<Ran>,
    pub(super) took: Duration,
    pub(super) covered: Option<Covered>,
}

impl Results {
    pub(super) fn failed(&self) -> usize {
        self.ran.iter().filter(|ran| ran.error.is_some()).count()
    }
}

impl<'a> Report<'a> {
    pub(super) fn new(
        suite: &'a Suite,
        form: Form,
        counts_lines: bool,
        output: &mut Output,
    ) -> io::Result<Self> {
        let (tests, files) = (suite.tests.len() as u64, suite.files.len() as u64);
        if form == Form::Text && tests > 0 {
            let (tests, files) = (count(tests, "test"), count(files, "file"));
            writeln!(output, "Running {tests} from {files}...\n")?;
            output.flush()?;
        }
        Ok(Self {
            suite,
            form,
            progress: Progress::of_steps("testing", tests, output.is_watched()),
            ran: Vec::new(),
            counts: counts_lines.then(Counts::default),
        })
    }

    /// A test has ended.
    pub(super) fn add(&mut self, test: &Test, mut ran: Ran, output: &mut Output) -> io::Result<()> {
        if self.form == Form::Text {
            self.progress.hide();
            tell(&self.suite.file_of(test), test.name(), &ran, output)?;
            output.flush()?;
        }
        self.progress.advance(1);
        if let Some(counts) = &mut self.counts {
            counts.add(std::mem::take(&mut ran.counted));
        }
        self.ran.push(ran);
        Ok(())
    }

    /// All tests have ended.
    pub(super) fn end(mut self, took: Duration, output: &mut Output) -> io::Result<Results> {
        self.progress.hide();
        let results = Results {
            ran: self.ran,
            took,
            covered: self.counts.map(|counts| counts.report()),
        };
        match self.form {
            Form::Text => {
                summary(&results, output)?;
                if let Some(covered) = &results.covered {
                    covered.show(output)?;
                }
            }
            Form::Json => output.json(&ReportJson::of(self.suite, &results))?,
        }
        output.flush()?;
        Ok(results)
    }
}

fn tell(file: &str, name: &str, ran: &Ran, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let (file, name) = (Untrusted(file), Untrusted(name));
    let Some(error) = &ran.error else {
        let took = ran.took.as_millis();
        let pass = palette.fine("PASS");
        return writeln!(output, "  {pass}  {name} [{file}] ({took} ms)");
    };
    writeln!(output, "  {}  {name} [{file}]", palette.problem("FAIL"))?;
    for line in error.lines() {
        let line = format!("{INDENT}{}", UntrustedText(line));
        writeln!(output, "{}", line.trim_end())?;
    }
    if !ran.output.is_empty() {
        output.note(format_args!("{INDENT}output of {name}:"));
        for line in ran.output.lines() {
            output.note(format_args!("{INDENT}  {}", UntrustedText(line)));
        }
    }
    Ok(())
}

fn summary(results: &Results, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let (total, failed) = (results.ran.len(), results.failed());
    if total == 0 {
        return writeln!(output, "No test pipelines found");
    }
    let (passed, took) = (total - failed, results.took.as_millis());
    match failed {
        0 => {
            let line = format!("{passed} passed, {total} total ({took} ms)");
            writeln!(output, "\n{}", palette.fine(line))
        }
        _ => {
            let line = format!("{passed} passed, {failed} failed, {total} total ({took} ms)");
            writeln!(output, "\n{}", palette.problem(line))
        }
    }
}

#[derive(Serialize)]
struct ReportJson<'a> {
    passed: usize,
    failed: usize,
    total: usize,
    duration_ms: u64,
    tests: Vec<TestJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoveredJson<'a>>,
}

#[derive(Serialize)]
struct TestJson<'a> {
    name: &'a str,
    file: String,
    passed: bool,
    duration_ms: u64,
    error: Option<&'a str>,
    output: &'a str,
}

impl<'a> ReportJson<'a> {
    fn of(suite: &'a Suite, results: &'a Results) -> Self {
        let tests = suite.tests.iter().zip(&results.ran);
        let tests = tests.map(|(test, ran)| TestJson {
            name: test.name(),
            file: suite.file_of(test),
            passed: ran.error.is_none(),
            duration_ms: milliseconds(ran.took),
            error: ran.error.as_deref(),
            output: &ran.output,
        });
        let failed = results.failed();
        Self {
            passed: results.ran.len() - failed,
            failed,
            total: results.ran.len(),
            duration_ms: milliseconds(results.took),
            tests: tests.collect(),
            coverage: results.covered.as_ref().map(Covered::json),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
