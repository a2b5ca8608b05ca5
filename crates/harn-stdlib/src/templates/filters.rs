//! What filters do.

use harn_machine::Value;
use harn_machine::value::Text;
use harn_syntax::template::Filter;

use super::expression::{Room, Trouble, is_true, wrong};
use super::json;

/// Characters that mean something in Markdown.
const MARKDOWN: &str = r"\`*_{}[]()#+-.!|<>";

/// What a filter makes of a value.
pub(super) fn apply(
    filter: Filter,
    value: Value,
    arguments: &[Value],
    room: &mut Room<'_>,
) -> Result<Value, Trouble> {
    let argument = |at: usize| arguments.get(at).cloned().unwrap_or_default();
    Ok(match filter {
        Filter::Upper => text(&value).to_uppercase().into(),
        Filter::Lower => text(&value).to_lowercase().into(),
        Filter::Trim => text(&value).trim().into(),
        Filter::Capitalize => capitalised(&text(&value)).into(),
        Filter::Title => title(&text(&value)).into(),
        Filter::Length => length(&value)?,
        Filter::First => end(&value, End::First),
        Filter::Last => end(&value, End::Last),
        Filter::Reverse => reversed(value),
        Filter::Join => return join(value, &text(&argument(0)), room),
        Filter::Default if is_true(&value) => value,
        Filter::Default => argument(0),
        Filter::Json if is_true(&argument(0)) => json::indented(&value).into(),
        Filter::Json => compact(&value).into(),
        Filter::Indent => indent(&text(&value), &argument(0), is_true(&argument(1)), room)?,
        Filter::Lines => text(&value).lines().map(Value::from).collect(),
        Filter::EscapeMd => escaped(&text(&value)).into(),
        Filter::Replace => {
            let (from, to) = (text(&argument(0)), text(&argument(1)));
            replace(&text(&value), &from, &to, room)?
        }
    })
}

fn compact(value: &Value) -> String {
    let mut out = String::new();
    crate::json::write(value, &mut out);
    out
}

/// The text of a value; nil has none.
fn text(value: &Value) -> Text {
    match value {
        Value::Nil => Text::new(""),
        value => value.to_text(),
    }
}

/// The first character in upper case, the others in lower case.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    let first = first.into_iter().flat_map(char::to_uppercase);
    let rest = characters.as_str().to_lowercase();
    first.chain(rest.chars()).collect()
}

/// Every word capitalised; what is between words stays.
fn title(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    words.map(capitalised).collect()
}

fn length(value: &Value) -> Result<Value, Trouble> {
    Ok(match value {
        Value::Nil => 0usize.into(),
        Value::Text(text) => text.char_count().into(),
        Value::List(items) => items.len().into(),
        Value::Set(set) => set.len().into(),
        Value::Dict(dict) => dict.len().into(),
        Value::Range(range) => range.len().into(),
        other => return wrong(format!("`length` not defined for {}", other.type_name())),
    })
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// What a value begins or ends with, or nil.
fn end(value: &Value, end: End) -> Value {
    let pick = |items: &[Value]| match end {
        End::First => items.first().cloned(),
        End::Last => items.last().cloned(),
    };
    let found = match value {
        Value::List(items) => pick(items),
        Value::Set(set) => pick(set.items()),
        Value::Text(text) => {
            let character = match end {
                End::First => text.chars().next(),
                End::Last => text.chars().next_back(),
            };
            character.map(|character| character.to_string().into())
        }
        _ => None,
    };
    found.unwrap_or_default()
}

fn reversed(value: Value) -> Value {
    match value {
        Value::List(mut items) => {
            items.items_mut().reverse();
            items.into()
        }
        Value::Text(text) => text.chars().rev().collect::<String>().into(),
        other => other,
    }
}

fn join(value: Value, separator: &str, room: &mut Room<'_>) -> Result<Value, Trouble> {
    let items = match &value {
        Value::List(items) => &**items,
        Value::Set(set) => set.items(),
        Value::Text(_) => return Ok(value),
        other => {
            let name = other.type_name();
            return wrong(format!("`join` requires a list (got {name})"));
        }
    };
    room(items.len().saturating_mul(separator.len()))?;
    let mut joined = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        item.show_into(&mut joined);
    }
    Ok(joined.into())
}

/// Spaces before every line that is not empty, the first one only if that is wanted.
fn indent(
    text: &str,
    width: &Value,
    with_first: bool,
    room: &mut Room<'_>,
) -> Result<Value, Trouble> {
    let Value::Int(width) = width else {
        return wrong("`indent` requires an integer width");
    };
    let width = usize::try_from(*width).unwrap_or(0);
    let lines = text.split('\n').filter(|line| !line.is_empty()).count();
    room(lines.saturating_mul(width).saturating_add(text.len()))?;
    let mut indented = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            indented.push('\n');
        }
        if !line.is_empty() && (at > 0 || with_first) {
            indented.extend(std::iter::repeat_n(' ', width));
        }
        indented.push_str(line);
    }
    Ok(indented.into())
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if MARKDOWN.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn replace(text: &str, from: &str, to: &str, room: &mut Room<'_>) -> Result<Value, Trouble> {
    // There are as many gaps between characters as characters, and one more.
    let places = match from.len() {
        0 => text.chars().count() + 1,
        length => text.len() / length,
    };
    room(places.saturating_mul(to.len()).saturating_add(text.len()))?;
    Ok(text.replace(from, to).into())
}
