//! JSON for people: every member on a line of its own.

use harn_machine::Value;
use harn_machine::value::Text;

use super::write_text;

/// The parts of a value that stand on lines of their own.
pub(crate) enum Members<'a> {
    /// Of a list.
    Items(Vec<&'a Value>),
    /// Of a dict.
    Entries(Vec<(&'a Text, &'a Value)>),
}

/// What is left to write.
enum Step<'a> {
    Value(&'a Value, usize),
    Key(&'a Text),
    Separator(usize),
    Close(char, usize),
}

/// A value as JSON that is so deep inside other JSON; `leaf` writes what cannot have members.
/// Values nest deeply, so what is left to write is kept in a list.
pub(crate) fn indented(
    value: &Value,
    depth: usize,
    members: fn(&Value) -> Option<Members<'_>>,
    leaf: fn(&Value, &mut String),
) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value, depth)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Value(value, depth) => match members(value) {
                Some(members) => open(members, depth, &mut out, &mut steps),
                None => leaf(value, &mut out),
            },
            Step::Key(key) => {
                write_text(key, &mut out);
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

/// Begins a line.
pub(crate) fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

fn open<'a>(members: Members<'a>, depth: usize, out: &mut String, steps: &mut Vec<Step<'a>>) {
    let ((begin, end), members): (_, Vec<(Option<&Text>, &Value)>) = match members {
        Members::Items(items) => (('[', ']'), items.into_iter().map(|it| (None, it)).collect()),
        Members::Entries(entries) => {
            let entries = entries.into_iter().map(|(key, it)| (Some(key), it));
            (('{', '}'), entries.collect())
        }
    };
    out.push(begin);
    if members.is_empty() {
        return out.push(end);
    }
    new_line(depth + 1, out);
    steps.push(Step::Close(end, depth));
    for (at, (key, value)) in members.into_iter().enumerate().rev() {
        steps.push(Step::Value(value, depth + 1));
        steps.extend(key.map(Step::Key));
        if at > 0 {
            steps.push(Step::Separator(depth + 1));
        }
    }
}
