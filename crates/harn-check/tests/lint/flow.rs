//! Rules about statements and the way through them.

use super::{finds, fixes, leaves, of_rule, says, silent};
use harn_check::LintOptions;
use harn_syntax::Severity;

#[test]
fn assert_outside_test() {
    const RULE: &str = "assert-outside-test";
    finds(RULE, "pipeline main(t) {\n  assert(x)\n}", &["2:3"]);
    finds(
        RULE,
        "assert_eq(1, x)\nlet y = assert_ne(1, x)",
        &["1:1", "2:9"],
    );
    silent(RULE, "pipeline test_a(t) {\n  assert(x)\n}");
    silent(
        RULE,
        "@test\npipeline a(t) {\n  xs.map({ x -> assert(x) })\n}",
    );
    silent(
        RULE,
        "fn help(x) {\n  assert(x)\n}\n\npipeline test_a(t) {\n  help(1)\n}",
    );
    silent(RULE, "fn assert_close(a, b) {\n  assert(a - b < 1)\n}");
    silent(RULE, "fn assert(x) {\n  return x\n}\n\nassert(1)");
    // A pipeline beside the tests is not one of them.
    finds(
        RULE,
        "pipeline test_a(t) {\n  assert(x)\n}\n\npipeline main(t) {\n  assert(x)\n}",
        &["6:3"],
    );
    fixes(RULE, "assert(a > b, \"m\")", "require a > b, \"m\"");
    fixes(RULE, "assert(a)", "require a");
    fixes(RULE, "assert((a) + (b))", "require (a) + (b)");
    leaves(RULE, "let x = assert(a)");
    leaves(RULE, "assert_eq(a, b)");
    leaves(RULE, "assert(...xs)");
}

#[test]
fn require_in_test() {
    const RULE: &str = "require-in-test";
    finds(
        RULE,
        "pipeline test_a(t) {\n  if x {\n    require y\n  }\n}",
        &["3:5"],
    );
    silent(RULE, "pipeline main(t) {\n  require x\n}");
    silent(
        RULE,
        "fn f(x) {\n  require x\n}\n\npipeline test_a(t) {\n  f(1)\n}",
    );
    fixes(
        RULE,
        "pipeline test_a(t) {\n  require a == b, \"m\"\n}",
        "pipeline test_a(t) {\n  assert(a == b, \"m\")\n}",
    );
}

#[test]
fn break_outside_loop() {
    const RULE: &str = "break-outside-loop";
    finds(RULE, "break", &["1:1"]);
    finds(RULE, "fn f() {\n  continue\n}", &["2:3"]);
    finds(RULE, "while x {\n  let f = { -> break }\n}", &["2:16"]);
    finds(
        RULE,
        "for x in xs {\n  let h = spawn {\n    break\n  }\n}",
        &["3:5"],
    );
    finds(
        RULE,
        "for x in xs {\n  fn f() {\n    break\n  }\n}",
        &["3:5"],
    );
    silent(
        RULE,
        "for x in xs {\n  if x {\n    break\n  }\n  match x { 1 -> { continue } }\n}",
    );
    silent(RULE, "while x {\n  retry 3 {\n    break\n  }\n}");
    let found = of_rule(RULE, "break", &LintOptions::default());
    assert_eq!(found[0].1.severity, Severity::Error);
    assert_eq!(found[0].1.message, "`break` outside of a loop");
}

#[test]
fn dead_code_after_return() {
    const RULE: &str = "dead-code-after-return";
    finds(RULE, "fn f() {\n  return 1\n  g()\n  h()\n}", &["3:3"]);
    finds(RULE, "fn f() {\n  throw 1\n  g()\n}", &["3:3"]);
    finds(RULE, "for x in xs {\n  continue\n  g()\n}", &["3:3"]);
    finds(
        RULE,
        "fn f() {\n  if a { return 1 } else if b { throw 2 } else { return 3 }\n  g()\n}",
        &["3:3"],
    );
    silent(RULE, "fn f() {\n  if a { return 1 } else { g() }\n  g()\n}");
    silent(RULE, "fn f() {\n  if a { return 1 }\n  g()\n}");
    silent(RULE, "fn f() {\n  return 1\n}");
    finds(RULE, "throw 1\nfn f() { }\nlet x = 1", &["3:1"]);
    silent(RULE, "throw 1\nfn f() { }");
    says(
        RULE,
        "fn f() {\n  return 1\n  g()\n}",
        "this is never reached: `return` comes before it",
    );
}

#[test]
fn let_then_return() {
    const RULE: &str = "let-then-return";
    fixes(
        RULE,
        "fn f() {\n  let x = a +\n    b\n  return x\n}",
        "fn f() {\n  return a +\n    b\n}",
    );
    fixes(
        RULE,
        "fn f() {\n  var x = (a == b) || c\n  return x\n}",
        "fn f() {\n  return (a == b) || c\n}",
    );
    leaves(RULE, "fn f() {\n  let x = a // because\n  return x\n}");
    silent(RULE, "fn f() {\n  let x: int = a\n  return x\n}");
    silent(RULE, "fn f() {\n  let x = a\n  return x + 1\n}");
    silent(RULE, "fn f() {\n  let x = a\n  g()\n  return x\n}");
    silent(RULE, "fn f() {\n  let {x} = a\n  return x\n}");
}

#[test]
fn unnecessary_else_return() {
    const RULE: &str = "unnecessary-else-return";
    fixes(
        RULE,
        "fn f() {\n  if a {\n    return 1\n  } else {\n    g()\n    if b {\n      h()\n    }\n  }\n}",
        "fn f() {\n  if a {\n    return 1\n  }\n  g()\n  if b {\n    h()\n  }\n}",
    );
    finds(
        RULE,
        "fn f() {\n  if a { return 1 } else if b { return 2 } else { g() }\n}",
        &["2:49"],
    );
    leaves(
        RULE,
        "fn f() {\n  if a { return 1 } else { let x = 2\n    g(x) }\n}",
    );
    silent(RULE, "fn f() {\n  if a { g() } else { return 1 }\n}");
    silent(
        RULE,
        "fn f() {\n  if a { return 1 } else if b { g() } else { h() }\n}",
    );
    silent(
        RULE,
        "fn f() {\n  let x = if a { return 1 } else { 2 }\n  g(x)\n}",
    );
}

#[test]
fn empty_block() {
    const RULE: &str = "empty-block";
    finds(RULE, "if a == b { }", &["1:11"]);
    finds(RULE, "for x in xs { }\nwhile a == b { }", &["1:13", "2:14"]);
    finds(RULE, "try { f() } catch { }", &["1:19"]);
    finds(RULE, "guard a == b else { }", &["1:19"]);
    finds(RULE, "let x = spawn { }", &["1:15"]);
    silent(RULE, "if a == b { /* later */ }");
    silent(RULE, "try { f() } catch {\n  // never mind\n}");
    silent(
        RULE,
        "fn f() { }\npipeline main(t) { }\nlet g = { -> }\nlet h = fn() { }",
    );
    silent(RULE, "match x { 1 -> { f() } _ -> { } }");
    silent(RULE, "select {\n  x from c { f(x) }\n  timeout 1s { }\n}");
    fixes(
        RULE,
        "if a == b {\n  f()\n} else {\n}",
        "if a == b {\n  f()\n}",
    );
    fixes(
        RULE,
        "try { f() } catch { g() } finally { }",
        "try { f() } catch { g() }",
    );
    leaves(RULE, "try { f() } finally { }");
    leaves(RULE, "if a == b { f() } /* or */ else { }");
}

#[test]
fn cyclomatic_complexity() {
    const RULE: &str = "cyclomatic-complexity";
    let options = LintOptions {
        complexity_max: 3,
        ..LintOptions::default()
    };
    let count = |text: &str| of_rule(RULE, text, &options).len();
    // 1 + if + else if.
    assert_eq!(
        count("fn f() {\n  if a { g() } else if b { g() } else { g() }\n}"),
        0
    );
    for more in [
        "if c { g() }",
        "let x = a ? b : c",
        "for x in xs { g() }",
        "while a { g() }",
        "guard a else { return }",
        "retry 2 { g() }",
        "try { g() } catch { h() }",
        "match a { 1 -> { g() } _ -> { h() } }",
        "select { x from c { g(x) } default { h() } }",
        "let x = a && b",
        "let x = a || b",
        "let x = a ?? b",
    ] {
        let two = "if a { g() } else if b { g() }";
        let text = format!("fn f() {{\n  {two}\n  {more}\n}}");
        assert_eq!(count(&text), 1, "{more}");
        let allowed = format!("@complexity(allow)\n{text}");
        assert_eq!(count(&allowed), 0, "{more}");
        assert_eq!(count(&format!("@complexity(allow: 4)\n{text}")), 0);
        assert_eq!(count(&format!("@complexity(allow: 2)\n{text}")), 1);
        // What is inside a closure or another function is counted there.
        let split = format!("fn f() {{\n  {two}\n  let k = {{ ->\n    {more}\n  }}\n}}");
        assert_eq!(count(&split), 0, "{more}");
        let inner = format!("let k = {{ ->\n  {two}\n  {more}\n}}");
        assert_eq!(count(&inner), 1, "{more}");
    }
    assert_eq!(
        count("fn f() {\n  require a\n  match b { _ -> { g() } }\n}"),
        0
    );
}
