use super::{check, check_main, listing};

#[test]
fn variables_are_operands_where_they_are() {
    check(
        "fn f(a, b) { return a + b * 2 }",
        &[
            "0 MultiplyInt r3 = r1* 2",
            "1 Add r2 = r0* r3*",
            "2 Return r2",
        ],
    );
}

#[test]
fn what_is_assigned_keeps_its_value_until_the_end() {
    check(
        "fn f(a) { var x = 1; x = a ?? x; return x }",
        &[
            "0 LoadInt r1 = 1",
            "1 Move r2 = r0*",
            "2 JumpUnlessNil r2 -> 4",
            "3 Move r2 = r1*",
            "4 Move r1 = r2*",
            "5 Return r1",
        ],
    );
}

#[test]
fn an_operand_that_is_changed_later_is_copied() {
    check(
        "fn f() { var x = 1; return x + if true { x = 2; x } else { 3 } }",
        &[
            "0 LoadInt r0 = 1",
            "1 Move r2 = r0*",
            "2 LoadInt r0 = 2",
            "3 Move r3 = r0*",
            "4 Jump -> 6",
            "5 LoadInt r3 = 3",
            "6 Add r1 = r2* r3*",
            "7 Return r1",
        ],
    );
}

/// The values of a dict are evaluated in the order of the source and end up in that of keys.
#[test]
fn dicts_are_made_of_sorted_keys() {
    check(
        "fn f(a) { return {z: a, b: 1, ...a} }",
        &[
            "0 Move r2 = r0",
            "1 LoadInt r1 = 1",
            "2 NewDict r1 = {b, z} r1:2",
            "3 DictSpread r1 r0*",
            "4 Return r1",
        ],
    );
}

#[test]
fn lists_are_changed_in_place() {
    check(
        "fn f(a) { var xs = [a]; xs = xs.push(a); xs = xs + [1]; return xs }",
        &[
            "0 Move r2 = r0",
            "1 NewList r1 = r2:1 1",
            "2 Move r2 = r1*",
            "3 Move r3 = r0*",
            "4 CallMethod r1 = r2:2 .push",
            "5 LoadInt r2 = 1",
            "6 NewList r2 = r2:1 1",
            "7 Add r1 = r1* r2*",
            "8 Return r1",
        ],
    );
}

#[test]
fn paths_are_assigned_with_their_indexes_evaluated_once() {
    check(
        "fn f(i) { var d = {}; d.a = i; d[i] += 1; d.b[i].c = i; return d }",
        &[
            "0 EmptyDict r1",
            "1 SetField r1 .a r0",
            "2 GetIndex r2 = r1 r0",
            "3 AddInt r2 = r2* 1",
            "4 SetIndex r1 r0 r2*",
            "5 SetPath r1 .b[r0].c r0",
            "6 Return r1",
        ],
    );
}

/// 5: operands are evaluated from left to right.
#[test]
fn indexes_are_kept_from_what_changes_them() {
    check(
        "fn f() { var i = 0; var d = []; d[i][if true { i = 1; 0 }] = 5 }",
        &[
            "0 LoadInt r0 = 0",
            "1 NewList r1 = r2:0 0",
            "2 Move r2 = r0*",
            "3 LoadInt r0 = 1",
            "4 LoadInt r3 = 0",
            "5 Jump -> 7",
            "6 LoadNil r3",
            "7 LoadInt r4 = 5",
            "8 SetPath r1 [r2][r3] r4*",
            "9 ReturnNil",
        ],
    );
    check(
        "fn f() { var d = {}; d.a[d] = 5 }",
        &[
            "0 EmptyDict r0",
            "1 Move r1 = r0",
            "2 LoadInt r2 = 5",
            "3 SetPath r0 .a[r1] r2*",
            "4 ReturnNil",
        ],
    );
}

/// 5.11: the sum fails before the assignment does.
#[test]
fn parts_that_cannot_be_set_are_added_first() {
    check(
        "fn f() { var d = {}; d.a += [5] }",
        &[
            "0 EmptyDict r0",
            "1 GetField r1 = r0 .a",
            "2 LoadInt r2 = 5",
            "3 NewList r2 = r2:1 1",
            "4 LoadNil r3",
            "5 JumpEqual r1 r3 -> 10",
            "6 SetField r0 .a r3",
            "7 Jump -> 10",
            "8 Add r3 = r1* r2*",
            "9 Rethrow r4",
            "10 Add r1 = r1* r2*",
            "11 Jump -> 15",
            "12 JumpEqual r1 r3 -> 14",
            "13 SetField r0 .a r1*",
            "14 Rethrow r4",
            "15 SetField r0 .a r1*",
            "16 ReturnNil",
            "6..7 -> 8 r4",
            "10..11 -> 12 r4",
        ],
    );
}

#[test]
fn parts_are_set_to_themselves_with_more_in_place() {
    let grown = listing("fn f() { var d = {}; d.a[0] += [5] }");
    assert_eq!(
        listing("fn f() { var d = {}; d.a[0] = d.a[0] + [5] }"),
        grown
    );
    // Another part, and something that may be no collection.
    for other in [
        "d.b[0] + [5]",
        "d.a[1] + [5]",
        "d.a?[0] + [5]",
        "d.a[0] + d",
    ] {
        let found = listing(&format!("fn f() {{ var d = {{}}; d.a[0] = {other} }}"));
        assert!(!found.contains("Rethrow"), "{found:?}");
    }
}

/// 3.7: push is a method of lists; other values may have one of their own.
#[test]
fn lists_in_parts_are_pushed_to_in_place() {
    check(
        "fn f(a) { var d = {}; d.a = d.a.push(a) }",
        &[
            "0 EmptyDict r1",
            "1 GetField r2 = r1 .a",
            "2 Move r3 = r0*",
            "3 JumpUnlessList r2 0 -> 18",
            "4 NewList r3 = r3:1 1",
            "5 LoadNil r4",
            "6 JumpEqual r2 r4 -> 11",
            "7 SetField r1 .a r4",
            "8 Jump -> 11",
            "9 Add r4 = r2* r3*",
            "10 Rethrow r5",
            "11 Add r2 = r2* r3*",
            "12 Jump -> 16",
            "13 JumpEqual r2 r4 -> 15",
            "14 SetField r1 .a r2*",
            "15 Rethrow r5",
            "16 SetField r1 .a r2*",
            "17 Jump -> 22",
            "18 Move r4 = r2*",
            "19 Move r5 = r3*",
            "20 CallMethod r2 = r4:2 .push",
            "21 SetField r1 .a r2*",
            "22 ReturnNil",
            "7..8 -> 9 r5",
            "11..12 -> 13 r5",
        ],
    );
}

#[test]
fn texts_are_joined_in_one_step() {
    check(
        "fn f(a) { return \"<${a}>\" }",
        &[
            "0 LoadConstant r1 = \"<\"",
            "1 Move r2 = r0*",
            "2 LoadConstant r3 = \">\"",
            "3 Concat r1 = r1:3 3",
            "4 Return r1",
        ],
    );
}

/// 8.1: declared fields that are not given are absent.
#[test]
fn structs_have_their_declared_shape() {
    check(
        "struct P { x, y, z }\nfn f(a) { return P {y: a, x: 1, other: 2} }",
        &[
            "0 LoadAbsent r3",
            "1 Move r2 = r0*",
            "2 LoadInt r1 = 1",
            "3 LoadInt r4 = 2",
            "4 NewStruct r1 = P r1:3",
            "5 Return r1",
        ],
    );
}

#[test]
fn top_level_variables_are_registers_and_functions_globals() {
    check_main(
        "let n = 1\nfn g() { return n }\nlet m = g()\nn",
        &[
            "0 LoadInt r0 = 1",
            "1 MakeClosure r2 = f0",
            "2 SetGlobal r2 g8",
            "3 CallGlobal r1 = r2:0 g8",
            "4 Move r2 = r0*",
            "5 ReturnNil",
        ],
    );
}

/// 9.13: the name of a type in the place of a schema is its schema.
#[test]
fn aliases_are_schemas_where_schemas_are_wanted() {
    check_main(
        "type T = int\nschema_of(T)\n",
        &[
            "0 LoadConstant r0 = {type: int}",
            "1 CallBuiltin r0 = r0:1 schema_of",
            "2 ReturnNil",
        ],
    );
}
