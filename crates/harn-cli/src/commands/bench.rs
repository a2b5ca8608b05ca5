//! `harn bench`: how long pipelines take.
//!
//! ```text
//! file ─► bench pipelines ─► loaded once, run again and again ─► times ─► statistics
//! ```
//!
//! What is measured is the pipeline alone: the file is read, compiled and its top level run
//! before the clock starts.

mod measure;
mod statistics;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use harn_check::modules::{Disk, SourceFile, Workspace};
use harn_syntax::tree::{ItemKind, StatementKind};
use serde::Serialize;

use self::statistics::Statistics;
use super::findings::Findings;
use super::permissions::Permissions;
use super::{Form, Outcome, sources};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn bench sorting.harn              Every pipeline whose name starts with `bench_`
  harn bench bench/ --filter list      Those of a folder with `list` in their name
  harn bench sorting.harn --time 5000  Measured for up to five seconds each
  harn bench sorting.harn --deny net   Without network
  harn bench sorting.harn --json | jq '.benchmarks[].median_ns'";

/// Measure how long pipelines take
///
/// Runs every pipeline whose name starts with `bench_` again and again, until the mean is
/// known to one percent or its time is over, and tells how long a run took: the median, the
/// fastest and the slowest, and the mean with how far runs are from it. What the pipelines
/// write is thrown away, and sessions of agents are not kept. They may do what you may, unless
/// --deny or --allow-… say otherwise.
///
/// With --json the answer is {"benchmarks": [{"name", "file", "runs", "min_ns", "median_ns",
/// "mean_ns", "max_ns", "deviation_ns"}, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// Programs with benchmarks, or folders of such programs
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Only benchmarks whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// How long each benchmark is measured at most, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    time: u64,

    #[command(flatten)]
    permissions: Permissions,
}

/// What is known about a benchmark.
#[derive(Debug, Serialize)]
struct Benchmark {
    name: String,
    file: String,
    #[serde(flatten)]
    statistics: Statistics,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let Some(policy) = arguments.permissions.policy_or_complaint(output) else {
        return Ok(Outcome::WrongUsage);
    };
    let (files, mut is_fine) = sources::find(&arguments.files, output);
    let mut workspace = Workspace::new(Box::new(Disk));
    let time = Duration::from_millis(arguments.time);
    let mut benchmarks = Vec::new();
    for path in &files {
        let Some(names) = names_in(&mut workspace, path, output) else {
            is_fine = false;
            continue;
        };
        let is_wanted = |name: &String| match &arguments.filter {
            Some(part) => name.contains(part),
            None => true,
        };
        for name in names.into_iter().filter(is_wanted) {
            let file = path.display().to_string();
            match measure::measure(&mut workspace, path, &name, time, &policy) {
                Ok(statistics) => {
                    let benchmark = Benchmark {
                        name,
                        file,
                        statistics,
                    };
                    if form == Form::Text {
                        tell(&benchmark, output)?;
                    }
                    benchmarks.push(benchmark);
                }
                Err(why) => {
                    is_fine = false;
                    let (name, file) = (Untrusted(name), Untrusted(file));
                    output.error(format_args!("{name} [{file}] has failed"));
                    why.lines()
                        .for_each(|line| output.note(format_args!("{}", Untrusted(line))));
                }
            }
        }
    }
    match form {
        Form::Json => output.json(&serde_json::json!({"benchmarks": benchmarks}))?,
        Form::Text if benchmarks.is_empty() && is_fine => {
            writeln!(output, "No bench pipelines found")?;
        }
        Form::Text => {}
    }
    Ok(match is_fine {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// The benchmarks of a file; `None` if it cannot be read as a program, which is told.
fn names_in(workspace: &mut Workspace, path: &PathBuf, output: &mut Output) -> Option<Vec<String>> {
    let name = path.display().to_string();
    let file = match workspace.parsed(path) {
        Ok(file) => file,
        Err(error) => {
            output.error(format_args!("{}: {error}", Untrusted(name)));
            return None;
        }
    };
    let errors = &file.parsed.errors;
    if errors.is_empty() {
        return Some(bench_names(&file));
    }
    let diagnostics = errors
        .iter()
        .map(|error| error.diagnostic.clone())
        .collect();
    Findings { name, diagnostics }.show(&file, output);
    None
}

fn bench_names(file: &SourceFile) -> Vec<String> {
    let statements = file.parsed.module.statements.iter();
    let names = statements.filter_map(|statement| match &statement.kind {
        StatementKind::Item(item) => match &item.kind {
            ItemKind::Pipeline(pipeline) => Some(&pipeline.name.text),
            _ => None,
        },
        _ => None,
    });
    let names = names.filter(|name| name.starts_with("bench_"));
    names.map(ToString::to_string).collect()
}

fn tell(benchmark: &Benchmark, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let Statistics {
        runs,
        min_ns,
        median_ns,
        mean_ns,
        max_ns,
        deviation_ns,
    } = benchmark.statistics;
    let name = palette.name(Untrusted(&benchmark.name));
    writeln!(output, "{name} [{}]", Untrusted(&benchmark.file))?;
    let median = palette.heading(shown(median_ns));
    let (min, max, mean) = (shown(min_ns), shown(max_ns), shown(mean_ns));
    let percent = (deviation_ns * 100).checked_div(mean_ns).unwrap_or(0);
    writeln!(output, "  median {median}   from {min} to {max}")?;
    writeln!(output, "  mean   {mean} ± {percent} %   {runs} runs\n")?;
    output.flush()
}

/// A time in the unit that needs at most three digits before the point.
fn shown(nanoseconds: u64) -> String {
    let time = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.2} µs", time / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", time / 1e6),
        _ => format!("{:.2} s", time / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_are_pipelines_with_a_name_of_that_kind() {
        let text = "pipeline bench_a() {}\npipeline benchmark() {}\nfn bench_b() {}\n\
                    pipeline bench_c() {}\n";
        assert_eq!(
            bench_names(&SourceFile::of_text(text)),
            ["bench_a", "bench_c"]
        );
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        for (time, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_234, "1.23 µs"),
            (12_345_678, "12.35 ms"),
            (3_000_000_000, "3.00 s"),
        ] {
            assert_eq!(shown(time), expected);
        }
    }
}
