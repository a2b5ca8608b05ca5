use super::{check, check_main};

/// The condition comes last, so that a round needs one jump.
#[test]
fn while_loops_are_turned_over() {
    check(
        "fn f(n) { var i = 0; while i < n && i != 5 { i += 1 } }",
        &[
            "0 LoadInt r1 = 0",
            "1 Jump -> 3",
            "2 AddInt r1 = r1* 1",
            "3 JumpNotLess r1 r0 -> 5",
            "4 JumpNotEqualInt r1 5 -> 2",
            "5 ReturnNil",
        ],
    );
}

#[test]
fn for_loops_end_what_they_go_through() {
    check(
        "fn f(xs) { for x in xs { if x { break } else { continue } } }",
        &[
            "0 Move r2 = r0*",
            "1 ForPrepare r2",
            "2 Jump -> 6",
            "3 JumpUnless r1 -> 5",
            "4 Jump -> 7",
            "5 Jump -> 6",
            "6 ForLoop r2 r1 -> 3",
            "7 LoadNil r2",
            "8 ReturnNil",
        ],
    );
}

#[test]
fn conditions_jump_without_making_bools() {
    check(
        "fn f(a, b) { if !(a || b > 1) { return 1 } else if a == b { return 2 } }",
        &[
            "0 JumpIf r0 -> 4",
            "1 JumpGreaterInt r1 1 -> 4",
            "2 LoadInt r2 = 1",
            "3 Return r2",
            "4 JumpNotEqual r0 r1 -> 7",
            "5 LoadInt r2 = 2",
            "6 Return r2",
            "7 ReturnNil",
        ],
    );
}

/// 6.3
#[test]
fn arms_are_tried_in_order() {
    check(
        "enum E { A(x) }\nfn f(v) { match v { E.A(x) -> { log(x) } {k: 1} -> { } [a, 2] -> { log(a) } 7 | 8 -> { } } }",
        &[
            "0 JumpUnlessTag r0 E.A -> 5",
            "1 Payload r1 = r0 0",
            "2 Move r2 = r1*",
            "3 CallBuiltin r2 = r2:1 log",
            "4 Jump -> 22",
            "5 JumpUnlessDict r0 -> 9",
            "6 GetField r2 = r0 .k",
            "7 JumpNotEqualInt r2 1 -> 9",
            "8 Jump -> 22",
            "9 JumpUnlessList r0 2 -> 18",
            "10 LoadInt r2 = 0",
            "11 GetIndex r1 = r0 r2",
            "12 LoadInt r3 = 1",
            "13 GetIndex r2 = r0 r3",
            "14 JumpNotEqualInt r2 2 -> 18",
            "15 Move r2 = r1*",
            "16 CallBuiltin r2 = r2:1 log",
            "17 Jump -> 22",
            "18 JumpEqualInt r0 7 -> 20",
            "19 JumpNotEqualInt r0 8 -> 21",
            "20 Jump -> 22",
            "21 Raise \"No match arm matched the value\" /3",
            "22 ReturnNil",
        ],
    );
}

/// 6.7: errors cost nothing until there is one.
#[test]
fn catches_are_tables() {
    check(
        "fn f(g) { try { g() } catch (e: E) { log(e) } }",
        &[
            "0 Call r3 = r3:0 r0",
            "1 Jump -> 8",
            "2 JumpUnlessCaught r2 \"E\" -> 7",
            "3 CatchValue r1 = r2",
            "4 Move r3 = r1*",
            "5 CallBuiltin r3 = r3:1 log",
            "6 Jump -> 8",
            "7 Rethrow r2",
            "8 ReturnNil",
            "0..1 -> 2 r2",
        ],
    );
}

/// 6.7: what already is a `Result` stays as it is.
#[test]
fn try_alone_gives_a_result() {
    check(
        "fn f(g) { let r = try { g() }; return r }",
        &[
            "0 Call r1 = r3:0 r0",
            "1 JumpUnlessTag r1 Result.Ok -> 3",
            "2 Jump -> 9",
            "3 JumpUnlessTag r1 Result.Err -> 5",
            "4 Jump -> 9",
            "5 NewEnum r1 = Result.Ok r1:1",
            "6 Jump -> 9",
            "7 CatchValue r1 = r2",
            "8 NewEnum r1 = Result.Err r1:1",
            "9 Return r1",
            "0..1 -> 7 r2",
        ],
    );
}

/// 6.9: after the value is computed, in reverse order, whatever happens.
#[test]
fn deferred_blocks_are_worked_off_at_the_end() {
    check(
        "fn f(a) { defer { log(a) }; return a }",
        &[
            "0 NewList r1 = r1:0 0",
            "1 DeferPush r1 0",
            "2 Move r3 = r0",
            "3 LoadInt r2 = 2",
            "4 Jump -> 6",
            "5 LoadInt r2 = 1",
            "6 DeferNext r1 -> 10",
            "7 Move r4 = r0",
            "8 CallBuiltin r4 = r4:1 log",
            "9 Jump -> 6",
            "10 JumpNotEqualInt r2 2 -> 12",
            "11 Return r3",
            "12 Rethrow r3",
            "1..2 -> 5 r3",
            "5..10 -> 5 r3",
            "defer 0 -> 7",
        ],
    );
}

/// 6.10: a deadline ends however its block is left, and what ends it is not part of it.
#[test]
fn leaving_a_deadline_ends_it() {
    check(
        "fn f(a) { deadline 5 { if a { return 1 } } }",
        &[
            "0 LoadInt r1 = 5",
            "1 DeadlinePush r1",
            "2 JumpUnless r0 -> 6",
            "3 LoadInt r3 = 1",
            "4 DeadlinePop",
            "5 Return r3",
            "6 DeadlinePop",
            "7 Jump -> 10",
            "8 DeadlinePop",
            "9 Rethrow r2",
            "10 ReturnNil",
            "2..4 -> 8 r2",
        ],
    );
}

/// 6.8
#[test]
fn retry_counts_its_attempts() {
    check(
        "fn f(g) { retry 3 { g() } }",
        &[
            "0 LoadInt r1 = 3",
            "1 LoadInt r2 = 0",
            "2 Call r4 = r4:0 r0",
            "3 Jump -> 7",
            "4 AddInt r2 = r2* 1",
            "5 JumpLess r2 r1 -> 2",
            "6 Rethrow r3",
            "7 ReturnNil",
            "2..3 -> 4 r3",
        ],
    );
}

/// 12.4
#[test]
fn select_tells_which_channel_has_something() {
    check(
        "fn f(a, b) { select { x from a { log(x) } timeout 5 { } } }",
        &[
            "0 Move r5 = r0*",
            "1 LoadInt r6 = 5",
            "2 Select r3 = r5:2 1 /1",
            "3 JumpNotEqualInt r3 0 -> 8",
            "4 Move r2 = r4*",
            "5 Move r5 = r2*",
            "6 CallBuiltin r5 = r5:1 log",
            "7 Jump -> 10",
            "8 JumpNotEqualInt r3 -1 -> 10",
            "9 Jump -> 10",
            "10 ReturnNil",
        ],
    );
}

/// 10.3: without anything to do on the way out, `?` costs one instruction.
#[test]
fn the_try_operator_returns_out_of_line() {
    check(
        "fn f(r) { return r? + 1 }",
        &[
            "0 Unwrap r2 = r0 -> 3",
            "1 AddInt r1 = r2* 1",
            "2 Return r1",
            "3 Return r2",
        ],
    );
}

/// 0: the value of a script is always nil.
#[test]
fn a_script_gives_nothing() {
    check_main(
        "return argv",
        &["0 GetGlobal r0 = g0", "1 ReturnNil", "2 ReturnNil"],
    );
    check_main(
        "argv?",
        &[
            "0 GetGlobal r1 = g0",
            "1 Unwrap r0 = r1 -> 3",
            "2 ReturnNil",
            "3 ReturnNil",
        ],
    );
}

/// 13.1: only functions, methods and closures pause.
#[test]
fn what_is_no_generator_does_not_pause() {
    check("fn f(a) { yield a }", &["0 Yield r0", "1 ReturnNil"]);
    check_main("yield argv", &["0 GetGlobal r0 = g0", "1 ReturnNil"]);
}
