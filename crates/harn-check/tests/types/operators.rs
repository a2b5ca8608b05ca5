//! 9.8: operands.

use crate::support::{accept, check, check_body};

#[test]
fn addition() {
    check_body(
        "let n = nil\nlet a = 1 + \"a\"\nlet b = \"a\" + 1\nlet c = 1 + n\nlet d = true + true",
        &[
            "error: can't add int and string",
            "error: can't add string and int",
            "error: can't add int and nil",
            "error: can't add bool and bool",
        ],
    );
    accept("let a = 1 + 2.0\nlet b = \"a\" + \"b\"\nlet c = [] + []\nlet d = {} + {}");
    accept("let a = [1] + [\"a\"]\nlet b = {a: 1} + 1\nlet c = r\"x\" + 1");
}

#[test]
fn other_arithmetic() {
    check_body(
        "let a = \"a\" - 1\nlet b = 1 / nil\nlet c = true % 2\nlet d = \"a\" ** 2",
        &[
            "error: can't use '-' on string and int (needs numeric operands)",
            "error: can't use '/' on int and nil (needs numeric operands)",
            "error: can't use '%' on bool and int (needs numeric operands)",
            "error: can't use '**' on string and int (needs numeric operands)",
        ],
    );
    check_body(
        "let a = \"a\" * \"b\"\nlet b = \"a\" * 1.5\nlet c = [] * 2",
        &[
            "error: can't multiply string and string (try string * int)",
            "error: can't multiply string and float (try string * int)",
            "error: can't multiply list and int (try string * int)",
        ],
    );
    accept("let a = 1 - 2.0\nlet b = \"a\" * 2\nlet c = 2 * \"a\"\nlet d = 2 ** 3 % 2 / 1");
}

#[test]
fn names_of_all_kinds_count() {
    check(
        "type Id = int\nfn f<T>(a: T, b: any, c: Id) { let x = a + a\n let y = b - 1\n let z = c * 2 }",
        &[
            "error: can't add T and T",
            "error: can't use '-' on any and int (needs numeric operands)",
            "error: can't multiply Id and int (try string * int)",
        ],
    );
    check(
        "fn f(a: int | nil, b: {x: int}, c: \"a\", d: list<int>, e: never) {\n\
         let v = a + 1\nlet w = b - 1\nlet x = c * \"a\"\nlet y = d / 1\nlet z = e + 1 }",
        &[],
    );
}

#[test]
fn chains_are_checked_from_the_left() {
    check_body(
        "let a = 1 + 2 + \"a\"\nlet b = 1 + \"a\" + true",
        &[
            "error: can't add int and string",
            "error: can't add int and string",
        ],
    );
}

#[test]
fn compound_assignment_is_not_an_operator() {
    accept("var n = 1\nn += \"a\"\nn -= nil");
}

#[test]
fn comparisons_that_tell_nothing() {
    check_body(
        "let a = true < false\nlet b = nil >= 1\nlet c = [] > []",
        &[
            "warning: Comparison '<' may not be meaningful for types bool and bool",
            "warning: Comparison '>=' may not be meaningful for types nil and int",
            "warning: Comparison '>' may not be meaningful for types list and list",
        ],
    );
    check_body(
        "let a = \"a\" < 1\nlet b = 1.5 <= \"a\"",
        &[
            "warning: Comparing string with int using '<' may give unexpected results",
            "warning: Comparing float with string using '<=' may give unexpected results",
        ],
    );
    check_body(
        "let a = \"a\" == 1\nlet b = 1.5 != \"a\"",
        &[
            "warning: Comparing string with int using '==' may give unexpected results",
            "warning: Comparing float with string using '!=' may give unexpected results",
        ],
    );
    accept("let a = true == 1\nlet b = nil != \"a\"\nlet c = \"a\" in \"b\"\nlet d = [] == 1");
    accept("let a = 1 < 2.0\nlet b = \"a\" > \"b\"\nlet c = [1] < [2]\nlet d = true == 1");
}
