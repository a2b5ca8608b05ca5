//! 9.14: what conditions tell.

use crate::support::{check, infers_in};

/// The type of x, declared as `ty`, where `%` stands in the statements.
#[track_caller]
fn at(ty: &str, statements: &str, expected: &str) {
    let statements = statements.replace('%', "let probe: never = x");
    infers_in(
        &format!("type Alias = int | nil\nfn f(x: {ty}, c, d: int | nil) {{ {statements} }}"),
        expected,
    );
}

#[test]
fn nil_tests() {
    at("int | nil", "if x != nil { % }", "int");
    at("int | nil", "if nil != x { % }", "int");
    at("int | nil", "if x != nil { } else { % }", "nil");
    at("int | nil", "if x == nil { % }", "nil");
    at(
        "int | string | nil",
        "if x == nil { } else { % }",
        "int | string",
    );
    at("nil", "if x == nil { % }", "nil");
    at("nil", "if x == nil { } else { % }", "");
    at("int", "if x != nil { % }", "int");
    at("Alias", "if x != nil { % }", "Alias");
    at("int | nil", "if x { % }", "int");
    at("int | nil", "if x { } else { % }", "nil");
    at("int | string", "if x { % }", "int | string");
    at("int | nil", "if !x { } else { % }", "int");
}

#[test]
fn kind_tests() {
    at("int | string", "if type_of(x) == \"int\" { % }", "int");
    at(
        "int | string",
        "if \"int\" == type_of(x) { } else { % }",
        "string",
    );
    at("int | string", "if type_of(x) != \"int\" { % }", "string");
    at(
        "int | string",
        "if type_of(x) == \"bool\" { % }",
        "int | string",
    );
    at(
        "int | string",
        "if type_of(x) == \"set\" { % }",
        "int | string",
    );
    at("int", "if type_of(x) == \"int\" { % }", "int");
    at("int", "if type_of(x) == \"int\" { } else { % }", "");
    at("unknown", "if type_of(x) == \"int\" { % }", "int");
    at(
        "unknown",
        "if type_of(x) == \"int\" { } else { % }",
        "unknown",
    );
    at(
        "list<int> | string",
        "if type_of(x) == \"list\" { % }",
        "list<int>",
    );
    at("any", "if type_of(x) == \"int\" { % }", "any");
}

const SHAPES: &str = "{k: \"a\", n: int} | {k: \"b\", s: string} | {k: \"c\"}";

#[test]
fn tags() {
    at(SHAPES, "if x.k == \"a\" { % }", "{k: \"a\", n: int}");
    at(
        SHAPES,
        "if \"a\" == x.k { } else { % }",
        "{k: \"b\", s: string} | {k: \"c\"}",
    );
    at(
        SHAPES,
        "if x.k != \"a\" { } else { % }",
        "{k: \"a\", n: int}",
    );
    at(SHAPES, "if x.n == \"a\" { % }", SHAPES);
    at(
        SHAPES,
        "match x.k { \"a\" -> { % }\n _ -> { } }",
        "{k: \"a\", n: int}",
    );
    at(
        SHAPES,
        "match x.k { \"a\" | \"c\" -> { % }\n _ -> { } }",
        "{k: \"a\", n: int} | {k: \"c\"}",
    );
    infers_in(
        "type S = {k: \"a\", n: int} | {k: \"b\"}\nfn f(x: S) { if x.k == \"a\" { let probe: never = x.n } }",
        "int",
    );
}

#[test]
fn fields() {
    at("{a?: int}", "if x.has(\"a\") { % }", "{a: int}");
    at("{a?: int}", "if x.has(\"a\") { } else { % }", "{a?: int}");
    at("{a?: int}", "if x.has(\"b\") { % }", "{a?: int}");
}

#[test]
fn schemas() {
    at(
        "int | string",
        "if schema_is(x, {type: \"int\"}) { % }",
        "int",
    );
    at(
        "int | string",
        "if is_type(x, {type: \"int\"}) { } else { % }",
        "string",
    );
    at(
        "dict",
        "if schema_is(x, {type: \"dict\", properties: {a: {type: \"int\"}}}) { % }",
        "{a?: int}",
    );
    at(
        "list",
        "if schema_is(x, {items: {type: \"int\"}}) { % }",
        "list<int>",
    );
    at(
        "list<int>",
        "if schema_is(x, {type: \"list\"}) { % }",
        "list<int>",
    );
    at(
        "\"a\" | int",
        "if schema_is(x, {type: \"string\"}) { % }",
        "\"a\"",
    );
    at(
        "{a: int}",
        "if schema_is(x, {properties: {b: {type: \"int\"}}}) { % }",
        "{b?: int}",
    );
    at("int", "if schema_is(x, {type: \"string\"}) { % }", "int");
    at(
        "int | string",
        "if schema_is(x, {type: \"bool\"}) { } else { % }",
        "int | string",
    );
    at(
        "unknown",
        "if schema_is(x, {type: \"string\"}) { % }",
        "string",
    );
    infers_in(
        "type P = {a: int}\nfn f(x: P | nil) { if schema_is(x, P) { let probe: never = x } }",
        "{a: int}",
    );
}

#[test]
fn logic() {
    at("int | nil", "if c && x != nil { % }", "int");
    at("int | nil", "if x != nil && c { } else { % }", "int | nil");
    at("int | nil", "if x == nil || c { } else { % }", "int");
    at("int | nil", "if x == nil || c { % }", "int | nil");
    at(
        "int | string | nil",
        "if x != nil && type_of(x) != \"int\" { % }",
        "string",
    );
    at("int | nil", "if !(x == nil) { % }", "int");
    check(
        "fn g(n: int) { }\nfn f(x: int | nil) { if x != nil && g(x) { } }",
        &[],
    );
    check(
        "fn g(n: int) { }\nfn f(x: int | nil) { if x == nil || g(x) { } }",
        &[],
    );
}

#[test]
fn other_constructs() {
    at("int | nil", "while x != nil { % }", "int");
    at("int | nil", "while x != nil { }\n %", "int | nil");
    at("int | nil", "guard x != nil else { return }\n %", "int");
    at("int | nil", "guard x != nil else { % \n return }", "nil");
    infers_in(
        "fn f(x: int | nil) { let probe: never = x != nil ? x : 1 }",
        "int",
    );
    at("int | nil", "if x == nil { } else if c { % }", "int");
    at("int | nil", "let g = { -> if x != nil { % } }", "int");
}

#[test]
fn after_an_exit() {
    at("int | nil", "if x == nil { return }\n %", "int");
    at("int | nil", "if x == nil { throw 1 }\n %", "int");
    at("int | nil", "if x == nil { return } else { c }\n %", "int");
    at("int | nil", "if x != nil { c } else { return }\n %", "int");
    at("int | nil", "if x == nil { c }\n %", "int | nil");
    at(
        "int | nil",
        "for y in [1] { if x == nil { continue }\n % }",
        "int",
    );
    at(
        "int | nil",
        "if c { if x == nil { return }\n }\n %",
        "int | nil",
    );
    at(
        "int | string | nil",
        "if x == nil { return } else if type_of(x) == \"int\" { return }\n %",
        "string",
    );
    at(
        "int | nil",
        "if x == nil { if c { return } else { throw 1 } }\n %",
        "int",
    );
}

#[test]
fn match_arms() {
    at(
        "int | string | nil",
        "match x { nil -> { % }\n _ -> { } }",
        "nil",
    );
    at(
        "int | string | nil",
        "match x { 1 -> { % }\n _ -> { } }",
        "int",
    );
    at(
        "int | string | nil",
        "match x { 1 | \"a\" -> { % }\n _ -> { } }",
        "int | string",
    );
    at(
        "\"a\" | \"b\" | int",
        "match x { \"a\" -> { % }\n _ -> { } }",
        "\"a\"",
    );
    at("int | string", "match x { _ -> { % } }", "int | string");
    at("int | nil", "match x { y -> { % } }", "int | nil");
}

#[test]
fn assignment_ends_narrowing() {
    infers_in(
        "fn f() { var x: int | nil = 1\n if x != nil { x = nil\n let probe: never = x } }",
        "int | nil",
    );
    infers_in(
        "fn f() { var x: unknown = 1\n if type_of(x) == \"int\" { x = 2\n let probe: never = x } }",
        "unknown",
    );
}

#[test]
fn branches_do_not_leak() {
    at("int | nil", "if x != nil { }\n %", "int | nil");
    at("int | nil", "let y = x != nil ? 1 : 2\n %", "int | nil");
    at("int | nil", "let y = x != nil && c\n %", "int | nil");
}
