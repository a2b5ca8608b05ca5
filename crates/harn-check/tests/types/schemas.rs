//! 9.12 and 9.13: types as schemas.

use harn_check::{Aliases, Schema, SchemaField, Ty, schema_of_parameter, schema_of_type};
use harn_syntax::tree::{ItemKind, Module, StatementKind};

const DECLARED: &str = "type P = {x: int, y?: string}\ntype Loop = {next: Loop}\n\
                        type Page<T> = {items: list<T>}\n";

fn parse(written: &str) -> (Module, Ty) {
    let parsed = harn_syntax::parse(&format!("{DECLARED}type Probe = {written}"));
    assert!(parsed.errors.is_empty(), "{written}");
    let last = parsed
        .module
        .statements
        .last()
        .expect("the probe was parsed");
    let StatementKind::Item(item) = &last.kind else {
        panic!("not an item");
    };
    let ItemKind::Type(alias) = &item.kind else {
        panic!("not an alias");
    };
    let ty = Ty::from(&alias.ty);
    (parsed.module, ty)
}

#[track_caller]
fn lowers(written: &str, expected: Option<Schema>) {
    let (module, ty) = parse(written);
    assert_eq!(
        schema_of_type(&ty, &Aliases::of(&module)),
        expected,
        "{written}"
    );
}

#[track_caller]
fn checks(written: &str, expected: Option<Schema>) {
    let (_, ty) = parse(written);
    assert_eq!(schema_of_parameter(&ty), expected, "{written}");
}

fn field(name: &str, required: bool, schema: Schema) -> SchemaField {
    SchemaField {
        name: name.into(),
        required,
        schema,
    }
}

const INT: Schema = Schema::Kind("int");
const STRING: Schema = Schema::Kind("string");

#[test]
fn primitives_and_literals() {
    for kind in [
        "int", "float", "string", "bool", "list", "dict", "set", "nil", "closure", "bytes",
    ] {
        lowers(kind, Some(Schema::Kind(kind)));
        checks(kind, Some(Schema::Kind(kind)));
    }
    for other in [
        "any",
        "unknown",
        "never",
        "duration",
        "iter<int>",
        "Generator<int>",
        "Foo",
    ] {
        lowers(other, None);
        checks(other, None);
    }
    lowers("\"a\"", Some(Schema::StringConstant("a".into())));
    lowers("-1", Some(Schema::IntConstant(-1)));
    lowers("fn(int) -> int", Some(Schema::Kind("closure")));
}

#[test]
fn containers() {
    lowers("list<int>", Some(Schema::List(Some(Box::new(INT)))));
    lowers("[any]", Some(Schema::List(None)));
    lowers("dict<string, int>", Some(Schema::Dict(Some(Box::new(INT)))));
    lowers("dict<int, int>", Some(Schema::Dict(None)));
    lowers("{a: int, b: any}", None);
    lowers(
        "{a: int, b?: string}",
        Some(Schema::Shape(vec![
            field("a", true, INT),
            field("b", false, STRING),
        ])),
    );
}

#[test]
fn unions() {
    lowers(
        "\"a\" | \"b\"",
        Some(Schema::StringChoice(vec!["a".into(), "b".into()])),
    );
    lowers("1 | 2", Some(Schema::IntChoice(vec![1, 2])));
    lowers("int | string", Some(Schema::Union(vec![INT, STRING])));
    lowers("int | any", Some(Schema::Union(vec![INT])));
    lowers("any | Foo", None);
    checks("int | any", None);
    checks("int | string", Some(Schema::Union(vec![INT, STRING])));
    checks(
        "{a: int | any}",
        Some(Schema::Shape(vec![field("a", true, Schema::Anything)])),
    );
}

#[test]
fn aliases_are_replaced_in_schemas_only() {
    let point = Schema::Shape(vec![field("x", true, INT), field("y", false, STRING)]);
    lowers("P", Some(point.clone()));
    lowers("list<P>", Some(Schema::List(Some(Box::new(point)))));
    checks("P", None);
    checks("list<P>", Some(Schema::List(None)));
    lowers("Loop", None);
    lowers(
        "Page<int>",
        Some(Schema::Shape(vec![field(
            "items",
            true,
            Schema::List(Some(Box::new(INT))),
        )])),
    );
}
