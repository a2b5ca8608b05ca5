//! Rules about single expressions.

use super::{finds, fixes, leaves, says, silent};

#[test]
fn comparison_to_bool() {
    const RULE: &str = "comparison-to-bool";
    finds(RULE, "let x = f()\nif x == true { g() }", &["2:4"]);
    finds(RULE, "if false != is_ok(r) { g() }", &["1:4"]);
    says(RULE, "let y = x == false", "comparison with `false`");
    // A field may be missing, and a declared type may allow for nil.
    silent(RULE, "let y = options.quiet == false");
    silent(RULE, "let y = options[\"quiet\"] == true");
    silent(RULE, "fn f(x: bool | nil) { return x == false }");
    silent(RULE, "let y = a == b");
    // Without the comparison this would be a struct literal.
    silent(RULE, "let READY = true\nif READY == true { }");
    // Only what is known to be a bool can be left alone.
    leaves(RULE, "let y = x == true");
    fixes(RULE, "let y = (a < b) == true", "let y = a < b");
    fixes(
        RULE,
        "let y = (a && b) == true && c",
        "let y = (a && b) && c",
    );
    fixes(
        RULE,
        "let y = !((a + b) < (c + d)) == true",
        "let y = !((a + b) < (c + d))",
    );
    fixes(
        RULE,
        "let y = \"${(a < b) == true}\"",
        "let y = \"${a < b}\"",
    );
    fixes(RULE, "let y = (a < b) == false", "let y = !(a < b)");
    fixes(RULE, "let y = true != is_ok(r)", "let y = !is_ok(r)");
    fixes(
        RULE,
        "fn f(x: bool) {\n  return x != false\n}",
        "fn f(x: bool) {\n  return x\n}",
    );
}

#[test]
fn pointless_comparison() {
    const RULE: &str = "pointless-comparison";
    finds(RULE, "let y = a.b == a.b", &["1:9"]);
    finds(RULE, "let y = a[0].b < a[0].b", &["1:9"]);
    finds(RULE, "let y = 1 == 2", &["1:9"]);
    finds(
        RULE,
        "let y = len(xs) < 0\nlet z = 0 <= xs.count()",
        &["1:9", "2:9"],
    );
    silent(RULE, "let y = a.b == a.c");
    silent(RULE, "let y = f() == f()");
    silent(RULE, "let y = len(xs) > 0");
    silent(RULE, "let y = a[i] == a[j]");
    silent(RULE, "fn len(x) { return x }\nlet y = len(xs) < 0");
    says(
        RULE,
        "let y = x == x",
        "this comparison has only one outcome: both sides are the same",
    );
}

#[test]
fn invalid_binary_op_literal() {
    const RULE: &str = "invalid-binary-op-literal";
    for text in [
        "let y = \"a\" + 1",
        "let y = 1 + \"a\"",
        "let y = x - \"a\"",
        "let y = x + nil",
        "let y = x * true",
        "let y = [1] * 2",
        "let y = 1s + x",
        "let y = \"a\" * 1.5",
        "let y = [1] + 2",
        "let y = x ** \"a\"",
        "let y = x % {a: 1}",
    ] {
        finds(RULE, text, &["1:9"]);
    }
    for text in [
        "let y = \"a\" + \"b\"",
        "let y = \"a\" * 3",
        "let y = 3 * \"a\"",
        "let y = [1] + [2]",
        "let y = {a: 1} + {b: 2}",
        "let y = 1 + 1.5",
        "let y = x + \"a\"",
        "let y = x == nil",
        "let y = x ?? nil",
        "let y = -1 + 2",
        "let y = \"a\" + to_string(1) + \"b\"",
    ] {
        silent(RULE, text);
    }
    finds(RULE, "var x = 1\nx += nil", &["2:1"]);
    says(
        RULE,
        "let y = \"a\" + 1",
        "`+` cannot join a string and an int",
    );
    says(RULE, "let y = x - nil", "`-` cannot work with nil");
    fixes(RULE, "let y = \"a\" + 1", "let y = \"a\" + to_string(1)");
    fixes(
        RULE,
        "let y = -1.5 + \"a\"",
        "let y = to_string(-1.5) + \"a\"",
    );
    leaves(RULE, "let y = x - nil");
}

#[test]
fn redundant_nil_ternary() {
    const RULE: &str = "redundant-nil-ternary";
    fixes(RULE, "let y = x == nil ? 1 : x", "let y = x ?? 1");
    fixes(RULE, "let y = x != nil ? x : 1", "let y = x ?? 1");
    fixes(RULE, "let y = nil == x ? a + b : x", "let y = x ?? (a + b)");
    fixes(RULE, "let y = x != nil ? x : nil", "let y = x");
    fixes(RULE, "let y = x == nil ? nil : x.name", "let y = x?.name");
    fixes(RULE, "let y = x == nil ? nil : x[0]", "let y = x?[0]");
    fixes(
        RULE,
        "let y = x != nil ? x.name(1) : nil",
        "let y = x?.name(1)",
    );
    fixes(
        RULE,
        "let y = (x) == nil ? (a) + (b) : (x)",
        "let y = x ?? ((a) + (b))",
    );
    silent(RULE, "let y = x == nil ? nil : x.a.b");
    silent(RULE, "let y = x ? x : nil");
    silent(RULE, "let y = x == nil ? 1 : z");
    silent(RULE, "let y = f() == nil ? 1 : f()");
}

#[test]
fn unnecessary_cast() {
    const RULE: &str = "unnecessary-cast";
    fixes(RULE, "let y = to_string(\"a\")", "let y = \"a\"");
    fixes(
        RULE,
        "let y = to_int(bytes_len(xs))",
        "let y = bytes_len(xs)",
    );
    fixes(RULE, "let y = to_list([1])", "let y = [1]");
    fixes(
        RULE,
        "let y = to_string(to_string(x))",
        "let y = to_string(x)",
    );
    fixes(
        RULE,
        "let y = \"n: ${to_string(n)}\"",
        "let y = \"n: ${n}\"",
    );
    fixes(
        RULE,
        "let s = \"a\"\nlet y = to_string(s)",
        "let s = \"a\"\nlet y = s",
    );
    silent(RULE, "let y = to_string(x)");
    silent(RULE, "let y = to_int(1.5)");
    silent(RULE, "var s = \"a\"\ns = 1\nlet y = to_string(s)");
    // A declared int may be a float.
    silent(RULE, "fn f(n: int) { return to_int(n) }");
    silent(
        RULE,
        "fn to_string(x) { return x }\nlet y = to_string(\"a\")",
    );
}

#[test]
fn redundant_clone() {
    const RULE: &str = "redundant-clone";
    fixes(RULE, "let y = [...xs]", "let y = xs");
    fixes(RULE, "let y = {...x}", "let y = x");
    fixes(RULE, "let y = [...a + b].count", "let y = (a + b).count");
    fixes(RULE, "let y = xs[:]", "let y = xs");
    fixes(RULE, "let y = xs.clone().count", "let y = xs.count");
    fixes(RULE, "let y = xs.slice()", "let y = xs");
    silent(RULE, "let y = [...xs, 1]");
    silent(RULE, "let y = {...x, a: 1}");
    silent(RULE, "let y = xs.slice(1)\nlet z = xs[1:]");
    silent(
        RULE,
        "struct P { x: int }\n\nimpl P {\n  fn clone(self) { return self }\n}\n\nlet y = p.clone()",
    );
}

#[test]
fn eager_collection_conversion() {
    const RULE: &str = "eager-collection-conversion";
    fixes(
        RULE,
        "for x in xs.iter().map(f).to_list() { g(x) }",
        "for x in xs.iter().map(f) { g(x) }",
    );
    fixes(
        RULE,
        "let y = (1 to 9).map(f).to_list().filter(g).count()",
        "let y = (1 to 9).map(f).filter(g).count()",
    );
    fixes(
        RULE,
        "let y = xs.iter().to_list().map(f).to_list()",
        "let y = xs.iter().map(f).to_list()",
    );
    // Sets have no `sum`, lists index, and a list of three is not the first item.
    silent(RULE, "let y = s.to_list().sum()");
    silent(RULE, "let y = xs.iter().map(f).to_list()");
    silent(RULE, "let y = xs.iter().map(f).to_list()[0]");
    silent(RULE, "let y = xs.iter().map(f).to_list().first(3)");
    silent(RULE, "let y = xs.iter().map(f).to_list().sort().first()");
    silent(RULE, "let y = 1 in xs.iter().to_list()");
}

#[test]
fn duplicate_match_arm() {
    const RULE: &str = "duplicate-match-arm";
    let arms = |arms: &str| format!("let y = match x {{\n{arms}\n}}");
    finds(RULE, &arms("1 -> { 1 }\n1 -> { 2 }"), &["3:1"]);
    finds(
        RULE,
        &arms("\"a\" | \"b\" -> { 1 }\n\"b\" -> { 2 }"),
        &["3:1"],
    );
    finds(RULE, &arms("E.A -> { 1 }\nE.A(v) -> { v }"), &["3:1"]);
    finds(RULE, &arms("_ -> { 1 }\nother -> { other }"), &["3:1"]);
    finds(RULE, &arms("1 | 1 -> { 1 }"), &["2:5"]);
    finds(RULE, &arms("1 -> { 1 }\n1 if c -> { 2 }"), &["3:1"]);
    silent(RULE, &arms("1 if c -> { 1 }\n1 -> { 2 }"));
    silent(RULE, &arms("1 -> { 1 }\n1.0 -> { 2 }\n\"1\" -> { 3 }"));
    silent(RULE, &arms("E.A -> { 1 }\nE.B -> { 2 }\nF.A -> { 3 }"));
    silent(RULE, &arms("[1] -> { 1 }\n[1] -> { 2 }"));
    fixes(RULE, &arms("1 -> { 1 }\n1 -> { 2 }"), &arms("1 -> { 1 }"));
}

#[test]
fn interpolations_are_looked_at() {
    finds(
        "pointless-comparison",
        "let y = \"is ${x == x}\"",
        &["1:15"],
    );
    finds(
        "redundant-clone",
        "let y = \"\"\"\n    a\n      b ${[...xs]}\n    \"\"\"",
        &["3:11"],
    );
}
