//! Rules about variables and what is unused.

use super::{finds, fixes, leaves, says, silent};

#[test]
fn mutable_never_reassigned() {
    const RULE: &str = "mutable-never-reassigned";
    fixes(RULE, "var x = 1\nf(x)", "let x = 1\nf(x)");
    fixes(
        RULE,
        "var {a, b} = f()\ng(a, b)",
        "let {a, b} = f()\ng(a, b)",
    );
    finds(
        RULE,
        "fn f() {\n  var x = 1\n  return x\n}\n\nvar y = f()\ny = 2",
        &["2:7"],
    );
    says(
        RULE,
        "var [a, b] = f()\ng(a, b)",
        "`a`, `b` are never reassigned",
    );
    silent(RULE, "var x = 1\nx = 2");
    silent(RULE, "var x = {}\nx.a.b[0] = 2");
    silent(RULE, "var x = 1\nx += 1");
    silent(RULE, "var {a, b} = f()\nb = 1\ng(a)");
    silent(RULE, "var x = 1\nlet f = { -> x = 2 }");
    silent(RULE, "var n = 0\n\nfn f() {\n  n = n + 1\n}");
    silent(RULE, "fn f() {\n  n = n + 1\n}\n\nvar n = 0");
    // Twice in one scope: as two `let`s it would be refused.
    silent(RULE, "var x = 1\nvar x = 2\nf(x)");
    silent(RULE, "fn f(x) {\n  var x = x ?? 1\n  return x\n}");
    // A pipeline sees the variables of the one it extends.
    silent(
        RULE,
        "pipeline a(t) {\n  var n = 1\n}\n\npipeline b(t) extends a {\n  n = 2\n}",
    );
    finds(RULE, "var x = 1\nfor x in xs {\n  x = 2\n}", &["1:5"]);
}

#[test]
fn shadow_variable() {
    const RULE: &str = "shadow-variable";
    finds(RULE, "let x = 1\nif a {\n  let x = 2\n  f(x)\n}", &["3:7"]);
    finds(
        RULE,
        "fn f(x) {\n  for x in x {\n    g(x)\n  }\n}",
        &["2:7"],
    );
    finds(RULE, "let x = 1\nlet f = { x -> x }", &["2:11"]);
    finds(
        RULE,
        "fn f(e) {\n  try { g() } catch (e) { g(e) }\n}",
        &["2:22"],
    );
    finds(
        RULE,
        "fn f(x) {\n  match y {\n    x -> { g(x) }\n  }\n}",
        &["3:5"],
    );
    silent(
        RULE,
        "let x = 1\n\nfn f(x) {\n  let y = x\n  return y + 1\n}",
    );
    silent(RULE, "let x = xs.map({ x -> x + 1 })");
    silent(
        RULE,
        "if a {\n  let x = 1\n  f(x)\n} else {\n  let x = 2\n  f(x)\n}",
    );
    silent(RULE, "let _x = 1\nif a {\n  let _x = 2\n  f(_x)\n}");
    silent(RULE, "if a {\n  let x = 1\n  f(x)\n}\nlet x = 2");
    silent(
        RULE,
        "let x = 1\nlet y = match z {\n  E.A(w) -> { w }\n  x2 -> { x2 }\n}",
    );
}

#[test]
fn unused_function() {
    const RULE: &str = "unused-function";
    finds(
        RULE,
        "pub fn f() {\n  return 1\n}\n\nfn g() {\n  return 1\n}",
        &["5:4"],
    );
    finds(
        RULE,
        "fn f() {\n  return f()\n}\n\npipeline main(t) {\n  g()\n}",
        &["1:4"],
    );
    finds(
        RULE,
        "fn f() {\n  fn g() {\n    return 1\n  }\n  return 1\n}",
        &["2:6"],
    );
    // A module without `pub` exports everything.
    silent(RULE, "fn f() {\n  return 1\n}\n\nlet x = 1");
    silent(
        RULE,
        "pub fn f() {\n  return g\n}\n\nfn g() {\n  return 1\n}",
    );
    silent(
        RULE,
        "pub fn f() {\n  return \"${g()}\"\n}\n\nfn g() {\n  return 1\n}",
    );
    silent(
        RULE,
        "pub fn f(x) {\n  return x |> \"g\"\n}\n\nfn g() {\n  return 1\n}",
    );
    silent(
        RULE,
        "pub fn f() {\n  return 1\n}\n\n@acp_tool(name: \"g\")\nfn g() {\n  return 1\n}",
    );
    silent(
        RULE,
        "pub fn f() {\n  return 1\n}\n\nfn _g() {\n  return 1\n}",
    );
    silent(
        RULE,
        "pipeline test_a(t) {\n  xs.map(double)\n}\n\nfn double(x) {\n  return x * 2\n}",
    );
}

#[test]
fn unused_type() {
    const RULE: &str = "unused-type";
    finds(RULE, "struct A { next: A }\nf()", &["1:8"]);
    finds(
        RULE,
        "type A = int\ninterface B { fn b() }\nenum C { D }\nf()",
        &["1:6", "2:11", "3:6"],
    );
    finds(
        RULE,
        "pub struct A { x: int }\nstruct B { x: int }\nlet y = 1",
        &["2:8"],
    );
    silent(RULE, "type A = int\n\npub fn f() {\n  return 1\n}");
    silent(RULE, "struct A { x: int }\nlet y = 1");
    silent(RULE, "enum A { B }\nf(A.B)");
    silent(RULE, "enum A { B }\nmatch f() { A.B -> { g() } }");
    silent(RULE, "struct A { x: int }\nf(A {x: 1})");
    silent(RULE, "type A = int\nlet x: list<A> = []");
    silent(
        RULE,
        "interface A { fn b() }\n\nfn f<T>(x: T) where T: A {\n  return x\n}\n\nf(1)",
    );
    silent(
        RULE,
        "type A = int\nllm_call(\"p\", nil, {output_schema: A})",
    );
    silent(RULE, "enum A { B }\ntry { f() } catch (e: A) { g(e) }");
}

#[test]
fn unused_import() {
    const RULE: &str = "unused-import";
    fixes(
        RULE,
        "import { a, b, c } from \"m\"\nf(a, c)",
        "import { a, c } from \"m\"\nf(a, c)",
    );
    fixes(
        RULE,
        "import { a, b } from \"m\"\nf(a)",
        "import { a } from \"m\"\nf(a)",
    );
    fixes(RULE, "import { a } from \"m\"\nf()", "f()");
    fixes(RULE, "import { a } from \"m\";\nf()", "f()");
    fixes(RULE, "import { a } from \"m\"; f()", " f()");
    finds(RULE, "import { a, b } from \"m\"\nf()", &["1:10", "1:13"]);
    leaves(RULE, "import { a, /* for later */ b } from \"m\"\nf(a)");
    silent(RULE, "import \"m\"\nf()");
    silent(RULE, "pub import { a } from \"m\"\nf()");
    silent(
        RULE,
        "import { A, B, c } from \"m\"\nlet x: A = B {x: 1}\nf(\"${c}\")",
    );
    silent(RULE, "import { a } from \"m\"\nlet x = 1 |> a");
}

#[test]
fn unused_parameter() {
    const RULE: &str = "unused-parameter";
    fixes(
        RULE,
        "fn f(a, b) {\n  return a\n}",
        "fn f(a, _b) {\n  return a\n}",
    );
    finds(RULE, "fn f(...rest) {\n  return 1\n}", &["1:9"]);
    leaves(
        RULE,
        "tool t(a: int, b: int) -> int {\n  description \"d\"\n  a\n}",
    );
    silent(RULE, "fn f(a, b = a) {\n  return b\n}");
    silent(RULE, "fn f(a) {\n  return { -> \"${a}\" }\n}");
    silent(RULE, "fn f(a) { }");
    silent(RULE, "fn f(_a) {\n  return 1\n}");
    silent(RULE, "fn f(a, b) {\n  return a\n}\n\nxs.reduce(0, f)");
    silent(RULE, "@acp_skill\nfn f(a) {\n  return 1\n}");
    silent(RULE, "let f = { a, b -> a }\npipeline main(t) {\n  g()\n}");
    silent(RULE, "impl P {\n  fn m(self, a) {\n    return 1\n  }\n}");
    silent(RULE, "fn f(a) {\n  match a {\n    1 -> { g() }\n  }\n}");
}

#[test]
fn undefined_function() {
    const RULE: &str = "undefined-function";
    fixes(RULE, "prinln(1)", "println(1)");
    leaves(RULE, "no_such_function_at_all(1)");
    // `spawn` is close, but a word of the language.
    leaves(RULE, "spawns(1)");
    finds(
        RULE,
        "fn helper() {\n  return 1\n}\n\nhelpr()\n\"${helpr()}\"",
        &["5:1", "6:4"],
    );
    says(RULE, "printn(1)", "there is no function called `printn`");
    silent(RULE, "import { a } from \"m\"\na()");
    silent(RULE, "fn f(g) {\n  return g()\n}\n\nf(println)");
    silent(RULE, "Ok(1)\nErr(2)\nhostlib_x()\n__y()");
    silent(RULE, "struct P { x: int }\nP({x: 1})");
    silent(
        RULE,
        "tool t() { 1 }\nt()\npipeline main(t2) {\n  let k = { -> 1 }\n  k()\n}",
    );
}
