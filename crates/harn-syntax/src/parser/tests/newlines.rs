use super::*;

/// 2.1, rule 1.
#[test]
fn statements_are_separated_by_a_semicolon_or_newlines() {
    check(&[
        ("a; b", "a\nb"),
        ("a;\n\n b", "a\nb"),
        ("a\n\n\nb", "a\nb"),
        ("a;", "a"),
        ("fn f() { a; b; }", "(fn f () (do a b))"),
        // The second begins on a later line, though no newline is to be seen.
        ("a /* x\n */ b", "a\nb"),
    ]);
    check_errors(&[
        ("a;; b", "Expected expression, got ; at 1:3"),
        ("a\n; b", "Expected expression, got ; at 2:1"),
        ("fn f() {;}", "Expected expression, got ; at 1:9"),
        (
            "a b",
            "Expected top-level item separator (`;` or newline), got id(b) at 1:3",
        ),
        (
            "a \\\n b",
            "Expected top-level item separator (`;` or newline), got id(b) at 2:2",
        ),
    ]);
}

/// 2.1, rule 2.
#[test]
fn newlines_may_precede_what_is_required() {
    check(&[
        ("let\nx\n=\n1", "(let x 1)"),
        ("if\na\n{\n}\nelse\n{\n}", "(if a (do) (do))"),
        ("f(\na\n,\nb\n)", "(call f a b)"),
        ("fn\nf\n(\n)\n{\n}", "(fn f () (do))"),
        ("a.\nb", "(a .b)"),
        ("import\n{\na\n}\nfrom\n\"m\"", "(import (a) \"m\")"),
        ("match\nx\n{\n1\n->\n{\n}\n}", "(match x ((case 1) (do)))"),
        ("for\nx\nin\nxs\n{\n}", "(for x xs (do))"),
        ("throw\nx", "(throw x)"),
        ("let x: list<\nint\n> = y", "(let x (: list<int>) y)"),
    ]);
}

/// 2.1, rule 3.
#[test]
fn newlines_may_not_precede_some_values() {
    check(&[
        ("fn f() { return\n1 }", "(fn f () (do (return) 1))"),
        ("fn f() { yield\n1 }", "(fn f () (do (yield) 1))"),
    ]);
    check_errors(&[
        ("1 to\n2", "Expected expression, got \\n at 1:5"),
        ("a ? b :\nc", "Expected expression, got \\n at 1:8"),
        ("-\na", "Expected expression, got \\n at 1:2"),
        ("!\na", "Expected expression, got \\n at 1:2"),
        ("retry\n3 { }", "Expected expression, got \\n at 1:6"),
        ("deadline\n5s { }", "Expected expression, got \\n at 1:9"),
    ]);
}

/// 2.1, rule 4.
#[test]
fn newlines_may_follow_other_operators() {
    for op in [
        "|>", "||", "&&", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "+", "-", "??", "*",
        "/", "%", "**",
    ] {
        check(&[(&format!("a {op}\n\nb"), &format!("({op} a b)"))]);
    }
}

/// 2.1, rule 5.
#[test]
fn some_operators_may_begin_a_line() {
    for op in [
        "|>", "||", "&&", "==", "!=", "<", ">", "<=", ">=", "??", "+", "*", "/", "%", "**",
    ] {
        check(&[(&format!("a\n\n  {op} b"), &format!("({op} a b)"))]);
    }
    check(&[
        ("a\n  .b\n  ?.c()", "(a .b (?.c))"),
        ("a\n- b", "a\n(- b)"),
        ("c ? a\n: b", "(? c a b)"),
        (
            "try { }\ncatch (e) { }\nfinally { }",
            "(try (do) (catch e (do)) (finally (do)))",
        ),
        ("guard a\nelse { }", "(guard a (do))"),
        ("a \\\n - b", "(- a b)"),
    ]);
    check_errors(&[
        ("a\nin b", "Expected expression, got in at 2:1"),
        ("1\nto 2", "Expected expression, got to at 2:1"),
        ("a\n? b : c", "Expected expression, got ? at 2:1"),
    ]);
}

/// 2.1, rule 6.
#[test]
fn brackets_stand_on_the_line_of_what_they_follow() {
    check(&[
        ("f\n(1)", "f\n1"),
        ("a\n[0]", "a\n(list 0)"),
        ("a.b\n(1)", "(a .b)\n1"),
        ("Point\n{x: 1}", "Point\n(dict (x 1))"),
        ("f /*\n*/ (1)", "f\n1"),
    ]);
}

/// 2.1, commas.
#[test]
fn commas_are_not_compulsory() {
    check(&[
        ("[1 2\n3]", "(list 1 2 3)"),
        ("[a ...b]", "(list a (... b))"),
        ("f(1 2)", "(call f 1 2)"),
        (
            "fn f(a b: int c = 1) { }",
            "(fn f (a (b (: int)) (c (= 1))) (do))",
        ),
        ("enum E { A B(x y), C }", "(enum E A (B x y) C)"),
        ("struct S { a: int b? c }", "(struct S (a (: int)) b? c)"),
        ("import { a b } from \"m\"", "(import (a b) \"m\")"),
        ("let [a b] = c", "(let (list a b) c)"),
        (
            "type T = {a: int b?: string}",
            "(type T {a: int, b?: string})",
        ),
        (
            "type T = fn(int string) -> nil",
            "(type T fn(int, string) -> nil)",
        ),
        ("f(1, 2,)", "(call f 1 2)"),
    ]);
}
