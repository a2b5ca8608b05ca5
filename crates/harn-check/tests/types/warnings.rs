//! 9.15: warnings that are not found elsewhere.

use harn_check::{CheckOptions, Imported};

use crate::support::{accept, check, check_body, inspect};

const UNREACHABLE: &str = "warning: unreachable code";

#[test]
fn unreachable_code_once_per_block() {
    check_body("return 1\nprintln(1)\nprintln(2)", &[UNREACHABLE]);
    check_body("throw 1\nprintln(1)", &[UNREACHABLE]);
    check_body("for x in [1] { break\n println(1) }", &[UNREACHABLE]);
    check_body("for x in [1] { continue\n println(1) }", &[UNREACHABLE]);
    check_body(
        "if true { return 1 } else { throw 2 }\nprintln(1)",
        &[UNREACHABLE],
    );
    check_body(
        "if true { return 1\n println(1) }\nreturn 2\nprintln(2)",
        &[UNREACHABLE, UNREACHABLE],
    );
    accept("if true { return 1 }\nprintln(1)");
    accept("while true { return 1 }\nprintln(1)");
    accept("let f = { -> return 1 }\nprintln(1)");
    accept("match 1 { _ -> { return 1 } }\nprintln(1)");
    accept("unreachable()\nprintln(1)");
}

#[test]
fn deprecated_functions() {
    check(
        "@deprecated(since: \"1.2\", use: \"new\")\nfn old() { }\n@deprecated\nfn older() { }\n\
         fn new() { }\nold()\nolder()\nnew()",
        &[
            "warning: `old` is deprecated (since 1.2)",
            "warning: `older` is deprecated",
        ],
    );
    let checked = inspect(
        "@deprecated(use: \"new\")\nfn old() { }\nold()",
        &Imported::default(),
        CheckOptions::default(),
    );
    let warning = &checked.diagnostics[0];
    assert_eq!(warning.help.as_deref(), Some("use `new` instead"));
    assert_eq!(warning.fix.as_ref().unwrap().edits[0].text, "new");
}
