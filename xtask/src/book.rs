//! The book step: every code block a reader meets is checked.
//!
//! | info string | what must hold |
//! |---|---|
//! | `rust` | a crate pulls the page in with `include_str!`, so it is a doc test |
//! | `json`, `jsonl`, `toml` | it parses |
//! | `harn` | it is a program: it parses |
//! | `console` | the commands print what the page shows; those of the pages for newcomers do so in a fresh clone |
//! | `sh` | only entry commands, on the pages that welcome a newcomer |
//! | `text` | nothing: drawings and sketches |
//!
//! A block without an info string, or with one we do not know, is a mistake:
//! otherwise a typo would quietly exempt it.

mod console;
mod data;
mod doctest;
mod fences;
mod harn;
mod matching;
pub(crate) mod newcomer;
mod shell;

use std::process::Command;

use crate::docs::BOOK;
use crate::error::Error;
use crate::repo::Repo;
use crate::scoreboard::Tally;
use crate::sources::{SourceFile, Sources};
use crate::verdict::{Verdict, complain};
use crate::{process, program};

use fences::Block;
use newcomer::{Builder, Newcomer};

/// Pages outside the book.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Where every code of a diagnostic has its page.
const EXPLANATIONS: &str = "docs/src/explain/";

/// Checks every block of every page.
pub(crate) fn check(repo: &Repo) -> Result<Tally, Error> {
    let sources = Sources::read(repo)?;
    let mut reader = Reader::new(repo, &sources);
    let mut tally = Tally::default();
    for page in sources.files.iter().filter(|file| is_page(&file.path)) {
        if newcomer::is_page(&page.path) {
            for (name, verdict) in reader.follow(page)? {
                tally.check(&name, verdict);
            }
        }
        for block in fences::blocks(&page.text) {
            let name = format!("{}:{} {}", page.path, block.line, block.info);
            tally.check(name.trim_end(), reader.check(page, &block));
        }
    }
    Ok(tally)
}

fn is_page(path: &str) -> bool {
    PAGES.contains(&path)
        || newcomer::is_example(path)
        || (path.starts_with(BOOK) && path.ends_with(".md"))
}

/// Follows the pages like a reader who tries everything.
struct Reader<'a> {
    repo: &'a Repo,
    /// Pages that some crate compiles as doc tests.
    doctested: Vec<String>,
    /// Whether the `harn` program could be built; asked at the first need.
    program: Option<Verdict>,
    /// Who follows the pages for newcomers, with a clone that takes a moment to make.
    newcomer: Option<Newcomer>,
}

impl<'a> Reader<'a> {
    fn new(repo: &'a Repo, sources: &Sources) -> Self {
        Self {
            repo,
            doctested: doctest::pages(&sources.files),
            program: None,
            newcomer: None,
        }
    }

    /// Plays the commands of a page for newcomers.
    fn follow(&mut self, page: &SourceFile) -> Result<Vec<(String, Verdict)>, Error> {
        if let Err(why) = self.build_program() {
            return Ok(vec![(page.path.clone(), Err(why))]);
        }
        let newcomer = match self.newcomer.take() {
            Some(newcomer) => newcomer,
            None => Newcomer::new(self.repo, Builder::Stand)?,
        };
        let newcomer = self.newcomer.insert(newcomer);
        Ok(newcomer.check(page))
    }

    /// Decides by the info string; the work is done in the modules.
    fn check(&mut self, page: &SourceFile, block: &Block) -> Verdict {
        if !block.closed {
            return complain("the block is never closed");
        }
        match block.info.as_str() {
            "" => complain("say what it is; use `text` for drawings and sketches"),
            "text" => Ok(()),
            "json" => data::json(&block.text),
            "jsonl" => data::json_lines(&block.text),
            "toml" => data::toml(&block.text),
            "console" if newcomer::is_page(&page.path) => Ok(()),
            "console" => {
                self.build_program()?;
                console::check(self.repo, block)
            }
            "sh" => shell::check(&page.path, &block.text, |line| self.run_from_root(line)),
            // Wrong examples are wrong on purpose there, and a test of `harn-check` looks
            // at each of them more closely than we would.
            "harn" if page.path.starts_with(EXPLANATIONS) => Ok(()),
            "harn" => harn::check(&block.text),
            info if info == "rust" || info.starts_with("rust,") => {
                doctest::check(info, &page.path, &self.doctested)
            }
            info => complain(format!("nobody knows how to check `{info}`")),
        }
    }

    fn build_program(&mut self) -> Verdict {
        let repo = self.repo;
        let build = || Ok(program::build(repo)?);
        self.program.get_or_insert_with(build).clone()
    }

    fn run_from_root(&self, line: &str) -> Verdict {
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", line]);
        bash.current_dir(self.repo.root());
        process::capture(bash)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(), &str>) {
        let repo = Repo::find().unwrap();
        let sources = Sources {
            files: Vec::new(),
            paths: Vec::new(),
        };
        let page = SourceFile::new("docs/src/page.md", text);
        let block = fences::blocks(text).remove(0);
        let verdict = Reader::new(&repo, &sources).check(&page, &block);
        let verdict = verdict.map_err(|why| why.to_string());
        assert_eq!(verdict, expected.map_err(ToString::to_string));
    }

    #[test]
    fn a_block_must_say_what_it_is() {
        check(
            "```\nx\n```",
            Err("say what it is; use `text` for drawings and sketches"),
        );
        check("```jsno\nx\n```", Err("nobody knows how to check `jsno`"));
        check("```text\nx\n```", Ok(()));
    }

    #[test]
    fn an_open_block_is_a_mistake() {
        check("```text\nx\n", Err("the block is never closed"));
    }

    #[test]
    fn a_harn_block_is_a_program() {
        check("```harn\nlog(1)\n```", Ok(()));
        check(
            "```harn\nlog(1\n```",
            Err("it does not parse: Unexpected end of file, expected )"),
        );
    }

    #[test]
    fn explanations_show_what_is_wrong() {
        let repo = Repo::find().unwrap();
        let sources = Sources {
            files: Vec::new(),
            paths: Vec::new(),
        };
        let page = SourceFile::new("docs/src/explain/code.md", "```harn\nlog(\n```");
        let block = fences::blocks(&page.text).remove(0);
        let verdict = Reader::new(&repo, &sources).check(&page, &block);
        assert_eq!(verdict, Ok(()));
    }

    #[test]
    fn pages_are_those_a_newcomer_reads() {
        assert!(is_page("README.md"));
        assert!(is_page("docs/src/reference/events.md"));
        assert!(!is_page("docs/adr/0001-journal.md"));
        assert!(!is_page("bench/results/events.md"));
    }
}
