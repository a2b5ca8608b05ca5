//! 14.5, as far as it is about syntax.

use super::*;

/// Checks what is wrong with a template, and that the place is that of the directive
/// wherever it stands.
#[track_caller]
fn check_error(text: &str, expected: &str) {
    check(text, &format!("at 1:1: {expected}"));
    check(&format!("é\n\n ü{text}"), &format!("at 3:3: {expected}"));
    let inside = format!("{{{{ if a }}}}\n  {text}");
    check(&inside, &format!("at 2:3: {expected}"));
}

#[test]
fn what_does_not_end() {
    for (text, expected) in [
        ("{{", "unterminated directive"),
        ("{{ name", "unterminated directive"),
        ("{{ name }", "unterminated directive"),
        ("{{-", "unterminated directive"),
        ("{{ 'a", "unterminated directive"),
        ("{{#", "unterminated comment"),
        ("{{# a }}", "unterminated comment"),
        ("{{#}}", "unterminated comment"),
        ("{{-# a # }}", "unterminated comment"),
        ("{{ raw }}", "unterminated `{{ raw }}` block"),
        (
            "{{raw}} {{ end }} {{ endraw",
            "unterminated `{{ raw }}` block",
        ),
        (r#"{{ "a }}"#, "unterminated string literal"),
        (r#"{{ it's }} {{ b }}"#, "unterminated string literal"),
        (r#"{{ "a\" }}"#, "unterminated string literal"),
    ] {
        check_error(text, expected);
    }
}

#[test]
fn parts_of_no_block() {
    for (text, expected) in [
        ("{{ end }}", "at 1:1: unexpected `{{ end }}`"),
        ("a\n {{ else }}", "at 2:2: unexpected `{{ else }}`"),
        ("{{ elif a }}", "at 1:1: unexpected `{{ elif }}`"),
        (
            "{{ if a }}{{ end }}{{ end }}",
            "at 1:20: unexpected `{{ end }}`",
        ),
        (
            "{{ if a }}{{ else }}{{ else }}",
            "at 1:21: unexpected `{{ else }}`",
        ),
        (
            "{{ if a }}{{ else }}{{ elif b }}",
            "at 1:21: unexpected `{{ elif }}`",
        ),
        (
            "{{ for a in b }}{{ elif c }}",
            "at 1:17: unexpected `{{ elif }}`",
        ),
        (
            "{{ for a in b }}{{ else }}{{ else }}",
            "at 1:27: unexpected `{{ else }}`",
        ),
        ("{{ endraw }}", "at 1:1: unexpected `{{ endraw }}`"),
    ] {
        check(text, expected);
    }
}

#[test]
fn blocks_without_end() {
    for (text, expected) in [
        (
            "{{ if a }}",
            "at 1:1: `{{ if }}` missing matching `{{ end }}`",
        ),
        (
            "\n{{- if a }}x{{ elif b }}y",
            "at 2:1: `{{ if }}` missing matching `{{ end }}`",
        ),
        (
            "{{ for a in b }}",
            "at 1:1: `{{ for }}` missing matching `{{ end }}`",
        ),
        (
            "{{ if a }}\n {{ else }}",
            "at 2:2: `{{ else }}` missing matching `{{ end }}`",
        ),
        (
            "{{ for a in b }}{{ else }}",
            "at 1:17: `{{ else }}` missing matching `{{ end }}`",
        ),
        (
            "{{ if a }}{{ for b in c }}",
            "at 1:11: `{{ for }}` missing matching `{{ end }}`",
        ),
        (
            "{{ if a }}{{ for b in c }}{{ end }}",
            "at 1:1: `{{ if }}` missing matching `{{ end }}`",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn loops_and_includes() {
    for (text, expected) in [
        ("{{ for }}", "expected `in` in for-loop"),
        ("{{ for x }}", "expected `in` in for-loop"),
        ("{{ for x of xs }}", "expected `in` in for-loop"),
        ("{{ for 'in' }}", "expected `in` in for-loop"),
        ("{{ for in xs }}", "invalid for-loop variable"),
        ("{{ for 1 in xs }}", "invalid for-loop variable"),
        ("{{ for 1in in xs }}", "invalid for-loop variable"),
        ("{{ for a.b in xs }}", "invalid for-loop variable"),
        ("{{ for a b in xs }}", "invalid for-loop variable"),
        ("{{ for 'a' in xs }}", "invalid for-loop variable"),
        ("{{ for nil in xs }}", "invalid for-loop variable"),
        ("{{ for a, in xs }}", "invalid for-loop variables"),
        ("{{ for , a in xs }}", "invalid for-loop variables"),
        ("{{ for a, 1 in xs }}", "invalid for-loop variables"),
        ("{{ for a, b, c in xs }}", "invalid for-loop variables"),
        ("{{ for x in }}", "expected expression"),
        ("{{ include }}", "expected expression"),
        ("{{ include 'a' with }}", "expected `{ ... }` after `with`"),
        (
            "{{ include 'a' with x }}",
            "expected `{ ... }` after `with`",
        ),
        (
            "{{ include 'a' with { x: 1 }}}",
            "expected `{ ... }` after `with`",
        ),
        (
            "{{ include 'a' with { x: 1 } y }}",
            "expected `{ ... }` after `with`",
        ),
        (
            "{{ include 'a' with { x } }}",
            "expected `key: value` in include bindings",
        ),
        (
            "{{ include 'a' with { x, y: 1 } }}",
            "expected `key: value` in include bindings",
        ),
        (
            "{{ include 'a' with { , } }}",
            "expected `key: value` in include bindings",
        ),
        (
            "{{ include 'a' with { x: 1, y } }}",
            "expected `key: value` in include bindings",
        ),
        (
            "{{ include 'a' with { 1: 2 } }}",
            "invalid include binding key",
        ),
        (
            "{{ include 'a' with { 'x': 2 } }}",
            "invalid include binding key",
        ),
        (
            "{{ include 'a' with { x-y: 2 } }}",
            "invalid include binding key",
        ),
        (
            "{{ include 'a' with { : 2 } }}",
            "invalid include binding key",
        ),
        ("{{ include 'a' with { x: } }}", "expected expression"),
        (
            "{{ include 'a' with { x: 1 y: 2 } }}",
            "unexpected character `y` in expression",
        ),
        (
            "{{ include 'a' { x: 1 } }}",
            "unexpected character `{` in expression",
        ),
    ] {
        check_error(text, expected);
    }
}

#[test]
fn expressions_and_filters() {
    for (text, expected) in [
        ("", "expected expression"),
        ("-", "expected expression"),
        (" if ", "expected expression"),
        (" and ", "expected expression"),
        (" not ", "expected expression"),
        (" a or ", "expected expression"),
        (" a == ", "expected expression"),
        (" a == not b ", "expected expression"),
        (" () ", "expected expression"),
        (" .5 ", "expected expression"),
        (" | upper ", "expected expression"),
        (" a | default: ", "expected expression"),
        (" a | replace: 'x', ", "expected expression"),
        (" a | ", "expected filter name after `|`"),
        (" a | 1 ", "expected filter name after `|`"),
        (" a | upper || b ", "expected filter name after `|`"),
        (" a | nope ", "unknown filter `nope`"),
        (" a | Upper ", "unknown filter `Upper`"),
        (" a | größe: 1 ", "unknown filter `größe`"),
        (
            " a | upper: 1 ",
            "filter `upper` got wrong number of arguments",
        ),
        (" a | join ", "filter `join` got wrong number of arguments"),
        (" (a ", "expected `)`"),
        (" (a b) ", "expected `)`"),
        (" (a | upper) ", "expected `)`"),
        (" a[0 ", "expected `]`"),
        (" a[0 1] ", "expected `]`"),
        (" a['x' ", "expected `]`"),
        (" a. ", "expected identifier after `.`"),
        (" a.0 ", "expected identifier after `.`"),
        (" a..b ", "expected identifier after `.`"),
        (" a[] ", "expected integer or string inside `[...]`"),
        (" a[b] ", "expected integer or string inside `[...]`"),
        (" a[1.5] ", "expected integer or string inside `[...]`"),
        (" a[ ", "expected integer or string inside `[...]`"),
        (" a = b ", "unexpected `=` (use `==`)"),
        (" if a = b ", "unexpected `=` (use `==`)"),
        (" (a = b) ", "unexpected `=` (use `==`)"),
        (" = ", "unexpected `=` (use `==`)"),
        (" a & b ", "unexpected `&`"),
        (" &a ", "unexpected `&`"),
        (" a @ b ", "unexpected character `@` in expression"),
        (" $a ", "unexpected character `$` in expression"),
        (" a + 1 ", "unexpected character `+` in expression"),
        (" a - 1 ", "unexpected character `-` in expression"),
        (" - 1 ", "unexpected character `-` in expression"),
        (" -a ", "unexpected character `-` in expression"),
        (" a ? b ", "unexpected character `?` in expression"),
        ("{x}", "unexpected character `{` in expression"),
        (" a€ ", "unexpected character `€` in expression"),
        // Nothing in the list of messages is about what follows a whole expression.
        (" a b ", "unexpected character `b` in expression"),
        (" a -1 ", "unexpected character `-` in expression"),
        (" a) ", "unexpected character `)` in expression"),
        (" (a)[0] ", "unexpected character `[` in expression"),
        (" a == b == c ", "unexpected character `=` in expression"),
        (" 1.5.2 ", "unexpected character `.` in expression"),
        (" 1x ", "unexpected character `x` in expression"),
        (" a: 1 ", "unexpected character `:` in expression"),
        (" else if x ", "unexpected character `i` in expression"),
        (" end if ", "unexpected character `i` in expression"),
        (" raw | upper ", "unexpected character `|` in expression"),
    ] {
        check_error(&format!("{{{{{text}}}}}"), expected);
    }
}

#[test]
fn the_first_thing_that_is_wrong_is_reported() {
    check("{{ a | nope }}{{ end }}{{", "at 1:1: unknown filter `nope`");
    check(
        "{{ if a }}{{ b. }}",
        "at 1:11: expected identifier after `.`",
    );
    check("{{ if a }}{{ else }}{{#", "at 1:21: unterminated comment");
}

#[test]
fn blocks_are_nested_a_bounded_number_of_times() {
    let nested = |depth: usize| {
        let open = ["{{ if a }}", "{{ for b in c }}"];
        let open: String = (0..depth).map(|level| open[level % 2]).collect();
        format!("{open}{}", "{{ end }}".repeat(depth))
    };
    assert!(parse_template(&nested(NESTING_MAX)).is_ok());
    // A hundred of each come before it.
    let column = 100 * "{{ if a }}{{ for b in c }}".len() + 1;
    let expected = format!("at 1:{column}: block depth exceeded (200 levels)");
    check(&nested(NESTING_MAX + 1), &expected);
    check(&nested(100_000), &expected);
    let chain = format!(
        "{{{{ if a }}}}{}{{{{ end }}}}",
        "{{ elif b }}".repeat(100_000)
    );
    assert!(parse_template(&chain).is_ok());
}

#[test]
fn parentheses_are_nested_a_bounded_number_of_times() {
    let nested = |depth: usize| format!("{{{{ {}a{} }}}}", "(".repeat(depth), ")".repeat(depth));
    check(&nested(NESTING_MAX), "(value a)");
    let expected = "at 1:1: expression depth exceeded (200 levels)";
    check(&nested(NESTING_MAX + 1), expected);
    check(&nested(1_000_000), expected);
    let negated = |depth: usize| "not (".repeat(depth) + "a" + &")".repeat(depth);
    assert!(parse_template(&format!("{{{{ {} }}}}", negated(NESTING_MAX))).is_ok());
    for part in ["not ", "!", "a or ", "a and ", "a && ", "a || "] {
        let text = format!("{{{{ {}a }}}}", part.repeat(100_000));
        assert!(parse_template(&text).is_ok(), "{part}");
    }
    for part in [".a", "[0]", " | upper", " | default: 1"] {
        let text = format!("{{{{ a{} }}}}", part.repeat(100_000));
        assert!(parse_template(&text).is_ok(), "{part}");
    }
}
