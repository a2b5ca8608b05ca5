//! Expected texts are those of language.md §9.12 and builtins.md §2.1.

use super::*;
use crate::value::Dict;

const INT: Schema = Schema::Kind("int");
const STRING: Schema = Schema::Kind("string");

fn text(text: &str) -> Value {
    Value::text(text)
}

fn list(items: &[Value]) -> Value {
    Value::list(items.to_vec())
}

fn list_of(element: Schema) -> Schema {
    Schema::List(Some(Box::new(element)))
}

fn shape(fields: &[(&str, bool, Schema)]) -> Schema {
    let fields = fields.iter().map(|(name, required, schema)| SchemaField {
        name: (*name).into(),
        required: *required,
        schema: schema.clone(),
    });
    Schema::Shape(fields.collect())
}

#[track_caller]
fn fits(schema: &Schema, value: &Value) {
    assert!(check("p", schema, value).is_ok(), "{schema:?} {value}");
}

#[track_caller]
fn fails(schema: &Schema, value: &Value, expected: &str) {
    let failure = check("p", schema, value).expect_err("it does not fit");
    assert_eq!(failure.text(), expected);
}

#[test]
fn numbers_stand_for_each_other() {
    fits(&INT, &Value::Float(1.5));
    fits(&Schema::Kind("float"), &Value::Int(1));
    fits(&list_of(INT), &list(&[Value::Int(1), Value::Float(2.0)]));
    fits(&Schema::IntChoice(vec![1, 2]), &Value::Float(2.0));
}

#[test]
fn a_primitive_of_another_kind_is_named_and_shown() {
    fails(
        &INT,
        &text("hello"),
        "Runtime error: TypeError: parameter 'p' expected int, got string (hello)",
    );
    fails(
        &Schema::List(None),
        &text("hello"),
        "Runtime error: TypeError: parameter 'p' expected list, got string (hello)",
    );
    fails(
        &Schema::Kind("bool"),
        &Value::Nil,
        "Runtime error: TypeError: parameter 'p' expected bool, got nil (nil)",
    );
}

#[test]
fn unions_name_their_members() {
    let union = Schema::Union(vec![INT, STRING]);
    fits(&union, &text("x"));
    fails(
        &union,
        &Value::Bool(true),
        "Runtime error: TypeError: parameter 'p' expected int|string, got bool (true)",
    );
    let union = Schema::Union(vec![shape(&[("a", true, INT)]), Schema::Dict(None), INT]);
    fails(
        &union,
        &Value::Nil,
        "Runtime error: TypeError: parameter 'p' expected dict|dict|int, got nil (nil)",
    );
}

#[test]
fn elements_are_told_by_their_place() {
    fails(
        &list_of(INT),
        &list(&[Value::Int(1), text("a")]),
        "Runtime error: TypeError: parameter 'p': at root[1]: expected type 'int', got 'string'",
    );
    fails(
        &list_of(shape(&[("a", true, INT), ("b", false, STRING)])),
        &list(&[Value::dict([("b", Value::Int(1))])]),
        "Runtime error: TypeError: parameter 'p': at root[0]: missing required key 'a'; \
         at root[0].b: expected type 'string', got 'int'",
    );
}

#[test]
fn literals_are_told_by_their_values() {
    let constant = Schema::StringConstant("a".into());
    fits(&constant, &text("a"));
    fails(
        &constant,
        &text("b"),
        "Runtime error: TypeError: parameter 'p': expected constant a, got b",
    );
    let choice = Schema::StringChoice(vec!["a".into(), "b".into()]);
    fails(
        &choice,
        &text("c"),
        "Runtime error: TypeError: parameter 'p': value must be one of [a, b]",
    );
    fails(
        &choice,
        &Value::Int(1),
        "Runtime error: TypeError: parameter 'p' expected string, got int (1)",
    );
    fails(
        &Schema::IntChoice(vec![1, 2]),
        &Value::Int(3),
        "Runtime error: TypeError: parameter 'p': value must be one of [1, 2]",
    );
}

#[test]
fn records_are_checked_field_by_field() {
    let user = shape(&[
        ("name", true, STRING),
        ("age", true, INT),
        ("tag", false, STRING),
    ]);
    let address = shape(&[("user", true, user.clone())]);
    let dict = |fields: &[(&str, Value)]| Value::dict(fields.iter().cloned());
    fits(
        &user,
        &dict(&[
            ("name", text("a")),
            ("age", Value::Int(1)),
            ("more", Value::Nil),
        ]),
    );
    for schema in [&user, &Schema::Dict(None), &Schema::Kind("dict")] {
        fails(
            schema,
            &Value::Int(1),
            "Type error: parameter 'p': expected dict or struct, got int",
        );
    }
    fails(
        &user,
        &dict(&[("age", text("x"))]),
        "Type error: parameter 'p': missing field 'name' (string)",
    );
    fails(
        &user,
        &dict(&[("nmae", text("x"))]),
        "Type error: parameter 'p': missing field 'name' (string), did you mean 'nmae'?",
    );
    fails(
        &user,
        &dict(&[
            ("name", text("x")),
            ("age", text("x")),
            ("tag", Value::Int(1)),
        ]),
        "Type error: parameter 'p': field 'age' expected int, got string",
    );
    fails(
        &address,
        &dict(&[("user", Value::Int(1))]),
        "Type error: parameter 'p': field 'user' expected dict or struct, got int",
    );
    fails(
        &address,
        &dict(&[(
            "user",
            dict(&[("name", Value::Nil), ("age", Value::Int(1))]),
        )]),
        "Type error: parameter 'p.user': field 'name' expected string, got nil",
    );
    fails(
        &shape(&[("n", true, address)]),
        &Value::Dict(Dict::default()),
        "Type error: parameter 'p': missing field 'n' (dict)",
    );
}

#[test]
fn values_of_a_dict_are_checked_by_key() {
    let numbers = Schema::Dict(Some(Box::new(INT)));
    fits(&numbers, &Value::dict([("a", Value::Int(1))]));
    fails(
        &numbers,
        &Value::dict([("a", Value::Int(1)), ("b", text("x"))]),
        "Type error: parameter 'p': field 'b' expected int, got string",
    );
}

#[test]
fn only_structs_satisfy_interfaces() {
    let failure = check_interface("v", "Named", &text("x")).expect_err("it is no struct");
    assert_eq!(
        failure.text(),
        "Type error: parameter 'v': expected value satisfying interface 'Named', got string"
    );
}
