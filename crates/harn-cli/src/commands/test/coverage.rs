//! Which lines of programs the tests have run.
//!
//! ```text
//! counted lines of every test ─► merged by file ─┐
//! statements of the file ────────────────────────┴─► covered and missing lines ─► text, HTML
//! ```
//!
//! A line counts if a statement begins in it. Lines of tests do not: they run, or the test is
//! not chosen.

mod html;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harn_check::modules::SourceFile;
use harn_syntax::tree::{Statement, StatementKind};
use harn_syntax::visit::{Visit, walk_statement};
use serde::Serialize;

use super::discovery::test_name;
use crate::output::{Output, Untrusted};

pub(super) use html::write as write_html;

/// How often the lines of files have run.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// By the real path of the file: tests call it in different ways.
    files: BTreeMap<PathBuf, BTreeMap<u32, u64>>,
}

impl Counts {
    /// Adds what a test has run.
    pub(super) fn add(&mut self, counted: Vec<(String, BTreeMap<u32, u64>)>) {
        for (path, lines) in counted {
            let path = fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(path));
            let known = self.files.entry(path).or_default();
            for (line, count) in lines {
                *known.entry(line).or_default() += count;
            }
        }
    }

    /// What is to be told about each file, sorted by path. Files that have tests only, or
    /// that are gone, are left out.
    pub(super) fn report(&self) -> Covered {
        let here = fs::canonicalize(".").unwrap_or_default();
        let files = self.files.iter().filter_map(|(path, counts)| {
            let text = fs::read_to_string(path).ok()?;
            let name = path.strip_prefix(&here).unwrap_or(path);
            let file = CoveredFile::of(name, text, counts);
            (!file.lines.is_empty()).then_some(file)
        });
        Covered {
            files: files.collect(),
        }
    }
}

/// What tests have run.
#[derive(Debug)]
pub(super) struct Covered {
    pub(super) files: Vec<CoveredFile>,
}

/// What tests have run of a file.
#[derive(Debug)]
pub(super) struct CoveredFile {
    pub(super) name: String,
    pub(super) text: String,
    /// The lines that can run, and how often they have.
    pub(super) lines: BTreeMap<u32, u64>,
}

impl CoveredFile {
    fn of(name: &Path, text: String, counts: &BTreeMap<u32, u64>) -> Self {
        let lines = lines_that_can_run(&text).into_iter();
        let lines = lines.map(|line| (line, counts.get(&line).copied().unwrap_or(0)));
        Self {
            name: name.display().to_string(),
            lines: lines.collect(),
            text,
        }
    }

    pub(super) fn covered(&self) -> usize {
        self.lines.values().filter(|count| **count > 0).count()
    }

    /// The lines that have not run, as ranges: what lies between two of them cannot run.
    fn missing(&self) -> Vec<(u32, u32)> {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut goes_on = false;
        for (line, count) in &self.lines {
            match ranges.last_mut() {
                _ if *count > 0 => goes_on = false,
                Some(last) if goes_on => last.1 = *line,
                _ => {
                    ranges.push((*line, *line));
                    goes_on = true;
                }
            }
        }
        ranges
    }
}

/// The lines in which a statement begins that is part of no test.
fn lines_that_can_run(text: &str) -> BTreeSet<u32> {
    let file = SourceFile::of_text(text);
    let mut search = Search {
        file: &file,
        lines: BTreeSet::new(),
    };
    for statement in &file.parsed.module.statements {
        search.statement(statement);
    }
    search.lines
}

struct Search<'a> {
    file: &'a SourceFile,
    lines: BTreeSet<u32>,
}

impl Visit for Search<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Item(item) if test_name(item).is_some() => return,
            StatementKind::Item(_) => {}
            _ => {
                let file = self.file;
                let place = file.lines.position(&file.text, statement.span.start);
                self.lines.insert(place.line);
            }
        }
        walk_statement(self, statement);
    }
}

/// Of how many lines how many are covered.
pub(super) fn percent(covered: usize, lines: usize) -> usize {
    (covered * 100).checked_div(lines).unwrap_or(100)
}

impl Covered {
    fn totals(&self) -> (usize, usize) {
        let covered = self.files.iter().map(CoveredFile::covered).sum();
        let lines = self.files.iter().map(|file| file.lines.len()).sum();
        (covered, lines)
    }

    /// Shows it to a person.
    pub(super) fn show(&self, output: &mut Output) -> io::Result<()> {
        let palette = output.palette();
        writeln!(output, "\n{}\n", palette.heading("Coverage by line"))?;
        let names = self.files.iter().map(|file| file.name.chars().count());
        let width = names.max().unwrap_or(0).max("total".len());
        for file in &self.files {
            let (covered, lines) = (file.covered(), file.lines.len());
            let numbers = numbers(covered, lines);
            let name = format!("{:width$}", Untrusted(&file.name).to_string());
            match covered == lines {
                true => writeln!(output, "  {name}  {}", palette.fine(numbers))?,
                false => {
                    let missing = ranges(&file.missing());
                    let numbers = palette.problem(numbers);
                    writeln!(output, "  {name}  {numbers}  not run: {missing}")?;
                }
            }
        }
        let (covered, lines) = self.totals();
        let name = format!("{:width$}", "total");
        writeln!(output, "  {name}  {}", numbers(covered, lines))
    }

    /// The same for a program.
    pub(super) fn json(&self) -> CoveredJson<'_> {
        let (covered, lines) = self.totals();
        let files = self.files.iter().map(|file| FileJson {
            file: &file.name,
            covered: file.covered(),
            lines: file.lines.len(),
            missing: file.missing(),
        });
        CoveredJson {
            covered,
            lines,
            files: files.collect(),
        }
    }
}

fn numbers(covered: usize, lines: usize) -> String {
    format!("{:>3} %  {covered} of {lines}", percent(covered, lines))
}

fn ranges(ranges: &[(u32, u32)]) -> String {
    let ranges = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    ranges.collect::<Vec<_>>().join(", ")
}

/// What `--json` tells.
#[derive(Serialize)]
pub(super) struct CoveredJson<'a> {
    covered: usize,
    lines: usize,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: &'a str,
    covered: usize,
    lines: usize,
    missing: Vec<(u32, u32)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
fn double(n) {
  if n > 0 {
    return n * 2
  }

  log(\"none\")
  return 0
}

pipeline test_double() {
  assert_eq(double(1), 2)
}

pipeline default() {
  println(double(2))
}
";

    #[test]
    fn statements_can_run_and_tests_do_not_count() {
        let lines: Vec<_> = lines_that_can_run(TEXT).into_iter().collect();
        assert_eq!(lines, [2, 3, 6, 7, 15]);
    }

    #[test]
    fn lines_that_have_not_run_are_told_as_ranges() {
        let counts = BTreeMap::from([(2, 2), (3, 2), (6, 0), (15, 0), (11, 1)]);
        let file = CoveredFile::of(Path::new("a.harn"), TEXT.to_owned(), &counts);
        assert_eq!((file.covered(), file.lines.len()), (2, 5));
        assert_eq!(file.missing(), [(6, 15)]);
        let counts = BTreeMap::from([(6, 1), (7, 1)]);
        let file = CoveredFile::of(Path::new("a.harn"), TEXT.to_owned(), &counts);
        assert_eq!(ranges(&file.missing()), "2-3, 15");
    }

    #[test]
    fn what_several_tests_run_adds_up() {
        let mut counts = Counts::default();
        for lines in [[(1, 1), (2, 0)], [(1, 2), (2, 1)]] {
            counts.add(vec![("/no/such.harn".to_owned(), BTreeMap::from(lines))]);
        }
        let path = PathBuf::from("/no/such.harn");
        assert_eq!(counts.files[&path], BTreeMap::from([(1, 3), (2, 1)]));
        // It cannot be read, so nothing is told about it.
        assert!(counts.report().files.is_empty());
    }

    #[test]
    fn nothing_to_cover_is_all_covered() {
        assert_eq!(percent(0, 0), 100);
        assert_eq!(percent(2, 3), 66);
    }
}
