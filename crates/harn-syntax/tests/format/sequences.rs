//! What commas separate.

use super::{check, check_value, check_width};

#[test]
fn they_stay_on_one_line_if_they_fit() {
    check("f(a,b,\nc,)", "f(a, b, c)\n");
    check("f(a b c)", "f(a, b, c)\n");
    check(
        "fn f(a:int,b=1,...c:list){g()}",
        "fn f(a: int, b = 1, ...c: list) {\n  g()\n}\n",
    );
    check_value("[\n1,\n2,\n]", "[1, 2]");
    check_value("[...a, ...b]", "[...a, ...b]");
}

#[test]
fn otherwise_each_element_has_its_line() {
    check_width(
        20,
        "let xs = [aaaaaa, bbbbbb]",
        "let xs = [\n  aaaaaa,\n  bbbbbb,\n]\n",
    );
    check_width(
        20,
        "let xs = {aaa: 1, bbb: 2}",
        "let xs = {\n  aaa: 1,\n  bbb: 2,\n}\n",
    );
    check_width(
        20,
        "fn f(aaaaaa, bbbbbbb) { g() }",
        "fn f(\n  aaaaaa,\n  bbbbbbb,\n) {\n  g()\n}\n",
    );
    check_width(
        20,
        "enum E { A(aaaa: int, bbbb: int) }",
        "enum E {\n  A(\n    aaaa: int,\n    bbbb: int,\n  ),\n}\n",
    );
    check_width(
        20,
        "type T = {aaaa: int, bbbb: int}",
        "type T = {\n  aaaa: int,\n  bbbb: int,\n}\n",
    );
    check_width(
        20,
        "let {aaaaaa, bbbbbb} = c",
        "let {\n  aaaaaa,\n  bbbbbb,\n} = c\n",
    );
}

#[test]
fn the_comma_of_the_last_element_counts() {
    check_width(13, "f(g(aaaaaaa), b)", "f(\n  g(aaaaaaa),\n  b,\n)\n");
    check_width(
        12,
        "f(g(aaaaaaa), b)",
        "f(\n  g(\n    aaaaaaa,\n  ),\n  b,\n)\n",
    );
}

#[test]
fn the_outer_one_breaks_first() {
    check_width(
        20,
        "f([aaa, bbb], [cccc, ddd])",
        "f(\n  [aaa, bbb],\n  [cccc, ddd],\n)\n",
    );
}

#[test]
fn a_line_break_in_an_element_breaks_all() {
    check(
        "f(a, { x ->\n b()\n c() })",
        "f(\n  a,\n  { x ->\n    b()\n    c()\n  },\n)\n",
    );
    check("f(\"\"\"\na\n\"\"\")", "f(\n  \"\"\"\na\n\"\"\",\n)\n");
}
