//! `harn doc`.

use serde_json::json;

use crate::program::harn;

#[test]
fn a_builtin_has_a_page() {
    let call = harn(&["doc", "env"]).exits_with(0);
    assert_eq!(
        call.stdout,
        "env(name: string) -> string | nil\n    Gives an environment variable.\n\n  \
         area    process\n  effect  io\n"
    );
    assert_eq!(call.stderr, "");
    let answer = harn(&["doc", "--json", "env"]).exits_with(0).json();
    let expected = json!({"entries": [{
        "name": "env",
        "kind": "builtin",
        "signature": "env(name: string) -> string | nil",
        "doc": "Gives an environment variable.",
        "area": "process",
        "import": null,
        "effect": "io",
        "known": true,
        "available": true,
    }]});
    assert_eq!(answer, expected);
}

#[test]
fn a_method_is_found_with_and_without_its_receiver() {
    let page = "list.tally() -> dict\n    Counts how often each item occurs.\n\n  \
                area    list methods\n";
    for name in ["tally", "list.tally"] {
        let call = harn(&["doc", name]).exits_with(0);
        assert_eq!(call.stdout, page);
    }
    let answer = harn(&["doc", "--json", "lower"]).exits_with(0).json();
    assert_eq!(answer["entries"][0]["name"], "string.lower");
    assert_eq!(
        answer["entries"][0]["signature"],
        "string.lower() -> string"
    );
}

/// A name can mean several things.
#[test]
fn every_meaning_of_a_name_is_told() {
    let answer = harn(&["doc", "--json", "split"]).exits_with(0).json();
    let entries = answer["entries"].as_array().unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["builtin", "method"]);
    let text = harn(&["doc", "split"]).exits_with(0).stdout;
    assert!(text.contains("\n\nstring.split("), "{text}");
}

#[test]
fn functions_of_modules_tell_how_to_import_them() {
    let call = harn(&["doc", "parse_int_or"]).exits_with(0);
    assert_eq!(
        call.stdout,
        "parse_int_or(value, fallback)\n    The int a value stands for, or the fallback.\n\n  \
         area    std/text\n  import  import { parse_int_or } from \"std/text\"\n"
    );
}

#[test]
fn a_module_or_an_area_lists_what_it_has() {
    let call = harn(&["doc", "std/text"]).exits_with(0);
    assert!(call.stdout.starts_with("std/text  Texts"), "{call:?}");
    let line = |call: &str, name: &str| {
        let mut lines = call.lines().filter_map(|line| line.strip_prefix("  "));
        lines.any(|line| line.starts_with(&format!("{name} ")))
    };
    assert!(line(&call.stdout, "parse_int_or"), "{call:?}");
    let call = harn(&["doc", "files"]).exits_with(0);
    assert!(
        call.stdout.starts_with("files  Files and paths\n"),
        "{call:?}"
    );
    assert!(line(&call.stdout, "read_file"), "{call:?}");
}

#[test]
fn without_a_name_everything_is_listed() {
    let text = harn(&["doc"]).exits_with(0).stdout;
    let answer = harn(&["doc", "--json"]).exits_with(0).json();
    let areas = answer["areas"].as_array().unwrap();
    let entries = areas
        .iter()
        .flat_map(|area| area["entries"].as_array().unwrap());
    let names: Vec<_> = entries
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    for name in ["println", "stream.map", "list.push", "int_to_string", "Ok"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!names.iter().any(|name| name.starts_with("__")));
    let lines = text.lines().filter(|line| line.starts_with("  "));
    assert_eq!(lines.count(), names.len());
}

#[test]
fn an_unknown_name_is_a_problem_with_a_suggestion() {
    let call = harn(&["doc", "uppercas"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert_eq!(
        call.stderr,
        "error: there is no `uppercas`\ndid you mean `uppercase`?\n"
    );
    let call = harn(&["doc", "--json", "qqqqqq\u{1b}"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert_eq!(
        call.stderr,
        "error: there is no `qqqqqq\\u{1b}`\n`harn doc` lists everything\n"
    );
}

#[test]
fn what_the_checker_does_not_know_says_so() {
    let call = harn(&["doc", "Ok"]).exits_with(0);
    let note = "  note    `harn check` does not know it\n";
    assert!(call.stdout.ends_with(note), "{call:?}");
}

/// A call of what has no body throws, and its page says so before that.
#[test]
fn what_is_not_built_says_so() {
    let answer = harn(&["doc", "--json"]).exits_with(0).json();
    let areas = answer["areas"].as_array().unwrap().iter();
    let mut entries = areas.flat_map(|area| area["entries"].as_array().unwrap());
    let unbuilt = entries.find(|entry| entry["kind"] == "builtin" && entry["available"] == false);
    let name = unbuilt.map_or("", |entry| entry["name"].as_str().unwrap());
    let note = "  note    it is specified and not built in this version";
    harn(&["doc", name]).exits_with(0).prints(note);
    let page = harn(&["doc", "env"]).exits_with(0).stdout;
    assert!(!page.contains("not built"), "{page}");
}

/// What a program offers is kept whether or not somebody can be served with it.
#[test]
fn what_nothing_serves_says_so() {
    let is_served = harn(&["serve", "mcp", "--help"]).code == Some(0);
    for name in ["prompt", "resource", "resource_template", "serve", "tools"] {
        let answer = harn(&["doc", "--json", &format!("mcp_{name}")]);
        let doc = answer.exits_with(0).json()["entries"][0]["doc"].to_string();
        assert_eq!(doc.contains("not built yet"), !is_served, "{doc}");
    }
}
