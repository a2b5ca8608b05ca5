//! Lines of JSON for whoever collects logs.

use std::fmt::Write;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use crate::dates::iso8601;
use crate::expect::text;
use crate::json::write_text;
use crate::observability::open_span;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("log_debug", |context, arguments| {
            write_at(context, arguments, Level::Debug)
        }),
        ("log_error", |context, arguments| {
            write_at(context, arguments, Level::Error)
        }),
        ("log_info", |context, arguments| {
            write_at(context, arguments, Level::Info)
        }),
        ("log_json", log_json),
        ("log_set_level", log_set_level),
        ("log_warn", |context, arguments| {
            write_at(context, arguments, Level::Warn)
        }),
    ]);
}

/// How much something matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    const ALL: [(&'static str, Self); 4] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("warn", Self::Warn),
        ("error", Self::Error),
    ];

    fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(one, _)| *one == name);
        found.map(|(_, level)| *level)
    }

    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, level)| *level == self);
        found.map_or("", |(name, _)| name)
    }
}

fn log_set_level(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text(arguments, 0);
    let Some(level) = Level::named(&name) else {
        return thrown(format!(
            "log_set_level: invalid level '{name}'. Expected debug, info, warn, or error"
        ));
    };
    *context.state::<Level>() = level;
    Ok(Value::Nil)
}

fn write_at(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    level: Level,
) -> Result<Value, Failure> {
    if level < *context.state::<Level>() {
        return Ok(Value::Nil);
    }
    let mut line = Line::begun(context);
    line.text("level", level.name());
    line.text("msg", &text(arguments, 0));
    if let Some((trace, span)) = open_span(context) {
        line.text("trace_id", &trace);
        line.text("span_id", &span);
    }
    if let Value::Dict(fields) = argument(arguments, 1) {
        line.fields(fields);
    }
    context.write(&line.finish());
    Ok(Value::Nil)
}

/// Says that a span has ended. Its own fields tell which it was, so the one around it is left
/// out.
pub(crate) fn log_span_end(context: &mut Context<'_>, fields: &Dict) {
    if Level::Info < *context.state::<Level>() {
        return;
    }
    let mut line = Line::begun(context);
    line.text("level", Level::Info.name());
    line.text("msg", "span_end");
    line.fields(fields);
    context.write(&line.finish());
}

fn log_json(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut line = Line::begun(context);
    line.text("key", &text(arguments, 0));
    line.value("value", argument(arguments, 1));
    context.write(&line.finish());
    Ok(Value::Nil)
}

/// A line in the making.
struct Line(String);

impl Line {
    /// A line of this moment, by the real clock.
    fn begun(context: &mut Context<'_>) -> Self {
        let mut line = Self("{".to_owned());
        line.text("ts", &iso8601(context.now()));
        line
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_text(key, &mut self.0);
        self.0.push(':');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        write_text(text, &mut self.0);
    }

    fn value(&mut self, key: &str, value: &Value) {
        self.key(key);
        let out = &mut self.0;
        match value {
            Value::Nil => out.push_str("null"),
            Value::Int(_) | Value::Bool(_) => value.show_into(out),
            Value::Float(number) if number.is_finite() => {
                write!(out, "{number}").expect("a string takes all that is written to it");
            }
            Value::Float(_) => out.push_str("null"),
            _ => write_text(&value.to_text(), out),
        }
    }

    fn fields(&mut self, fields: &Dict) {
        for (key, value) in fields {
            self.value(key, value);
        }
    }

    fn finish(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbers_and_texts() {
        for (value, expected) in [
            (Value::text("a\"b"), r#"{"k":"a\"b"}"#),
            (Value::Int(3), r#"{"k":3}"#),
            (Value::Float(1.0), r#"{"k":1}"#),
            (Value::Float(0.5), r#"{"k":0.5}"#),
            (Value::Float(f64::NAN), r#"{"k":null}"#),
            (Value::Nil, r#"{"k":null}"#),
            (Value::Bool(true), r#"{"k":true}"#),
            (Value::list(vec![Value::Int(1)]), r#"{"k":"[1]"}"#),
        ] {
            let mut line = Line("{".to_owned());
            line.value("k", &value);
            assert_eq!(line.finish(), format!("{expected}\n"));
        }
    }

    #[test]
    fn levels_are_ordered_by_how_much_they_matter() {
        assert!(Level::Debug < Level::Info && Level::Warn < Level::Error);
        assert_eq!(Level::named("warn"), Some(Level::Warn));
        assert_eq!(Level::named("WARN"), None);
        assert_eq!(Level::Error.name(), "error");
    }
}
