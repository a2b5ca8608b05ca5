//! The libraries of Python, on values that we make up.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::same::is_same;
use crate::world::{error_of, for_each, installed};

const CASES: usize = 1000;

/// What Python says about each case.
fn python(program: impl AsRef<OsStr>, question: &str, cases: &[Value]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/oracle.py");
    let mut child = Command::new(program)
        .arg(script)
        .arg(question)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    let mut input = child.stdin.take().expect("it is piped");
    let cases = serde_json::to_vec(cases).expect("they are JSON");
    let writing = std::thread::spawn(move || input.write_all(&cases));
    let output = child.wait_with_output().expect("it was started");
    writing
        .join()
        .expect("it does not panic")
        .expect("Python reads");
    assert!(output.status.success(), "{question}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The same values in every run.
fn made<T: std::fmt::Debug>(strategy: &impl Strategy<Value = T>) -> Vec<T> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let mut make = || strategy.new_tree(&mut runner).expect("it can be made");
    (0..CASES).map(|_| make().current()).collect()
}

/// What was read of texts is what they were written from.
#[track_caller]
fn all_same(read: &[Value], written: &[Value], texts: &[Value]) {
    assert_eq!(read.len(), written.len());
    for ((read, written), text) in read.iter().zip(written).zip(texts) {
        assert!(is_same(read, written), "{text}: {read} and not {written}");
    }
}

/// Text out of characters that formats care about.
fn odd_text() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        4 => proptest::char::range('a', 'c'),
        4 => proptest::sample::select(" ,;:\"'\\\n\t#-[]{}&*!|>%@`?~=.0123456789truefalsn".chars().collect::<Vec<_>>()),
        1 => proptest::sample::select(vec!['é', '\u{85}', '\u{2028}', '\u{feff}', '\u{7f}', '😀', '\u{a0}']),
    ];
    vec(letters, 0..12).prop_map(|letters| letters.into_iter().collect())
}

fn number() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("JSON has no others", |number| number.is_finite());
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        float.prop_map(Value::from)
    ]
}

fn document(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(odd_text(), inner, 0..5).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        odd_text().prop_map(Value::from),
    ]
}

#[test]
fn rows_are_read_as_python_reads_them() {
    let letters = proptest::sample::select("ab,\"\n\ré ".chars().collect::<Vec<_>>());
    let text = vec(letters, 0..20).prop_map(|letters| letters.into_iter().collect::<String>());
    let cases: Vec<Value> = made(&text).into_iter().map(Value::from).collect();
    let ours = for_each("return csv_parse(case)", &cases);
    let theirs = python("python3", "read_csv", &cases);
    let mut compared = 0;
    for ((text, ours), theirs) in cases.iter().zip(&ours).zip(&theirs) {
        // Python takes the rest of a text for a quote that is not closed.
        let is_open = |error: &str| error.contains("a quote is not closed");
        if !error_of(ours).is_some_and(is_open) {
            assert_eq!(ours, theirs, "{text}");
            compared += 1;
        }
    }
    assert!(compared > CASES / 2, "{compared}");
}

#[test]
fn rows_are_written_so_that_python_reads_them() {
    let rows = vec(vec(odd_text(), 1..5), 1..4);
    let cases: Vec<Value> = made(&rows).into_iter().map(|rows| json!(rows)).collect();
    let written = for_each("return csv_stringify(case)", &cases);
    all_same(&python("python3", "read_csv", &written), &cases, &written);
    let read = for_each("return csv_parse(case)", &written);
    all_same(&read, &cases, &written);
    let written = python("python3", "write_csv", &cases);
    // To us, a mark of the byte order at the beginning of a text is not part of it.
    let is_marked = |text: &Value| {
        let text = text.as_str().expect("it is a text");
        text.starts_with('\u{feff}')
    };
    let texts = written.into_iter().zip(cases);
    let (written, cases): (Vec<_>, Vec<_>) = texts.filter(|(text, _)| !is_marked(text)).unzip();
    let read = for_each("return csv_parse(case)", &written);
    all_same(&read, &cases, &written);
}

#[test]
fn json_means_the_same_to_python() {
    let cases = made(&document(any_leaf()));
    for question in ["write_json", "write_json_in_ascii"] {
        let texts = python("python3", question, &cases);
        let ours = for_each("return json_stringify(json_parse(case))", &texts);
        let again = python("python3", "read_json", &ours);
        let expected = python("python3", "read_json", &texts);
        all_same(&again, &expected, &texts);
    }
}

#[test]
fn toml_means_the_same_to_python() {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        odd_text().prop_map(Value::from),
    ];
    let tables = btree_map(odd_text(), document(leaf), 0..5);
    let cases: Vec<Value> = made(&tables)
        .into_iter()
        .map(|table| json!(table))
        .collect();
    let written = for_each("return toml_stringify(case)", &cases);
    let read = python("python3", "read_toml", &written);
    all_same(&read, &cases, &written);
    all_same(
        &for_each("return toml_parse(case)", &written),
        &cases,
        &written,
    );
}

#[test]
fn yaml_means_the_same_to_python() {
    // Words mean other things in YAML 1.1, so only texts are compared.
    let cases = made(&document(odd_text().prop_map(Value::from)));
    let written = for_each("return yaml_stringify(case)", &cases);
    let read = python(installed("models/bin/python"), "read_yaml", &written);
    all_same(&read, &cases, &written);
}

#[test]
fn yaml_is_read_as_it_was_written() {
    let cases = made(&document(any_leaf()));
    let again = for_each("return yaml_parse(yaml_stringify(case))", &cases);
    all_same(&again, &cases, &cases);
}
