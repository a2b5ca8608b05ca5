//! The cookies of a request.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::{fail, header, is_name, is_value, require};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("cookie_parse", cookie_parse)]);
}

fn cookie_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("cookie_parse", arguments, 1)?;
    let read = Cookies::of("cookie_parse", argument(arguments, 0))?;
    let pairs = read.pairs.iter().map(|(name, value)| {
        let (name, value) = (name.clone().into(), value.clone().into());
        Value::dict([("name", name), ("value", value)])
    });
    let invalid = read.invalid.iter().map(|(segment, reason)| {
        Value::dict([
            ("reason", (*reason).into()),
            ("segment", segment.as_str().into()),
        ])
    });
    Ok(Value::dict([
        ("cookies", read.first_values().into()),
        ("duplicates", read.duplicates().into()),
        ("invalid", invalid.collect()),
        ("pairs", pairs.collect()),
    ]))
}

/// What is in the headers of a request.
#[derive(Default)]
pub(super) struct Cookies {
    /// Names and values in order.
    pub(super) pairs: Vec<(Text, Text)>,
    /// Parts that are no cookies, and why.
    invalid: Vec<(String, &'static str)>,
}

impl Cookies {
    /// Reads a header, several of them, or all headers of a request.
    pub(super) fn of(function: &str, value: &Value) -> Result<Self, Failure> {
        let mut read = Self::default();
        match value {
            Value::Dict(headers) => {
                if let Some(value) = header(headers, "cookie") {
                    read.add(function, value)?;
                }
            }
            value => read.add(function, value)?,
        }
        Ok(read)
    }

    fn add(&mut self, function: &str, value: &Value) -> Result<(), Failure> {
        match value {
            Value::Nil => {}
            Value::Text(text) => self.add_header(text),
            Value::List(headers) => {
                for value in headers.iter() {
                    self.add_header(&value.to_text());
                }
            }
            other => {
                let kind = other.type_name();
                return fail(format!(
                    "{function} expects a string, list, dict, or nil, got {kind}"
                ));
            }
        }
        Ok(())
    }

    fn add_header(&mut self, text: &str) {
        let segments = text.split(';').map(str::trim);
        for segment in segments.filter(|segment| !segment.is_empty()) {
            match pair(segment) {
                Ok((name, value)) => self.pairs.push((Text::new(name), Text::new(value))),
                Err(reason) => self.invalid.push((segment.to_owned(), reason)),
            }
        }
    }

    /// The cookies by name; the first of a name counts.
    pub(super) fn first_values(&self) -> Dict {
        let mut cookies = Dict::default();
        for (name, value) in &self.pairs {
            if !cookies.contains(name) {
                cookies.insert(name.clone(), value.clone().into());
            }
        }
        cookies
    }

    /// All values of the names that are there more than once.
    fn duplicates(&self) -> Dict {
        let mut all = std::collections::BTreeMap::<&str, Vec<Value>>::new();
        for (name, value) in &self.pairs {
            all.entry(name).or_default().push(value.clone().into());
        }
        let mut duplicates = Dict::default();
        for (name, values) in all {
            if values.len() > 1 {
                duplicates.insert(Text::new(name), Value::list(values));
            }
        }
        duplicates
    }
}

/// The name and the value in a part of a header, or why it has none.
pub(super) fn pair(segment: &str) -> Result<(&str, &str), &'static str> {
    let (name, value) = segment.split_once('=').ok_or("missing '='")?;
    let (name, value) = (name.trim(), value.trim());
    if !is_name(name) {
        return Err("invalid name");
    }
    let quoted = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    let value = quoted.unwrap_or(value);
    match is_value(value) {
        true => Ok((name, value)),
        false => Err("invalid value"),
    }
}
