//! JSON for people: every member on a line of its own.

use harn_machine::Value;
use harn_machine::value::Text;

use crate::json;

/// What is left to write.
enum Step<'a> {
    Value(&'a Value, usize),
    Key(&'a Text),
    Separator(usize),
    Close(char, usize),
}

/// A value as indented JSON. Values nest deeply, so what is left to write is kept in a list.
pub(super) fn indented(value: &Value) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value, 0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Value(value, depth) => one(value, depth, &mut out, &mut steps),
            Step::Key(key) => {
                json::write_text(key, &mut out);
                out.push_str(": ");
            }
            Step::Separator(depth) => {
                out.push(',');
                new_line(depth, &mut out);
            }
            Step::Close(bracket, depth) => {
                new_line(depth, &mut out);
                out.push(bracket);
            }
        }
    }
    out
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes a value, or what it begins with, and what is to be written next.
fn one<'a>(value: &'a Value, depth: usize, out: &mut String, steps: &mut Vec<Step<'a>>) {
    type Members<'a> = Vec<(Option<&'a Text>, &'a Value)>;
    let (brackets, members): (_, Members<'a>) = match value {
        Value::List(items) => (('[', ']'), items.iter().map(|it| (None, it)).collect()),
        Value::Set(set) => (('[', ']'), set.iter().map(|it| (None, it)).collect()),
        Value::Dict(dict) => (('{', '}'), dict.iter().map(|(k, v)| (Some(k), v)).collect()),
        Value::Struct(it) => (('{', '}'), it.fields().map(|(k, v)| (Some(k), v)).collect()),
        _ => (('[', ']'), Vec::new()),
    };
    if members.is_empty() {
        json::write(value, out);
        return;
    }
    out.push(brackets.0);
    new_line(depth + 1, out);
    steps.push(Step::Close(brackets.1, depth));
    for (at, (key, value)) in members.into_iter().enumerate().rev() {
        steps.push(Step::Value(value, depth + 1));
        steps.extend(key.map(Step::Key));
        if at > 0 {
            steps.push(Step::Separator(depth + 1));
        }
    }
}
