//! TOML.

use ::toml::Value as Toml;
use ::toml::de::{DeArray, DeTable, DeValue};
use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::place;
use crate::expect::text;

/// How deeply values may be nested that are written: as deeply as values that are read.
const DEPTH_MAX: u32 = 80;

/// How many values one text may hold. Parts of a value can be shared, so that written out
/// they would fill any memory.
const SIZE_MAX: u32 = 1_000_000;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("toml_parse", toml_parse),
        ("toml_stringify", toml_stringify),
    ]);
}

fn toml_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    match read(&text) {
        Ok(table) => Ok(table.into()),
        Err(reason) => Err(Fault::thrown(format!("TOML parse error: {reason}"))),
    }
}

fn toml_stringify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match write(argument(arguments, 0)) {
        Ok(text) => Ok(text.into()),
        Err(reason) => Err(Fault::thrown(format!("toml_stringify: {reason}"))),
    }
}

pub(super) fn read(text: &str) -> Result<Dict, String> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let converted = convert(table.into_inner());
    if let Some(error) = errors.first() {
        let reason = error.message().replace('\n', ", ");
        let at = error.span().map_or(text.len(), |span| span.start);
        return Err(with_place(&reason, text, at));
    }
    converted.map_err(|(reason, at)| with_place(reason, text, at))
}

fn with_place(reason: &str, text: &str, at: usize) -> String {
    let (line, column) = place(text, at);
    format!("{reason} at line {line} column {column}")
}

/// A table or array that is being converted.
enum Open<'i> {
    Table(<DeTable<'i> as IntoIterator>::IntoIter, Dict, Text),
    Array(<DeArray<'i> as IntoIterator>::IntoIter, Vec<Value>),
}

/// What is wrong with a number, and where it is.
type Misfit = (&'static str, usize);

/// Dotted keys in tables in tables make a document deeper than the stack, so it is taken apart
/// piece by piece. That goes on after an error, because dropping the rest would recurse.
fn convert(table: DeTable<'_>) -> Result<Dict, Misfit> {
    let mut open = vec![Open::Table(
        table.into_iter(),
        Dict::default(),
        Text::default(),
    )];
    let mut misfit: Option<Misfit> = None;
    loop {
        let next = match open.last_mut() {
            Some(Open::Table(entries, _, key)) => entries.next().map(|(name, value)| {
                *key = Text::new(name.get_ref());
                value
            }),
            Some(Open::Array(items, _)) => items.next(),
            None => None,
        };
        let value = match next.map(|value| (value.span().start, value.into_inner())) {
            Some((_, DeValue::Table(table))) => {
                open.push(Open::Table(
                    table.into_iter(),
                    Dict::default(),
                    Text::default(),
                ));
                continue;
            }
            Some((_, DeValue::Array(array))) => {
                open.push(Open::Array(array.into_iter(), Vec::new()));
                continue;
            }
            Some((at, value)) => word(value).unwrap_or_else(|reason| {
                misfit.get_or_insert((reason, at));
                Value::Nil
            }),
            None => match open.pop() {
                Some(Open::Table(_, dict, _)) if open.is_empty() => {
                    return misfit.map_or(Ok(dict), Err);
                }
                Some(Open::Table(_, dict, _)) => dict.into(),
                Some(Open::Array(_, items)) => Value::list(items),
                None => Value::Nil,
            },
        };
        match open.last_mut() {
            Some(Open::Table(_, dict, key)) => drop(dict.insert(std::mem::take(key), value)),
            Some(Open::Array(_, items)) => items.push(value),
            None => {}
        }
    }
}

/// A value that holds no others.
fn word(value: DeValue<'_>) -> Result<Value, &'static str> {
    Ok(match value {
        DeValue::String(text) => Value::text(text),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(moment) => moment.to_string().into(),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            Value::Int(number.map_err(|_| "integer does not fit into 64 bits")?)
        }
        DeValue::Float(number) => {
            let written = number.as_str();
            match written.parse::<f64>() {
                Ok(number) if number.is_finite() || !written.contains(char::is_numeric) => {
                    Value::Float(number)
                }
                _ => return Err("float is out of range"),
            }
        }
        DeValue::Table(_) | DeValue::Array(_) => Value::Nil,
    })
}

fn write(value: &Value) -> Result<String, String> {
    let mut writer = Writer { size: 0 };
    match writer.value(value, 0)? {
        Toml::Table(table) => ::toml::to_string(&table).map_err(|error| error.to_string()),
        _ => Err(format!(
            "expected a dict at the root, got {}",
            value.type_name()
        )),
    }
}

struct Writer {
    size: u32,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: u32) -> Result<Toml, String> {
        self.size += 1;
        if depth > DEPTH_MAX {
            return Err(format!(
                "the value is nested more than {DEPTH_MAX} levels deep"
            ));
        }
        if self.size > SIZE_MAX {
            return Err("the value is too large".to_owned());
        }
        Ok(match value {
            Value::Nil => return Err("nil has no form in TOML".to_owned()),
            Value::Bool(value) => Toml::Boolean(*value),
            Value::Int(number) => Toml::Integer(*number),
            Value::Float(number) => Toml::Float(*number),
            Value::List(items) => self.array(items, depth)?,
            Value::Set(set) => self.array(set.items(), depth)?,
            Value::Dict(dict) => self.table(dict.iter(), depth)?,
            Value::Struct(value) => self.table(value.fields(), depth)?,
            other => Toml::String(other.show()),
        })
    }

    fn array(&mut self, items: &[Value], depth: u32) -> Result<Toml, String> {
        let items = items.iter().map(|item| self.value(item, depth + 1));
        Ok(Toml::Array(items.collect::<Result<_, _>>()?))
    }

    fn table<'a>(
        &mut self,
        fields: impl Iterator<Item = (&'a Text, &'a Value)>,
        depth: u32,
    ) -> Result<Toml, String> {
        let fields = fields.map(|(key, value)| {
            let value = self.value(value, depth + 1)?;
            Ok((key.as_str().to_owned(), value))
        });
        Ok(Toml::Table(fields.collect::<Result<_, String>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match read(text) {
            Ok(dict) => Value::Dict(dict).show(),
            Err(problem) => problem,
        }
    }

    #[test]
    fn tables_are_read() {
        for (text, expected) in [
            ("", "{}"),
            (
                "a = 1\nb = 1.5\nc = [true, \"x\"]\n[d.e]\nf = 0x10\n",
                "{a: 1, b: 1.5, c: [true, x], d: {e: {f: 16}}}",
            ),
            ("[[p]]\nn = 1\n[[p]]\nn = 2", "{p: [{n: 1}, {n: 2}]}"),
            (
                "t = 1979-05-27T07:32:00Z\nd = 1979-05-27\nc = 07:32:00",
                "{c: 07:32:00, d: 1979-05-27, t: 1979-05-27T07:32:00Z}",
            ),
            ("i = inf\nn = nan", "{i: inf, n: NaN}"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn problems_have_a_place() {
        let problem = shown("a = 1\nb = ");
        assert!(problem.ends_with(" at line 2 column 5"), "{problem}");
        assert_eq!(
            shown("a = 1\nb = [9223372036854775808]"),
            "integer does not fit into 64 bits at line 2 column 6"
        );
        assert_eq!(
            shown("a = 1e999"),
            "float is out of range at line 1 column 5"
        );
        let problem = shown("a = 1\na = 2");
        assert!(problem.ends_with(" at line 2 column 1"), "{problem}");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(shown(&deep).contains("recur"), "{}", shown(&deep));
        let dotted = format!("{} = 1", vec!["a"; 100_000].join("."));
        assert!(shown(&dotted).contains("recur"), "{}", shown(&dotted));
        let inner = vec!["a"; 79].join(".");
        let most = format!(
            "[{inner}]\n{inner} = {}1{}",
            format!("{{ {inner} = ").repeat(78),
            "}".repeat(78)
        );
        assert!(shown(&most).starts_with("{a: {a: "), "{}", shown(&most));
        let broken = format!("{most}\nb = ");
        assert!(shown(&broken).contains(" at line 3 "), "{}", shown(&broken));
    }

    #[test]
    fn values_are_written() {
        let json = |text: &str| crate::json::parse(text).expect("it is JSON");
        for (given, expected) in [
            ("{}", ""),
            (
                r#"{"t": {"x": "a\"b"}, "n": [1, 2], "f": 2.0, "e": {}, "p": [{"q": true}]}"#,
                "f = 2.0\nn = [1, 2]\n\n[e]\n\n[[p]]\nq = true\n\n[t]\nx = 'a\"b'\n",
            ),
            (r#"{"a b": {"c.d": 1}}"#, "[\"a b\"]\n\"c.d\" = 1\n"),
            ("[1]", "expected a dict at the root, got list"),
            ("null", "nil has no form in TOML"),
            (r#"{"a": [null]}"#, "nil has no form in TOML"),
        ] {
            let written = write(&json(given)).unwrap_or_else(|problem| problem);
            assert_eq!(written, expected);
        }
        let odd = Value::dict([
            ("d", Value::Duration(5)),
            ("p", Value::pair(Value::Int(1), Value::Int(2))),
        ]);
        assert_eq!(write(&odd).unwrap(), "d = \"5ms\"\np = \"(1, 2)\"\n");
    }

    #[test]
    fn what_is_written_is_bounded() {
        let mut shared = Value::Int(1);
        for _ in 0..60 {
            shared = Value::list(vec![shared.clone(), shared]);
        }
        let shared = Value::dict([("a", shared)]);
        assert_eq!(write(&shared).unwrap_err(), "the value is too large");
        let mut deep = Value::Int(1);
        for _ in 0..100_000 {
            deep = Value::list(vec![deep]);
        }
        let deep = Value::dict([("a", deep)]);
        let problem = "the value is nested more than 80 levels deep";
        assert_eq!(write(&deep).unwrap_err(), problem);
    }
}
