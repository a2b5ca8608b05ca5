//! 9.5: why a type does not satisfy an interface.

use crate::support::check;

#[track_caller]
fn reason(interface: &str, methods: &str, expected: &str) {
    let source = format!(
        "interface I {{ {interface} }}\nstruct S {{ }}\nimpl S {{ {methods} }}\n\
         fn f<T>(x: T) where T: I {{ }}\nf(S {{}})"
    );
    if expected.is_empty() {
        check(&source, &[]);
    } else {
        let message = format!(
            "error: Type 'S' does not satisfy interface 'I': {expected} (required by constraint \
             `where T: I`)"
        );
        check(&source, &[&message]);
    }
}

#[test]
fn methods() {
    reason("fn a()\nfn b()", "fn a(self) { }", "missing method 'b'");
    reason(
        "fn a(x: int)",
        "fn a(self) { }",
        "method 'a' has 0 parameter(s), expected 1",
    );
    reason("fn a(self, x: int)", "fn a(self, x: int) { }", "");
    reason(
        "fn a(x: int, y: string)",
        "fn a(self, x: int, y: int) { }",
        "method 'a' parameter 2 has type 'int', expected 'string'",
    );
    reason("fn a(x: int)", "fn a(self, x: float) { }", "");
    reason("fn a(x: int)", "fn a(self, x) { }", "");
    reason("fn a(x)", "fn a(self, x: int) { }", "");
    reason(
        "fn a() -> string",
        "fn a(self) -> int { return 1 }",
        "method 'a' returns 'int', expected 'string'",
    );
    reason("fn a() -> string", "fn a(self) { }", "");
    reason("fn a()", "fn a(self) -> int { return 1 }", "");
    reason(
        "fn a<T>(x: T) -> T",
        "fn a<U>(self, x: U) -> U { return x }",
        "",
    );
}

#[test]
fn associated_types() {
    reason(
        "type Item\nfn get() -> Item\nfn put(x: Item)",
        "fn get(self) -> int { return 1 }\nfn put(self, x: int) { }",
        "",
    );
    reason(
        "type Item\nfn get() -> Item\nfn put(x: Item)",
        "fn get(self) -> int { return 1 }\nfn put(self, x: string) { }",
        "type parameter 'Item' was inferred as both int and string",
    );
    reason(
        "type Item = int\nfn get() -> Item",
        "fn get(self) -> string { return \"\" }",
        "associated type 'Item' resolves to 'string', expected 'int'",
    );
    reason(
        "type Item = int\nfn get() -> Item",
        "fn get(self) -> int { return 1 }",
        "",
    );
}

#[test]
fn without_an_impl_every_method_is_missing() {
    check(
        "interface I { fn a() fn b() }\nstruct S { }\nfn f(x: I) { }\nf(S {})\nlet i: I = S {}",
        &[
            "error: Argument 1 ('x'): expected I, got S",
            "error: 'i' declared as I, but assigned S",
        ],
    );
    check(
        "interface E { }\nstruct S { }\nfn f(x: E) { }\nf(S {})",
        &[],
    );
}

#[test]
fn interfaces_may_speak_of_themselves() {
    check(
        "interface Node { type Item\n fn next() -> Node\n fn a() -> Item\n fn b() -> Item }\n\
         struct S { }\n\
         impl S { fn next(self) -> S { return self }\n fn a(self) -> Node { return self }\n\
         fn b(self) -> S { return self } }\n\
         fn f(x: Node) { }\nf(S {})",
        &["error: Argument 1 ('x'): expected Node, got S"],
    );
    check(
        "interface Node { fn next() -> Node }\nstruct S { }\n\
         impl S { fn next(self) -> S { return self } }\nfn f(x: Node) { }\nf(S {})",
        &[],
    );
}

#[test]
fn interfaces_with_parameters() {
    let declared = "interface Get<T> { fn get() -> T }\nstruct S { }\n\
                    impl S { fn get(self) -> int { return 1 } }\n";
    check(
        &format!("{declared}fn f(x: Get<int>, y: Get) {{ }}\nf(S {{}}, S {{}})"),
        &[],
    );
    check(
        &format!("{declared}fn f(x: Get<string>) {{ }}\nf(S {{}})"),
        &["error: Argument 1 ('x'): expected Get<string>, got S"],
    );
}
