//! Types as values.

use harn_check::{Schema, SchemaField, Ty, schema_of_type};
use smol_str::SmolStr;

use super::unit::Compiler;
use crate::code::Op;
use crate::value::Value;

impl Compiler<'_> {
    /// a = the schema of a type alias, nil if it has none
    pub(super) fn load_schema(&mut self, at: u32, alias: &SmolStr, d: u16) {
        let ty = Ty::Named(alias.clone());
        match schema_of_type(&ty, &self.declared.aliases) {
            Some(schema) => {
                let constant = self.constant_value(schema_value(&schema));
                self.wide(at, Op::LoadConstant, d, constant);
            }
            None => self.load_nil(at, d),
        }
    }
}

/// A schema as programs see it.
fn schema_value(schema: &Schema) -> Value {
    lower(schema, Dialect::Harn)
}

/// A schema as models see it.
pub(super) fn json_schema(schema: &Schema) -> Value {
    lower(schema, Dialect::Json)
}

/// Whose words are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Harn,
    Json,
}

impl Dialect {
    fn kind(self, kind: &'static str) -> &'static str {
        match (self, kind) {
            (Self::Harn, _) => kind,
            (Self::Json, "int") => "integer",
            (Self::Json, "float") => "number",
            (Self::Json, "bool") => "boolean",
            (Self::Json, "list" | "set") => "array",
            (Self::Json, "dict") => "object",
            (Self::Json, "nil") => "null",
            (Self::Json, "closure") => "string",
            (Self::Json, other) => other,
        }
    }

    fn word(self, harn: &'static str, json: &'static str) -> &'static str {
        match self {
            Self::Harn => harn,
            Self::Json => json,
        }
    }
}

/// Schemas are nested a hundred deep at most.
fn lower(schema: &Schema, dialect: Dialect) -> Value {
    let kind = |kind: &'static str| ("type", Value::text(dialect.kind(kind)));
    match schema {
        Schema::Anything => Value::dict([("type", Value::text("any"))]),
        Schema::Kind("set") if dialect == Dialect::Json => {
            Value::dict([kind("set"), ("uniqueItems", Value::Bool(true))])
        }
        Schema::Kind("closure") if dialect == Dialect::Json => {
            Value::dict([kind("closure"), ("x-harn-type", Value::text("closure"))])
        }
        Schema::Kind(name) => Value::dict([kind(name)]),
        Schema::Shape(fields) => shape(fields, dialect),
        Schema::List(None) => Value::dict([kind("list")]),
        Schema::List(Some(items)) => Value::dict([kind("list"), ("items", lower(items, dialect))]),
        Schema::Dict(None) => Value::dict([kind("dict")]),
        Schema::Dict(Some(values)) => {
            let word = dialect.word("additional_properties", "additionalProperties");
            Value::dict([kind("dict"), (word, lower(values, dialect))])
        }
        Schema::StringConstant(text) => Value::dict([kind("string"), ("const", Value::text(text))]),
        Schema::IntConstant(number) => Value::dict([kind("int"), ("const", Value::Int(*number))]),
        Schema::StringChoice(texts) => {
            let texts = texts.iter().map(Value::text).collect();
            Value::dict([kind("string"), ("enum", texts)])
        }
        Schema::IntChoice(numbers) => {
            let numbers = numbers.iter().copied().map(Value::Int).collect();
            Value::dict([kind("int"), ("enum", numbers)])
        }
        Schema::Union(members) => {
            let members = members.iter().map(|member| lower(member, dialect));
            Value::dict([(dialect.word("union", "oneOf"), members.collect())])
        }
    }
}

fn shape(fields: &[SchemaField], dialect: Dialect) -> Value {
    let properties = fields.iter().map(|field| {
        let value = lower(&field.schema, dialect);
        (field.name.as_str(), value)
    });
    let mut parts = vec![
        ("type", Value::text(dialect.kind("dict"))),
        ("properties", Value::dict(properties)),
    ];
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<Value> = required.map(|field| Value::text(&field.name)).collect();
    if !required.is_empty() {
        parts.push(("required", Value::list(required)));
    }
    Value::dict(parts)
}
