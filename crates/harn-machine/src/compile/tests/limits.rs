use harn_check::resolve::Role;

use super::{Entry, function};

#[track_caller]
fn check(text: &str, fits: bool) {
    let compiled = function(text, Role::Entry, Entry::Default);
    match compiled {
        Ok(_) => assert!(fits, "it should not fit"),
        Err(error) => {
            assert!(!fits, "{error}");
            assert_eq!(error.to_string(), "function is too large");
        }
    }
}

#[test]
fn large_literals_are_built_in_pieces() {
    let items = "1, ".repeat(10_000);
    check(&format!("log([{items}])"), true);
    let entries: String = (0..5_000).map(|at| format!("k{at}: 1, ")).collect();
    check(&format!("log({{{entries}}})"), true);
    let segments = "${1} ".repeat(5_000);
    check(&format!("log(\"{segments}\")"), true);
    check(&format!("log({items})"), true);
    let sum = "1 + ".repeat(10_000);
    check(&format!("log({sum} 1)"), true);
}

#[test]
fn what_does_not_fit_is_said() {
    let statements = "log(1)\n".repeat(17_000);
    check(&statements, true);
    check(&format!("for x in [1] {{ {statements} }}"), false);
    let bindings: String = (0..61_000).map(|at| format!("let a{at} = 1\n")).collect();
    check(&bindings, false);
    let fields = "argv.x\n".repeat(66_000);
    check(&fields, false);
}

#[test]
fn many_functions_and_handlers_take_linear_time() {
    let functions: String = (0..2_000)
        .map(|at| format!("fn f{at}() {{ return f{}() }}\n", at + 1))
        .collect();
    check(&format!("fn outer() {{ {functions} }}"), true);
    check(&"try { log(1) } catch (e) { log(e) }\n".repeat(3_000), true);
}

/// The tree is bounded by the parser, and so is the depth of what compiles it.
#[test]
fn deeply_nested_programs_do_not_overflow_the_stack() {
    let depth = harn_syntax::NESTING_MAX / 4;
    for (open, close) in [
        ("if true { ", " }"),
        ("let f = { -> ", " }"),
        ("log([", "])"),
        ("try { ", " } finally { log(1) }"),
        ("match 1 { _ -> { ", " } }"),
    ] {
        let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        check(&text, true);
    }
}
