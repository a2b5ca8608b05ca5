use super::*;
use crate::tree::{ItemKind, StatementKind};

#[test]
fn bindings() {
    check(&[
        ("let x = 1", "(let x 1)"),
        ("var x: int | nil = nil", "(var x (: int | nil) nil)"),
        (
            "let {a, b: c, d = 1, e: f = 2, ...rest} = x",
            "(let (dict (a a) (b c) (d d 1) (e f 2) (... rest)) x)",
        ),
        (
            "let [a, b = 2, ...rest] = x",
            "(let (list a (b 2) (... rest)) x)",
        ),
        ("let {} = x", "(let (dict) x)"),
        ("let [_, b,] = x", "(let (list _ b) x)"),
    ]);
    check_errors(&[
        (
            "let 5 = x",
            "Expected variable name or destructuring pattern, got int(5) at 1:5",
        ),
        (
            "let x = 1\nlet y = 2\nlet   tool = 1",
            "Expected variable name or destructuring pattern, got 'tool' (reserved keyword) at 3:7",
        ),
        ("let {a}: T = x", "Expected =, got : at 1:8"),
        ("let [...a, b] = x", "Expected ], got id(b) at 1:12"),
        ("let {a: 5} = x", "Expected alias name, got int(5) at 1:9"),
        ("let [5] = x", "Expected element name, got int(5) at 1:6"),
        (
            "let [...5] = x",
            "Expected rest variable name, got int(5) at 1:9",
        ),
        ("let x", "Unexpected end of file, expected ="),
        ("let x\nlet y = 1", "Expected =, got let at 2:1"),
    ]);
}

#[test]
fn assignments() {
    check(&[
        ("a = 1", "(= a 1)"),
        ("a.b[0].c = 1", "(= (a .b ([] 0) .c) 1)"),
        (
            "a += 1; a -= 1; a *= 1; a /= 1; a %= 1",
            "(+= a 1)\n(-= a 1)\n(*= a 1)\n(/= a 1)\n(%= a 1)",
        ),
    ]);
    let error = |token: &str, column: usize| {
        format!("Expected top-level item separator (`;` or newline), got {token} at 1:{column}")
    };
    check_errors(&[
        ("f() = 1", &error("=", 5)),
        ("a?.b = 1", &error("=", 6)),
        ("a[1:2] = 1", &error("=", 8)),
        ("a + b += 1", &error("+=", 7)),
    ]);
}

#[test]
fn loops() {
    check(&[
        ("for x in xs { }", "(for x xs (do))"),
        (
            "for (k, v) in d.iter() { }",
            "(for (pair k v) (d (.iter)) (do))",
        ),
        (
            "for {key, value} in d { }",
            "(for (dict (key key) (value value)) d (do))",
        ),
        (
            "for [a, b] in d { break; continue }",
            "(for (list a b) d (do (break) (continue)))",
        ),
        ("while a < b { }", "(while (< a b) (do))"),
        ("while (a) { }", "(while a (do))"),
    ]);
    check_errors(&[
        ("while (a) && (b) { }", "Expected {, got && at 1:11"),
        (
            "for (a, 5) in x { }",
            "Expected pair pattern element, got int(5) at 1:9",
        ),
        ("for x of y { }", "Expected in, got id(of) at 1:7"),
    ]);
}

#[test]
fn errors_and_leaving() {
    check(&[
        ("throw \"x\"", "(throw \"x\")"),
        ("try { a } catch { b }", "(try (do a) (catch (do b)))"),
        ("try { a } catch e { b }", "(try (do a) (catch e (do b)))"),
        (
            "try { a } catch (e: MyError) { b }",
            "(try (do a) (catch e (: MyError) (do b)))",
        ),
        ("try { a } finally { b }", "(try (do a) (finally (do b)))"),
        ("guard a else { return }", "(guard a (do (return)))"),
        ("require a, \"m\"", "(require a \"m\")"),
        ("require a", "(require a)"),
        ("defer { a }", "(defer (do a))"),
        ("mutex { a }", "(mutex (do a))"),
        ("return a + 1", "(return (+ a 1))"),
        ("emit a", "(emit a)"),
    ]);
    check_errors(&[
        (
            "try { } catch (5) { }",
            "Expected error variable, got int(5) at 1:16",
        ),
        ("guard a { }", "Expected else, got { at 1:9"),
    ]);
}

#[test]
fn select_statements() {
    check(&[
        (
            "select { a from b { c } timeout 50ms { d } }",
            "(select (from a b (do c)) (timeout 50ms (do d)))",
        ),
        ("select { default { d } }", "(select (default (do d)))"),
        (
            "select { timeout from ch { } }",
            "(select (from timeout ch (do)))",
        ),
    ]);
    check_errors(&[
        (
            "select { }",
            "Expected at least one select case, got } at 1:10",
        ),
        (
            "select { timeout 1s { } default { } }",
            "Expected select cannot have both timeout and default, got } at 1:37",
        ),
        (
            "select { 5 from a { } }",
            "Expected select case variable, got int(5) at 1:10",
        ),
        (
            "let x = select { }",
            "Expected expression, got select at 1:9",
        ),
    ]);
}

/// 2.3: a statement that begins with a construct is exactly that construct.
#[test]
fn nothing_follows_a_construct_that_is_a_statement() {
    let error = |token: &str, column: usize| {
        format!("Expected top-level item separator (`;` or newline), got {token} at 1:{column}")
    };
    check_errors(&[
        ("match x { } |> f", &error("|>", 13)),
        ("if a { } + 1", &error("+", 10)),
        ("try { }.variant", &error(".", 8)),
        ("retry 3 { }[0]", &error("[", 12)),
        ("parallel 3 { } ?? 1", &error("??", 16)),
        ("deadline 1s { } == 1", &error("==", 17)),
    ]);
    check(&[("spawn { 1 } |> f", "(|> (spawn (do 1)) f)")]);
}

/// What a block says about what is in it.
#[test]
fn blocks_know_whether_they_declare_or_yield() {
    let block = |source: &str| {
        let mut parsed = parse(&format!("fn f() {{ {source} }}"));
        assert_eq!(parsed.errors, [], "{source}");
        let StatementKind::Item(item) = parsed.module.statements.remove(0).kind else {
            panic!("it is a function");
        };
        let ItemKind::Function(function) = item.kind else {
            panic!("it is a function");
        };
        (function.body.declares, function.body.yields)
    };
    assert_eq!(block("a + b"), (false, false));
    assert_eq!(block("yield 1"), (false, true));
    assert_eq!(block("if a { for x in xs { yield x } }"), (false, true));
    assert_eq!(block("spawn { yield 1 }"), (false, true));
    assert_eq!(block("let g = { -> yield 1 }"), (false, false));
    assert_eq!(block("let g = fn() { yield 1 }; yield 2"), (false, true));
    assert_eq!(block("fn g() { yield 1 }"), (true, false));
    assert_eq!(
        block("if a { let g = { -> struct S { x } } }"),
        (true, false)
    );
    assert_eq!(block("log(\"${ { -> fn g() { } } }\")"), (true, false));
}
