//! Checks arguments against the types of the parameters they are for.
//!
//! ```text
//! record types   ─► field by field, the first that does not fit    Type error
//! everything else ─► what is wrong with the value                   Runtime error: TypeError
//! ```
//!
//! Ints and floats stand for each other here, and structs are records. Schemas are bounded in
//! depth where they are made, so recursion follows them and never a value alone.

use harn_check::{Schema, SchemaField};

use crate::fault::{Failure, Fault};
use crate::suggest::suggest;
use crate::value::{Text, Value};

/// Fails unless an argument fits the type of its parameter.
pub(crate) fn check(parameter: &str, schema: &Schema, value: &Value) -> Result<(), Failure> {
    if mismatch(schema, value).is_none() {
        return Ok(());
    }
    if !is_record_type(schema) {
        return Err(explain(parameter, schema, value));
    }
    match Record::of(value) {
        Some(record) => check_fields(parameter, schema, record),
        None => Err(Fault::type_error(format!(
            "parameter '{parameter}': expected dict or struct, got {}",
            value.type_name()
        ))),
    }
}

/// Fails unless an argument can satisfy an interface, which only structs do.
pub(crate) fn check_interface(
    parameter: &str,
    interface: &str,
    value: &Value,
) -> Result<(), Failure> {
    match value {
        Value::Struct(_) => Ok(()),
        _ => Err(Fault::type_error(format!(
            "parameter '{parameter}': expected value satisfying interface '{interface}', got {}",
            value.type_name()
        ))),
    }
}

/// A value with named fields.
#[derive(Clone, Copy)]
enum Record<'a> {
    Dict(&'a crate::value::Dict),
    Struct(&'a crate::value::Struct),
}

impl<'a> Record<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Dict(dict) => Some(Self::Dict(dict)),
            Value::Struct(value) => Some(Self::Struct(value)),
            _ => None,
        }
    }

    fn get(self, field: &str) -> Option<&'a Value> {
        match self {
            Self::Dict(dict) => dict.get(field),
            Self::Struct(value) => value.get(field),
        }
    }

    /// The fields, sorted by name.
    fn fields(self) -> Vec<(&'a Text, &'a Value)> {
        match self {
            Self::Dict(dict) => dict.iter().collect(),
            Self::Struct(value) => value.fields().collect(),
        }
    }
}

fn is_record_type(schema: &Schema) -> bool {
    matches!(
        schema,
        Schema::Shape(_) | Schema::Dict(_) | Schema::Kind("dict")
    )
}

/// The first thing that is wrong with the fields of a record.
fn check_fields(parameter: &str, schema: &Schema, record: Record<'_>) -> Result<(), Failure> {
    match schema {
        Schema::Shape(fields) => {
            check_required(parameter, fields, record)?;
            for (key, value) in record.fields() {
                if let Some(field) = fields.iter().find(|field| field.name == key.as_str()) {
                    check_field(parameter, key, &field.schema, value)?;
                }
            }
        }
        Schema::Dict(Some(values)) => {
            for (key, value) in record.fields() {
                check_field(parameter, key, values, value)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_required(
    parameter: &str,
    fields: &[SchemaField],
    record: Record<'_>,
) -> Result<(), Failure> {
    let mut required = fields.iter().filter(|field| field.required);
    let Some(missing) = required.find(|field| record.get(&field.name).is_none()) else {
        return Ok(());
    };
    let name = missing.name.as_str();
    let mut message = format!(
        "parameter '{parameter}': missing field '{name}' ({})",
        label(&missing.schema)
    );
    let present = record.fields();
    let alike = present.iter().map(|(key, _)| key.as_str());
    let alike = alike.filter(|key| key.chars().next() == name.chars().next());
    if let Some(suggestion) = suggest(name, alike) {
        message.push_str(&format!(", did you mean '{suggestion}'?"));
    }
    Err(Fault::type_error(message))
}

fn check_field(parameter: &str, name: &str, schema: &Schema, value: &Value) -> Result<(), Failure> {
    let Some(mismatch) = mismatch(schema, value) else {
        return Ok(());
    };
    let expected = match mismatch {
        _ if is_record_type(schema) => match Record::of(value) {
            Some(record) => return check_fields(&format!("{parameter}.{name}"), schema, record),
            None => "dict or struct".to_owned(),
        },
        Mismatch::Kind => label(schema),
        Mismatch::Content => {
            return Err(explain(&format!("{parameter}.{name}"), schema, value));
        }
    };
    Err(Fault::type_error(format!(
        "parameter '{parameter}': field '{name}' expected {expected}, got {}",
        value.type_name()
    )))
}

/// What is wrong with a value that is no record.
fn explain(parameter: &str, schema: &Schema, value: &Value) -> Failure {
    if matches!(mismatch(schema, value), Some(Mismatch::Kind)) {
        return Fault::runtime(format!(
            "TypeError: parameter '{parameter}' expected {}, got {} ({value})",
            label(schema),
            value.type_name()
        ));
    }
    let mut texts = Vec::new();
    collect(schema, value, "root", &mut texts);
    let texts: Vec<_> = texts
        .iter()
        .map(|text| text.strip_prefix("at root: ").unwrap_or(text))
        .collect();
    Fault::runtime(format!(
        "TypeError: parameter '{parameter}': {}",
        texts.join("; ")
    ))
}

/// How a value fails to fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mismatch {
    /// It is of another kind.
    Kind,
    /// It is of the right kind, but not one of those that are wanted.
    Content,
}

fn mismatch(schema: &Schema, value: &Value) -> Option<Mismatch> {
    let kind = |fits: bool| (!fits).then_some(Mismatch::Kind);
    let content = |fits: bool| (!fits).then_some(Mismatch::Content);
    match schema {
        Schema::Anything => None,
        Schema::Kind(name) => kind(is_of_kind(name, value)),
        Schema::StringConstant(text) => content(is_text(value, text)),
        Schema::IntConstant(number) => content(*value == Value::Int(*number)),
        Schema::StringChoice(texts) => kind(matches!(value, Value::Text(_)))
            .or_else(|| content(texts.iter().any(|text| is_text(value, text)))),
        Schema::IntChoice(numbers) => kind(is_of_kind("int", value))
            .or_else(|| content(numbers.iter().any(|number| *value == Value::Int(*number)))),
        Schema::Union(members) => kind(
            members
                .iter()
                .any(|member| mismatch(member, value).is_none()),
        ),
        Schema::List(element) => {
            let Value::List(items) = value else {
                return Some(Mismatch::Kind);
            };
            let fits =
                |element: &Schema| items.iter().all(|item| mismatch(element, item).is_none());
            content(element.as_deref().is_none_or(fits))
        }
        Schema::Shape(fields) => match Record::of(value) {
            Some(record) => content(fields.iter().all(|field| match record.get(&field.name) {
                Some(value) => mismatch(&field.schema, value).is_none(),
                None => !field.required,
            })),
            None => Some(Mismatch::Kind),
        },
        Schema::Dict(values) => match (Record::of(value), values) {
            (None, _) => Some(Mismatch::Kind),
            (Some(_), None) => None,
            (Some(record), Some(values)) => {
                let mut fields = record.fields().into_iter();
                content(fields.all(|(_, value)| mismatch(values, value).is_none()))
            }
        },
    }
}

fn is_text(value: &Value, wanted: &str) -> bool {
    matches!(value, Value::Text(text) if text.as_str() == wanted)
}

fn is_of_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "int" | "float" => matches!(value, Value::Int(_) | Value::Float(_)),
        "dict" => Record::of(value).is_some(),
        // A builtin can be called like any other function.
        "closure" => value.is_callable(),
        _ => value.type_name() == kind,
    }
}

/// What a type is called in messages.
fn label(schema: &Schema) -> String {
    match schema {
        Schema::Anything => "value".to_owned(),
        Schema::Kind(name) => (*name).to_owned(),
        Schema::Shape(_) | Schema::Dict(_) => "dict".to_owned(),
        Schema::List(_) => "list".to_owned(),
        Schema::StringConstant(_) | Schema::StringChoice(_) => "string".to_owned(),
        Schema::IntConstant(_) | Schema::IntChoice(_) => "int".to_owned(),
        Schema::Union(members) => members.iter().map(label).collect::<Vec<_>>().join("|"),
    }
}

/// Everything that is wrong with a value at a path.
fn collect(schema: &Schema, value: &Value, path: &str, out: &mut Vec<String>) {
    let Some(mismatch) = mismatch(schema, value) else {
        return;
    };
    let text = match (schema, value) {
        (Schema::StringConstant(text), _) => format!("expected constant {text}, got {value}"),
        (Schema::IntConstant(number), _) => format!("expected constant {number}, got {value}"),
        (Schema::Union(_), _) => "value did not match any union branch".to_owned(),
        (_, _) if mismatch == Mismatch::Kind => {
            format!(
                "expected type '{}', got '{}'",
                label(schema),
                value.type_name()
            )
        }
        (Schema::StringChoice(texts), _) => {
            format!("value must be one of [{}]", texts.join(", "))
        }
        (Schema::IntChoice(numbers), _) => {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            format!("value must be one of [{}]", numbers.join(", "))
        }
        (Schema::List(Some(element)), Value::List(items)) => {
            for (at, item) in items.iter().enumerate() {
                collect(element, item, &format!("{path}[{at}]"), out);
            }
            return;
        }
        _ => return collect_fields(schema, value, path, out),
    };
    out.push(format!("at {path}: {text}"));
}

fn collect_fields(schema: &Schema, value: &Value, path: &str, out: &mut Vec<String>) {
    let Some(record) = Record::of(value) else {
        return;
    };
    match schema {
        Schema::Shape(fields) => {
            let required = fields.iter().filter(|field| field.required);
            for field in required.filter(|field| record.get(&field.name).is_none()) {
                out.push(format!("at {path}: missing required key '{}'", field.name));
            }
            for (key, value) in record.fields() {
                if let Some(field) = fields.iter().find(|field| field.name == key.as_str()) {
                    collect(&field.schema, value, &format!("{path}.{key}"), out);
                }
            }
        }
        Schema::Dict(Some(values)) => {
            for (key, value) in record.fields() {
                collect(values, value, &format!("{path}.{key}"), out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
