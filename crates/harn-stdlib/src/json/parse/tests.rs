use proptest::prelude::*;

use super::super::write;
use super::parse;

fn written(text: &str) -> Result<String, String> {
    parse(text).map(|value| {
        let mut out = String::new();
        write(&value, &mut out);
        out
    })
}

#[test]
fn values_are_read() {
    for (text, shown) in [
        ("null", "nil"),
        (" [1, 2.5, -3, 1e2] ", "[1, 2.5, -3, 100.0]"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854776000"),
        (r#"{"b": {"c": []}, "a": true}"#, "{a: true, b: {c: []}}"),
        (r#"{"a": 1, "a": 2}"#, "{a: 2}"),
        (r#""\u00e9\ud83d\ude00\n\/""#, "é😀\n/"),
    ] {
        assert_eq!(parse(text).expect(text).show(), shown);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, reason) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("x", "expected value at line 1 column 1"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{a: 1}", "key must be a string at line 1 column 2"),
        ("[1,\n 2,]", "trailing comma at line 2 column 4"),
        ("1 2", "trailing characters at line 1 column 3"),
        ("[1 2]", "expected `,` or `]` at line 1 column 4"),
        ("nul", "EOF while parsing a value at line 1 column 3"),
    ] {
        assert_eq!(parse(text).expect_err(text), reason);
    }
}

#[test]
fn depth_costs_no_stack() {
    let depth = 100_000;
    let deep = "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(written(&deep), Ok(deep));
    let deep = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
    assert_eq!(written(&deep), Ok(deep));
    let reason = parse(&"[".repeat(depth)).expect_err("it does not end");
    assert_eq!(reason, "EOF while parsing a list at line 1 column 100000");
}

/// What serde_json says, in the mapping of this crate.
fn as_serde_json_says(text: &str) -> Result<String, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => Ok(value.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Texts that are JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"b\\n\"",
        "1",
        "-",
        "0",
        ".5",
        "2.5",
        "1e3",
        "e",
        "E+",
        "true",
        "null",
        "fals",
        " ",
        "\n",
        "\\u00e9",
        "\\ud800",
        "\\udc00",
        "\\x",
        "\t",
        "é",
        "1e999",
        "18446744073709551616",
    ]);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn everything_is_read_and_refused_as_serde_json_does(text in nearly_json()) {
        let expected = as_serde_json_says(&text);
        let actual = parse(&text);
        match (&actual, &expected) {
            // Where it sees that an exponent is too large depends on how it counts.
            (Err(actual), Err(expected)) if actual.starts_with("number out of range") => {
                prop_assert!(expected.starts_with("number out of range"), "{}", expected);
            }
            (Err(actual), Err(expected)) => prop_assert_eq!(actual, expected),
            (Ok(actual), Ok(expected)) => {
                let again = parse(expected).expect("serde_json writes JSON");
                prop_assert!(*actual == again, "{actual} {again}");
            }
            _ => prop_assert!(false, "{actual:?} {expected:?}"),
        }
    }
}
