use super::*;

/// 2.4: the table of levels.
#[test]
fn operators_bind_as_tightly_as_the_table_says() {
    check(&[
        ("a |> b to c", "(|> a (to b c))"),
        ("a to b ? c : d", "(to a (? b c d))"),
        ("a || b ? c || d : e || f", "(? (|| a b) (|| c d) (|| e f))"),
        ("a || b && c", "(|| a (&& b c))"),
        ("a && b == c", "(&& a (== b c))"),
        ("a == b < c", "(== a (< b c))"),
        ("a < b + c", "(< a (+ b c))"),
        ("n ?? 0 + 1", "(+ (?? n 0) 1)"),
        ("a ?? b * c", "(?? a (* b c))"),
        ("a * b ** c", "(* a (** b c))"),
        ("-2 ** 2", "(** (- 2) 2)"),
        ("!a.b", "(! (a .b))"),
        ("!a == b", "(== (! a) b)"),
        ("- -a", "(- (- a))"),
    ]);
}

#[test]
fn operators_associate_to_the_left_except_power() {
    check(&[
        ("a + b + c", "(+ a b c)"),
        ("a - b + c", "(a - b + c)"),
        ("(a - b) + c", "(a - b + c)"),
        ("a - (b + c)", "(- a (+ b c))"),
        ("a ** b ** c", "(** a (** b c))"),
        ("(a ** b) ** c", "(** (** a b) c)"),
        ("a |> b |> c", "(|> a b c)"),
        ("a ?? b ?? c", "(?? a b c)"),
        ("a in b not in c", "(a in b not in c)"),
        ("a < b >= c", "(a < b >= c)"),
    ]);
}

#[test]
fn ranges_and_ternaries_do_not_chain() {
    check(&[
        ("1 to 5", "(to 1 5)"),
        ("1 to n exclusive", "(to-exclusive 1 n)"),
        ("(c ? a : b) ? d : e", "(? (? c a b) d e)"),
    ]);
    check_errors(&[
        (
            "1 to 2 to 3",
            "Expected top-level item separator (`;` or newline), got to at 1:8",
        ),
        (
            "a ? b : c ? d : e",
            "Expected top-level item separator (`;` or newline), got ? at 1:11",
        ),
    ]);
}

/// 1.4
#[test]
fn numbers() {
    check(&[
        ("42", "42"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9.223372036854776e18"),
        ("1.50", "1.5"),
        ("42.method", "(42 .method)"),
        ("250ms", "250ms"),
        ("2d", "172800000ms"),
        ("9999999999999999w", "too-long"),
    ]);
}

/// 1.5
#[test]
fn interpolations_are_expressions_of_their_own() {
    check(&[
        (r#""a ${b} c""#, r#"(text "a " b " c")"#),
        (r#""${xs.join(", ")}""#, r#"(text (xs (.join ", ")))"#),
        (r#""${ {a: {b: 1}} }""#, r#"(text (dict (a (dict (b 1)))))"#),
        ("\"${1 +\n 2}\"", "(text (+ 1 2))"),
        (r#""${"in ${deep}"}""#, r#"(text (text "in " deep))"#),
        (r#""\${a}""#, r#""${a}""#),
        (r#""\\${a}""#, r#"(text "\\" a)"#),
        // Tokens after a complete expression are ignored.
        (r#""${a b}""#, "(text a)"),
        // What does not lex gives nothing, what does not parse stands for itself.
        (r#""a${`}b""#, r#"(text "a" "b")"#),
        (r#""a${1 +}b""#, r#"(text "a" "1 +" "b")"#),
        (r#""${if a { 1 2 }}""#, r#"(text "if a { 1 2 }")"#),
        (r#""${f({ x -> let })}""#, r#"(text "f({ x -> let })")"#),
        (
            "\"\"\"\n    alpha\n      beta ${1 + 1}\n    \"\"\"",
            "(text \"alpha\\n  beta \" (+ 1 1))",
        ),
        ("\"\"\"\n  ${a}\n    b\n\"\"\"", "(text a \"\\n  b\")"),
    ]);
}

#[test]
fn members_indexes_and_calls_follow_a_value() {
    check(&[
        ("a.b?.c", "(a .b ?.c)"),
        ("a.b(1, ...c)", "(a (.b 1 (... c)))"),
        ("a?.b()", "(a (?.b))"),
        ("a[0]?[1]", "(a ([] 0) (?[] 1))"),
        (
            "a[1:2][1:][:2][:]",
            "(a ([:] 1 2) ([:] 1 _) ([:] _ 2) ([:] _ _))",
        ),
        ("f()?", "((call f) ?)"),
        ("f()?.x", "((call f) ?.x)"),
        ("[1].first", "((list 1) .first)"),
        ("{a: 1}.a", "((dict (a 1)) .a)"),
        ("a.if.to.match", "(a .if .to .match)"),
        ("a.b = 1", "(= (a .b) 1)"),
    ]);
}

/// 2.4, parentheses.
#[test]
fn parentheses_leave_no_trace() {
    check(&[
        ("(f)(1)", "(call f 1)"),
        ("(a.b)(1)", "(a (.b 1))"),
        ("(a).b = 1", "(= (a .b) 1)"),
        ("((a.b)).c", "(a .b .c)"),
        ("(a + b).c", "((+ a b) .c)"),
        ("(Point) {x: 1}", "(struct Point (x 1))"),
    ]);
}

/// 2.4, calls.
#[test]
fn only_names_and_members_are_called() {
    let separator = "Expected top-level item separator (`;` or newline), got ( at 1";
    check_errors(&[
        ("f(1)(2)", &format!("{separator}:5")),
        ("xs[0](1)", &format!("{separator}:6")),
        ("a.b(1)(2)", &format!("{separator}:7")),
        ("[f](1)", &format!("{separator}:4")),
    ]);
}

/// 2.4, type arguments.
#[test]
fn type_arguments_are_a_list_before_a_parenthesis() {
    check(&[
        ("f<int>(1)", "(call f (: int) 1)"),
        (
            "f<list<int>, {a: T}>(1)",
            "(call f (: list<int>) (: {a: T}) 1)",
        ),
        ("a < b", "(< a b)"),
        ("a < b > c", "(a < b > c)"),
        ("a < b > (c)", "(call a (: b) c)"),
        ("a < b && c > (d)", "(&& (< a b) (> c d))"),
        ("x.f < b > (c)", "((x .f) < b > c)"),
    ]);
}

/// 2.4, struct literals.
#[test]
fn struct_literals_are_recognised_by_their_first_entry() {
    check(&[
        ("Point {x: 1, y: 2}", "(struct Point (x 1) (y 2))"),
        ("Point {}", "(struct Point)"),
        ("Point {\n\n x: 1\n}", "(struct Point (x 1))"),
        ("Point {\"x\": 1, ...p}", "(struct Point (\"x\" 1) (... p))"),
        ("if READY {\n}\n{ }", "(if (struct READY) (do))"),
        ("if READY { go() }", "(if READY (do (call go)))"),
        ("if ready { }", "(if ready (do))"),
    ]);
    check_errors(&[
        (
            "let p = Point {...q}",
            "Expected top-level item separator (`;` or newline), got { at 1:15",
        ),
        (
            "let p = Point {if: 1}",
            "Expected top-level item separator (`;` or newline), got { at 1:15",
        ),
    ]);
}

/// 2.4, braces.
#[test]
fn braces_are_closures_if_an_arrow_follows() {
    check(&[
        ("let d = {}", "(let d (dict))"),
        ("let d = {\n}", "(let d (dict))"),
        ("let f = { -> 1 }", "(let f (fn () (do 1)))"),
        ("let f = { x -> x }", "(let f (fn (x) (do x)))"),
        (
            "let f = { x: int, y = 2, ...z -> x; y }",
            "(let f (fn ((x (: int)) (y (= 2)) ...z) (do x y)))",
        ),
        (
            "let f = { g: fn(int) -> int -> g(1) }",
            "(let f (fn ((g (: fn(int) -> int))) (do (call g 1))))",
        ),
        (
            "let d = {f: { x -> x }, m: match y { 1 -> { 2 } }}",
            "(let d (dict (f (fn (x) (do x))) (m (match y ((case 1) (do 2))))))",
        ),
        (
            "let f = fn(a, b = 1) { a }",
            "(let f (fn (a (b (= 1))) (do a)))",
        ),
        ("let f = { x ->\n}", "(let f (fn (x) (do)))"),
    ]);
}

#[test]
fn keys_of_dicts() {
    check(&[
        (
            "let d = {a: 1, \"b c\": 2, [d + e]: 3, ...f, if: 4}",
            "(let d (dict (a 1) (\"b c\" 2) ((computed (+ d e)) 3) (... f) (if 4)))",
        ),
        (
            "let d = {a: 1 b: 2\n c: 3,}",
            "(let d (dict (a 1) (b 2) (c 3)))",
        ),
    ]);
    check_errors(&[
        (
            "let d = {select: 1}",
            "Expected dict key, got 'select' (reserved keyword) at 1:10",
        ),
        ("let d = {1: 1}", "Expected dict key, got int(1) at 1:10"),
    ]);
}

/// 2.4, the question mark.
#[test]
fn a_question_mark_is_what_follows_it() {
    check(&[
        ("a ? b : c", "(? a b c)"),
        ("a ? 1 : 2.0", "(? a 1 2.0)"),
        ("a ? \"x\" : \"${y}\"", "(? a \"x\" (text y))"),
        ("a ? (b) : [1]", "(? a b (list 1))"),
        ("a ? {} : !b", "(? a (dict) (! b))"),
        ("a ? -1 : nil", "(? a (- 1) nil)"),
        ("a ? fn() { 1 } : c", "(? a (fn () (do 1)) c)"),
        ("a ?[1]", "(a (?[] 1))"),
        ("a?\nb", "(a ?)\nb"),
        ("a? + 1", "(+ (a ?) 1)"),
        ("f(a?, b?)", "(call f (a ?) (b ?))"),
    ]);
    check_errors(&[
        (
            "c ? [1] : []",
            "Expected top-level item separator (`;` or newline), got : at 1:9",
        ),
        (
            "c ? 5s : 1s",
            "Expected top-level item separator (`;` or newline), got duration(5000ms) at 1:5",
        ),
    ]);
}

#[test]
fn constructs_are_values() {
    check(&[
        (
            "let x = if a { 1 } else if b { 2 } else { 3 } + 1",
            "(let x (+ (if a (do 1) b (do 2) (do 3)) 1))",
        ),
        (
            "let x = match y { 1 | 2 -> { 3 } _ if z -> { 4 } }",
            "(let x (match y ((case 1 2) (do 3)) ((case _) (if z) (do 4))))",
        ),
        (
            "let r = try { f() }.variant",
            "(let r ((try (do (call f))) .variant))",
        ),
        ("let r = try* f() + 1", "(let r (+ (try* (call f)) 1))"),
        ("try* f() |> g", "(|> (try* (call f)) g)"),
        ("let h = spawn { 1 }", "(let h (spawn (do 1)))"),
        ("let r = retry 3 { f() }", "(let r (retry 3 (do (call f))))"),
        (
            "let r = retry (n + 1) { f() }",
            "(let r (retry (+ n 1) (do (call f))))",
        ),
        (
            "let r = deadline 5s { f() }",
            "(let r (deadline 5000ms (do (call f))))",
        ),
    ]);
}

#[test]
fn parallel_in_all_its_forms() {
    check(&[
        ("parallel 3 { i -> i }", "(parallel 3 i (do i))"),
        ("parallel n { f() }", "(parallel n (do (call f)))"),
        ("parallel each xs { x -> x }", "(parallel-each xs x (do x))"),
        (
            "parallel settle xs { x -> x }",
            "(parallel-settle xs x (do x))",
        ),
        (
            "parallel each xs { x -> x } as stream",
            "(parallel-each-stream xs x (do x))",
        ),
        (
            "parallel each xs with { max_concurrent: 2 } { x -> x }",
            "(parallel-each xs (max_concurrent 2) x (do x))",
        ),
        ("parallel each { i -> i }", "(parallel each i (do i))"),
        (
            "let each = 1; let with = 2; let stream = 3",
            "(let each 1)\n(let with 2)\n(let stream 3)",
        ),
    ]);
}

#[test]
fn long_chains_do_not_nest() {
    let sum = vec!["a"; 100_000].join(" + ");
    let members = format!("a{}", ".b".repeat(100_000));
    let calls = format!("a{}", ".b()".repeat(100_000));
    let branches = format!("if a {{ }}{}", " else if b { }".repeat(100_000));
    let union = format!("type T = {}", vec!["int"; 100_000].join(" | "));
    for source in [sum, members, calls, branches, union] {
        let parsed = parse(&source);
        assert_eq!(parsed.errors, []);
        assert!(parsed.module.to_string().len() > 100_000);
    }
}

#[test]
fn what_is_nested_too_deeply_is_an_error() {
    for opener in [
        "(", "[", "{a: ", "{ -> ", "!", "-", "try* ", "if a { ", "f(", "a[", "\"${", "2 ** ",
    ] {
        let source = opener.repeat(100_000);
        let parsed = parse(&source);
        let Some(first) = parsed.errors.first() else {
            // An interpolation that cannot be read is not an error.
            assert_eq!(opener, "\"${");
            continue;
        };
        let is_expected = first
            .message
            .starts_with("Expected at most 128 levels of nesting, got ")
            || opener == "\"${";
        assert!(is_expected, "{opener}: {}", first.message);
    }
    let types = format!("let x: {}int = 1", "[".repeat(100_000));
    assert_eq!(
        all_errors(&types),
        ["Expected at most 128 levels of nesting, got [ at 1:136"]
    );
    let attributes = format!("@a({}", "[".repeat(100_000));
    assert_eq!(all_errors(&attributes).len(), 1);
}

#[test]
fn what_is_nested_as_deeply_as_allowed_is_not() {
    let source = format!(
        "{}1{}",
        "(".repeat(NESTING_MAX - 1),
        ")".repeat(NESTING_MAX - 1)
    );
    check(&[(&source, "1")]);
}
