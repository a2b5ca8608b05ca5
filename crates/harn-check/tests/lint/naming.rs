//! The rule about names.

use super::{finds, of_rule, silent};
use harn_check::LintOptions;

const RULE: &str = "naming-convention";

#[test]
fn functions_and_variables_are_lower_case() {
    finds(
        RULE,
        "fn readFile(Path) {\n  return Path\n}",
        &["1:4", "1:13"],
    );
    finds(RULE, "let myVar = 1\nvar {a: otherVar} = x", &["1:5"]);
    finds(
        RULE,
        "pipeline Main(t) { }\ntool Tool(a) { a }\nskill Skill { }",
        &["1:10", "2:6", "3:7"],
    );
    finds(RULE, "impl P {\n  fn doIt(self) { }\n}", &["2:6"]);
    silent(
        RULE,
        "let MAX_SIZE = 1\nlet N = 2\nlet _Odd = 3\nlet x2 = 4\nlet größe = 5",
    );
    silent(RULE, "let {userId} = x\ntool t(userId: string) { userId }");
    silent(RULE, "let x = {userId: 1}\nstruct S { userId: int }");
}

#[test]
fn types_have_capitals() {
    finds(RULE, "struct point { x: int }", &["1:8"]);
    finds(RULE, "enum Kind { small, Very_large }", &["1:13", "1:20"]);
    finds(RULE, "type user_id = string", &["1:6"]);
    finds(RULE, "interface named { fn Name() }", &["1:11", "1:22"]);
    finds(RULE, "fn f<t>(x: t) {\n  return x\n}", &["1:6"]);
    silent(
        RULE,
        "struct Point2D { x: int }\nenum HTTPKind { GET, Post }\nfn f<T>(x: T) { }",
    );
}

#[test]
fn a_better_name_is_proposed() {
    let help = |text: &str| {
        let found = of_rule(RULE, text, &LintOptions::default());
        found[0].1.help.clone().unwrap_or_default()
    };
    assert_eq!(
        help("let maxHTTPSize2Large = 1"),
        "call it `max_httpsize2_large`"
    );
    assert_eq!(
        help("struct http_status { x: int }"),
        "call it `HttpStatus`"
    );
}
