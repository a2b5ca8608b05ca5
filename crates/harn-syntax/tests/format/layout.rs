//! Indentation, lines and blank lines.

use harn_syntax::{FormatOptions, format};

use super::{check, check_body, check_width};

#[test]
fn a_level_is_two_spaces() {
    check(
        "fn f() {\nif a {\nwhile b {\n\tg()\n}\n}\n}",
        "fn f() {\n  if a {\n    while b {\n      g()\n    }\n  }\n}\n",
    );
}

#[test]
fn a_line_is_a_hundred_wide_unless_said_otherwise() {
    assert_eq!(FormatOptions::default().width, 100);
    let name = "a".repeat(96);
    check(&format!("f({name}1)"), &format!("f({name}1)\n"));
    check(&format!("f({name}12)"), &format!("f(\n  {name}12,\n)\n"));
    check_width(7, "f(a, b)", "f(a, b)\n");
    check_width(6, "f(a, b)", "f(\n  a,\n  b,\n)\n");
}

#[test]
fn one_line_break_ends_a_file() {
    check("f()", "f()\n");
    check("f()\n\n\n", "f()\n");
    check("\n\nf()", "f()\n");
    check("", "");
    check("\n \n", "");
}

#[test]
fn no_line_ends_in_white_space() {
    check(
        "f()   \nlet s = \"\"\"\n  a  \n  \"\"\"   \n",
        "f()\n\nlet s = \"\"\"\n  a  \n  \"\"\"\n",
    );
    check("// text  \t\nf()", "// text\nf()\n");
    check("f()\r\ng()\r\n", "f()\n\ng()\n");
}

#[test]
fn braces_stand_on_the_line_of_their_header() {
    check_body(
        "if a\n{\nb() }\nelse\n{ c() }",
        "if a {\n  b()\n} else {\n  c()\n}",
    );
    check_body(
        "if a { b() } else if c { d() }",
        "if a {\n  b()\n} else if c {\n  d()\n}",
    );
    check_body(
        "try { a() }\ncatch(e) { b() }\nfinally { c() }",
        "try {\n  a()\n} catch (e) {\n  b()\n} finally {\n  c()\n}",
    );
    check_body(
        "try { a() } catch e { b() }",
        "try {\n  a()\n} catch (e) {\n  b()\n}",
    );
    check_body(
        "try { a() } catch (e: E) { b() }",
        "try {\n  a()\n} catch (e: E) {\n  b()\n}",
    );
    check_body(
        "try { a() } catch { b() }",
        "try {\n  a()\n} catch {\n  b()\n}",
    );
}

#[test]
fn semicolons_become_line_breaks() {
    check_body("a(); b();", "a()\nb()");
    check("a(); b();", "a()\n\nb()\n");
    check_body("return; a()", "return\na()");
}

#[test]
fn one_blank_line_separates_top_level_items() {
    check(
        "fn a() { b() }\nfn c() { d() }",
        "fn a() {\n  b()\n}\n\nfn c() {\n  d()\n}\n",
    );
    check("let a = 1\n\n\n\nlet b = 2", "let a = 1\n\nlet b = 2\n");
}

#[test]
fn no_blank_line_separates_statements_of_a_body() {
    check_body("a()\n\n\nb()\n\nc()", "a()\nb()\nc()");
    check(
        "impl A {\n\nfn a() { b() }\n\nfn c() { d() }\n}",
        "impl A {\n  fn a() {\n    b()\n  }\n  fn c() {\n    d()\n  }\n}\n",
    );
}

#[test]
fn a_shebang_line_is_kept() {
    check("#!/usr/bin/env harn\nf()", "#!/usr/bin/env harn\nf()\n");
    check(
        "#!/usr/bin/env harn\n\n\nf()",
        "#!/usr/bin/env harn\n\nf()\n",
    );
    check(
        "#!/usr/bin/env harn  \n// c\nf()",
        "#!/usr/bin/env harn\n// c\nf()\n",
    );
    check("#!harn", "#!harn\n");
}

#[test]
fn what_cannot_be_read_is_not_formatted() {
    let errors = format("let = 1", &FormatOptions::default()).unwrap_err();
    assert_eq!(
        errors[0].message,
        "Expected variable name or destructuring pattern, got = at 1:5"
    );
}
