//! How an experiment is named.

use serde_json::{Map, Value, json};

use crate::catalog::Invalid;
use crate::options::value::display;

/// An experiment that was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spec {
    pub(super) name: String,
    /// How the program calls it.
    pub(super) label: Option<String>,
    pub(super) arguments: Map<String, Value>,
}

impl Spec {
    /// Reads a text or a dict; `None` if it names nothing.
    pub(super) fn read(given: &Value) -> Result<Option<Self>, Invalid> {
        let fields = match given {
            Value::Null | Value::Bool(false) => return Ok(None),
            Value::Object(fields) => fields,
            other => return Self::parse(&display(other)),
        };
        let text = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => None,
            Some(value) => Some(display(value)).filter(|text| !text.trim().is_empty()),
        };
        let named = text("name").or_else(|| text("experiment"));
        let spec = match named {
            Some(name) => Self::parse(&name)?,
            None => None,
        };
        let Some(mut spec) = spec else {
            return Err(Invalid::new(
                "structural_experiment: dict form requires `name` or `transform`",
            ));
        };
        spec.label = text("label");
        if let Some(Value::Object(arguments)) = fields.get("args") {
            spec.arguments.extend(arguments.clone());
        }
        Ok(Some(spec))
    }

    /// Reads `name` or `name(argument: value, …)`.
    fn parse(text: &str) -> Result<Option<Self>, Invalid> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else {
            let name = text.to_owned();
            return Ok((!name.is_empty()).then(|| Self {
                name,
                ..Self::default()
            }));
        };
        let Some(inner) = rest.trim_end().strip_suffix(')') else {
            return Err(Invalid::new("structural_experiment: missing closing `)`"));
        };
        let mut arguments = Map::new();
        for piece in pieces(inner) {
            let Some((name, value)) = piece.split_once(':') else {
                return Err(Invalid::new(format!(
                    "structural_experiment: expected `name: value`, got `{piece}`"
                )));
            };
            arguments.insert(name.trim().to_owned(), value_of(value.trim())?);
        }
        Ok(Some(Self {
            name: name.trim().to_owned(),
            label: None,
            arguments,
        }))
    }
}

/// The arguments between commas, none of which is inside quotes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (None, ',') => pieces.push(String::new()),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        if let (Some(last), false) = (pieces.last_mut(), quote.is_none() && letter == ',') {
            last.push(letter);
        }
    }
    let pieces = pieces.iter().map(|piece| piece.trim().to_owned());
    pieces.filter(|piece| !piece.is_empty()).collect()
}

fn value_of(text: &str) -> Result<Value, Invalid> {
    let quoted = ['"', '\''].iter().find_map(|quote| {
        let inner = text.strip_prefix(*quote)?.strip_suffix(*quote)?;
        Some(inner.to_owned())
    });
    if let Some(inner) = quoted {
        return Ok(inner.into());
    }
    match text {
        "true" => return Ok(json!(true)),
        "false" => return Ok(json!(false)),
        "nil" | "null" => return Ok(Value::Null),
        _ => {}
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(whole.into());
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number.into()),
        _ => Err(Invalid::new(format!(
            "structural_experiment: unsupported argument value `{text}`"
        ))),
    }
}

/// A value as one would write it in such a text.
pub(super) fn argument_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        other => display(other),
    }
}
