use serde_json::{Value, json};

use super::*;

#[track_caller]
fn check(text: &str, expected: Value, repairs: &[&str]) {
    let (value, found) = read(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    assert_eq!(value, expected, "{text}");
    let found: Vec<_> = found.iter().map(|repair| repair.what).collect();
    assert_eq!(found, repairs, "{text}");
    assert_eq!(in_pieces(text).unwrap(), expected, "{text} in pieces");
}

fn in_pieces(text: &str) -> Result<Value, Fault> {
    let mut reader = Reader::new(Root::Value, 0);
    for (end, _) in text.char_indices().skip(1) {
        match reader.advance(&text[..end], false) {
            Step::More => {}
            Step::Done(value) => return Ok(value),
            Step::Failed(fault) | Step::Unclosed { fault, .. } => return Err(fault),
        }
    }
    match reader.advance(text, true) {
        Step::Done(value) => Ok(value),
        Step::Failed(fault) | Step::Unclosed { fault, .. } => Err(fault),
        Step::More => unreachable!(),
    }
}

#[test]
fn the_syntax_of_the_specification_needs_no_repair() {
    for (text, expected) in [
        ("{}", json!({})),
        (
            "{ a: 1, 'b': 2, \"c\": 3, }",
            json!({"a": 1, "b": 2, "c": 3}),
        ),
        ("[1, [2], ]", json!([1, [2]])),
        (
            r#""a\n\t\r\0\\\'\"\`\u0041\x42""#,
            json!("a\n\t\r\0\\'\"`AB"),
        ),
        ("'it\\\ngoes on'", json!("itgoes on")),
        ("`a ${b} c\nd`", json!("a ${b} c\nd")),
        ("<<EOF\na \"b\"\n  c\nEOF", json!("a \"b\"\n  c")),
        ("{a: <<'T'\nx\n  T, b: 1}", json!({"a": "x", "b": 1})),
        ("\"<<T\nx\nTail\nT\"", json!("x\nTail")),
        ("[\"<<T\nx\nT, 1]", json!(["x", 1])),
        ("\"<<T\"", json!("<<T")),
        ("<<T\nT", json!("")),
        (
            "[true, false, null, undefined]",
            json!([true, false, null, null]),
        ),
        (
            "[1, -2, +3, 1.5, 1e3, .5, 0x1F, 1_000]",
            json!([1, -2, 3, 1.5, 1000.0, 0.5, 31, 1000]),
        ),
        ("// a\n{/* b **/ a: /**/ 1 // c\n}", json!({"a": 1})),
        ("\"\\ud83d\\ude00\"", json!("😀")),
        ("\"\\u{1F600}\"", json!("😀")),
        ("\"\"", json!("")),
        ("18446744073709551615", json!(u64::MAX)),
    ] {
        check(text, expected, &[]);
    }
}

#[test]
fn what_can_only_be_meant_in_one_way_is_mended() {
    for (text, expected, repairs) in [
        (
            "{a: True, b: None}",
            json!({"a": true, "b": null}),
            &["Python literal", "Python literal"][..],
        ),
        (
            "{“a”: “b c”}",
            json!({"a": "b c"}),
            &["smart quotes", "smart quotes"],
        ),
        ("{a: 1 b: 2}", json!({"a": 1, "b": 2}), &["missing comma"]),
        ("[1 2]", json!([1, 2]), &["missing comma"]),
        ("{a: 1,, b: 2}", json!({"a": 1, "b": 2}), &["extra comma"]),
        ("{a: 1; b: 2}", json!({"a": 1, "b": 2}), &["`;` for `,`"]),
        ("{a = 1}", json!({"a": 1}), &["`=` for `:`"]),
        ("{a => 1}", json!({"a": 1}), &["`=` for `:`"]),
        (
            "\"a\nb\nc\"",
            json!("a\nb\nc"),
            &["line break inside a string"],
        ),
        (
            "\"\"\"a \"b\"\n\"\"\"",
            json!("a \"b\"\n"),
            &["triple quotes"],
        ),
        ("\"\\d+\"", json!("\\d+"), &["unknown escape kept"]),
        ("{a: 1, a: 2}", json!({"a": 2}), &["repeated key"]),
        ("{a-b: 1}", json!({"a-b": 1}), &["key without quotes"]),
        ("{a: 1 # one\n}", json!({"a": 1}), &["comment with `#`"]),
    ] {
        check(text, expected, repairs);
    }
}

#[test]
fn errors_say_what_was_expected() {
    for (text, expected, is_unfinished) in [
        ("{ path: }", "expected a value, got `}`", false),
        ("{ path }", "expected `:` after key `path`, got `}`", false),
        (
            "{ a: foo }",
            "unexpected identifier `foo`; text values need quotes",
            false,
        ),
        ("{ a: \"x }", "unterminated string", true),
        ("{ a: <<T\nx", "unterminated heredoc `<<T`", true),
        ("{ a: <<\nx", "expected `<<TAG` and a line break", false),
        ("{ a: 1", "unexpected end of input, expected `}`", true),
        ("[1", "unexpected end of input, expected `]`", true),
        ("{ a: 1 )", "expected `,` or `}`, got `)`", false),
        ("{ a: 1.2.3 }", "invalid number `1.2.3`", false),
        (
            "\"\\uZZZZ\"",
            "`\\u` must be followed by four hexadecimal digits",
            false,
        ),
        ("1 2", "unexpected text after the value", false),
        ("", "unexpected end of input", true),
    ] {
        let fault = read(text).unwrap_err();
        assert_eq!(fault.message, expected, "{text}");
        assert_eq!(fault.is_unfinished, is_unfinished, "{text}");
    }
}

#[test]
fn nesting_has_an_end() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(&deep(DEPTH_MAX)).is_ok());
    let fault = read(&deep(DEPTH_MAX + 1)).unwrap_err();
    assert_eq!(fault.message, "values may nest 128 levels at most");
    assert!(read(&"[{a:".repeat(1 << 20)).is_err());
}
