//! Dependencies between our crates point down, and only where the design says.
//!
//! An arrow that appears by accident is how a workspace turns into one big
//! crate, so a new one is drawn here first, in the sight of a reviewer.

use crate::finding::Finding;
use crate::metadata::{Kind, Metadata, Package};

/// The arrows of the architecture. A crate may also name what it reaches
/// through them. `harn-sim` is at the head of no arrow: only tests use it.
const ARROWS: &[(&str, &[&str])] = &[
    ("harn-events", &[]),
    ("harn-log", &[]),
    ("harn-options", &[]),
    ("harn-llm", &["harn-options"]),
    ("harn-listen", &[]),
    ("harn-shell", &[]),
    ("harn-syntax", &[]),
    ("harn-check", &["harn-syntax", "harn-options"]),
    ("harn-machine", &["harn-check"]),
    ("harn-stdlib", &["harn-machine", "harn-shell"]),
    (
        "harn-agent",
        &["harn-events", "harn-log", "harn-llm", "harn-shell"],
    ),
    ("harn-vm", &["harn-stdlib", "harn-agent"]),
    ("harn-acp", &["harn-vm", "harn-listen"]),
    ("harn-a2a", &["harn-vm"]),
    ("harn-mcp", &["harn-agent", "harn-vm"]),
    ("harn-portal", &["harn-agent", "harn-log"]),
    ("harn-lsp", &["harn-syntax", "harn-check"]),
    ("harn-sim", &["harn-agent", "harn-log"]),
    (
        "harn-cli",
        &[
            "harn-vm",
            "harn-acp",
            "harn-listen",
            "harn-a2a",
            "harn-mcp",
            "harn-portal",
            "harn-lsp",
        ],
    ),
];

/// They may use anything, and nothing may use them.
const TOOLS: &[&str] = &["harn-bench", "rust-sink", "xtask"];

/// The language works without a runtime, so its syntax must not know one.
const WITHOUT_EXECUTOR: &str = "harn-syntax";

const EXECUTORS: &[&str] = &[
    "async-executor",
    "async-std",
    "futures-executor",
    "glommio",
    "monoio",
    "pollster",
    "smol",
    "tokio",
];

/// Every dependency that no arrow allows.
pub(super) fn findings(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.members() {
        findings.extend(uses_of_tools(package));
        if TOOLS.contains(&package.name.as_str()) {
            continue;
        }
        match reach(&package.name) {
            Some(reach) => findings.extend(uses_beyond(package, &reach)),
            None => findings.push(complaint(
                package,
                "is not in the table of arrows; draw its arrows in xtask/src/tidy/arrows.rs",
            )),
        }
        if package.name == WITHOUT_EXECUTOR {
            findings.extend(executors(metadata, package));
        }
    }
    findings
}

/// The crates an arrow leads to, directly or through others. `None` for a crate
/// we do not know.
fn reach(name: &str) -> Option<Vec<&'static str>> {
    let direct = |name: &str| ARROWS.iter().find(|(from, _)| *from == name);
    let mut reach: Vec<&'static str> = direct(name)?.1.to_vec();
    let mut next = 0;
    while let Some(&name) = reach.get(next) {
        for &further in direct(name).map_or(&[] as &[&str], |arrow| arrow.1) {
            if !reach.contains(&further) {
                reach.push(further);
            }
        }
        next += 1;
    }
    Some(reach)
}

fn uses_of_tools(package: &Package) -> impl Iterator<Item = Finding> {
    let is_tool = |name: &str| TOOLS.contains(&name);
    package
        .dependencies
        .iter()
        .filter(move |dependency| is_tool(&dependency.name))
        .map(|tool| complaint(package, format!("depends on the tool `{}`", tool.name)))
}

/// Tests may look in any direction; what is compiled for others may not.
fn uses_beyond(package: &Package, reach: &[&str]) -> Vec<Finding> {
    let is_ours = |name: &str| name.starts_with("harn-") && !TOOLS.contains(&name);
    package
        .dependencies
        .iter()
        .filter(|one| one.kind != Some(Kind::Dev) && is_ours(&one.name))
        .filter(|one| !reach.contains(&one.name.as_str()))
        .map(|one| complaint(package, format!("may not depend on `{}`", one.name)))
        .collect()
}

fn executors(metadata: &Metadata, package: &Package) -> Vec<Finding> {
    metadata
        .reachable_from(package)
        .into_iter()
        .filter(|one| EXECUTORS.contains(&one.name.as_str()))
        .map(|one| {
            complaint(
                package,
                format!("reaches the async executor `{}`", one.name),
            )
        })
        .collect()
}

fn complaint(package: &Package, what: impl std::fmt::Display) -> Finding {
    Finding::in_file(&package.name, what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::fixtures::{Line, metadata};

    #[track_caller]
    fn check(lines: &[Line<'_>], expected: &[&str]) {
        let findings = findings(&metadata(lines));
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn arrows_and_what_they_lead_to_are_allowed() {
        check(
            &[
                ("harn-vm", &[("harn-agent", None), ("harn-events", None)]),
                ("harn-cli", &[("harn-syntax", None), ("harn-log", None)]),
                ("harn-agent", &[("harn-events", Some(Kind::Build))]),
                ("harn-events", &[("serde", None)]),
            ],
            &[],
        );
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        check(
            &[("harn-events", &[("harn-agent", None)])],
            &["harn-events: may not depend on `harn-agent`"],
        );
        check(
            &[("harn-agent", &[("harn-machine", Some(Kind::Build))])],
            &["harn-agent: may not depend on `harn-machine`"],
        );
    }

    #[test]
    fn only_tests_may_use_the_simulation() {
        check(&[("harn-log", &[("harn-sim", Some(Kind::Dev))])], &[]);
        check(
            &[("harn-cli", &[("harn-sim", None)])],
            &["harn-cli: may not depend on `harn-sim`"],
        );
    }

    #[test]
    fn a_crate_without_a_place_in_the_design_is_found() {
        check(
            &[("harn-utils", &[])],
            &[
                "harn-utils: is not in the table of arrows; draw its arrows in xtask/src/tidy/arrows.rs",
            ],
        );
    }

    #[test]
    fn tools_may_use_anything_and_nothing_may_use_them() {
        check(&[("harn-bench", &[("harn-events", None)])], &[]);
        check(
            &[("harn-log", &[("harn-bench", Some(Kind::Dev))])],
            &["harn-log: depends on the tool `harn-bench`"],
        );
        check(
            &[("harn-bench", &[("xtask", None)])],
            &["harn-bench: depends on the tool `xtask`"],
        );
    }

    #[test]
    fn the_syntax_reaches_no_executor_by_any_road() {
        check(
            &[
                ("harn-syntax", &[("tower", None), ("smol", Some(Kind::Dev))]),
                ("tower", &[("tokio", None)]),
                ("tokio", &[]),
                ("smol", &[]),
            ],
            &["harn-syntax: reaches the async executor `tokio`"],
        );
    }

    #[test]
    fn every_arrow_leads_to_a_crate_of_the_table() {
        for (from, heads) in ARROWS {
            for head in *heads {
                assert!(reach(head).is_some(), "{from} -> {head}");
                assert!(!reach(head).unwrap().contains(from), "a circle at {from}");
            }
        }
    }
}
