//! `harn disasm`.

use super::Programs;

const LIBRARY: &str = "pub fn add(a, b) {\n  return a + b\n}\n";
const MAIN: &str = "import { add } from \"./library\"\n\nprintln(add(1, 2))\n";

#[test]
fn the_instructions_of_a_program_are_shown() {
    let programs = Programs::new(&[("library.harn", LIBRARY), ("main.harn", MAIN)]);
    let call = programs.harn(&["disasm", "library.harn"]).exits_with(0);
    assert_eq!(call.stderr, "");
    let functions: Vec<_> = call.stdout.split("\n\n").collect();
    assert!(functions[0].starts_with("pipeline()  "), "{call:?}");
    assert!(functions[1].starts_with("f0 add(a, b)  "), "{call:?}");
    assert!(functions[1].contains("\n   0  Add "), "{call:?}");
}

#[test]
fn imported_modules_are_shown_on_demand() {
    let programs = Programs::new(&[("library.harn", LIBRARY), ("main.harn", MAIN)]);
    let call = programs.harn(&["disasm", "main.harn"]).exits_with(0);
    assert!(!call.stdout.contains("add(a, b)"), "{call:?}");
    let call = programs
        .harn(&["disasm", "main.harn", "--all"])
        .exits_with(0);
    assert!(call.stdout.contains("f0 add(a, b)  "), "{call:?}");
    let answer = programs.harn(&["disasm", "main.harn", "--all", "--json"]);
    let answer = answer.exits_with(0).json();
    let files = answer["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[1]["file"], "main.harn");
    assert!(
        files[0]["code"]
            .as_str()
            .unwrap()
            .contains("f0 add(a, b)  ")
    );
}

#[test]
fn nothing_is_run() {
    let programs = Programs::new(&[("a.harn", "println(\"run\")\nthrow 1\n")]);
    let call = programs.harn(&["disasm", "a.harn"]).exits_with(0);
    assert!(!call.stdout.starts_with("run"), "{call:?}");
}

#[test]
fn what_cannot_be_compiled_is_told() {
    let programs = Programs::new(&[("a.harn", "let = 1\n"), ("b.harn", "break\n")]);
    for file in ["a.harn", "b.harn", "none.harn"] {
        let call = programs.harn(&["disasm", file]).exits_with(1);
        assert_eq!(call.stdout, "");
        assert!(call.stderr.starts_with("error: "), "{call:?}");
    }
    let text = "pipeline a() {\n}\n";
    programs.add("c.harn", text);
    programs
        .harn(&["disasm", "c.harn", "--pipeline", "a"])
        .exits_with(0);
    let call = programs
        .harn(&["disasm", "c.harn", "--pipeline", "b"])
        .exits_with(1);
    call.says("", "error: compile error: there is no such pipeline\n");
}
