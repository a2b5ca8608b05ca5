//! Which tests there are.

use std::path::{Path, PathBuf};

use harn_check::modules::{Disk, SourceFile, Workspace};
use harn_syntax::tree::{Item, ItemKind, Module, StatementKind};
use harn_syntax::{Colour, render};

use super::super::sources;
use crate::output::{Output, Untrusted};

/// The tests of some files, in the order in which they are told.
#[derive(Debug, Default)]
pub(super) struct Suite {
    /// The files that have any.
    pub(super) files: Vec<PathBuf>,
    pub(super) tests: Vec<Test>,
}

/// A test.
#[derive(Debug)]
pub(super) struct Test {
    /// The position of its file.
    pub(super) file: usize,
    pub(super) what: What,
}

/// What is tested.
#[derive(Debug)]
pub(super) enum What {
    /// The pipeline of this name.
    Pipeline(String),
    /// The file itself, which cannot be read as a program, and why.
    Broken(String),
}

impl Test {
    /// The name under which it is told.
    pub(super) fn name(&self) -> &str {
        match &self.what {
            What::Pipeline(name) => name,
            What::Broken(_) => "(file)",
        }
    }
}

impl Suite {
    /// The tests that paths stand for; the second result is whether all could be read. Tests
    /// are chosen by their name, files that are broken are always told.
    pub(super) fn find(
        paths: &[PathBuf],
        filter: Option<&str>,
        output: &mut Output,
    ) -> (Self, bool) {
        let (files, mut is_whole) = test_files(paths, output);
        let mut workspace = Workspace::new(Box::new(Disk));
        let mut suite = Self::default();
        for path in files {
            match workspace.parsed(&path) {
                // A file that was named is meant, whatever is in it.
                Ok(file) if paths.contains(&path) || may_have_tests(&file.text) => {
                    suite.add(path, &file, filter);
                }
                Ok(_) => {}
                Err(error) => {
                    let path = path.display().to_string();
                    output.error(format_args!("{}: {error}", Untrusted(path)));
                    is_whole = false;
                }
            }
        }
        (suite, is_whole)
    }

    fn add(&mut self, path: PathBuf, file: &SourceFile, filter: Option<&str>) {
        let found = match file.parsed.errors.is_empty() {
            true => {
                let names = test_names(&file.parsed.module);
                let names = names.filter(|name| filter.is_none_or(|part| name.contains(part)));
                names.map(|name| What::Pipeline(name.to_owned())).collect()
            }
            false => vec![What::Broken(errors(&path, file))],
        };
        if !found.is_empty() {
            let at = self.files.len();
            self.tests
                .extend(found.into_iter().map(|what| Test { file: at, what }));
            self.files.push(path);
        }
    }

    /// The file of a test as it is told.
    pub(super) fn file_of(&self, test: &Test) -> String {
        self.files[test.file].display().to_string()
    }
}

/// The programs that paths stand for. Without any these are all below the folder we are in.
pub(super) fn test_files(paths: &[PathBuf], output: &mut Output) -> (Vec<PathBuf>, bool) {
    if !paths.is_empty() {
        return sources::find(paths, output);
    }
    let (files, is_whole) = sources::find(&[PathBuf::from(".")], output);
    let short = |path: PathBuf| path.strip_prefix(".").map(PathBuf::from).unwrap_or(path);
    (files.into_iter().map(short).collect(), is_whole)
}

/// Whether a file is worth a look. It is read as a program only then, so that a folder may
/// hold files that are none.
fn may_have_tests(text: &str) -> bool {
    text.contains("test_") || text.contains("@test")
}

/// The names of the test pipelines of a file. A name that is there twice stands for one test.
fn test_names(module: &Module) -> impl Iterator<Item = &str> {
    let mut seen = Vec::new();
    let items = module.statements.iter();
    let names = items.filter_map(|statement| match &statement.kind {
        StatementKind::Item(item) => test_name(item),
        _ => None,
    });
    names.filter(move |name| {
        let is_new = !seen.contains(name);
        seen.push(name);
        is_new
    })
}

/// The name of a test pipeline.
pub(super) fn test_name(item: &Item) -> Option<&str> {
    let ItemKind::Pipeline(pipeline) = &item.kind else {
        return None;
    };
    let name = pipeline.name.text.as_str();
    let is_marked = || item.attributes.iter().any(|one| one.name.text == "test");
    (name.starts_with("test_") || is_marked()).then_some(name)
}

/// What is wrong with a file that is no program.
fn errors(path: &Path, file: &SourceFile) -> String {
    let name = path.display().to_string();
    let errors = file.parsed.errors.iter();
    let errors = errors.map(|error| {
        let text = render(
            &error.diagnostic,
            &name,
            &file.text,
            &file.lines,
            Colour::Never,
        );
        text.trim_end().to_owned()
    });
    errors.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_pipelines_have_a_name_or_a_mark() {
        let text = "pipeline test_a() {}\n@test\npipeline b() {}\npipeline testing() {}\n\
                    fn test_c() {}\n@deprecated\n@test\npipeline d() {}\npipeline test_a() {}\n";
        let file = SourceFile::of_text(text);
        let names: Vec<_> = test_names(&file.parsed.module).collect();
        assert_eq!(names, ["test_a", "b", "d"]);
    }

    #[test]
    fn a_file_without_the_words_is_not_looked_at() {
        assert!(may_have_tests("pipeline test_a() {}"));
        assert!(may_have_tests("@test pipeline a() {}"));
        assert!(!may_have_tests("pipeline testing() {}"));
    }
}
