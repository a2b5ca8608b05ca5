//! 14.2 and 14.3, the syntax of expressions and filters.

use super::*;

/// Checks an expression in a directive, in a conditional, in a loop and in an include.
#[track_caller]
fn check_expression(text: &str, expected: &str) {
    let tree = format!("(value {expected})");
    check(&format!("{{{{ ({text}) }}}}"), &tree);
    check(
        &format!("{{{{ if {text} }}}}{{{{ end }}}}"),
        &format!("(if ({expected}) (else))"),
    );
    check(
        &format!("{{{{for x in {text}}}}}{{{{end}}}}"),
        &format!("(for x {expected} (else))"),
    );
    let include = format!("{{{{ include {text} with {{ a: {text} }} }}}}");
    check(&include, &format!("(include {expected} (a {expected}))"));
}

#[test]
fn literals() {
    for (text, expected) in [
        ("nil", "nil"),
        ("true", "true"),
        ("false", "false"),
        ("0", "0"),
        ("42", "42"),
        ("-42", "-42"),
        ("007", "7"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "9.223372036854776e18"),
        ("1.5", "1.5"),
        ("-0.25", "-0.25"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn strings_have_either_quotes_and_escapes() {
    for (text, expected) in [
        (r#""""#, r#""""#),
        (r#"''"#, r#""""#),
        (r#""it's""#, r#""it's""#),
        (r#"'say "a"'"#, r#""say \"a\"""#),
        (r#""\n\t\r\\\"\'""#, r#""\n\t\r\\\"'""#),
        (r#"'\'\"'"#, r#""'\"""#),
        (r#""\a\é\{""#, r#""aé{""#),
        ("\"two\nlines\"", r#""two\nlines""#),
        ("'é😀'", r#""é😀""#),
        ("'and or | : #}'", r#""and or | : #}""#),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn paths() {
    for (text, expected) in [
        ("a", "a"),
        ("_", "_"),
        ("a.b.c", "a.b.c"),
        ("a[0]", "a[0]"),
        ("a[-1]", "a[-1]"),
        (r#"a["b c"]"#, "a.b c"),
        ("a['b'][2].c[-3]", "a.b[2].c[-3]"),
        ("a . b [ 0 ]", "a.b[0]"),
        ("a.if.nil.and", "a.if.nil.and"),
        ("nothing", "nothing"),
        ("not_a", "not_a"),
        ("ñ.名前", "ñ.名前"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn operators_bind_in_order() {
    for (text, expected) in [
        ("a or b", "(or a b)"),
        ("a || b", "(or a b)"),
        ("a||b", "(or a b)"),
        ("a and b", "(and a b)"),
        ("a && b", "(and a b)"),
        ("a or b or c", "(or a b c)"),
        ("a or b and c or d", "(or a (and b c) d)"),
        ("(a or b) and c", "(and (or a b) c)"),
        ("a or (b or c)", "(or a (or b c))"),
        ("not a", "(not a)"),
        ("!a", "(not a)"),
        ("not a and b", "(and (not a) b)"),
        ("a and not b", "(and a (not b))"),
        ("not a == b", "(not (== a b))"),
        ("(not a) == b", "(== (not a) b)"),
        ("!!a", "(not (not a))"),
        ("not not not a", "(not a)"),
        ("!!!!a", "(not (not a))"),
        ("!(!(!(!a)))", "(not (not (not (not a))))"),
        ("a == b", "(== a b)"),
        ("a!=b", "(!= a b)"),
        ("a < b", "(< a b)"),
        ("a<=b", "(<= a b)"),
        ("a > -1", "(> a -1)"),
        ("a>=b", "(>= a b)"),
        (
            "a == 1 and b != 'x' or c < 2.5",
            "(or (and (== a 1) (!= b \"x\")) (< c 2.5))",
        ),
        ("((a))", "a"),
        ("(nil)", "nil"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn filters_apply_from_left_to_right() {
    for (text, expected) in [
        ("a | upper", "(value (upper a))"),
        ("a|upper|trim", "(value (trim (upper a)))"),
        ("a or b | upper", "(value (upper (or a b)))"),
        ("a || b | upper", "(value (upper (or a b)))"),
        ("a | default: b or c", "(value (default a (or b c)))"),
        (
            "a | default: (b) | json: true",
            "(value (json (default a b) true))",
        ),
        (
            "a | replace: 'x', 'y' | lower",
            "(value (lower (replace a \"x\" \"y\")))",
        ),
        ("a | indent : 2 , true", "(value (indent a 2 true))"),
        ("a | join: ', '", "(value (join a \", \"))"),
    ] {
        check(&format!("{{{{ {text} }}}}"), expected);
    }
}

/// 14.3: each with the numbers of arguments it takes.
#[test]
fn every_filter_counts_its_arguments() {
    let filters = [
        ("upper", 0, 0),
        ("lower", 0, 0),
        ("trim", 0, 0),
        ("capitalize", 0, 0),
        ("title", 0, 0),
        ("length", 0, 0),
        ("first", 0, 0),
        ("last", 0, 0),
        ("reverse", 0, 0),
        ("join", 1, 1),
        ("default", 1, 1),
        ("json", 0, 1),
        ("indent", 1, 2),
        ("lines", 0, 0),
        ("escape_md", 0, 0),
        ("replace", 2, 2),
    ];
    assert_eq!(filters.len(), Filter::ALL.len());
    for (name, least, most) in filters {
        for count in 0..4 {
            let colon = if count > 0 { ": " } else { "" };
            let arguments = vec!["1"; count].join(", ");
            let text = format!("{{{{ a | {name}{colon}{arguments} }}}}");
            let tree = ["a"].into_iter().chain(vec!["1"; count]);
            let tree: Vec<&str> = tree.collect();
            let expected = match (least..=most).contains(&count) {
                true => format!("(value ({name} {}))", tree.join(" ")),
                false => format!("at 1:1: filter `{name}` got wrong number of arguments"),
            };
            check(&text, &expected);
        }
    }
}
