//! Lists, dicts and struct literals.

use super::{check_body, check_value};

#[test]
fn they_have_no_spaces_inside() {
    check_value("[ 1 , 2 ]", "[1, 2]");
    check_value("{ a : 1 , b : 2 }", "{a: 1, b: 2}");
    check_value("{ }", "{}");
    check_value("[ ]", "[]");
    check_value("Point{x:1,y:2}", "Point {x: 1, y: 2}");
    check_value("Empty{}", "Empty {}");
    check_value("{...a, b: 1}", "{...a, b: 1}");
}

#[test]
fn keys_that_are_names_lose_their_quotes() {
    check_value("{\"a\": 1, \"_b2\": 2, \"if\": 3}", "{a: 1, _b2: 2, if: 3}");
}

#[test]
fn other_keys_are_in_brackets() {
    check_value(
        "{\"x-y\": 1, \"\": 2, \"2a\": 3}",
        "{[\"x-y\"]: 1, [\"\"]: 2, [\"2a\"]: 3}",
    );
    check_value(
        "{\"finally\": 1, \"select\": 2}",
        "{[\"finally\"]: 1, [\"select\"]: 2}",
    );
    check_value("{[ a + b ]: 1}", "{[a + b]: 1}");
}

#[test]
fn a_struct_literal_must_be_recognised_by_its_first_key() {
    check_value(
        "Point {\"x-y\": 1, \"if\": 2, \"z\": 3}",
        "Point {\"x-y\": 1, \"if\": 2, z: 3}",
    );
    check_value("Point {\"if\": 1, ...rest}", "Point {\"if\": 1, ...rest}");
}

/// A computed key is no key of a pattern.
#[test]
fn keys_of_patterns_stay_strings() {
    check_body(
        "match a { {\"x-y\": b, \"c\": d} -> { {\"x-y\": 1} } }",
        "match a {\n  {\"x-y\": b, c: d} -> { {[\"x-y\"]: 1} }\n}",
    );
}
