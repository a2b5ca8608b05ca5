//! Expected texts are those of builtins.md §11.4 and language.md §9.17.

use super::*;
use crate::json::parse;

fn checked(value: &str, schema: &str, defaults: Defaults) -> Checked {
    let value = parse(value).expect("the value is JSON");
    let schema = parse(schema).expect("the schema is JSON");
    let schema = Compiled::new(&schema).expect("it is a schema");
    check(&value, &schema, defaults)
}

#[track_caller]
fn errors(value: &str, schema: &str, expected: &[&str]) {
    let checked = checked(value, schema, Defaults::Ignored);
    assert_eq!(checked.errors, expected, "{value} {schema}");
}

#[test]
fn types_are_told_apart() {
    errors("1", r#"{"type": "int"}"#, &[]);
    errors("1", r#"{"type": "any"}"#, &[]);
    errors("1", r#"{}"#, &[]);
    errors(
        "1",
        r#"{"type": "float"}"#,
        &["at root: expected type 'float', got 'int'"],
    );
    errors(
        "\"x\"",
        r#"{"type": "int", "min_length": 5}"#,
        &["at root: expected type 'int', got 'string'"],
    );
    errors("null", r#"{"type": "int", "nullable": true}"#, &[]);
}

#[test]
fn records_tell_required_keys_then_properties_then_extras() {
    errors(
        r#"{"b": "x", "c": 1, "a": 2}"#,
        r#"{"required": ["z", "a", "y"], "properties": {"b": {"type": "int"}, "a": {"type": "string"}},
            "additional_properties": false}"#,
        &[
            "at root: missing required key 'z'",
            "at root: missing required key 'y'",
            "at a: expected type 'string', got 'int'",
            "at b: expected type 'int', got 'string'",
            "at root: unexpected key 'c'",
        ],
    );
    errors(
        r#"{"user": {"tags": ["a", 1], "n": {"x": true}}}"#,
        r#"{"properties": {"user": {"properties": {"tags": {"items": {"type": "string"}},
            "n": {"additional_properties": {"type": "int"}}}}}}"#,
        &[
            "at user.n.x: expected type 'int', got 'bool'",
            "at user.tags[1]: expected type 'string', got 'int'",
        ],
    );
}

#[test]
fn lists_tell_their_size_then_their_items() {
    errors(
        "[1, \"a\", {\"k\": 1}]",
        r#"{"type": "list", "min_items": 4, "max_items": 2,
            "items": {"union": [{"type": "int"}, {"properties": {"k": {"type": "nil"}}, "type": "dict"}]}}"#,
        &[
            "at root: expected at least 4 items, got 3",
            "at root: expected at most 2 items, got 3",
            "at [1]: value did not match any union branch",
            "at [2]: value did not match any union branch",
        ],
    );
}

#[test]
fn texts_and_numbers_have_bounds() {
    errors(
        "\"éa\"",
        r#"{"min_length": 3, "max_length": 1, "pattern": "^b", "enum": ["x", "y"]}"#,
        &[
            "at root: expected length >= 3, got 2",
            "at root: expected length <= 1, got 2",
            "at root: value does not match pattern '^b'",
            "at root: value must be one of [x, y]",
        ],
    );
    errors(
        "5",
        r#"{"minimum": 6.0, "maximum": 4.5}"#,
        &[
            "at root: expected value >= 6, got 5",
            "at root: expected value <= 4.5, got 5",
        ],
    );
    errors("1.0", r#"{"enum": [1, 2]}"#, &[]);
    errors(
        "\"a\"",
        r#"{"pattern": "a{2,1}"}"#,
        &[
            "at root: invalid regex pattern 'a{2,1}': regex parse error:\n    a{2,1}\n     \
           ^^^^^\nerror: invalid repetition count range, the start must be <= the end",
        ],
    );
    errors(
        "\"b\"",
        r#"{"const": "a", "type": "int"}"#,
        &["at root: expected constant a, got b"],
    );
}

#[test]
fn references_are_followed_and_never_for_ever() {
    let tree = r##"{"$ref": "#/definitions/tree", "definitions": {"tree":
        {"type": "list", "items": {"$ref": "#/definitions/tree"}}}}"##;
    errors("[[], [[]]]", tree, &[]);
    errors(
        "[[], [[1]]]",
        tree,
        &["at [1][0][0]: expected type 'list', got 'int'"],
    );
    errors(
        "1",
        r##"{"$ref": "#/x"}"##,
        &["at root: unresolved schema reference '#/x'"],
    );
    errors(
        "1",
        r##"{"$ref": "#"}"##,
        &["at root: schema is nested too deeply"],
    );
    let branches = r##"{"union": [{"$ref": "#"}, {"$ref": "#"}]}"##;
    let checked = checked("1", branches, Defaults::Ignored);
    assert_eq!(
        checked.errors,
        ["at root: value did not match any union branch"]
    );
}

#[test]
fn defaults_fill_what_is_absent() {
    let schema = r#"{"properties": {"a": {"default": 1}, "b": {"properties": {"c": {"default": []}}}},
        "required": ["a"]}"#;
    let filled = checked(r#"{"b": {}}"#, schema, Defaults::Applied);
    assert!(filled.errors.is_empty());
    assert_eq!(filled.value.show(), "{a: 1, b: {c: []}}");
    errors(
        r#"{"b": {}}"#,
        schema,
        &["at root: missing required key 'a'"],
    );
}

#[test]
fn what_fails_is_kept_in_records_and_left_out_of_lists() {
    let checked = checked(
        r#"{"a": [1, "x", 2], "b": [3, "y"]}"#,
        r#"{"properties": {"a": {"items": {"type": "int"}}}}"#,
        Defaults::Ignored,
    );
    assert_eq!(
        checked.errors,
        ["at a[1]: expected type 'int', got 'string'"]
    );
    assert_eq!(checked.value.show(), "{a: [1, x, 2], b: [3, y]}");
    let checked = super::tests::checked(
        "[1, \"x\", 2]",
        r#"{"items": {"type": "int"}}"#,
        Defaults::Ignored,
    );
    assert_eq!(checked.value.show(), "[1, 2]");
}

#[test]
fn references_into_data_are_bounded() {
    let mut data = Value::dict([]);
    for _ in 0..60 {
        let branches = Value::list(vec![data.clone(), data]);
        data = Value::dict([("union", branches)]);
    }
    let mut deep = Value::dict([]);
    for _ in 0..100_000 {
        deep = Value::dict([("items", deep)]);
    }
    for data in [data, deep] {
        let schema = Value::dict([
            ("default", data),
            (
                "union",
                Value::list(vec![Value::dict([("$ref", "#/default".into())])]),
            ),
        ]);
        let schema = Compiled::new(&schema).expect("it is a schema");
        let checked = check(&Value::Int(1), &schema, Defaults::Ignored);
        assert_eq!(
            checked.errors,
            ["at root: value did not match any union branch"]
        );
    }
}

#[test]
fn a_schema_may_refer_to_itself() {
    let tree = r##"{"type": "dict", "properties": {"left": {"$ref": "#"}, "n": {"type": "int"}},
        "required": ["n"]}"##;
    errors(r#"{"n": 1, "left": {"n": 2, "left": {"n": 3}}}"#, tree, &[]);
    errors(
        r#"{"n": 1, "left": {"n": 2, "left": {"n": "3", "left": {}}}}"#,
        tree,
        &[
            "at left.left.left: missing required key 'n'",
            "at left.left.n: expected type 'int', got 'string'",
        ],
    );
}

#[test]
fn a_schema_that_refers_to_itself_follows_deep_values() {
    let list = r##"{"type": "list", "items": {"$ref": "#"}}"##;
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    errors(&nested(450), list, &[]);
    let checked = checked(&nested(600), list, Defaults::Ignored);
    assert_eq!(checked.errors.len(), 1);
    assert!(checked.errors[0].ends_with("[0]: schema is nested too deeply"));
}

#[test]
fn references_lead_to_every_part_of_a_schema() {
    for reference in [
        "#/$defs/a",
        "#/definitions/a",
        "#/components/schemas/a",
        "#/$defs/all/allOf/0",
        "#/$defs/map/additionalProperties",
        "#/properties/other",
    ] {
        let schema = format!(
            r##"{{"properties": {{"it": {{"$ref": "{reference}"}}, "other": {{"type": "int"}}}},
                "$defs": {{"a": {{"type": "int"}}, "all": {{"allOf": [{{"type": "int"}}]}},
                    "map": {{"additionalProperties": {{"type": "int"}}}}}},
                "definitions": {{"a": {{"type": "int"}}}},
                "components": {{"schemas": {{"a": {{"type": "int"}}}}}}}}"##
        );
        errors(r#"{"it": 1}"#, &schema, &[]);
        errors(
            r#"{"it": "x"}"#,
            &schema,
            &["at it: expected type 'int', got 'string'"],
        );
    }
    let missing = r##"{"$ref": "#/$defs/all/allOf/1", "$defs": {"all": {"allOf": [{}]}}}"##;
    errors(
        "1",
        missing,
        &["at root: unresolved schema reference '#/$defs/all/allOf/1'"],
    );
}
