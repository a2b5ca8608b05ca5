//! 9.2: the types of expressions.

use crate::support::{check, infers, infers_in};

#[test]
fn literals() {
    infers("", "1", "int");
    infers("", "1.5", "float");
    infers("", "true", "bool");
    infers("", "nil", "nil");
    infers("", "\"a\"", "string");
    infers("", "\"a ${1} b\"", "string");
    infers("", "r\"a\"", "");
    infers("", "5ms", "");
    infers("", "1 to 3", "range");
}

#[test]
fn lists() {
    infers("", "[]", "list");
    infers("", "[1, 2]", "list<int>");
    infers("", "[1, \"a\", 2]", "list<int | string>");
    infers("", "[[1], [2]]", "list<list<int>>");
    infers("", "[1, r\"x\"]", "list");
    infers("", "[1, ...[2]]", "list");
}

#[test]
fn dicts() {
    infers("", "{}", "dict");
    infers("", "{a: 1, \"b\": \"x\"}", "{a: int, b: string}");
    infers("", "{a: r\"x\"}", "{a: _}");
    infers("let d = {a: r\"x\"}", "d.a", "");
    infers("let k = \"k\"", "{[k]: 1}", "dict");
    infers("let d = {a: 1}", "{...d, b: 1}", "dict");
}

#[test]
fn closures() {
    infers("", "{ x: int -> 1 }", "fn(int) -> int");
    infers(
        "",
        "fn(x: int, y: string) { nil }",
        "fn(int, string) -> nil",
    );
    infers("", "{ x: int -> x + 1 }", "closure");
    infers("", "{ x -> 1 }", "closure");
    infers("", "{ -> 1 }", "closure");
    infers("", "fn(x: int) { return 1 }", "fn(int) -> never");
    infers("let n = 1", "{ x: int -> n }", "fn(int) -> int");
    infers("let n = 1", "fn(x: int) { let n = 2\n n }", "closure");
}

#[test]
fn names() {
    infers("let n = 1", "n", "int");
    infers("", "body", "fn() -> nil");
    infers("", "println", "");
    infers("", "nowhere", "");
    infers_in(
        "fn add(a: int, b) -> int { return 1 }\nfn g() { let probe: never = add }",
        "fn(int, _) -> int",
    );
}

#[test]
fn calls_of_functions() {
    let call = |declaration: &str, call: &str, expected: &str| {
        let source = format!("{declaration}\nfn g() {{ let probe: never = {call} }}");
        infers_in(&source, expected);
    };
    call("fn f() -> int { return 1 }", "f()", "int");
    call("fn f() { return 1 }", "f()", "");
    call("fn f<T>(x: T) -> T { return x }", "f(1)", "int");
    call(
        "fn f<T>(x: T) -> list<T> { return [x] }",
        "f(\"a\")",
        "list<string>",
    );
    call("fn f<T>() -> T { return nil }", "f()", "");
    call("fn f<T>() -> list<T> { return [] }", "f()", "list<_>");
    call("fn f<T>() -> T { return nil }", "f<int>()", "int");
    call("fn f() { yield 1 }", "f()", "Generator<any>");
    call("fn f() { let g = { -> yield 1 } }", "f()", "");
    call("gen fn f() { emit 1 }", "f()", "Stream<any>");
    call("gen fn f() -> Stream<int> { emit 1 }", "f()", "Stream<int>");
}

#[test]
fn functions_of_inner_scopes() {
    infers("fn f() -> int { return 1 }", "f()", "int");
    infers("let f = { -> 1 }", "f()", "");
    check(
        "fn f() -> int { return 1 }\nfn g() { let f = { -> \"a\" }\n let s: string = f() }",
        &[],
    );
}

#[test]
fn structs_and_enums() {
    let declared = "struct P { x: int }\nstruct Box<T> { v: T, n?: int }\n\
                    enum Color { Red, Green }\nenum Opt<T> { Some(v: T), None }\n";
    let value = |expression: &str, expected: &str| {
        let source = format!("{declared}fn g() {{ let probe: never = {expression} }}");
        infers_in(&source, expected);
    };
    value("P { x: 1 }", "P");
    value("P({x: 1})", "P");
    value("Box { v: 1 }", "Box<int>");
    value("Box({v: 1})", "Box<_>");
    value("Color.Red", "Color");
    value("Color.Red.variant", "string");
    value("Color.Red.fields", "");
    value("Opt.Some(1)", "Opt<int>");
    value("Opt.None", "Opt<_>");
    value("P { x: 1 }.x", "");
    value("Ok(1)", "Result<int, _>");
    value("Err(\"a\")", "Result<_, string>");
    value("Result.Ok(1)", "Result<int, _>");
    value("Result.Err(nil)", "Result<_, nil>");
}

#[test]
fn builtins() {
    infers("", "trim(\"a\")", "string");
    infers("", "env(\"a\")", "string | nil");
    infers("", "len([])", "");
    infers("", "unreachable()", "");
    infers("", "stream.collect([1])", "list");
    infers("", "stream.map([1], { x -> x })", "");
    infers("", "event_log.latest(\"t\")", "int | nil");
}

#[test]
fn generic_builtins() {
    let alias = "type P = {x: int}\n";
    let value = |expression: &str, expected: &str| {
        let source = format!("{alias}fn g(v) {{ let probe: never = {expression} }}");
        infers_in(&source, expected);
    };
    value("schema_of(P)", "Schema<{x: int}>");
    value("schema_parse(v, P)", "Result<{x: int}, string>");
    value("schema_check(v, P)", "Result<{x: int}, string>");
    value("schema_expect(v, P)", "{x: int}");
    value("schema_expect(v, schema_of(P))", "{x: int}");
    value("schema_expect(v, v)", "");
    value("schema_expect<int>(v)", "int");
    value("llm_call_structured(\"p\", P)", "{x: int}");
    value(
        "llm_call(\"p\", \"s\", {output_schema: P}).data",
        "{x: int}",
    );
    value("llm_call(\"p\", \"s\", {output_schema: P}).text", "string");
    value("llm_call(\"p\")", "dict");
    value(
        "llm_call_structured_result(\"p\", P).data",
        "{x: int} | nil",
    );
    value(
        "llm_call_structured_result(\"p\", P).usage.input_tokens",
        "int",
    );
    value("ask_user(\"q\", {schema: P})", "{x: int}");
    value("ask_user(\"q\", {default: 1})", "int");
    value("ask_user(\"q\")", "");
    value("dual_control(1, 2, { x: int -> \"a\" }, [])", "string");
    value("request_approval(\"a\").reason", "string | nil");
    value("escalate_to(\"a\").accepted_at", "string | nil");
    value("hitl_pending()", "list<HitlPendingRequest>");
    value("project_fingerprint(\".\").ci", "list<string>");
    value("handler_context()", "HandlerContext | nil");
    value("trigger_list()", "list<TriggerBinding>");
    value("trigger_inspect_lifecycle()", "list<dict>");
    value("trust_graph_query({})", "TrustScore");
}

#[test]
fn schema_literals() {
    let value = |schema: &str, expected: &str| {
        let source = format!("fn g(v) {{ let probe: never = schema_expect(v, {schema}) }}");
        infers_in(&source, expected);
    };
    value("{type: \"string\"}", "string");
    value("{type: \"object\"}", "dict");
    value("{type: \"array\"}", "list");
    value("{type: \"integer\"}", "int");
    value("{type: \"number\"}", "float");
    value("{type: \"boolean\"}", "bool");
    value("{type: \"null\"}", "nil");
    value("{type: [\"string\", \"null\"]}", "string | nil");
    value("{type: \"int\", nullable: true}", "int | nil");
    value("{type: \"list\", items: {type: \"int\"}}", "list<int>");
    value("{union: [{type: \"int\"}, {type: \"nil\"}]}", "int | nil");
    value("{oneOf: [{type: \"int\"}]}", "int");
    value(
        "{type: \"dict\", properties: {a: {type: \"int\"}, b: {type: \"string\"}}, required: [\"a\"]}",
        "{a: int, b?: string}",
    );
    value(
        "{type: \"dict\", additional_properties: {type: \"int\"}}",
        "dict<string, int>",
    );
    value("{minimum: 1}", "");
    infers_in(
        "fn g(v) { let s = {type: \"int\"}\n let probe: never = schema_expect(v, s) }",
        "int",
    );
}

#[test]
fn operators() {
    for op in ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "in", "not in"] {
        infers("", &format!("1 {op} 2"), "bool");
    }
    infers("", "!1", "bool");
    infers("", "1 + 2", "int");
    infers("", "1 + 2.0", "float");
    infers("", "\"a\" + \"b\"", "string");
    infers("let a = []", "a + a", "list");
    infers("let a = {}", "a + a", "dict");
    infers("", "[1] + [2]", "");
    infers("", "r\"a\" + 1", "");
    infers("", "3 - 1", "int");
    infers("", "3 / 1.0", "float");
    infers("", "3 % 2 ** 2", "int");
    infers("", "\"a\" * 3", "string");
    infers("", "2 * 3", "int");
    infers("", "2.0 * 3", "float");
    infers("", "-1", "int");
    infers("", "1 + 2 - 3.0", "float");
}

#[test]
fn coalescing() {
    infers_in("fn f(a: int | nil) { let probe: never = a ?? 1 }", "int");
    infers_in(
        "fn f(a: int | string | nil) { let probe: never = a ?? 1 }",
        "int | string",
    );
    infers("", "nil ?? \"a\"", "string");
    infers("", "r\"x\" ?? \"a\"", "string");
    infers("", "1 ?? \"a\"", "int");
}

#[test]
fn choices() {
    infers("let c = true", "c ? 1 : 2", "int");
    infers("let c = true", "c ? 1 : \"a\"", "int | string");
    infers("let c = true", "c ? 1 : r\"x\"", "int");
    infers_in(
        "fn f(x: int | nil) { let probe: never = x != nil ? x : 0 }",
        "int",
    );
    infers("let c = true", "if c { 1 } else { 2 }", "int");
    infers("let c = true", "if c { 1 } else { \"a\" }", "int | string");
    infers("let c = true", "if c { 1 }", "int");
    infers("let c = true", "if c { r\"x\" } else { 1 }", "");
    infers("let c = true", "if c { 1 } else { r\"x\" }", "int");
    infers("let c = true", "if c { 1 } else { throw \"x\" }", "int");
    infers(
        "let c = true",
        "if c { 1 } else if c { \"a\" } else { nil }",
        "int | string | nil",
    );
    infers("let c = true", "if c { let n = 1\n n } else { 1 }", "");
}

#[test]
fn members_and_subscripts() {
    infers("let s = {a: 1, b: {c: \"x\"}}", "s.a", "int");
    infers("let s = {a: 1, b: {c: \"x\"}}", "s.b.c", "string");
    infers("let s = {a: 1}", "s.z", "");
    infers("let s = {a: 1}", "s?.a", "");
    infers("let s = {a: 1}", "s[\"a\"]", "int");
    infers("let s = {a: 1}", "s?[\"a\"]", "");
    infers("let k = \"a\"\nlet s = {a: 1}", "s[k]", "");
    infers("let xs = [1]", "xs[0]", "int");
    infers("let xs = []", "xs[0]", "");
    infers("let xs = [1]", "xs[0:1]", "list<int>");
    infers("let s = \"abc\"", "s[0]", "string");
    infers("let s = \"abc\"", "s[:2]", "string");
    infers_in(
        "fn f(d: dict<string, int>) { let probe: never = d[\"a\"] }",
        "int",
    );
    infers_in("fn f(d: dict<string, int>) { let probe: never = d.a }", "");
    infers_in(
        "fn f(d: dict<string, int>) { for (k, v) in d.iter() { let probe: never = v } }",
        "int",
    );
    infers_in(
        "type A = {x: int}\nfn f(a: A) { let probe: never = a.x }",
        "",
    );
    infers_in("fn f(a: {x?: int}) { let probe: never = a.x }", "int");
}

#[test]
fn tries() {
    infers("", "try { 1 }", "Result<int, _>");
    infers("", "try { r\"x\" }", "Result<_, _>");
    infers("", "try { throw \"x\" }", "Result<never, string>");
    infers(
        "let c = 1",
        "try { if c { throw \"x\" }\n 1 }",
        "Result<int, string>",
    );
    infers(
        "let c = 1",
        "try { if c { throw \"x\" } else if c { throw 1 }\n while c { throw nil }\n 1 }",
        "Result<int, string | int | nil>",
    );
    infers(
        "",
        "try { for x in [1] { throw \"x\" }\n 1 }",
        "Result<int, _>",
    );
    infers(
        "",
        "try { let x = try { throw \"x\" }\n 1 }",
        "Result<int, _>",
    );
    infers("", "try { Ok(1) }", "Result<int, _>");
    infers(
        "",
        "try { if 1 { throw \"x\" }\n Ok(1) }",
        "Result<int, string>",
    );
    infers_in(
        "fn f(r: Result<int, string>) { let probe: never = try { r?\n 1 } }",
        "Result<int, string>",
    );
    infers_in(
        "fn f(r: Result<int, string>) { let probe: never = r? }",
        "int",
    );
    infers("let r = Err(1)", "r?", "");
    infers("", "try* 1", "int");
    infers("", "try { 1 } catch { 2 }", "");
    infers("", "try { 1 } finally { 2 }", "");
}

#[test]
fn concurrency_and_the_rest() {
    infers("", "parallel 3 { i -> 1 }", "list<int>");
    infers("", "parallel 3 { i -> i }", "list");
    infers("", "parallel each [1] { x -> \"a\" }", "list<string>");
    infers(
        "",
        "parallel each [1] { x -> \"a\" } as stream",
        "Stream<string>",
    );
    infers("", "parallel settle [1] { x -> 1 }", "dict");
    infers("", "match 1 { _ -> { 1 } }", "");
    infers("", "1 |> { x: int -> 1 }", "");
    infers("", "spawn { 1 }", "");
    infers("", "retry 3 { 1 }", "");
    infers("", "deadline 1s { 1 }", "");
}

#[test]
fn loop_variables() {
    let body = |signature: &str, header: &str, expected: &str| {
        let source = format!("fn f({signature}) {{ for {header} {{ let probe: never = x }} }}");
        infers_in(&source, expected);
    };
    body("", "x in [1, 2]", "int");
    body("", "x in [{a: 1}]", "{a: int}");
    body("", "x in 1 to 3", "int");
    body("", "x in \"abc\"", "string");
    body("", "x in r\"abc\"", "");
    body("it: iter<string>", "x in it", "string");
    body("it: Iter<string>", "x in it", "string");
    body("it: Generator<bool>", "x in it", "bool");
    body("it: generator<bool>", "x in it", "bool");
    body("it: Stream<bool>", "x in it", "bool");
    body("", "{x} in [{x: 1}]", "");
    body(
        "xs: list<string>",
        "(i, x) in xs.iter().enumerate()",
        "string",
    );
    body("", "(i, x) in r\"x\"", "");
    infers_in("fn f() { parallel 3 { i -> let probe: never = i } }", "int");
    infers_in(
        "fn f() { parallel each [\"a\"] { i -> let probe: never = i } }",
        "string",
    );
    infers_in(
        "fn f() { try { 1 } catch (e: string) { let probe: never = e } }",
        "string",
    );
    infers_in(
        "fn f() { try { 1 } catch (e) { let probe: never = e } }",
        "",
    );
    infers_in(
        "fn f(a, b: int = 1, ...c: list) { let probe: never = b }",
        "int",
    );
    infers_in("fn f(x: {a: 1}) { let {a} = x\n let probe: never = a }", "");
}
