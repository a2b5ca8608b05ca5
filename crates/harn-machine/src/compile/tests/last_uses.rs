//! What is taken, and what must not be.

use super::check;

/// A loop reads its variables again.
#[test]
fn what_the_next_round_reads_stays() {
    check(
        "fn f(xs, n) { var i = 0; while i < n { log(xs); i += 1 } }",
        &[
            "0 LoadInt r2 = 0",
            "1 Jump -> 5",
            "2 Move r3 = r0",
            "3 CallBuiltin r3 = r3:1 log",
            "4 AddInt r2 = r2* 1",
            "5 JumpLess r2 r1 -> 2",
            "6 ReturnNil",
        ],
    );
}

/// If the method fails, the handler reads the variable.
#[test]
fn what_a_handler_reads_stays() {
    check(
        "fn f(xs) { var ys = xs; try { ys = ys.skip(1) } catch { log(ys) } }",
        &[
            "0 Move r1 = r0*",
            "1 Move r3 = r1",
            "2 LoadInt r4 = 1",
            "3 CallMethod r1 = r3:2 .skip",
            "4 Jump -> 7",
            "5 Move r3 = r1*",
            "6 CallBuiltin r3 = r3:1 log",
            "7 ReturnNil",
            "1..4 -> 5 r2",
        ],
    );
}

/// An operator takes its operand only when it cannot fail any more.
#[test]
fn operators_take_what_they_replace_even_if_a_handler_reads_it() {
    check(
        "fn f(s) { var t = s; try { t = t + s } catch { log(t) } }",
        &[
            "0 Move r1 = r0",
            "1 Add r1 = r1* r0*",
            "2 Jump -> 5",
            "3 Move r3 = r1*",
            "4 CallBuiltin r3 = r3:1 log",
            "5 ReturnNil",
            "1..2 -> 3 r2",
        ],
    );
}

/// Pushing to a list is adding to it, so it takes the list as an operator does.
#[test]
fn lists_are_pushed_to_in_place_even_if_a_handler_reads_them() {
    check(
        "fn f(xs) { var ys = xs; try { ys = ys.push(1) } catch { log(ys) } }",
        &[
            "0 Move r1 = r0*",
            "1 LoadInt r3 = 1",
            "2 JumpUnlessList r1 0 -> 6",
            "3 NewList r3 = r3:1 1",
            "4 Add r1 = r1* r3*",
            "5 Jump -> 9",
            "6 Move r4 = r1",
            "7 Move r5 = r3*",
            "8 CallMethod r1 = r4:2 .push",
            "9 Jump -> 12",
            "10 Move r3 = r1*",
            "11 CallBuiltin r3 = r3:1 log",
            "12 ReturnNil",
            "1..9 -> 10 r2",
        ],
    );
}

#[test]
fn what_is_read_twice_stays() {
    check(
        "fn f(x) { return x + x }",
        &["0 Add r1 = r0 r0", "1 Return r1"],
    );
    check(
        "fn f(i) { var d = [[1]]; d[0][i] = i }",
        &[
            "0 LoadInt r2 = 1",
            "1 NewList r2 = r2:1 1",
            "2 NewList r1 = r2:1 1",
            "3 LoadInt r2 = 0",
            "4 SetPath r1 [r2][r0] r0",
            "5 ReturnNil",
        ],
    );
}

/// The variables of a condition belong to the round that it begins.
#[test]
fn what_a_deferred_block_in_a_condition_reads_is_kept_at_the_end_of_a_round() {
    check(
        "fn f(n) { while if n { let x = n; defer { log(x) }; x } { n } }",
        &[
            "0 NewList r2 = r2:0 0",
            "1 JumpUnless r0 -> 6",
            "2 Move r1 = r0",
            "3 DeferPush r2 0",
            "4 Move r5 = r1",
            "5 Jump -> 7",
            "6 LoadNil r5",
            "7 JumpUnless r5 -> 11",
            "8 Move r5 = r0",
            "9 DeferKeep r2 0",
            "10 Jump -> 1",
            "11 LoadNil r4",
            "12 LoadInt r3 = 2",
            "13 Jump -> 15",
            "14 LoadInt r3 = 1",
            "15 DeferNext r2 -> 20",
            "16 DeferRestore r2",
            "17 Move r5 = r1",
            "18 CallBuiltin r5 = r5:1 log",
            "19 Jump -> 15",
            "20 JumpNotEqualInt r3 2 -> 22",
            "21 Return r4",
            "22 Rethrow r4",
            "1..11 -> 14 r4",
            "14..20 -> 14 r4",
            "defer 0 -> 16",
            "keep 0 defer 0..1 r1",
        ],
    );
}

/// A deferred block sees the variables of its function.
#[test]
fn what_a_deferred_block_reads_stays() {
    check(
        "fn f(xs) { for x in xs { defer { log(x) }; log(x) } }",
        &[
            "0 NewList r2 = r2:0 0",
            "1 Move r5 = r0*",
            "2 ForPrepare r5",
            "3 Jump -> 8",
            "4 DeferPush r2 0",
            "5 Move r7 = r1",
            "6 CallBuiltin r7 = r7:1 log",
            "7 DeferKeep r2 0",
            "8 ForLoop r5 r1 -> 4",
            "9 LoadNil r5",
            "10 LoadNil r4",
            "11 LoadInt r3 = 2",
            "12 Jump -> 14",
            "13 LoadInt r3 = 1",
            "14 DeferNext r2 -> 19",
            "15 DeferRestore r2",
            "16 Move r5 = r1",
            "17 CallBuiltin r5 = r5:1 log",
            "18 Jump -> 14",
            "19 JumpNotEqualInt r3 2 -> 21",
            "20 Return r4",
            "21 Rethrow r4",
            "1..10 -> 13 r4",
            "13..19 -> 13 r4",
            "defer 0 -> 15",
            "keep 0 defer 0..1 r1",
        ],
    );
}

/// What a closure takes along is read when the closure is made.
#[test]
fn what_a_closure_takes_along_stays() {
    check(
        "fn f(xs) { let g = { -> xs }; log(xs); return g }",
        &[
            "0 MakeClosure r1 = f0",
            "1 Move r2 = r0*",
            "2 CallBuiltin r2 = r2:1 log",
            "3 Return r1",
        ],
    );
    check(
        "fn f(xs) { log(xs); return { -> xs } }",
        &[
            "0 Move r1 = r0",
            "1 CallBuiltin r1 = r1:1 log",
            "2 MakeClosure r1 = f0",
            "3 Return r1",
        ],
    );
}

/// A row that was read must not be in a temporary when it is changed.
#[test]
fn temporaries_let_go_of_what_they_read_from() {
    check(
        "fn f(g, i) { var x = 0; x = g[i][i]; return x }",
        &[
            "0 LoadInt r2 = 0",
            "1 GetIndex r3 = r0 r1",
            "2 GetIndex r2 = r3* r1",
            "3 Return r2",
        ],
    );
}
