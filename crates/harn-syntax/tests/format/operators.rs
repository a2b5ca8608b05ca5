//! Operators.

use super::{check_value, check_width};

#[test]
fn one_space_stands_around_them() {
    check_value("a+b*c", "a + b * c");
    check_value("a  ??  b", "a ?? b");
    check_value("a|>b", "a |> b");
    check_value("a to b", "a to b");
    check_value("a  to  b  exclusive", "a to b exclusive");
    check_value("a?b:c", "a ? b : c");
    check_value("a  not  in  b", "a not in b");
    check_value("a- -b", "a - -b");
    check_value("! a", "!a");
    check_value("- 1", "-1");
    check_value("- - a", "--a");
    check_value("a**-b", "a ** -b");
}

#[test]
fn a_binary_expression_breaks_before_its_operators() {
    check_width(
        30,
        "let x = first_candidate ?? second_candidate",
        "let x = first_candidate\n  ?? second_candidate\n",
    );
    check_width(
        20,
        "let x = aaaaaaa + bbbbbbb + c",
        "let x = aaaaaaa\n  + bbbbbbb\n  + c\n",
    );
    check_width(
        20,
        "let x = aaaa * bbbb + cccc * dddd",
        "let x = aaaa * bbbb\n  + cccc * dddd\n",
    );
}

#[test]
fn what_stood_on_several_lines_stays_there() {
    check_value("a\n+ b", "a\n  + b");
    check_value("a +\nb", "a\n  + b");
    check_value("a + b\n+ c", "a\n  + b\n  + c");
    check_value("a\n|> b\n|> c", "a\n  |> b\n  |> c");
}

#[test]
fn an_operand_of_several_lines_does_not_break_the_others() {
    check_value(
        "f({ x ->\n a()\n b() }) ?? c",
        "f(\n  { x ->\n    a()\n    b()\n  },\n) ?? c",
    );
}

#[test]
fn what_cannot_begin_a_line_follows_a_backslash() {
    check_value("a -\nb", "a \\\n  - b");
    check_value("a \\\n- b", "a \\\n  - b");
    check_value("a in\nb", "a \\\n  in b");
    check_value("a not in\nb", "a \\\n  not in b");
    check_value("a -\nb + c", "a \\\n  - b\n  + c");
}

#[test]
fn a_long_ternary_breaks_before_its_signs() {
    check_width(
        20,
        "let x = aaaaaa ? bbbbbb : cccccc",
        "let x = aaaaaa \\\n  ? bbbbbb\n  : cccccc\n",
    );
}

#[test]
fn a_long_union_breaks_after_its_bars() {
    check_width(
        20,
        "type T = Aaaaaaaa | Bbbbbbbb",
        "type T = Aaaaaaaa |\n  Bbbbbbbb\n",
    );
}

#[test]
fn a_broken_operand_breaks_what_is_around_it() {
    check_value("[a +\nb]", "[\n  a\n    + b,\n]");
    check_value("{ x -> a +\nb }", "{ x ->\n  a\n    + b\n}");
    check_value("c ? (a +\nb) : d", "c ? a\n  + b : d");
}

#[test]
fn a_broken_ternary_stays_broken() {
    check_value("a ? b\n: c", "a \\\n  ? b\n  : c");
    check_value("a \\\n? b : c", "a \\\n  ? b\n  : c");
}

/// Only the lines before the closure would be too long.
#[test]
fn operands_of_several_lines_are_broken_apart_if_the_first_does_not_fit() {
    check_width(
        20,
        "let x = aaaaaaa ?? bbbbbbb ?? f({ x -> g()\nh() })",
        "let x = aaaaaaa\n  ?? bbbbbbb\n  ?? f(\n    { x ->\n      g()\n      h()\n    },\n  )\n",
    );
}
