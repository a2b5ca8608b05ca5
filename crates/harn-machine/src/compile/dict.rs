//! Dicts.

use harn_syntax::tree::{Entry, Expression, ExpressionKind, Key};
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::unit::Compiler;
use crate::code::Op;
use crate::value::Text;

/// How many values are collected in registers before a dict is made of them.
const WINDOW_MAX: usize = 64;

impl Compiler<'_> {
    /// `{a: 1, "b": 2, [c]: 3, ...d}`
    pub(super) fn dict(&mut self, at: u32, entries: &[Entry], d: u16) {
        let is_named =
            |entry: &&Entry| matches!(entry, Entry::Field(key, _) if key.name().is_some());
        let first = entries.iter().take_while(is_named).count().min(WINDOW_MAX);
        let (first, rest) = entries.split_at(first);
        let mark = self.mark();
        let dict = match rest.is_empty() {
            true => d,
            false => self.intermediate(d),
        };
        let inner = self.mark();
        let named = first.iter().filter_map(|entry| match entry {
            Entry::Field(key, value) => key.name().map(|name| (&name.text, value)),
            Entry::Spread(_) => None,
        });
        self.named_entries(at, &named.collect::<Vec<_>>(), dict);
        self.release(inner);
        for entry in rest {
            self.entry(at, entry, dict);
            self.release(inner);
        }
        self.copy(at, d, dict);
        self.release(mark);
    }

    /// Makes a dict of entries whose keys are known: the values are evaluated as they are
    /// written, each into the place where its key is in the order of keys.
    pub(super) fn named_entries(&mut self, at: u32, named: &[(&SmolStr, &Expression)], d: u16) {
        if named.is_empty() {
            self.op(at, Op::EmptyDict, d, 0, 0);
            return;
        }
        let mut keys: Vec<&str> = named.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        let positions: HashMap<&str, u16> = keys.iter().copied().zip(0..).collect();
        let window = self.window_for(d, keys.len());
        for (key, value) in named {
            let position = positions.get(key.as_str()).copied().unwrap_or_default();
            let register = window.saturating_add(position);
            self.entry_value(key, value, register);
        }
        let keys: Vec<Text> = keys
            .into_iter()
            .map(|key| self.interner.text(key))
            .collect();
        let keys = self.keys(keys);
        self.op(at, Op::NewDict, d, keys, window);
    }

    /// The value of an entry. `output_schema` takes the name of a type.
    fn entry_value(&mut self, key: &str, value: &Expression, d: u16) {
        if key == "output_schema"
            && let ExpressionKind::Name(name) = &value.kind
            && self.declared.aliases.contains(&name.text)
        {
            return self.load_schema(value.span.start, &name.text, d);
        }
        self.evaluate(value, d);
    }

    fn entry(&mut self, at: u32, entry: &Entry, dict: u16) {
        match entry {
            Entry::Field(key, value) => {
                let register = self.temporary();
                match key {
                    Key::Name(name) | Key::String(name) => {
                        self.load_text(name.span.start, register, &name.text);
                    }
                    Key::Computed(key) => self.evaluate(key, register),
                }
                let value_register = self.temporary();
                let name = key.name().map_or("", |name| name.text.as_str());
                self.entry_value(name, value, value_register);
                self.op(at, Op::DictPut, dict, register, value_register);
            }
            Entry::Spread(value) => {
                let more = self.operand(value);
                self.op(value.span.start, Op::DictSpread, dict, more, 0);
            }
        }
    }
}
