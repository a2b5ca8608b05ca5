//! `harn test`: the tests of programs.
//!
//! ```text
//! paths ─► discovery ─► tests, in order ─► runner: threads, each test in an isolate of its own
//!                                             │ results, in order
//!                                             └─► report: text, JSON, JUnit, coverage
//! ```

mod conformance;
mod coverage;
mod discovery;
mod isolated;
mod junit;
mod markup;
mod report;
mod runner;
mod watched;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use harn_vm::policy::Policy;

use self::discovery::Suite;
use self::report::{Report, Results};
use super::answers::Answers;
use super::permissions::Permissions;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn test                            The tests below the folder we are in
  harn test tests/ --filter parse      Those with `parse` in their name
  harn test --watch                    Again whenever a file changes
  harn test --junit report.xml         Also for a build server
  harn test --coverage                 Which lines have run
  harn test --deny net,exec            Without network and processes
  harn test conformance                Programs against their expectations";

/// Test programs
///
/// Runs test pipelines: those whose name starts with `test_`, or that carry `@test`. Each of
/// them runs in an interpreter of its own, in the folder of its file, several at a time, and
/// passes if it ends without an error. The exit code is 1 if one fails. What a test that fails
/// has written is shown on standard error.
///
/// A test that asks a model gets the answers that lie beside its file, in
/// NAME.llm-mock.jsonl; without them the mock answers, unless the environment or an option
/// names somebody else. Sessions of agents are not kept; with HARN_EVENT_LOG_DIR set, their
/// events are written to files in that folder.
///
/// A test may do what you may, unless --deny or --allow-… say otherwise. Paths in them start
/// where you are, wherever the test works.
///
/// With --json the answer is {"passed", "failed", "total", "duration_ms", "tests": [{"name",
/// "file", "passed", "duration_ms", "error", "output"}, …]}, and with --coverage also
/// "coverage": {"covered", "lines", "files": [{"file", "covered", "lines", "missing"}, …]},
/// where missing is a list of pairs: the first and last line of each gap.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(subcommand_precedence_over_arg = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Programs with tests, or folders of such programs; the folder we are in by default
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
struct Options {
    /// Only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// How many tests run at the same time; as many as there are processors by default
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// How long a test may take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    timeout: u64,

    /// Also write a report in the form of JUnit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Tell which lines of the programs have run; `html` also writes a page for a browser
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "text")]
    coverage: Option<CoverageForm>,

    /// Where the page about coverage goes
    #[arg(long, value_name = "FILE", default_value = "coverage.html")]
    coverage_file: PathBuf,

    /// Test again whenever a file changes
    #[arg(long)]
    watch: bool,

    #[command(flatten)]
    answers: Answers,

    #[command(flatten)]
    permissions: Permissions,
}

/// How it is told which lines have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CoverageForm {
    Text,
    Html,
}

#[derive(Debug, Subcommand)]
enum Command {
    Conformance(conformance::Arguments),
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    if let Some(Command::Conformance(conformance)) = &arguments.command {
        if !arguments.paths.is_empty() {
            output.error(format_args!("`conformance` comes before paths"));
            return Ok(Outcome::WrongUsage);
        }
        return conformance::run(conformance, form, output);
    }
    match arguments.options.watch {
        true => watched::run(&arguments.paths, &arguments.options, form, output),
        false => run_once(&arguments.paths, &arguments.options, form, output),
    }
}

/// Runs all tests once.
fn run_once(
    paths: &[PathBuf],
    options: &Options,
    form: Form,
    output: &mut Output,
) -> io::Result<Outcome> {
    let Some(policy) = options.permissions.policy_or_complaint(output) else {
        return Ok(Outcome::WrongUsage);
    };
    let settings = match settings(options, policy) {
        Ok(settings) => settings,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let started = Instant::now();
    let (suite, is_whole) = Suite::find(paths, options.filter.as_deref(), output);
    let mut report = Report::new(&suite, form, options.coverage.is_some(), output)?;
    runner::run_all(&suite, &settings, |test, ran| report.add(test, ran, output))?;
    let results = report.end(started.elapsed(), output)?;
    let mut is_fine = is_whole && results.failed() == 0;
    for (path, error) in write_files(options, &suite, &results) {
        let path = path.display().to_string();
        output.error(format_args!("{}: {error}", Untrusted(path)));
        is_fine = false;
    }
    Ok(match is_fine {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// Writes the reports that go to files. Gives those that cannot be written.
fn write_files<'a>(
    options: &'a Options,
    suite: &Suite,
    results: &Results,
) -> Vec<(&'a Path, io::Error)> {
    let mut failures = Vec::new();
    if let Some(path) = &options.junit
        && let Err(error) = junit::write(path, suite, results)
    {
        failures.push((path.as_path(), error));
    }
    if options.coverage == Some(CoverageForm::Html)
        && let Some(covered) = &results.covered
        && let Err(error) = coverage::write_html(&options.coverage_file, covered)
    {
        failures.push((options.coverage_file.as_path(), error));
    }
    failures
}

fn settings(options: &Options, policy: Policy) -> Result<runner::Settings, String> {
    let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut environment = environment::for_programs();
    let is_chosen = |name: &&str| environment.contains_key(*name);
    let is_chosen = ["HARN_LLM_PROVIDER", "LLM_PROVIDER"].iter().any(is_chosen);
    if !is_chosen && !options.answers.names_somebody() {
        // A test that asks a model should not cost money by accident.
        environment.insert("HARN_LLM_PROVIDER".to_owned(), "mock".to_owned());
    }
    Ok(runner::Settings {
        jobs: options.jobs.unwrap_or_else(processors),
        timeout: Duration::from_millis(options.timeout),
        environment,
        models: options.answers.options(None)?,
        policy,
        counts_lines: options.coverage.is_some(),
    })
}
