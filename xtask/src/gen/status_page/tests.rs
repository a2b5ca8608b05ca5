//! A program with a bit of everything missing, and what the page says about it.

use super::*;

const BUILTINS: &str = r#"{"areas": [
  {"area": "files", "title": "Files", "entries": [
    {"name": "stat", "kind": "builtin", "signature": "stat()", "doc": "", "effect": "io", "available": true},
    {"name": "foo.bar", "kind": "builtin", "signature": "foo.bar()", "doc": "", "effect": "io", "available": false}
  ]},
  {"area": "time", "title": "Time", "entries": [
    {"name": "now", "kind": "builtin", "signature": "now()", "doc": "", "effect": "clock", "available": true}
  ]},
  {"area": "std/text", "title": "", "entries": [
    {"name": "words", "kind": "function", "signature": "words()", "doc": "", "effect": null, "available": false},
    {"name": "lines", "kind": "function", "signature": "lines()", "doc": "", "effect": null, "available": false}
  ]}
]}"#;

/// Two commands of the specification, one of them with an option.
const REFERENCE: &str = r#"{"commands": [
  {"name": "harn check", "about": "", "long_about": "", "usage": "", "arguments": [], "options": [
    {"form": "-a, --against <PATH>", "help": "", "default": "", "values": [], "global": false}
  ], "examples": ""},
  {"name": "harn lsp", "about": "", "long_about": "", "usage": "", "arguments": [], "options": [],
   "examples": ""}
]}"#;

const CATALOGUE: &str = r#"{
  "variants": [
    {"type": "plan", "group": "g", "since": 1, "host": "no", "host_types": [], "meaning": "",
     "emitted_by": "P.", "emitter": "runtime", "emitted_when": "", "ordering": "", "fields": []},
    {"type": "loop_stuck_signal", "group": "g", "since": 1, "host": "special", "host_types": [],
     "meaning": "", "emitted_by": "S.", "emitter": "programs", "emitted_when": "", "ordering": "",
     "fields": []},
    {"type": "skill_narrow", "group": "g", "since": 1, "host": "direct", "host_types": [],
     "meaning": "", "emitted_by": "N.", "emitter": "programs_so_far", "emitted_when": "",
     "ordering": "", "fields": []},
    {"type": "fs_watch", "group": "g", "since": 1, "host": "no", "host_types": [], "meaning": "",
     "emitted_by": "W.", "emitter": "nobody", "emitted_when": "", "ordering": "", "fields": []}
  ],
  "types": {}, "legacy_tags": {}, "reserved_tags": []
}"#;

fn page() -> String {
    let map = "```text\ncrates/\n● harn-log  it\nharn-lsp  one\n```\n";
    let refusal = "agent_loop: `compass` is not available in this build\n";
    let providers = "[providers.bedrock]\nauth_style = \"aws_sigv4\"\n";
    render(&Facts {
        builtins: BUILTINS,
        reference: REFERENCE,
        catalogue: &Catalogue::parse(CATALOGUE).unwrap(),
        files: &[
            SourceFile::new("ARCHITECTURE.md", map),
            SourceFile::new("crates/harn-log/Cargo.toml", ""),
            SourceFile::new("crates/harn-llm/catalog/providers.toml", providers),
            SourceFile::new("conformance/a/b.expected", refusal),
        ],
    })
    .unwrap()
}

#[track_caller]
fn check(expected: &str) {
    let page = page();
    assert!(page.contains(expected), "no {expected} in\n{page}");
}

#[test]
fn a_builtin_without_a_body_is_listed_and_one_with_a_body_is_not() {
    check(
        "| area | builtins |\n| --- | --- |\n\
         | [files](reference/builtins/files.md) | \
         [`foo.bar`](reference/builtins/files.md#foobar) |\n\n",
    );
    check("1 builtins, 2 functions of standard modules, 1 events");
}

#[test]
fn functions_without_a_body_are_listed_by_module() {
    check("| [std/text](reference/modules.md#stdtext) | `words`, `lines` |\n");
}

#[test]
fn events_nobody_emits_are_told_apart_from_those_that_programs_publish() {
    let page = page();
    let (nobody, programs) = page.split_once("with `agent_emit_event`").unwrap();
    let fs_watch = "| [`fs_watch`](reference/events.md#fs_watch) | W. |";
    assert!(nobody.contains(fs_watch), "{page}");
    let skill_narrow = "| [`skill_narrow`](reference/events.md#skill_narrow) | N. |";
    assert!(programs.contains(skill_narrow), "{page}");
    // What is as it is specified has no place here.
    for event in ["#plan", "#loop_stuck_signal"] {
        assert!(!page.contains(event), "{page}");
    }
}

#[test]
fn options_that_are_refused_are_listed() {
    check("| `agent_loop` | ");
    check("`compass`");
}

#[test]
fn providers_that_cannot_be_asked_are_listed() {
    check("| `bedrock` | signing of requests for AWS, so it cannot be asked |\n");
}

#[test]
fn a_command_that_is_there_leaves_the_page() {
    let page = page();
    assert!(page.contains("| `harn portal` | web pages"), "{page}");
    assert!(page.contains("| `harn check --effects` |"), "{page}");
    assert!(!page.contains("| `harn lsp` |"), "{page}");
    assert!(!page.contains("`harn check --against`"), "{page}");
}

#[test]
fn a_crate_that_is_planned_is_listed_with_what_it_is_for() {
    check("| `harn-lsp` | editors: the Language Server Protocol |\n");
}

#[test]
fn what_is_listed_as_specified_are_commands() {
    let specified: Specified = toml::from_str(SPECIFIED).unwrap();
    let malformed: Vec<&String> = specified
        .commands
        .keys()
        .filter(|name| !name.starts_with("harn "))
        .collect();
    assert!(malformed.is_empty(), "{malformed:?}");
}
