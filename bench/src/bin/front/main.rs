//! `cargo xtask bench front`: the front end against itself on smaller programs, and against
//! the parsers of CPython and Node.
//!
//! On paper, before measuring: a line has about 30 bytes and 8 tokens. A token is 12 bytes
//! and costs the lexer some 10 ns; a node costs the parser an allocation of 20 ns and a few
//! calls. So lexing should cost about 100 ns a line and parsing 400 ns, and both must cost
//! the same per line in a long program as in a short one. CPython does the same work with a
//! parser that backtracks and builds Python objects, which should be several times slower;
//! Node skims function bodies and builds no tree for them, which should be faster.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is this program's output"
)]

mod generator;
mod peers;

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use generator::{Language, program};
use harn_bench::{Effort, Goal, PeakHeap, Samples, Table, versus};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_check::{CheckOptions, Imported, check_types};
use harn_syntax::tree::Module;
use harn_syntax::{FormatOptions, format, lex, parse};
use mimalloc::MiMalloc;
use peers::{Node, Python};
use tempfile::TempDir;

/// What the `harn` program uses as well, with a count for the rows about memory.
#[global_allocator]
static HEAP: PeakHeap<MiMalloc> = PeakHeap::new(MiMalloc);

/// How many times longer the long program is.
const TIMES_LONGER: usize = 10;

fn main() -> ExitCode {
    let effort = Effort::from_args();
    match measure(effort) {
        Ok(table) => {
            println!("{}", table.render());
            match table.all_met() || effort == Effort::Smoke {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(effort: Effort) -> Result<Table, String> {
    let lines = match effort {
        Effort::Full => 100_000,
        Effort::Smoke => 2_000,
    };
    let long = Source::new(lines, 0);
    // Different ones, as many lines in total: one program again and again would stay in the
    // caches, and the rows would compare caches instead of how the work grows.
    let short = (1..=TIMES_LONGER as u64).map(|seed| Source::new(lines / TIMES_LONGER, seed));
    let short: Vec<Source> = short.collect();
    let mut table = Table::new();
    growth(effort, &long, &short, &mut table);
    through_modules(effort, &long, &mut table);
    against_python(effort, &long, &mut table)?;
    against_node(effort, &long, &mut table)?;
    memory(&long, &short[0], &mut table);
    Ok(table)
}

/// A Harn program with nothing wrong in it.
struct Source {
    text: String,
    module: Module,
    lines: usize,
}

impl Source {
    fn new(lines: usize, seed: u64) -> Self {
        let text = program(Language::Harn, lines, seed);
        let parsed = parse(&text);
        assert_eq!(parsed.errors, [], "the program can be read");
        let module = parsed.module;
        assert_eq!(check(&module), [], "and there is nothing to say about it");
        Self {
            text,
            module,
            lines,
        }
    }

    fn described(&self) -> String {
        let bytes = self.text.len() / self.lines;
        format!("{} lines of {bytes} B", self.lines)
    }
}

fn check(module: &Module) -> Vec<harn_syntax::Diagnostic> {
    check_types(module, &Imported::default(), CheckOptions::default())
}

/// Each step of the front end on a long program and on short ones.
fn growth(effort: Effort, long: &Source, short: &[Source], table: &mut Table) {
    let mut row = |step: &str, work: &dyn Fn(&Source) -> Duration| {
        let samples = versus(
            effort,
            long.lines,
            |_| work(long),
            |_| short.iter().map(work).sum(),
        );
        let work = format!("{step}, {}{}", long.described(), speed(&samples.0));
        let peer = format!("{} programs of {} lines", short.len(), short[0].lines);
        table.times(&work, &peer, &samples, Goal::TimeAtMost(1.3));
    };
    row("lex", &|source| timed(|| lex(&source.text)));
    row("parse, with lexing", &|source| {
        timed(|| parse(&source.text))
    });
    row("check the types", &|source| timed(|| check(&source.module)));
    row("format, with parsing", &|source| {
        timed(|| format(&source.text, &FormatOptions::default()))
    });
}

/// What it costs to be a file of a program that may have more of them.
fn through_modules(effort: Effort, source: &Source, table: &mut Table) {
    let files = MemoryFiles::new();
    files.write("/main.harn", &source.text);
    let checked_as_file = || {
        let mut workspace = Workspace::new(Box::new(files.clone()));
        let imported = workspace.imported("/main.harn");
        let file = workspace.parsed("/main.harn").expect("it is there");
        let found = check_types(&file.parsed.module, &imported, CheckOptions::default());
        (workspace, found)
    };
    let checked_alone = || {
        let parsed = parse(&source.text);
        let found = check(&parsed.module);
        (parsed, found)
    };
    let samples = versus(
        effort,
        source.lines,
        |_| timed(checked_as_file),
        |_| timed(checked_alone),
    );
    table.times(
        &format!("read, parse and check a file of {}", source.described()),
        "`parse` and `check_types` of its text",
        &samples,
        Goal::Shown,
    );
}

/// How long it takes to get a result. Giving its memory back is not counted, as it is not
/// counted in Python either.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let result = black_box(work());
    let spent = started.elapsed();
    drop(result);
    spent
}

/// The same, after a first run that is not counted: the parsers of others take so long that
/// meanwhile our memory has gone back to the system and our caches are cold, while theirs,
/// at work all the time, are warm.
fn timed_when_warm<T>(work: impl Fn() -> T) -> Duration {
    drop(black_box(work()));
    timed(work)
}

fn speed(per_line: &Samples) -> String {
    format!(": {:.2} million lines/s", 1e3 / per_line.median_ns())
}

fn written(folder: &TempDir, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.path().join(name);
    fs::write(&path, text).map_err(|why| format!("cannot write {}: {why}", path.display()))?;
    Ok(path)
}

fn scratch() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|why| format!("cannot make a folder: {why}"))
}

/// The same program in another language, and how it is described.
fn translated(source: &Source, language: Language) -> (String, usize) {
    let text = program(language, source.lines, 0);
    let bytes = text.len() / source.lines;
    (text, bytes)
}

fn against_python(effort: Effort, source: &Source, table: &mut Table) -> Result<(), String> {
    let folder = scratch()?;
    let (text, bytes) = translated(source, Language::Python);
    let mut python = Python::start(&written(&folder, "program.py", &text)?)?;
    let samples = versus(
        effort,
        source.lines,
        |_| timed_when_warm(|| parse(&source.text)),
        |_| python.parse(),
    );
    table.times(
        &format!("parse a line of {}", source.described()),
        &format!("CPython's `ast.parse` of as many lines of {bytes} B"),
        &samples,
        Goal::SpeedAtLeast(3.0),
    );
    Ok(())
}

fn against_node(effort: Effort, source: &Source, table: &mut Table) -> Result<(), String> {
    let folder = scratch()?;
    let (text, bytes) = translated(source, Language::JavaScript);
    let node = Node::find(&folder, &written(&folder, "program.js", &text)?)?;
    let samples = versus(
        effort,
        source.lines,
        |_| timed_when_warm(|| parse(&source.text)),
        |_| node.parse(),
    );
    table.times(
        &format!("parse a line of {}", source.described()),
        &format!(
            "`node --check` of as many lines of {bytes} B, without its time for an empty file; \
             it skims function bodies"
        ),
        &samples,
        Goal::Shown,
    );
    Ok(())
}

/// How much memory each step needs at most, besides what it is given.
fn memory(long: &Source, short: &Source, table: &mut Table) {
    let mut row = |step: &str, work: &dyn Fn(&Source) -> usize| {
        let per_line = |source: &Source| work(source) as f64 / source.lines as f64;
        let (of_long, of_short) = (per_line(long), per_line(short));
        table.row(
            &format!("{step}: peak of the heap, {}", long.described()),
            &format!("a line of {} lines", short.lines),
            &format!("{of_long:.0} B a line"),
            &format!("{of_short:.0} B a line"),
            &format!("{:.2} × its memory", of_long / of_short),
            "–",
            true,
        );
    };
    row("parse", &|source| HEAP.peak_of(|| parse(&source.text)).0);
    row("check the types, beside the tree", &|source| {
        HEAP.peak_of(|| check(&source.module)).0
    });
}
