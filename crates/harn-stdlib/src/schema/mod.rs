//! Schemas: what a value must look like, written as a dict.
//!
//! ```text
//! dict ─► canonical ─┬─► compiled ─► check a value    schema_is, schema_check, schema_parse …
//!                    ├─► export           schema_to_json_schema …
//!                    └─► transform        schema_extend, schema_pick …
//! ```
//!
//! Schemas are values of programs: they can be nested deeply, share parts so that written out
//! they would fill the universe, and refer to themselves. Everything here is bounded.

mod canonical;
mod check;
mod compiled;
mod export;
mod transform;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument, thrown};

use crate::json::require;
use check::{Checked, Defaults, check};
use compiled::{Compiled, compiled};

/// How deeply a schema may be nested.
const DEPTH_MAX: u32 = 128;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("is_type", |context, arguments| {
            fits(context, arguments, "is_type")
        }),
        ("json_validate", json_validate),
        ("schema_check", schema_check),
        ("schema_expect", schema_expect),
        ("schema_is", |context, arguments| {
            fits(context, arguments, "schema_is")
        }),
        ("schema_of", schema_of),
        ("schema_parse", schema_parse),
    ]);
    transform::register(registry);
}

fn fits(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    function: &str,
) -> Result<Value, Failure> {
    require(function, arguments, 2)?;
    let checked = run(context, arguments, Defaults::Ignored);
    Ok(checked
        .is_ok_and(|checked| checked.errors.is_empty())
        .into())
}

fn schema_check(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("schema_check", arguments, 2)?;
    Ok(result(run(context, arguments, Defaults::Ignored)))
}

fn schema_parse(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("schema_parse", arguments, 2)?;
    Ok(result(run(context, arguments, Defaults::Applied)))
}

fn schema_expect(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("schema_expect", arguments, 2)?;
    let defaults = match argument(arguments, 2).is_truthy() {
        true => Defaults::Applied,
        false => Defaults::Ignored,
    };
    expected(run(context, arguments, defaults))
}

fn json_validate(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_validate", arguments, 2)?;
    expected(run(context, arguments, Defaults::Ignored))?;
    Ok(Value::Bool(true))
}

fn schema_of(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0) {
        Value::Dict(schema) => Ok(Value::Dict(schema.clone())),
        other => thrown(format!(
            "schema_of: expected a type alias or schema dict, got {}",
            other.type_name()
        )),
    }
}

/// What is wrong with a value by a schema, for whoever checks data that no program holds. A
/// schema that is bad itself is the one thing that is wrong.
pub fn schema_errors(schema: &Value, value: &Value) -> Vec<String> {
    match Compiled::new(schema) {
        Ok(schema) => check(value, &schema, Defaults::Ignored).errors,
        Err(problem) => vec![problem],
    }
}

/// A value with the defaults of a schema, if it fits; else what is wrong is thrown.
pub(crate) fn expected_of(
    context: &mut Context<'_>,
    value: &Value,
    schema: &Value,
) -> Result<Value, Failure> {
    let arguments = [value.clone(), schema.clone()];
    expected(run(context, &arguments, Defaults::Applied))
}

/// Checks the first argument against the second. Fails if the schema itself is bad.
fn run(
    context: &mut Context<'_>,
    arguments: &[Value],
    defaults: Defaults,
) -> Result<Checked, String> {
    let schema = compiled(context, argument(arguments, 1))?;
    Ok(check(argument(arguments, 0), &schema, defaults))
}

/// The value if it fits; else what is wrong is thrown.
fn expected(checked: Result<Checked, String>) -> Result<Value, Failure> {
    match checked {
        Ok(checked) if checked.errors.is_empty() => Ok(checked.value),
        Ok(checked) => Err(Fault::thrown(checked.errors.join("; "))),
        Err(problem) => Err(Fault::thrown(problem)),
    }
}

/// What a check comes to, as a Result.
fn result(checked: Result<Checked, String>) -> Value {
    let (errors, value) = match checked {
        Ok(checked) if checked.errors.is_empty() => return Value::ok(checked.value),
        Ok(checked) => (checked.errors, Some(checked.value)),
        Err(problem) => (vec![problem], None),
    };
    let mut report = Dict::default();
    let message = errors.first().cloned().unwrap_or_default();
    report.insert("message".into(), message.into());
    let errors = errors.into_iter().map(Value::from).collect();
    report.insert("errors".into(), errors);
    if let Some(value) = value {
        report.insert("value".into(), value);
    }
    Value::err(Value::Dict(report))
}
