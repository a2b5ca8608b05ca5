//! The tidy step: rules about the repository that a compiler cannot know.
//!
//! Each rule is a pure function from what is written to a list of findings, and
//! its tests plant a violation to prove that it would be seen. This module
//! gathers what the rules read and reports what they say.

mod arrows;
pub(crate) mod chapters;
mod file_length;
mod forbidden_code;
mod hidden_state;
mod licences;
pub(crate) mod links;
mod machine_paths;
mod manifests;
mod mirrors;
mod mutable_statics;
mod rust_code;
mod spdx;

use crate::error::Error;
use crate::finding::Finding;
use crate::metadata::Metadata;
use crate::repo::Repo;
use crate::scoreboard::Tally;
use crate::sources::Sources;
use crate::verdict::{Verdict, complain};

/// What a rule may ask for.
struct Facts<'a> {
    repo: &'a Repo,
    sources: Sources,
}

/// One promise the repository keeps.
struct Rule {
    /// A short sentence that is true when the rule holds.
    promise: &'static str,
    findings: fn(&Facts<'_>) -> Result<Vec<Finding>, Error>,
}

const RULES: &[Rule] = &[
    Rule {
        promise: "dependencies between our crates follow the arrows",
        findings: |facts| Ok(arrows::findings(&Metadata::read(facts.repo)?)),
    },
    Rule {
        promise: "source files are short enough to read",
        findings: |facts| Ok(file_length::findings(&facts.sources.files)),
    },
    Rule {
        promise: "no unfinished code, debug output or thread-locals",
        findings: |facts| Ok(forbidden_code::macros(&facts.sources.files)),
    },
    Rule {
        promise: "no test is ignored",
        findings: |facts| Ok(forbidden_code::ignored_tests(&facts.sources.files)),
    },
    Rule {
        promise: "no mutable statics",
        findings: |facts| Ok(mutable_statics::findings(&facts.sources.files)),
    },
    Rule {
        promise: "ARCHITECTURE.md names all state that is no argument",
        findings: |facts| Ok(hidden_state::findings(&facts.sources.files)),
    },
    Rule {
        promise: "every dependency has a reason",
        findings: |facts| Ok(manifests::reasons(&facts.repo.read("Cargo.toml")?)),
    },
    Rule {
        promise: "crates inherit dependencies and lints from the workspace",
        findings: |facts| manifests::inheritance(&facts.sources.files),
    },
    Rule {
        promise: "licences are on the list of deny.toml",
        findings: |facts| {
            let allowed = licences::allowed(&facts.repo.read("deny.toml")?)?;
            Ok(licences::findings(&Metadata::read(facts.repo)?, &allowed))
        },
    },
    Rule {
        promise: "no file names a package mirror",
        findings: |facts| Ok(mirrors::findings(&facts.sources.files)),
    },
    Rule {
        promise: "the book's summary and its pages agree",
        findings: |facts| Ok(chapters::findings(&facts.sources.files)),
    },
    Rule {
        promise: "links lead to files and headings that exist",
        findings: |facts| Ok(links::findings(&facts.sources)),
    },
    Rule {
        promise: "no file contains paths of somebody's machine",
        findings: |facts| Ok(machine_paths::findings(&facts.sources.files)),
    },
];

/// Checks every rule.
pub(crate) fn check(repo: &Repo) -> Result<Tally, Error> {
    let facts = Facts {
        repo,
        sources: Sources::read(repo)?,
    };
    let mut tally = Tally::default();
    for rule in RULES {
        tally.check(rule.promise, verdict(&facts, rule));
    }
    Ok(tally)
}

fn verdict(facts: &Facts<'_>, rule: &Rule) -> Verdict {
    let findings = (rule.findings)(facts)?;
    if findings.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = findings.iter().map(|one| format!("\n  {one}")).collect();
    complain(format!("{} to fix{}", findings.len(), lines.concat()))
}
