//! 9.7: assignments and the scopes of variables.

use crate::support::{accept, check, check_body};

#[test]
fn a_value_must_fit_the_variable() {
    check_body(
        "var n: int = 1\nn = \"a\"",
        &["error: can't assign string to 'n' (declared as int)"],
    );
    check_body(
        "var n = 1\nn = 2.5",
        &["error: can't assign float to 'n' (declared as int)"],
    );
    accept("var n = 1\nn = 2\nn = json_parse(\"\")\nvar f = 1.0\nf = 2");
    accept("var xs = []\nxs = [1]\nxs = [\"a\"]\nvar d = {}\nd = {a: 1}");
    accept("var s: string | nil = nil\ns = \"a\"\ns = nil");
}

#[test]
fn compound_assignments_use_the_result_of_the_operation() {
    check_body(
        "var n = 1\nn += 1.5",
        &["error: can't assign float to 'n' (declared as int)"],
    );
    accept("var n = 1\nn += 1\nn -= 1\nvar s = \"\"\ns += \"a\"\nn += \"a\"\nn += nil");
}

#[test]
fn a_variable_declared_nil_takes_its_type_later() {
    check_body(
        "var v = nil\nv = 1\nv = \"a\"",
        &["error: can't assign string to 'v' (declared as int | nil)"],
    );
    accept("var v = nil\nv = nil\nv = 1\nv = nil\nv = 2");
    accept("let c = true\nvar v = nil\nif c { v = 1 } else { v = \"a\" }");
    check_body(
        "let c = true\nvar v = nil\nif c { v = 1\n v = \"a\" }\nv = true",
        &["error: can't assign string to 'v' (declared as int | nil)"],
    );
    check_body(
        "var v: nil = nil\nv = 1",
        &["error: can't assign int to 'v' (declared as nil)"],
    );
}

#[test]
fn paths_are_not_compared() {
    accept("var d = {a: 1}\nd.a = \"x\"\nd[\"b\"] = 2\nvar xs = [1]\nxs[0] = \"a\"");
    check_body(
        "var xs = [1]\nxs[1 + nil] = 2",
        &["error: can't add int and nil"],
    );
}

#[test]
fn variables_around_a_named_function_are_dynamic_in_it() {
    accept("var n = 1\nfn inner() { n = \"a\"\n let s: string = n }");
    check_body(
        "var n = 1\nlet f = { -> n = \"a\" }",
        &["error: can't assign string to 'n' (declared as int)"],
    );
    check_body(
        "var n = 1\nif true { n = \"a\" }",
        &["error: can't assign string to 'n' (declared as int)"],
    );
}

#[test]
fn variables_of_the_file_are_dynamic() {
    check(
        "var n = 1\nn = \"a\"\nfn f() { n = nil\n let s: string = n }",
        &[],
    );
    check("let s: string = \"a\"\nlet n: int = s", &[]);
    check(
        "if true {\n  var n = 1\n  n = \"a\"\n}",
        &["error: can't assign string to 'n' (declared as int)"],
    );
}

#[test]
fn immutable_names() {
    let warning = "warning: Cannot assign to 'x': variable is immutable (declared with 'let')";
    check_body("let x = 1\nx = 2", &[warning]);
    check_body("for x in [1] { x = 2 }", &[warning]);
    check_body("let {x} = {x: 1}\nx = 2", &[warning]);
    check_body("try { 1 } catch (x) { x = 1 }", &[warning]);
    check("fn f(x) { x = 1 }", &[warning]);
    check("let f = { x -> x = 1 }", &[warning]);
    check("fn f(v) { match v { x -> { x = 1 } } }", &[warning]);
    check("let x = 1\nx += 1", &[warning]);
    accept("var x = 1\nx = 2\nvar {y} = {y: 1}\ny = 2\nunknown_name = 1");
    accept("let x = {a: 1}\nx.a = 2");
    check("let x = 1\nvar x = 2\nfn f() { x = 3 }", &[]);
}

#[test]
fn an_immutable_name_of_another_type_is_told_twice() {
    check_body(
        "let x = 1\nx = \"a\"",
        &[
            "warning: Cannot assign to 'x': variable is immutable (declared with 'let')",
            "error: can't assign string to 'x' (declared as int)",
        ],
    );
}
