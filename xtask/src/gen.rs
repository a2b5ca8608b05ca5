//! `cargo xtask gen`: files derived from data.
//!
//! ```text
//! catalogue of events ─► events_page
//! tests of events ─────► event_proofs ─► emitters_page
//! `harn doc --json` ───► builtins_pages     one page an area, and an index
//! `harn reference` ────► commands_page, errors_page
//! all of them ─────────► status_page        what is specified and not built
//! ```
//!
//! A page that repeats a table drifts from it, so such pages are written by a
//! program and committed; `--check` notices when one was forgotten.

mod builtins_pages;
mod commands_page;
mod emitters_page;
mod errors_page;
mod event_proofs;
mod events_page;
mod markdown;
mod status_page;

use std::process::ExitCode;

use harn_events::catalogue::Catalogue;

use crate::error::Error;
use crate::program;
use crate::repo::Repo;
use crate::scoreboard::Tally;
use crate::sources::Sources;

/// A file nobody edits by hand.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// Relative to the root.
    file: String,
    text: String,
}

impl Page {
    fn new(file: &str, text: String) -> Self {
        Self {
            file: file.to_string(),
            text,
        }
    }
}

/// Makes pages; those that read the same data are made together.
struct Maker {
    /// Named when there is no page yet to name.
    about: &'static str,
    pages: fn(&Repo) -> Result<Vec<Page>, Error>,
}

const MAKERS: &[Maker] = &[
    Maker {
        about: "the pages of events",
        pages: |repo| {
            let catalogue = catalogue(repo)?;
            let proofs = event_proofs::collect(&catalogue, &Sources::read(repo)?.files)?;
            Ok(vec![
                Page::new(
                    "docs/src/reference/events.md",
                    events_page::render(&catalogue),
                ),
                Page::new(
                    "docs/src/events/emitters.md",
                    emitters_page::render(&catalogue, &proofs),
                ),
            ])
        },
    },
    Maker {
        about: "the pages of builtins",
        pages: |repo| builtins_pages::render(&program::ask(repo, &["doc", "--json"])?),
    },
    Maker {
        about: "the pages of commands and errors",
        pages: |repo| {
            let reference = program::ask(repo, &["reference"])?;
            let sources = Sources::read(repo)?;
            Ok(vec![
                Page::new(
                    "docs/src/reference/cli.md",
                    commands_page::render(&reference)?,
                ),
                Page::new(
                    "docs/src/reference/errors.md",
                    errors_page::render(&reference, &sources.files)?,
                ),
            ])
        },
    },
    Maker {
        about: "the page about what is not built",
        pages: |repo| {
            let page = status_page::render(&status_page::Facts {
                builtins: &program::ask(repo, &["doc", "--json"])?,
                reference: &program::ask(repo, &["reference"])?,
                catalogue: &catalogue(repo)?,
                files: &Sources::read(repo)?.files,
            })?;
            Ok(vec![Page::new("docs/src/status.md", page)])
        },
    },
];

/// All events.
fn catalogue(repo: &Repo) -> Result<Catalogue, Error> {
    let text = repo.read("crates/harn-events/catalogue/events.json")?;
    Catalogue::parse(&text).map_err(|why| Error::malformed("the event catalogue", why))
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
    for maker in MAKERS {
        match (maker.pages)(repo) {
            Ok(pages) => {
                for page in pages {
                    tally.check(&page.file, page.must_be_fresh(repo));
                }
            }
            Err(why) => tally.check(maker.about, Err(why)),
        }
    }
    Ok(tally)
}

fn write_all(repo: &Repo) -> Result<(), Error> {
    for maker in MAKERS {
        for page in (maker.pages)(repo)? {
            if page.is_fresh(repo) {
                println!("fresh   {}", page.file);
            } else {
                repo.write(&page.file, &page.text)?;
                println!("written {}", page.file);
            }
        }
    }
    Ok(())
}

fn check_all(repo: &Repo) -> Result<(), Error> {
    let mut stale = Vec::new();
    for maker in MAKERS {
        let pages = (maker.pages)(repo)?.into_iter();
        stale.extend(
            pages
                .filter(|page| !page.is_fresh(repo))
                .map(|page| page.file),
        );
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(Error::Stale(stale))
    }
}

impl Page {
    /// A file that does not exist yet is as good as an old one.
    fn is_fresh(&self, repo: &Repo) -> bool {
        repo.read(&self.file).is_ok_and(|text| text == self.text)
    }

    fn must_be_fresh(&self, repo: &Repo) -> Result<(), Error> {
        if self.is_fresh(repo) {
            Ok(())
        } else {
            Err(Error::Stale(vec![self.file.clone()]))
        }
    }
}
