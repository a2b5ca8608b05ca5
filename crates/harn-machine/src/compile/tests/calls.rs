use harn_check::resolve::Role;

use super::{Entry, check, check_lines, check_main, function, listing};
use crate::code::disassemble;

#[test]
fn a_function_calls_itself_by_its_global() {
    check(
        "fn f(n) { if n < 2 { return n }; return f(n - 1) + f(n - 2) }",
        &[
            "0 JumpNotLessInt r0 2 -> 2",
            "1 Return r0",
            "2 SubtractInt r2 = r0 1",
            "3 CallGlobal r2 = r2:1 g8",
            "4 SubtractInt r3 = r0* 2",
            "5 CallGlobal r3 = r3:1 g8",
            "6 Add r1 = r2* r3*",
            "7 Return r1",
        ],
    );
}

/// 13.1: who asks a generator for values waits for its frame.
#[test]
fn generators_keep_their_frame_for_calls_that_are_returned() {
    check(
        "fn f(n) { yield n; return f(n) }",
        &[
            "0 Yield r0",
            "1 Move r1 = r0*",
            "2 CallGlobal r1 = r1:1 g8",
            "3 Return r1",
        ],
    );
    check(
        "fn f(g) { yield 1; return 1 |> g }",
        &[
            "0 LoadInt r1 = 1",
            "1 Yield r1",
            "2 LoadInt r2 = 1",
            "3 Pipe r1 = r2 r0",
            "4 Return r1",
        ],
    );
}

/// 6.11: the call reuses the frame.
#[test]
fn calls_that_are_returned_give_up_the_frame() {
    check(
        "fn f(n) { return f(n) }",
        &["0 Move r1 = r0*", "1 TailCallGlobal r1:1 g8"],
    );
    check(
        "fn f(g) { return 1 |> g }",
        &[
            "0 LoadInt r2 = 1",
            "1 Move r4 = r2*",
            "2 Move r3 = r0*",
            "3 JumpUnlessCallable r3 -> 5",
            "4 TailCall r4:1 r3",
            "5 Pipe r1 = r4 r3",
            "6 Return r1",
        ],
    );
    check(
        "fn f(n) { try { return f(n) } finally { n } }",
        &[
            "0 Move r3 = r0",
            "1 CallGlobal r3 = r3:1 g8",
            "2 Move r2 = r3*",
            "3 LoadInt r1 = 2",
            "4 Jump -> 8",
            "5 LoadInt r1 = 0",
            "6 Jump -> 8",
            "7 LoadInt r1 = 1",
            "8 Move r3 = r0*",
            "9 JumpEqualInt r1 0 -> 13",
            "10 JumpNotEqualInt r1 2 -> 12",
            "11 Return r2",
            "12 Rethrow r2",
            "13 ReturnNil",
            "0..2 -> 7 r2",
        ],
    );
}

/// 4.4: a variable that is no function does not hide a builtin.
#[test]
fn a_call_tries_its_places_in_order() {
    check(
        "fn f(len) { return [len(1)] }",
        &[
            "0 LoadInt r1 = 1",
            "1 JumpUnlessCallable r0 -> 4",
            "2 Call r1 = r1:1 r0",
            "3 Jump -> 5",
            "4 CallBuiltin r1 = r1:1 len",
            "5 NewList r1 = r1:1 1",
            "6 Return r1",
        ],
    );
}

/// A function that is declared later may not be there yet. If nothing else can be meant, the
/// call itself notices that.
#[test]
fn only_what_may_be_missing_is_asked_for() {
    let alone = [
        "0 CallGlobal r0 = r0:0 g9",
        "1 NewList r0 = r0:1 1",
        "2 Return r0",
    ];
    check("fn f() { return [g()] }\nfn g() { }", &alone);
    check("fn f() { return [g()] }\nlog(1)\nfn g() { }", &alone);
    check("fn f() { return [len()] }\nfn len() { }", &alone);
    check(
        "fn f() { return [len()] }\nlog(1)\nfn len() { }",
        &[
            "0 GetGlobal r1 = g9",
            "1 JumpUnlessCallable r1 -> 4",
            "2 Call r0 = r0:0 r1",
            "3 Jump -> 5",
            "4 CallBuiltin r0 = r0:0 len",
            "5 NewList r0 = r0:1 1",
            "6 Return r0",
        ],
    );
}

/// 4.4, 18.5: what could be meant is looked for when it fails.
#[test]
fn names_that_lead_nowhere_fail_when_they_are_used() {
    check(
        "fn f() { nothing_like_it }",
        &["0 Raise \"nothing_like_it\" /4", "1 ReturnNil"],
    );
    check(
        "fn f(counter) { countre }",
        &["0 Raise [countre, counter] /4", "1 ReturnNil"],
    );
}

/// 4.3: what a closure takes along it copies; what it assigns is a copy of its own.
#[test]
fn closures_take_values_along() {
    let code =
        listing("fn f() { var n = 1; let g = { -> n = n + 1 }; let h = { -> n }; return g }");
    let functions: Vec<&str> = code.split("\n\n").collect();
    check_lines(
        functions[2],
        &["0 GetCapture r0 = c0", "1 AddInt r0 = r0* 1", "2 ReturnNil"],
    );
    assert!(functions[2].contains("captures r0"), "{code}");
    check_lines(functions[3], &["0 GetCapture r0 = c0", "1 Return r0"]);
}

/// A function of a block that calls itself holds no reference to itself.
#[test]
fn functions_of_a_block_find_themselves_and_later_ones() {
    let code = listing("fn f() { fn a() { return a() }; return [a()] }");
    let functions: Vec<&str> = code.split("\n\n").collect();
    check_lines(
        functions[1],
        &[
            "0 MakeClosure r0 = f0",
            "1 Call r1 = r1:0 r0",
            "2 NewList r1 = r1:1 1",
            "3 Return r1",
        ],
    );
    check_lines(functions[2], &["0 GetSelf r1", "1 TailCall r0:0 r1"]);
    check(
        "fn f() { fn a() { return b() }; fn b() { return a() }; a() }",
        &[
            "0 MakeLate r1",
            "1 MakeClosure r0 = f0",
            "2 MakeClosure r2 = f1",
            "3 SetLate r1 r2",
            "4 Call r2 = r2:0 r0",
            "5 ReturnNil",
        ],
    );
}

/// 7.3: a default is used only if nothing was passed.
#[test]
fn parameters_have_defaults_and_checks() {
    check(
        "fn f(a: int, b: string = \"x\", ...rest) { }",
        &[
            "0 JumpIfPassed 1 -> 2",
            "1 LoadConstant r1 = \"x\"",
            "2 CheckParameter r0 'a'",
            "3 CheckParameter r1 'b'",
            "4 ReturnNil",
        ],
    );
    check("fn f(_, a) { return a }", &["0 Return r1"]);
}

/// 7.5: pipelines that extend each other are one function.
#[test]
fn the_entry_is_the_default_pipeline_after_its_parents() {
    let text = "pipeline base() { let a = 1 }\npipeline default() extends base { a }\nlet n = 2";
    let main = function(text, Role::Entry, Entry::Default).expect("it is small");
    let shown = disassemble(&main);
    let functions: Vec<&str> = shown.split("\n\n").collect();
    check_lines(
        functions[0],
        &["0 LoadInt r0 = 2", "1 MakeClosure r1 = f0", "2 Return r1"],
    );
    check_lines(functions[1], &["0 LoadInt r0 = 1", "1 Return r0"]);
    assert!(functions[1].starts_with("f0 pipeline()"), "{shown}");
    let named = function(text, Role::Entry, Entry::Pipeline("base")).expect("it is small");
    assert_eq!(named.functions[0].code.len(), 2);
    let other = function(text, Role::Entry, Entry::Pipeline("other"));
    assert!(other.is_err());
}

/// 11.5: the variables of an imported file are shared. While one is changed, nobody else has
/// it; if that fails it is put back.
#[test]
fn variables_of_an_imported_file_are_globals() {
    let text = "var n = {}\nfn f(k) { n[k] = 1 }\nlog(2)";
    let main = function(text, Role::Imported, Entry::Default).expect("it is small");
    let shown = disassemble(&main);
    let functions: Vec<&str> = shown.split("\n\n").collect();
    check_lines(
        functions[0],
        &[
            "0 EmptyDict r0",
            "1 SetGlobal r0 g9",
            "2 MakeClosure r0 = f0",
            "3 SetGlobal r0 g8",
            "4 ReturnNil",
        ],
    );
    check_lines(
        functions[1],
        &[
            "0 LoadInt r1 = 1",
            "1 GetGlobal r2 = g9",
            "2 LoadNil r3",
            "3 SetGlobal r3 g9",
            "4 SetIndex r2 r0 r1*",
            "5 SetGlobal r2 g9",
            "6 Jump -> 9",
            "7 SetGlobal r2 g9",
            "8 Rethrow r4",
            "9 ReturnNil",
            "4..6 -> 7 r4",
        ],
    );
}

#[test]
fn methods_are_defined_where_control_passes_them() {
    check_main(
        "struct S { }\nimpl S { fn m(self) { } }",
        &[
            "0 MakeClosure r0 = f0",
            "1 MakeClosure r1 = f1",
            "2 DefineMethod r1 \"S\" \"m\"",
            "3 ReturnNil",
        ],
    );
}
