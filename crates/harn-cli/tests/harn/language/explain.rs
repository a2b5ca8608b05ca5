//! `harn explain`.

use serde_json::json;

use crate::program::harn;

#[test]
fn a_code_has_a_page() {
    let call = harn(&["explain", "shadow-variable"]).exits_with(0);
    let page = include_str!("../../../../../docs/src/explain/shadow-variable.md");
    assert_eq!(call.stdout, page);
    assert_eq!(call.stderr, "");
    let answer = harn(&["explain", "--json", "shadow-variable"])
        .exits_with(0)
        .json();
    assert_eq!(answer, json!({"code": "shadow-variable", "page": page}));
}

#[test]
fn without_a_code_all_are_listed_with_a_sentence() {
    let call = harn(&["explain"]).exits_with(0).prints(
        "shadow-variable                A variable with the name of one further out hides it \
         until the end of its block.",
    );
    for line in call.stdout.lines() {
        let (code, summary) = line.split_once(' ').unwrap();
        let summary = summary.trim();
        assert!(
            summary.len() > 10 && summary.ends_with(['.', '…']),
            "{code}: {summary}"
        );
    }
    let codes = harn(&["explain", "--json"]).exits_with(0).json();
    let codes = codes["codes"].as_array().unwrap();
    assert_eq!(codes.len(), call.stdout.lines().count());
    let one = codes
        .iter()
        .find(|one| one["code"] == "unused-type")
        .unwrap();
    let expected =
        "A struct, an enum, an alias or an interface that nothing mentions is left over.";
    assert_eq!(one["summary"], expected);
}

/// Whatever is said about the programs of the repository has a page.
#[test]
fn every_code_in_use_is_explained() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");
    let known = harn(&["explain", "--json"]).json();
    let known = known["codes"].as_array().unwrap();
    for command in ["check", "lint"] {
        let answer = harn(&[command, "--json", folder]).json();
        let files = answer["files"].as_array().unwrap();
        let diagnostics = files
            .iter()
            .flat_map(|file| file["diagnostics"].as_array().unwrap());
        for diagnostic in diagnostics {
            let code = &diagnostic["code"];
            assert!(known.iter().any(|one| one["code"] == *code), "{diagnostic}");
        }
    }
}

#[test]
fn an_unknown_code_is_a_problem_with_a_suggestion() {
    let call = harn(&["explain", "shadow-varible"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert_eq!(
        call.stderr,
        "error: there is no code `shadow-varible`\ndid you mean `shadow-variable`?\n"
    );
    let call = harn(&["explain", "--json", "E0308\u{1b}"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert_eq!(
        call.stderr,
        "error: there is no code `E0308\\u{1b}`\n`harn explain` lists all codes\n"
    );
}
