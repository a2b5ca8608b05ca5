//! `cargo xtask gen`: files derived from data.
//!
//! A page that repeats a table drifts from it, so such pages are written by a
//! program and committed; `--check` notices when one was forgotten.

mod emitters_page;
mod events_page;
mod markdown;

use std::fs;
use std::process::ExitCode;

use crate::error::Error;
use crate::repo::Repo;
use crate::scoreboard::Tally;

/// A file nobody edits by hand. Paths are relative to the root.
struct Generated {
    file: &'static str,
    /// Reads the data it is derived from and writes the page.
    render: fn(&Repo) -> Result<String, Error>,
}

const GENERATED: &[Generated] = &[
    Generated {
        file: "docs/src/reference/events.md",
        render: |repo| events_page::render(&repo.read(CATALOGUE)?),
    },
    Generated {
        file: "docs/src/events/emitters.md",
        render: |repo| emitters_page::render(&repo.read(CATALOGUE)?, &event_tests(repo)?),
    },
];

/// All events.
const CATALOGUE: &str = "crates/harn-events/catalogue/events.json";

/// The tests that cause them.
const EVENT_TESTS: &str = "crates/harn-agent/tests/events";

/// The sources of the tests that cause events, each with the name of its module.
fn event_tests(repo: &Repo) -> Result<Vec<(String, String)>, Error> {
    let folder = repo.path(EVENT_TESTS);
    let entries = fs::read_dir(&folder).map_err(Error::file(&folder))?;
    let mut modules = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::file(&folder))?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        modules.push((name.into_owned(), text));
    }
    modules.sort();
    Ok(modules)
}

/// Writes the files, or with `--check` only says which ones are out of date.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => write_all(repo)?,
        ["--check"] => check_all(repo)?,
        _ => return Err(Error::usage("`gen` takes `--check` or nothing")),
    }
    Ok(ExitCode::SUCCESS)
}

/// The step of `cargo xtask test`: one check per file.
pub(crate) fn check(repo: &Repo) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for generated in GENERATED {
        tally.check(generated.file, generated.must_be_fresh(repo));
    }
    Ok(tally)
}

fn write_all(repo: &Repo) -> Result<(), Error> {
    for generated in GENERATED {
        if generated.is_fresh(repo)? {
            println!("fresh   {}", generated.file);
        } else {
            repo.write(generated.file, &generated.text(repo)?)?;
            println!("written {}", generated.file);
        }
    }
    Ok(())
}

fn check_all(repo: &Repo) -> Result<(), Error> {
    let mut stale = Vec::new();
    for generated in GENERATED {
        if !generated.is_fresh(repo)? {
            stale.push(generated.file.to_string());
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(Error::Stale(stale))
    }
}

impl Generated {
    fn text(&self, repo: &Repo) -> Result<String, Error> {
        (self.render)(repo)
    }

    /// A file that does not exist yet is as good as an old one.
    fn is_fresh(&self, repo: &Repo) -> Result<bool, Error> {
        let wanted = self.text(repo)?;
        Ok(repo.read(self.file).is_ok_and(|text| text == wanted))
    }

    fn must_be_fresh(&self, repo: &Repo) -> Result<(), Error> {
        if self.is_fresh(repo)? {
            Ok(())
        } else {
            Err(Error::Stale(vec![self.file.to_string()]))
        }
    }
}
