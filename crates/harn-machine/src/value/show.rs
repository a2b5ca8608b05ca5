//! The text that a value is shown as.

use std::fmt;

use super::number::show_duration;
use super::{Value, show_float};
use crate::budget::Budget;
use crate::fault::Failure;

/// How many octets are shown.
const OCTETS_SHOWN: usize = 32;

/// How much of a value is shown to those who have no budget, in bytes.
const SHOWN_BYTES_MAX: usize = 16 << 20;

/// What is left to write.
enum Step<'a> {
    Value(&'a Value),
    Str(&'a str),
}

impl Value {
    /// The text that it is shown as.
    pub fn show(&self) -> String {
        let mut out = String::new();
        self.show_into(&mut out);
        out
    }

    /// The text that it is shown as, without a copy if it is text.
    pub fn to_text(&self) -> super::Text {
        match self {
            Self::Text(text) => text.clone(),
            _ => super::Text::from(self.show()),
        }
    }

    /// Writes the text that it is shown as. Of what is larger than anybody reads only the
    /// beginning is written, with `…` after it: a list that is in itself many times over would
    /// fill any memory. Who needs all of it has a budget for it.
    pub fn show_into(&self, out: &mut String) {
        if let Self::Text(text) = self {
            return out.push_str(text);
        }
        let mut left = SHOWN_BYTES_MAX;
        let shown = self.write_shown(out, &mut |bytes| {
            left = left.checked_sub(bytes).ok_or(())?;
            Ok(())
        });
        if shown == Err(()) {
            out.push('…');
        }
    }

    /// The same, as far as the program may have it: a value that is in another one twice is
    /// shown twice, so that a small value can be a text larger than any memory.
    ///
    /// # Errors
    /// As [`Budget::make`].
    pub fn show_into_within(&self, out: &mut String, budget: &mut Budget) -> Result<(), Failure> {
        self.write_shown(out, &mut |bytes| budget.make(bytes))
    }

    /// The text that it is shown as, as far as the program may have it.
    ///
    /// # Errors
    /// As [`Budget::make`].
    pub fn show_within(&self, budget: &mut Budget) -> Result<String, Failure> {
        let mut out = String::new();
        self.show_into_within(&mut out, budget)?;
        Ok(out)
    }

    /// The text that it is shown as, without a copy if it is text, as far as the program may
    /// have it.
    ///
    /// # Errors
    /// As [`Budget::make`].
    pub fn to_text_within(&self, budget: &mut Budget) -> Result<super::Text, Failure> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            _ => Ok(super::Text::from(self.show_within(budget)?)),
        }
    }

    /// Whether the program may have the text that it is shown as, or anything else that goes
    /// through a value as often as it is there.
    ///
    /// # Errors
    /// As [`Budget::make`].
    pub fn check_shown(&self, budget: &mut Budget) -> Result<(), Failure> {
        if !self.is_container() {
            return Ok(());
        }
        let mut steps = vec![Step::Value(self)];
        let (mut out, mut total) = (String::new(), 0);
        while let Some(step) = steps.pop() {
            match step {
                Step::Str(text) => out.push_str(text),
                Step::Value(value) => show_one(value, &mut out, &mut steps),
            }
            total += out.len();
            budget.pass(out.len(), total)?;
            out.clear();
        }
        Ok(())
    }

    /// Writes what it is shown as. Each step is told with how much it has written.
    fn write_shown<E>(
        &self,
        out: &mut String,
        made: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Self::Text(text) = self {
            out.push_str(text);
            return made(text.len());
        }
        let mut steps = vec![Step::Value(self)];
        while let Some(step) = steps.pop() {
            let (text, waiting) = (out.len(), steps.len());
            match step {
                Step::Str(text) => out.push_str(text),
                Step::Value(value) => show_one(value, out, &mut steps),
            }
            let more = steps.len().saturating_sub(waiting) * size_of::<Step<'_>>();
            made(out.len() - text + more)?;
        }
        Ok(())
    }
}

fn push_int(value: i64, out: &mut String) {
    use std::fmt::Write;
    write!(out, "{value}").expect("a string takes all that is written to it");
}

/// Writes a value, or what it begins with, and what is to be written next.
fn show_one<'a>(value: &'a Value, out: &mut String, steps: &mut Vec<Step<'a>>) {
    match value {
        Value::Nil | Value::Absent | Value::Fault(_) | Value::Late(_) => out.push_str("nil"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => push_int(*value, out),
        Value::Float(value) => show_float(*value, out),
        Value::Duration(value) => show_duration(*value, out),
        Value::Text(text) => out.push_str(text),
        Value::Bytes(bytes) => show_bytes(bytes, out),
        Value::List(items) => sequence("[", items.iter(), "]", out, steps),
        Value::Set(set) => sequence("set(", set.iter(), ")", out, steps),
        Value::Pair(pair) => sequence(
            "(",
            [&pair.first, &pair.second].into_iter(),
            ")",
            out,
            steps,
        ),
        Value::Dict(dict) => fields(dict.iter(), out, steps),
        Value::Struct(value) => {
            out.push_str(&value.shape.name);
            out.push(' ');
            fields(value.fields(), out, steps);
        }
        Value::Enum(value) => {
            out.push_str(&value.tag.name);
            out.push('.');
            out.push_str(&value.tag.variant);
            if !value.payload.is_empty() {
                sequence("(", value.payload.iter(), ")", out, steps);
            }
        }
        _ => show_handle(value, out),
    }
}

fn show_handle(value: &Value, out: &mut String) {
    let text = match value {
        Value::Range(range) => {
            let end = if range.exclusive { " exclusive" } else { "" };
            format!("{} to {}{end}", range.start, range.end)
        }
        Value::Closure(closure) => format!("<fn({})>", closure.function.parameter_names()),
        Value::Builtin(id) => format!("<builtin {}>", id.name()),
        Value::Task(task) => format!("<task:{}>", task.id),
        Value::Channel(channel) => format!("<channel:{}>", channel.name),
        Value::Atomic(value) => format!("<atomic:{}>", value.get()),
        Value::Permit(permit) => format!("<sync_permit:{}:{}>", permit.kind, permit.key),
        Value::Foreign(foreign) => foreign.label().to_owned(),
        Value::Iter(iter) => match iter.is_exhausted() {
            true => "<iter (exhausted)>".to_owned(),
            false => "<iter>".to_owned(),
        },
        Value::Generator(generator) => {
            let done = if generator.is_done() { " (done)" } else { "" };
            format!("<{}{done}>", generator.type_name())
        }
        _ => unreachable!("every other kind is shown above"),
    };
    out.push_str(&text);
}

fn sequence<'a>(
    open: &str,
    items: impl DoubleEndedIterator<Item = &'a Value> + ExactSizeIterator,
    close: &'a str,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    out.push_str(open);
    steps.push(Step::Str(close));
    let count = items.len();
    for (at, item) in items.enumerate().rev() {
        steps.push(Step::Value(item));
        if at > 0 && at < count {
            steps.push(Step::Str(", "));
        }
    }
}

fn fields<'a>(
    fields: impl Iterator<Item = (&'a super::Text, &'a Value)>,
    out: &mut String,
    steps: &mut Vec<Step<'a>>,
) {
    out.push('{');
    steps.push(Step::Str("}"));
    let fields: Vec<_> = fields.collect();
    for (at, (key, value)) in fields.into_iter().enumerate().rev() {
        steps.push(Step::Value(value));
        steps.push(Step::Str(": "));
        steps.push(Step::Str(key.as_str()));
        if at > 0 {
            steps.push(Step::Str(", "));
        }
    }
}

fn show_bytes(bytes: &[u8], out: &mut String) {
    use std::fmt::Write;
    out.push_str("b\"");
    for octet in bytes.iter().take(OCTETS_SHOWN) {
        write!(out, "{octet:02x}").expect("a string takes all that is written to it");
    }
    if bytes.len() > OCTETS_SHOWN {
        write!(out, "...+{}", bytes.len() - OCTETS_SHOWN)
            .expect("a string takes all that is written to it");
    }
    out.push('"');
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}
