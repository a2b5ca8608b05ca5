//! What the answer has to look like, and what to do when it does not.

use serde_json::Value;

use super::value::{Options, display, truthy};
use crate::Output;
use crate::catalog::Invalid;

/// How many more calls are made after an answer that does not fit.
const SCHEMA_RETRIES_DEFAULT: u64 = 1;

/// What is expected of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structured {
    /// The schema it is checked against.
    pub schema: Option<Value>,
    /// How many more calls are made.
    pub retries: u64,
    /// What the model is told about its mistake.
    pub nudge: Nudge,
    /// What to do when it never fits.
    pub validation: Validation,
}

/// What the model is told about an answer that does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nudge {
    /// What is wrong and what is expected.
    #[default]
    Auto,
    /// Nothing.
    Off,
    /// These words, and what is wrong.
    Text(String),
}

/// What to do with an answer that does not fit in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Return it.
    #[default]
    Off,
    /// Return it and say so.
    Warn,
    /// Fail.
    Error,
}

/// Reads everything about the shape of the answer.
///
/// # Errors
/// An option is not understood.
pub fn parse(options: Options<'_>) -> Result<(Output, Structured), Invalid> {
    let legacy = match schema(options, "json_schema", "json_schema")? {
        Some(schema) => Some(schema),
        None => schema(options, "schema", "json_schema")?,
    };
    let declared = schema(options, "output_schema", "output_schema")?;
    let legacy_output = legacy_output(options, legacy.as_ref())?;
    let output = match options.given("output_format") {
        None => legacy_output,
        Some(value) => {
            let known = legacy.as_ref().or(declared.as_ref());
            output_format(value, known)?
        }
    };
    let of_format = match &output {
        Output::JsonSchema { schema, .. } => Some(schema.clone()),
        Output::Text | Output::JsonObject => None,
    };
    let structured = Structured {
        schema: declared.or(legacy).or(of_format),
        retries: options
            .count("schema_retries")
            .unwrap_or(SCHEMA_RETRIES_DEFAULT),
        nudge: nudge(options),
        validation: match options.text("output_validation").as_deref() {
            Some("error") => Validation::Error,
            Some("warn") => Validation::Warn,
            _ => Validation::Off,
        },
    };
    Ok((output, structured))
}

/// The schema of an option, which messages may call by another name.
fn schema(options: Options<'_>, key: &str, named: &str) -> Result<Option<Value>, Invalid> {
    match options.given(key) {
        None => Ok(None),
        Some(value @ Value::Object(_)) => Ok(Some(value.clone())),
        Some(_) => Err(Invalid::new(format!(
            "{named}: expected a JSON Schema object"
        ))),
    }
}

fn legacy_output(options: Options<'_>, schema: Option<&Value>) -> Result<Output, Invalid> {
    let format = options.text("response_format");
    let json = match format.as_deref() {
        None | Some("text") => false,
        Some("json" | "json_object") => true,
        Some(other) => {
            return Err(Invalid::new(format!(
                "response_format: expected \"json\", \"json_object\", or \"text\", got \
                 \"{other}\""
            )));
        }
    };
    Ok(match schema {
        Some(schema) => Output::JsonSchema {
            schema: schema.clone(),
            strict: true,
        },
        None if json => Output::JsonObject,
        None => Output::Text,
    })
}

fn output_format(value: &Value, known: Option<&Value>) -> Result<Output, Invalid> {
    let (kind, own, strict) = match value {
        Value::String(kind) => (kind.clone(), None, true),
        Value::Object(fields) => {
            let fields = Options(fields);
            let name = "output_format.schema";
            let own = match schema(fields, "schema", name)? {
                Some(own) => Some(own),
                None => schema(fields, "json_schema", name)?,
            };
            let kind = match fields.find("kind") {
                None if own.is_some() => "json_schema".to_owned(),
                kind => kind.map_or("nil".to_owned(), display),
            };
            let strict = fields.given("strict").is_none_or(truthy);
            (kind, own, strict)
        }
        _ => return Err(Invalid::new("output_format: expected string or dict")),
    };
    match kind.as_str() {
        "text" | "none" | "off" => Ok(Output::Text),
        "json" | "json_object" => Ok(Output::JsonObject),
        "json_schema" | "schema" => match own.or_else(|| known.cloned()) {
            Some(schema) => Ok(Output::JsonSchema { schema, strict }),
            None => Err(Invalid::new(
                "output_format: kind \"json_schema\" requires a `schema` field",
            )),
        },
        other => Err(Invalid::new(format!(
            "output_format.kind: expected \"text\" | \"json_object\" | \"json_schema\", got \
             \"{other}\""
        ))),
    }
}

fn nudge(options: Options<'_>) -> Nudge {
    match options.given("schema_retry_nudge") {
        Some(Value::Bool(false)) => Nudge::Off,
        Some(Value::String(text)) => Nudge::Text(text.clone()),
        _ => Nudge::Auto,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: Value) -> Result<(Output, Structured), String> {
        Ok(parse(Options(options.as_object().unwrap()))?)
    }

    #[test]
    fn every_kind_of_output_is_read() {
        let s = json!({"type": "object"});
        let t = json!({"type": "array"});
        let schema = |schema: &Value, strict| Output::JsonSchema {
            schema: schema.clone(),
            strict,
        };
        let rows = [
            (json!({}), Output::Text, None),
            (json!({"output_format": "text"}), Output::Text, None),
            (json!({"output_format": "none"}), Output::Text, None),
            (json!({"output_format": "off"}), Output::Text, None),
            (json!({"output_format": null}), Output::Text, None),
            (json!({"output_format": "json"}), Output::JsonObject, None),
            (
                json!({"output_format": "json_object"}),
                Output::JsonObject,
                None,
            ),
            (
                json!({"output_format": {"kind": "json"}}),
                Output::JsonObject,
                None,
            ),
            (
                json!({"output_format": {"kind": "json_schema", "schema": s}}),
                schema(&s, true),
                Some(&s),
            ),
            (
                json!({"output_format": {"kind": "schema", "json_schema": s, "strict": false}}),
                schema(&s, false),
                Some(&s),
            ),
            (
                json!({"output_format": {"schema": s}}),
                schema(&s, true),
                Some(&s),
            ),
            (
                json!({"output_format": "json_schema", "json_schema": s}),
                schema(&s, true),
                Some(&s),
            ),
            (json!({"json_schema": s}), schema(&s, true), Some(&s)),
            (json!({"schema": s}), schema(&s, true), Some(&s)),
            (
                json!({"json_schema": s, "schema": t}),
                schema(&s, true),
                Some(&s),
            ),
            (
                json!({"json_schema": s, "output_schema": t}),
                schema(&s, true),
                Some(&t),
            ),
            (json!({"output_schema": s}), Output::Text, Some(&s)),
            (json!({"response_format": "json"}), Output::JsonObject, None),
            (
                json!({"response_format": "json_object"}),
                Output::JsonObject,
                None,
            ),
            (json!({"response_format": "text"}), Output::Text, None),
            (
                json!({"response_format": "json", "schema": s}),
                schema(&s, true),
                Some(&s),
            ),
        ];
        for (options, output, expected) in rows {
            let read = read(options.clone()).unwrap();
            assert_eq!(read.0, output, "{options}");
            assert_eq!(read.1.schema.as_ref(), expected, "{options}");
        }
    }

    #[test]
    fn every_mistake_has_its_text() {
        let kind =
            "output_format.kind: expected \"text\" | \"json_object\" | \"json_schema\", got \"x\"";
        let missing = "output_format: kind \"json_schema\" requires a `schema` field";
        let rows = [
            (
                json!({"json_schema": 1}),
                "json_schema: expected a JSON Schema object",
            ),
            (
                json!({"schema": "s"}),
                "json_schema: expected a JSON Schema object",
            ),
            (
                json!({"output_schema": []}),
                "output_schema: expected a JSON Schema object",
            ),
            (
                json!({"output_format": {"kind": "json_schema", "schema": 1}}),
                "output_format.schema: expected a JSON Schema object",
            ),
            (
                json!({"response_format": "xml"}),
                "response_format: expected \"json\", \"json_object\", or \"text\", got \"xml\"",
            ),
            (
                json!({"output_format": 1}),
                "output_format: expected string or dict",
            ),
            (json!({"output_format": "x"}), kind),
            (json!({"output_format": {"kind": "x"}}), kind),
            (json!({"output_format": "json_schema"}), missing),
            (json!({"output_format": {"kind": "schema"}}), missing),
        ];
        for (options, expected) in rows {
            assert_eq!(read(options).unwrap_err(), expected);
        }
    }

    #[test]
    fn retries_nudges_and_validation_are_read() {
        let rows = [
            (json!({}), 1, Nudge::Auto, Validation::Off),
            (
                json!({"schema_retries": 3, "schema_retry_nudge": true, "output_validation": "warn"}),
                3,
                Nudge::Auto,
                Validation::Warn,
            ),
            (
                json!({"schema_retries": 0, "schema_retry_nudge": false, "output_validation": "error"}),
                0,
                Nudge::Off,
                Validation::Error,
            ),
            (
                json!({"schema_retries": -2, "schema_retry_nudge": "fix", "output_validation": "off"}),
                0,
                Nudge::Text("fix".to_owned()),
                Validation::Off,
            ),
            (
                json!({"schema_retries": "3", "schema_retry_nudge": null, "output_validation": "x"}),
                1,
                Nudge::Auto,
                Validation::Off,
            ),
        ];
        for (options, retries, nudge, validation) in rows {
            let structured = read(options).unwrap().1;
            assert_eq!(structured.retries, retries);
            assert_eq!(structured.nudge, nudge);
            assert_eq!(structured.validation, validation);
        }
    }
}
