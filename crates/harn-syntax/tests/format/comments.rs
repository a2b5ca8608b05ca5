//! Comments.

use super::{check, check_body, check_value};

#[test]
fn they_keep_their_text_and_place() {
    check_body(
        "// above\na() // behind\n//no space\nb()\n// last",
        "// above\na() // behind\n//no space\nb()\n// last",
    );
    check(
        "// first\n\n// second\nf() // third\n// fourth",
        "// first\n\n// second\nf() // third\n\n// fourth\n",
    );
    check("// only", "// only\n");
    check_body("a() /* b */", "a() /* b */");
    check_body("/* a */ b()", "/* a */ b()");
    check_body("a(); /* b */ c()", "a()\n/* b */ c()");
    check_body("a() /* b */; c()", "a() /* b */\nc()");
}

#[test]
fn they_stand_behind_an_opening_brace() {
    check("fn f() { // a\nb()\n}", "fn f() { // a\n  b()\n}\n");
    check("fn f() // a\n{\nb()\n}", "fn f() { // a\n  b()\n}\n");
    check_value("{ x -> // a\nx }", "{ x -> // a\n  x\n}");
    check_value("[ // a\n1]", "[ // a\n  1,\n]");
}

#[test]
fn they_stand_in_empty_braces() {
    check("fn f() {\n// a\n}", "fn f() {\n  // a\n}\n");
    check("fn f() { // a\n}", "fn f() { // a\n}\n");
    check("fn f() { /* a */ }", "fn f() {\n  /* a */\n}\n");
    check("f(/* a */)", "f(/* a */)\n");
    check("f(\n// a\n)", "f(\n  // a\n)\n");
    check("match x { // a\n}", "match x { // a\n}\n");
}

#[test]
fn they_put_each_element_on_its_line() {
    check("f(a, // a\nb)", "f(\n  a, // a\n  b,\n)\n");
    check("f(a // a\n, b)", "f(\n  a, // a\n  b,\n)\n");
    check(
        "f(\n// a\na,\n// b\nb\n// c\n)",
        "f(\n  // a\n  a,\n  // b\n  b,\n  // c\n)\n",
    );
    check("f(a, /* b */ b)", "f(\n  a,\n  /* b */ b,\n)\n");
    check("f(a /* a */, b)", "f(\n  a, /* a */\n  b,\n)\n");
    check_value("{a: 1, // a\nb: 2}", "{\n  a: 1, // a\n  b: 2,\n}");
    check(
        "fn f(\n// a\na,\nb, // b\n) { c() }",
        "fn f(\n  // a\n  a,\n  b, // b\n) {\n  c()\n}\n",
    );
    check(
        "enum E {\n// a\nA, // b\nB\n// c\n}",
        "enum E {\n  // a\n  A, // b\n  B,\n  // c\n}\n",
    );
    check(
        "struct S { a: int // a\nb: int }",
        "struct S {\n  a: int, // a\n  b: int,\n}\n",
    );
}

#[test]
fn they_stand_between_match_arms() {
    check_body(
        "match x {\n// a\n1 -> { 2 } // b\n// c\n_ -> { 3 }\n// d\n}",
        "match x {\n  // a\n  1 -> { 2 } // b\n  // c\n  _ -> { 3 }\n  // d\n}",
    );
}

#[test]
fn they_stand_before_else() {
    check_body(
        "if a {\nb()\n}\n// c\nelse {\nd()\n}",
        "if a {\n  b()\n}\n// c\nelse {\n  d()\n}",
    );
    check_body(
        "if a {\nb()\n} // c\nelse if d {\ne()\n}",
        "if a {\n  b()\n} // c\nelse if d {\n  e()\n}",
    );
    check_body(
        "if a { b() } else { // c\nd() }",
        "if a {\n  b()\n} else { // c\n  d()\n}",
    );
    check_body(
        "try { a() }\n// b\ncatch (e) { c() }\n// d\nfinally { e() }",
        "try {\n  a()\n}\n// b\ncatch (e) {\n  c()\n}\n// d\nfinally {\n  e()\n}",
    );
}

#[test]
fn they_stand_between_attributes_and_what_they_are_about() {
    check(
        "@test // a\n// b\nfn f() { c() }",
        "@test // a\n// b\nfn f() {\n  c()\n}\n",
    );
}

#[test]
fn they_stand_in_expressions() {
    check_value("a // b\n+ c", "a // b\n  + c");
    check_value("a + // b\nc", "a // b\n  + c");
    check_value("a /* b */ + c", "a /* b */ + c");
    check_value(
        "a\n// b\n.c()\n// d\n.e()",
        "a\n  // b\n  .c()\n  // d\n  .e()",
    );
    check("let a =\n// b\nc", "let a =\n  // b\n  c\n");
    check("let a = // b\nc", "let a = // b\n  c\n");
}

#[test]
fn they_stay_behind_what_was_in_parentheses() {
    check_body(
        "return (\na // b\n&& c // d\n)",
        "return a // b\n  && c // d",
    );
    check_value("(a // b\n)", "a // b");
}

#[test]
fn they_move_up_where_a_line_cannot_break() {
    check_body("return (// a\nb)", "// a\nreturn b");
    check_body("let x = (a // b\n) to c", "// b\nlet x = a to c");
    check("f(a, (b // c\n) to d)", "f(\n  a,\n  // c\n  b to d,\n)\n");
}

#[test]
fn lines_of_documentation_become_blocks() {
    check(
        "/// Text.\nfn f() { a() }",
        "/** Text. */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/// First line.\n/// Second line.\nfn f() { a() }",
        "/**\n * First line.\n * Second line.\n */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/**\n  First line.\n\n     Second line.\n*/\nfn f() { a() }",
        "/**\n * First line.\n *\n * Second line.\n */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/**\n * Text.\n */\nfn f() { a() }",
        "/** Text. */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/**Text.*/\nfn f() { a() }",
        "/** Text. */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/** First.\n *   indented\n */\nfn f() { a() }",
        "/**\n * First.\n *   indented\n */\nfn f() {\n  a()\n}\n",
    );
    check(
        "/// Not a */ block.\n/// Nor this.\nfn f() { a() }",
        "/// Not a */ block.\n/// Nor this.\nfn f() {\n  a()\n}\n",
    );
    check(
        "struct S {\n/// A.\na\n}",
        "struct S {\n  /** A. */\n  a,\n}\n",
    );
}

#[test]
fn documentation_stands_directly_above() {
    check(
        "f()\n/// Text.\n\nfn g() { a() }",
        "f()\n\n/** Text. */\nfn g() {\n  a()\n}\n",
    );
    check(
        "/** Text. */ fn g() { a() }",
        "/** Text. */\nfn g() {\n  a()\n}\n",
    );
}

/// Documentation of a file does not become that of its first item.
#[test]
fn documentation_of_the_file_stays_apart() {
    check(
        "/** The file. */\n\n\nfn g() { a() }",
        "/** The file. */\n\nfn g() {\n  a()\n}\n",
    );
    check(
        "/** The file. */\n\n/// Text.\n\nfn g() { a() }",
        "/** The file. */\n\n/** Text. */\nfn g() {\n  a()\n}\n",
    );
}

#[test]
fn bars_go_up_to_column_80() {
    let bar = format!("// {}", "-".repeat(77));
    check("a()\n// ----\nb()", &format!("a()\n\n{bar}\n\nb()\n"));
    check("//---\nb()", &format!("{bar}\n\nb()\n"));
    check(
        &format!("a()\n// {}\nb()", "-".repeat(100)),
        &format!("a()\n\n{bar}\n\nb()\n"),
    );
    let inner = format!("// {}", "-".repeat(75));
    check_body("a()\n// ----\nb()", &format!("a()\n\n{inner}\n\nb()"));
    check_body("// ----\nb()", &format!("{inner}\n\nb()"));
    check_body("a()\n// ----", &format!("a()\n\n{inner}"));
    check("// --\nb()", "// --\nb()\n");
    check("a() // ----", "a() // ----\n");
}

#[test]
fn bars_with_a_title_become_three_lines() {
    let bar = format!("// {}", "-".repeat(77));
    let banner = format!("{bar}\n// Title\n{bar}");
    check(
        "a()\n// ---- Title ----\nb()",
        &format!("a()\n\n{banner}\n\nb()\n"),
    );
    check(
        "// ---\n// Title\n// ---\nb()",
        &format!("{banner}\n\nb()\n"),
    );
}

#[test]
fn blocks_of_several_lines_are_lined_up_by_their_stars() {
    check_body(
        "/*\n     * a\n     * b\n     */\nc()",
        "/*\n * a\n * b\n */\nc()",
    );
    check("/* a\n     b */\nc()", "/* a\n     b */\nc()\n");
}
