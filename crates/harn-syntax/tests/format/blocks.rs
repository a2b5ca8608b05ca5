//! What stands in braces.

use super::{check, check_body, check_value, check_width};

#[test]
fn a_closure_with_one_simple_expression_is_on_one_line() {
    check_value("{x->x*2}", "{ x -> x * 2 }");
    check_value("{ x ->\n x * 2\n}", "{ x -> x * 2 }");
    check_value("{->e}", "{ -> e }");
    check_value("{a,b=1,c:int=2->a}", "{ a, b = 1, c: int = 2 -> a }");
    check_value("fn(x){x+1}", "fn(x) { x + 1 }");
    check_value("fn( ){ 1 }", "fn() { 1 }");
    check_value("{ x -> {a: x} }", "{ x -> {a: x} }");
    check_value("{ x -> }", "{ x -> }");
    check_value("{ -> }", "{ -> }");
    check_value("fn(x) { }", "fn(x) {}");
}

#[test]
fn a_match_arm_with_one_simple_expression_is_on_one_line() {
    check_body(
        "match x { 1->{\"one\"} 2|3 if y->{ z } _->{ } }",
        "match x {\n  1 -> { \"one\" }\n  2 | 3 if y -> { z }\n  _ -> {}\n}",
    );
    check_body("match x { }", "match x {}");
}

#[test]
fn otherwise_it_is_a_block() {
    check_value("{ x -> a(); b() }", "{ x ->\n  a()\n  b()\n}");
    check_value("{ x -> return x }", "{ x ->\n  return x\n}");
    check_value("{ x -> if x { 1 } }", "{ x ->\n  if x {\n    1\n  }\n}");
    check_value("fn(x) { let y = x }", "fn(x) {\n  let y = x\n}");
    check_width(
        20,
        "let f = { xxx -> yyyyyy }",
        "let f = { xxx ->\n  yyyyyy\n}\n",
    );
    check_body(
        "match x { _ -> { throw y } }",
        "match x {\n  _ -> {\n    throw y\n  }\n}",
    );
    check_body("spawn { a }", "spawn {\n  a\n}");
    check_value("if a { b } else { c }", "if a {\n  b\n} else {\n  c\n}");
}

#[test]
fn empty_catch_and_finally_blocks_are_kept() {
    check_body(
        "try { a() } catch (e) { } finally { }",
        "try {\n  a()\n} catch (e) {} finally {}",
    );
    check_body("try { a() } catch { }", "try {\n  a()\n} catch {}");
}

#[test]
fn every_statement_has_its_form() {
    check_body("let x:int=1", "let x: int = 1");
    check_body("var {a,b:c=1,...d}=e", "var {a, b: c = 1, ...d} = e");
    check_body("let [a,b=1,...c]=d", "let [a, b = 1, ...c] = d");
    check_body("a.b[0]+=1", "a.b[0] += 1");
    check_body("for(k,v)in d{f()}", "for (k, v) in d {\n  f()\n}");
    check_body(
        "for {a} in 0 to 9 exclusive{f()}",
        "for {a} in 0 to 9 exclusive {\n  f()\n}",
    );
    check_body("guard a else{return}", "guard a else {\n  return\n}");
    check_body("require a,\"m\"", "require a, \"m\"");
    check_body("mutex{a()}", "mutex {\n  a()\n}");
    check_body("defer{a()}", "defer {\n  a()\n}");
    check_body("throw{a:1}", "throw {a: 1}");
    check_body("yield\nemit a", "yield\nemit a");
    check_body(
        "while a{break\ncontinue}",
        "while a {\n  break\n  continue\n}",
    );
    check_body(
        "select{a from b{c()} timeout 5s{d()}}",
        "select {\n  a from b {\n    c()\n  }\n  timeout 5s {\n    d()\n  }\n}",
    );
    check_body(
        "select{default{d()}}",
        "select {\n  default {\n    d()\n  }\n}",
    );
    check_body(
        "parallel each xs with{max_concurrent:2}{x->f(x)} as stream",
        "parallel each xs with { max_concurrent: 2 } { x ->\n  f(x)\n} as stream",
    );
    check_body("parallel 3{f()}", "parallel 3 {\n  f()\n}");
}

#[test]
fn every_declaration_has_its_form() {
    check(
        "@test @a(x:1,[\"b\",-2,])\npub  pipeline p(a,b)->int extends q{f()}",
        "@test\n@a(x: 1, [\"b\", -2])\npub pipeline p(a, b) -> int extends q {\n  f()\n}\n",
    );
    check(
        "pub gen fn f<T,in U,out V>(a:T)->[T] where T:A,U:B{yield a}",
        "pub gen fn f<T, in U, out V>(a: T) -> [T] where T: A, U: B {\n  yield a\n}\n",
    );
    check("override o(a){f()}", "override o(a) {\n  f()\n}\n");
    check(
        "tool t(a:int)->string{description \"d\"\nf()}",
        "tool t(a: int) -> string {\n  description \"d\"\n  f()\n}\n",
    );
    check(
        "skill s{name \"n\"\nrun f}",
        "skill s {\n  name \"n\"\n  run f\n}\n",
    );
    check(
        "eval_pack e \"id\"{a:1\nf()\nsummarize{g()}}",
        "eval_pack e \"id\" {\n  a: 1\n  f()\n  summarize {\n    g()\n  }\n}\n",
    );
    check("eval_pack \"id\"{}", "eval_pack \"id\" {}\n");
    check(
        "struct S<T>{a:T b?:int,c}",
        "struct S<T> {\n  a: T,\n  b?: int,\n  c,\n}\n",
    );
    check(
        "enum E{A,B(x:int)C()}",
        "enum E {\n  A,\n  B(x: int),\n  C(),\n}\n",
    );
    check(
        "type T<A> =fn(A,int)->{a:A,if?:\"x\"}|-1|nil|true",
        "type T<A> = fn(A, int) -> {a: A, if?: \"x\"} | -1 | nil | true\n",
    );
    check(
        "interface I{type T type U=int fn f<A>(a:A)->T}",
        "interface I {\n  type T\n  type U = int\n  fn f<A>(a: A) -> T\n}\n",
    );
    check(
        "impl S{fn a(self){1} pub fn b(self){2}}",
        "impl S {\n  fn a(self) {\n    1\n  }\n  pub fn b(self) {\n    2\n  }\n}\n",
    );
    check("struct S{}", "struct S {}\n");
}

/// 2.1: what a statement begins with does not continue the one before it.
#[test]
fn statements_may_begin_with_signs() {
    check_body("a; -b; [c]; {d: 1}; !e", "a\n-b\n[c]\n{d: 1}\n!e");
    check_body("a; (b + c).d()", "a\n(b + c).d()");
    check_body("yield; a; return; b", "yield\na\nreturn\nb");
}
