use super::*;

/// 2.6: how tokens are named.
#[test]
fn tokens_in_errors() {
    let cases = [
        ("name", "id(name)"),
        ("\"a\\nb\"", "str(a\nb)"),
        ("\"a ${b}\"", "istr(...)"),
        ("r\"a\\b\"", "rstr(a\\b)"),
        ("42", "int(42)"),
        ("1.5", "float(1.5)"),
        ("2s", "duration(2000ms)"),
        ("]", "]"),
        ("if", "if"),
    ];
    for (token, expected) in cases {
        let message = format!("Expected =, got {expected} at 1:7");
        check_errors(&[(&format!("let x {token}"), &message)]);
    }
    check_errors(&[("-\n", "Expected expression, got \\n at 1:2")]);
}

/// 2.6, the table: each situation in its order.
#[test]
fn every_row_of_the_table() {
    let attribute = "fn/tool/skill/eval_pack/pipeline/struct/enum/type/interface/impl declaration \
                     after `@attr`";
    let at = |expected: &str, rest: &str| format!("Expected {expected}, got {rest}");
    let sep = |what: &str, rest: &str| at(&format!("{what} separator (`;` or newline)"), rest);
    check_errors(&[
        (
            "if a { }; else { }",
            "Expected expression, got else at 1:11",
        ),
        (
            "try { }; catch { }",
            "Expected expression, got catch at 1:10",
        ),
        ("f(1", "Unexpected end of file, expected )"),
        ("[1, 2", "Unexpected end of file, expected ]"),
        ("fn f() {", "Unexpected end of file, expected }"),
        ("fn f() { a b }", &sep("statement", "id(b) at 1:12")),
        ("skill s { a 1 b 2 }", &sep("skill field", "id(b) at 1:15")),
        (
            "eval_pack p { a: 1 b: 2 }",
            &sep("eval_pack field", "id(b) at 1:20"),
        ),
        (
            "eval_pack p { summarize { } b: 2 }",
            &sep("eval_pack item", "id(b) at 1:29"),
        ),
        (
            "eval_pack p { f() b: 2 }",
            &sep("eval_pack body statement", "id(b) at 1:19"),
        ),
        (
            "tool t() { description \"x\" a }",
            &sep("tool body item", "id(a) at 1:28"),
        ),
        ("tool t() { a b }", &sep("tool body item", "id(b) at 1:14")),
        (
            "pub let x = 1",
            &at(
                "fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub",
                "let at 1:5",
            ),
        ),
        (
            "pub type T = int",
            &at(
                "fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub",
                "type at 1:5",
            ),
        ),
        ("a?[:2]", "Expected expression, got : at 1:4"),
        (
            "fn f<T, U>() where T: A U: B { }",
            "Expected {, got id(U) at 1:25",
        ),
        (
            "@a let x = 1",
            &at(attribute, "non-declaration statement at 1:4"),
        ),
        (
            "@a import \"m\"",
            &at(attribute, "non-declaration statement at 1:4"),
        ),
        ("@a(1 + 2) fn f() { }", &at(")", "+ at 1:6")),
        (
            "@a(1s) fn f() { }",
            &at(
                "attribute argument value (literal or identifier)",
                "duration(1000ms) at 1:4",
            ),
        ),
        (
            "@a(-x) fn f() { }",
            &at("number after '-' in attribute argument", "id(x) at 1:5"),
        ),
        (
            "fn f(x = 1, y) {",
            "Expected Required parameter cannot follow a parameter with a default value, got ) at 1:14",
        ),
        (
            "fn f(...x, y) { }",
            &at("Rest parameter must be the last parameter", "id(y) at 1:12"),
        ),
        ("select { }", &at("at least one select case", "} at 1:10")),
        (
            "eval_pack p { summarize { }\n summarize { } }",
            &at("one summarize block", "duplicate summarize block at 2:2"),
        ),
        (
            "parallel each xs with { retries: 1 } { x -> x }",
            &at(
                "known option (only `max_concurrent` is supported in `parallel ... with { ... }`; got `retries`)",
                "retries at 1:25",
            ),
        ),
        (
            "parallel each xs with { 5: 1 } { x -> x }",
            &at(
                "option name in `parallel ... with { ... }` block",
                "int(5) at 1:25",
            ),
        ),
        (
            "parallel each xs { x -> x } as list",
            &at("`stream` after `parallel each ... as`", "id(list) at 1:32"),
        ),
        (
            "parallel settle xs { x -> x } as stream",
            &at(
                "`as stream` is only valid after `parallel each ... { ... }`",
                "as stream at 1:31",
            ),
        ),
        (
            "let x = <<EOF",
            &at(
                "an expression — heredocs are only valid inside LLM tool-call argument JSON; for multiline strings in source code use triple-quoted `\"\"\"...\"\"\"`",
                "`<<` heredoc-like syntax at 1:9",
            ),
        ),
    ]);
}

/// 2.6: the names that can be missing.
#[test]
fn every_name_that_can_be_missing() {
    let cases = [
        ("pipeline 5", "pipeline name", 10),
        ("pipeline p() extends 5", "parent pipeline name", 22),
        ("fn 5", "function name", 4),
        ("tool 5", "tool name", 6),
        ("skill 5", "skill name", 7),
        ("skill s { 5", "skill field name", 11),
        ("eval_pack 5", "eval_pack name or string id", 11),
        ("type 5", "type name", 6),
        ("let x: * 5", "type name", 8),
        ("fn f<5", "type parameter name", 6),
        ("fn f() where T: 5", "type bound", 17),
        ("enum 5", "enum name", 6),
        ("enum E { 5", "variant name", 10),
        ("struct 5", "struct name", 8),
        ("struct S { 5", "field name", 12),
        ("interface 5", "interface name", 11),
        ("interface I { type 5", "associated type name", 20),
        ("interface I { fn 5", "method name", 18),
        ("fn f(5", "parameter name", 6),
        ("a.*", "member name", 3),
        ("f({5", "dict key", 4),
        ("override 5", "override name", 10),
        ("import { 5", "import name", 10),
        ("import 5", "import path string", 8),
        ("import { a } from 5", "import path string", 19),
        ("@5", "attribute name", 2),
    ];
    for (source, expected, column) in cases {
        let token = if source.contains('*') { "*" } else { "int(5)" };
        let message = format!("Expected {expected}, got {token} at 1:{column}");
        check_errors(&[(source, &message)]);
    }
    check_errors(&[("let x: list<> = 1", "Expected type argument, got > at 1:13")]);
    check_errors(&[(
        "fn if() { }",
        "Expected function name, got 'if' (reserved keyword) at 1:4",
    )]);
}

/// 18.2: the layout of parse errors.
#[test]
fn diagnostics_of_parse_errors() {
    let error = parse("let x = f(1 ;").errors.remove(0);
    assert_eq!(error.diagnostic.message, "Expected expression, found ;");
    assert_eq!(error.diagnostic.label.as_deref(), Some("unexpected token"));
    let error = parse("fn f() {\n").errors.remove(0);
    assert_eq!(
        error.diagnostic.message,
        "Unexpected end of file, expected }"
    );
    assert_eq!(error.diagnostic.label.as_deref(), Some("file ends here"));
    let help = error.diagnostic.help.as_deref();
    assert_eq!(help, Some("add a closing `}` to finish this block"));
    let helps = [
        (
            "f(1",
            "add a closing `)` to finish this expression or parameter list",
        ),
        ("[1", "add a closing `]` to finish this list or subscript"),
    ];
    for (source, help) in helps {
        let error = parse(source).errors.remove(0);
        assert_eq!(error.diagnostic.help.as_deref(), Some(help));
    }
}

/// 0: lexical errors come first.
#[test]
fn lexical_errors_come_before_parse_errors() {
    assert_eq!(
        all_errors("let = 1\nlet x = #"),
        [
            "Unexpected character '#' at 2:9",
            "Expected variable name or destructuring pattern, got = at 1:5",
            "Unexpected end of file, expected expression",
        ]
    );
}
