//! `harn parse`.

use serde_json::json;

use super::Programs;

const TEXT: &str = "let answer = 42\nlog(\"\u{1b}\")\n";

#[test]
fn the_tree_is_shown() {
    let programs = Programs::new(&[("a.harn", TEXT)]);
    let tree = "(let answer 42)\n(call log \"\\u{1b}\")\n";
    programs
        .harn(&["parse", "a.harn"])
        .exits_with(0)
        .says(tree, "");
    programs
        .harn(&["parse", "--tree", "a.harn"])
        .exits_with(0)
        .says(tree, "");
    let answer = programs
        .harn(&["parse", "--json", "a.harn"])
        .exits_with(0)
        .json();
    assert_eq!(answer, json!({"tree": tree, "errors": []}));
}

#[test]
fn the_tokens_are_shown() {
    let programs = Programs::new(&[("a.harn", TEXT)]);
    let tokens = concat!(
        "1:1     Let                 let\n",
        "1:5     Identifier          answer\n",
        "1:12    Assign              =\n",
        "1:14    Int                 42\n",
        "1:16    Newline             \\n\n",
        "2:1     Identifier          log\n",
        "2:4     LeftParenthesis     (\n",
        "2:5     String              \"\\u{1b}\"\n",
        "2:8     RightParenthesis    )\n",
        "2:9     Newline             \\n\n",
        "3:1     End\n",
    );
    programs
        .harn(&["parse", "--tokens", "a.harn"])
        .exits_with(0)
        .says(tokens, "");
    let answer = programs
        .harn(&["parse", "--tokens", "--json", "a.harn"])
        .exits_with(0)
        .json();
    assert_eq!(answer["errors"], json!([]));
    let first = json!({"kind": "Let", "text": "let", "line": 1, "column": 1});
    assert_eq!(answer["tokens"][0], first);
    assert_eq!(answer["tokens"].as_array().unwrap().len(), 11);
}

/// 2.6: the parser goes on at the next line that begins with a keyword.
#[test]
fn what_cannot_be_read_is_told_and_missing() {
    let programs = Programs::new(&[("a.harn", "log(1)\nlet = 2\nlet three = 3\n")]);
    let call = programs
        .harn(&["parse", "a.harn"])
        .exits_with(1)
        .prints("(call log 1)");
    let call = call.prints("(let three 3)");
    let title =
        "error: Expected variable name or destructuring pattern, found =\n  --> a.harn:2:5\n";
    assert!(call.stderr.starts_with(title), "{call:?}");
    let call = programs.harn(&["parse", "--json", "a.harn"]).exits_with(1);
    assert_eq!(call.stderr, "");
    assert_eq!(call.json()["errors"].as_array().unwrap().len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    let programs = Programs::new(&[]);
    programs.harn(&["parse", "a.harn"]).exits_with(1).says(
        "",
        "error: a.harn: No such file or directory (os error 2)\n",
    );
}
