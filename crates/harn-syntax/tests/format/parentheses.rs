//! Where parentheses are kept, added and removed.

use super::{check_body, check_value, check_values};

#[test]
fn they_are_kept_around_what_binds_less() {
    check_values(&[
        "(a + b) * c",
        "a * (b + c)",
        "(a |> b) + c",
        "a to b |> c",
        "(a ? b : c) ? d : e",
        "a ? (b ? c : d) : e",
        "!(a && b)",
        "-(a ** b)",
        "(a || b) && c",
        "(a == b) + c",
        "a ?? (b + c)",
        "(a |> b) to c",
        "(a to b) to c",
        "try* (a + b)",
    ]);
}

#[test]
fn they_are_kept_around_right_operands_of_the_same_level() {
    check_values(&[
        "a - (b - c)",
        "a / (b * c)",
        "a |> (b |> c)",
        "a && (b && c)",
        "a < (b < c)",
        "(a ** b) ** c",
    ]);
}

#[test]
fn they_are_kept_before_postfix_access() {
    check_values(&[
        "(-a).b",
        "(a + b).c()",
        "(a ? b : c)[0]",
        "(a to b).map(c)",
        "(!a)?.b",
        "(try* a).b",
    ]);
}

#[test]
fn they_separate_and_from_or() {
    check_value("a && b || c", "(a && b) || c");
    check_value("a || b && c", "a || (b && c)");
    check_value("a && b || c && d", "(a && b) || (c && d)");
}

#[test]
fn otherwise_they_are_removed() {
    check_value("(a)", "a");
    check_value("((a + b))", "a + b");
    check_value("(a * b) + c", "a * b + c");
    check_value("(a + b) + c", "a + b + c");
    check_value("a ** (b ** c)", "a ** b ** c");
    check_value("(-a) ** b", "-a ** b");
    check_value("(a.b).c", "a.b.c");
    check_value("(f)(1)", "f(1)");
    check_value("(a ? b : c) to d", "a ? b : c to d");
    check_value("[(a + b), (c)]", "[a + b, c]");
    check_body("if (a) { b() }", "if a {\n  b()\n}");
    check_body("while (a) { b() }", "while a {\n  b()\n}");
    check_body("retry (3) { b() }", "retry 3 {\n  b()\n}");
    check_body("return (a)", "return a");
    check_body("(a).b = 1", "a.b = 1");
}

/// 2.4: what follows the `?` decides what it is.
#[test]
fn they_keep_a_ternary_a_ternary() {
    check_values(&[
        "c ? ([1]) : []",
        "c ? (5s) : 1s",
        "c ? (r\"a\") : b",
        "c ? ([1] + a) : b",
        "c ? {} : []",
        "c ? -a : !b",
    ]);
    check_value("c ? (a) : ([1])", "c ? a : [1]");
}

#[test]
fn they_keep_a_question_mark_from_beginning_a_ternary() {
    check_values(&[
        "(a?) - b",
        "(a?) not in b",
        "a? + b",
        "a? in b",
        "(a?).b",
        "(a?)[0]",
        "((a?)?).b",
        "a? ? b : c",
        "f(a?)",
    ]);
    check_body("if (a?) { b() }", "if (a?) {\n  b()\n}");
    check_body("for x in (a?) { b() }", "for x in (a?) {\n  b()\n}");
    check_body(
        "match (a + b?) { _ -> { c } }",
        "match (a + b?) {\n  _ -> { c }\n}",
    );
    check_body("guard (a?) else { b() }", "guard a? else {\n  b()\n}");
}

/// 2.3: a condition in parentheses ends with them.
#[test]
fn a_while_that_begins_with_one_is_in_them_whole() {
    check_body(
        "while ((a && b) || c) { d() }",
        "while ((a && b) || c) {\n  d()\n}",
    );
    check_body("while ((a + b).c) { d() }", "while ((a + b).c) {\n  d()\n}");
}

/// 2.3: statements that begin with these are exactly that.
#[test]
fn they_keep_a_statement_from_ending_early() {
    check_body(
        "(match x { _ -> { 1 } }) |> f",
        "(match x {\n  _ -> { 1 }\n}) |> f",
    );
    check_body(
        "(if a { b } else { c }).d()",
        "(if a {\n  b\n} else {\n  c\n}).d()",
    );
    check_body(
        "(if a { b } else { c }).d = 1",
        "(if a {\n  b\n} else {\n  c\n}).d = 1",
    );
    check_body("(fn(x) { x })", "(fn(x) { x })");
    check_body("(fn(x) { x }) |> f", "(fn(x) { x }) |> f");
    check_body("(spawn { a() }).b()", "spawn {\n  a()\n}.b()");
    check_body("(try* a) + b", "try* a + b");
    check_value(
        "(match x { _ -> { 1 } }) |> f",
        "match x {\n  _ -> { 1 }\n} |> f",
    );
}

#[test]
fn they_keep_an_else_with_its_guard() {
    check_body(
        "guard (if a { b }) else { c() }",
        "guard (if a {\n  b\n}) else {\n  c()\n}",
    );
}

#[test]
fn they_keep_a_comparison_from_being_a_call() {
    check_value("(f < a) > (b || c)", "(f < a) > (b || c)");
    check_value("(f < a) > b", "f < a > b");
    check_value("f<int>(a)", "f<int>(a)");
}

#[test]
fn they_keep_a_dict_from_being_a_closure() {
    check_value("{a: (f<fn(int) -> int>(b))}", "{a: (f<fn(int) -> int>(b))}");
    check_value(
        "{a: { x -> x }, b: fn(y) { y }}",
        "{a: { x -> x }, b: fn(y) { y }}",
    );
}

#[test]
fn they_keep_parallel_from_misreading_its_source() {
    check_body(
        "parallel (each.xs) { a() }",
        "parallel (each.xs) {\n  a()\n}",
    );
    check_body(
        "parallel each ({a: 1}.xs) { b() }",
        "parallel each ({a: 1}.xs) {\n  b()\n}",
    );
    check_body("parallel each (xs) { b() }", "parallel each xs {\n  b()\n}");
}

#[test]
fn counts_and_times_are_primaries() {
    check_body("retry (a + 1) { b() }", "retry (a + 1) {\n  b()\n}");
    check_body("deadline (f(a)) { b() }", "deadline (f(a)) {\n  b()\n}");
    check_body("deadline 5s { b() }", "deadline 5s {\n  b()\n}");
}

/// Each level gets parentheses, so there would be twice as many.
#[test]
fn what_would_be_nested_too_deeply_is_left_alone() {
    let deep = |levels: usize| {
        let open = "(".repeat(levels);
        format!("let value = {open}a{}\n", " && b || c)".repeat(levels))
    };
    let formatted = super::formatted(&deep(20), 10_000);
    assert!(formatted.contains("((a && b) || c)"));
    assert_eq!(super::formatted(&deep(100), 10_000), deep(100));
}
