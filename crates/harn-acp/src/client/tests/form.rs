//! Which questions are forms, and what their content means.

use serde_json::{Value, json};

use super::super::form::{Form, is_secret};

fn field(metadata: Value) -> Option<Value> {
    let form = Form::of_question(&metadata)?;
    Some(form.schema["properties"]["answer"].clone())
}

#[test]
fn a_question_has_a_field_for_its_answer() {
    let rows = [
        (
            json!({"schema": null, "default": null}),
            json!({"type": "string"}),
        ),
        (
            json!({"schema": null, "default": "x"}),
            json!({"type": "string", "default": "x"}),
        ),
        (
            json!({"schema": null, "default": 3}),
            json!({"type": "integer", "default": 3}),
        ),
        (
            json!({"schema": null, "default": 1.5}),
            json!({"type": "number", "default": 1.5}),
        ),
        (
            json!({"schema": null, "default": true}),
            json!({"type": "boolean", "default": true}),
        ),
        (
            json!({"schema": {"type": "string", "enum": ["a", "b"], "maxLength": 3}}),
            json!({"type": "string", "enum": ["a", "b"], "maxLength": 3}),
        ),
        (
            json!({"schema": {"type": "int", "minimum": 1}, "default": "no number"}),
            json!({"type": "integer", "minimum": 1}),
        ),
        (
            json!({"schema": {"type": "list", "items": {"enum": ["a"]}}}),
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}),
        ),
    ];
    for (metadata, expected) in rows {
        assert_eq!(field(metadata.clone()), Some(expected), "{metadata}");
    }
}

#[test]
fn what_does_not_fit_into_fields_is_no_form() {
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"type": "integer", "enum": [1, 2]}),
        json!({"type": "null"}),
        json!({"anyOf": []}),
    ] {
        assert_eq!(
            Form::of_question(&json!({"schema": schema})),
            None,
            "{schema}"
        );
    }
}

#[test]
fn a_secret_is_never_a_form() {
    let password =
        json!({"type": "object", "properties": {"p": {"type": "string", "format": "password"}}});
    let taken_out = json!({"type": "object", "properties": {"password": "[redacted]"}});
    for metadata in [
        json!({"secret": true}),
        json!({"secret": "[redacted]"}),
        json!({"url": "https://example.com"}),
        json!({"schema": {"type": "string", "writeOnly": true}}),
        json!({"schema": {"type": "string", "secret": true}}),
        json!({"schema": {"type": "string", "format": "password"}}),
        json!({"schema": password}),
        json!({"schema": taken_out}),
    ] {
        assert!(is_secret(&metadata), "{metadata}");
        assert_eq!(Form::of_question(&metadata), None, "{metadata}");
    }
    assert!(!is_secret(
        &json!({"secret": false, "schema": {"type": "string"}})
    ));
}

#[test]
fn the_content_of_a_form_is_the_answer() {
    let single = Form::of_question(&json!({"schema": {"type": "int"}})).unwrap();
    assert_eq!(
        single.response(&json!({"answer": 3})),
        Some(json!({"answer": 3}))
    );
    assert_eq!(single.response(&json!({})), None);
    let schema = json!({"type": "dict", "properties": {"a": {"type": "int"}}, "required": ["a"]});
    let whole = Form::of_question(&json!({"schema": schema})).unwrap();
    assert_eq!(whole.schema["required"], json!(["a"]));
    assert_eq!(
        whole.response(&json!({"a": 1})),
        Some(json!({"answer": {"a": 1}}))
    );
}

#[test]
fn one_person_can_approve_in_a_form() {
    let form = Form::of_approval(&json!({"approvers": [], "metadata": {"quorum": 1}})).unwrap();
    let yes = json!({"approved": true, "reason": "fine"});
    assert_eq!(form.response(&yes), Some(yes));
    assert_eq!(
        form.response(&json!({"approved": "yes"})),
        Some(json!({"approved": false}))
    );
    // A form does not know who fills it in.
    for payload in [
        json!({"approvers": ["ada"], "metadata": {"quorum": 1}}),
        json!({"approvers": [], "metadata": {"quorum": 2}}),
    ] {
        assert_eq!(Form::of_approval(&payload), None);
    }
}
