//! Values in the making, from the outermost to the innermost.
//!
//! ```text
//! [1, {"a": [2,      items:   1 · 2          what is complete in open lists
//!                    entries: a: …           and in open dicts
//!                    open:    list dict list
//! ```
//!
//! What is complete is kept in two lists for all levels, so that a list or dict takes exactly
//! the memory it needs once its size is known.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

/// How many keys are remembered. Documents repeat a few keys many times, and a text that is
/// shared costs neither memory nor time.
const KEYS_KEPT: usize = 256;

/// How many keys a document has before we begin to remember them: in a small one that does not
/// pay.
const KEYS_ALONE: usize = 16;

/// What a complete value is in.
pub(super) enum Outer {
    /// Nothing: here it is again.
    None(Value),
    List,
    Dict,
}

#[derive(Default)]
pub(super) struct Building {
    items: Vec<Value>,
    /// The last entry of the innermost dict is incomplete while its value is read.
    entries: Vec<(Text, Value)>,
    open: Vec<Open>,
    /// Keys by a place that is computed from them, once there were enough.
    keys: Vec<Text>,
    keys_seen: usize,
}

/// A list or dict that has not ended, with the place where its part begins.
#[derive(Clone, Copy)]
enum Open {
    List(usize),
    Dict(usize),
}

impl Building {
    pub(super) fn begin_list(&mut self) {
        self.open.push(Open::List(self.items.len()));
    }

    pub(super) fn begin_dict(&mut self) {
        self.open.push(Open::Dict(self.entries.len()));
    }

    /// The key of the value that comes next.
    pub(super) fn key(&mut self, key: &str) {
        let key = self.shared(key);
        self.entries.push((key, Value::Nil));
    }

    /// Adds a complete value to what it is in.
    #[inline]
    pub(super) fn add(&mut self, value: Value) -> Outer {
        match self.open.last() {
            None => Outer::None(value),
            Some(Open::List(_)) => {
                self.items.push(value);
                Outer::List
            }
            Some(Open::Dict(_)) => {
                if let Some((_, place)) = self.entries.last_mut() {
                    *place = value;
                }
                Outer::Dict
            }
        }
    }

    /// Ends the innermost list or dict.
    pub(super) fn close(&mut self) -> Value {
        match self.open.pop() {
            None => Value::Nil,
            Some(Open::List(0)) => Value::list(std::mem::take(&mut self.items)),
            Some(Open::List(from)) => Value::list(self.items.drain(from..).collect()),
            Some(Open::Dict(from)) => {
                sort(&mut self.entries, from);
                Value::Dict(Dict::from_sorted(self.entries.drain(from..).collect()))
            }
        }
    }

    /// A text for a key, the same one as before if it was seen lately.
    fn shared(&mut self, key: &str) -> Text {
        if self.keys.is_empty() {
            self.keys_seen += 1;
            if self.keys_seen < KEYS_ALONE {
                return Text::new(key);
            }
            self.keys = vec![Text::new(""); KEYS_KEPT];
        }
        let kept = &mut self.keys[place(key.as_bytes())];
        if kept.as_str() != key {
            *kept = Text::new(key);
        }
        kept.clone()
    }
}

/// A place that keys mostly do not share.
fn place(key: &[u8]) -> usize {
    let at = |at: usize| usize::from(key.get(at).copied().unwrap_or(0));
    let (first, middle, last) = (at(0), at(key.len() / 2), at(key.len().saturating_sub(1)));
    (first * 31 + last * 7 + middle + key.len() * 61) % KEYS_KEPT
}

/// Sorts the entries from a place on. Of entries with the same key the last one stays.
fn sort(entries: &mut Vec<(Text, Value)>, from: usize) {
    let part = &mut entries[from..];
    if part.is_sorted_by(|(one, _), (next, _)| one < next) {
        return;
    }
    part.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut kept = from;
    for at in from + 1..entries.len() {
        if entries[at].0 != entries[kept].0 {
            kept += 1;
        }
        entries.swap(kept, at);
    }
    entries.truncate(kept + 1);
}
