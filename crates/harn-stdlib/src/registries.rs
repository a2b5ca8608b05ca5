//! Registries: what is declared once and handed to whoever uses it.
//!
//! ```text
//! {_type: "tool_registry", tools: [{name: "search", …}, …]}
//! {_type: "skill_registry", skills: [{name: "deploy", …}, …]}
//! ```
//!
//! A registry is a plain dict and is passed by value, so a program may build one by hand: what
//! is in it is never taken for granted.

use harn_machine::value::{Dict, List, Text};
use harn_machine::{Failure, Value, argument, take, thrown};

/// What a registry holds.
#[derive(Debug)]
pub(crate) struct Kind {
    /// What an entry is called.
    noun: &'static str,
    /// The `_type` of a registry.
    label: &'static str,
    /// The key of the entries.
    entries: &'static str,
}

/// Registries of tools.
pub(crate) const TOOLS: Kind = Kind {
    noun: "tool",
    label: "tool_registry",
    entries: "tools",
};

/// Registries of skills.
pub(crate) const SKILLS: Kind = Kind {
    noun: "skill",
    label: "skill_registry",
    entries: "skills",
};

impl Kind {
    /// A registry without entries.
    pub(crate) fn empty(&self) -> Value {
        let fields = [
            ("_type", self.label.into()),
            (self.entries, Value::list(Vec::new())),
        ];
        Value::dict(fields)
    }

    /// A registry of entries.
    pub(crate) fn of_entries(&self, entries: Vec<Value>) -> Dict {
        let mut registry = Dict::default();
        registry.insert(Text::new("_type"), self.label.into());
        registry.insert(Text::new(self.entries), Value::list(entries));
        registry
    }

    /// Whether a dict is such a registry.
    pub(crate) fn is_registry(&self, dict: &Dict) -> bool {
        matches!(dict.get("_type"), Some(Value::Text(label)) if &**label == self.label)
    }

    /// The only argument of a function, which must be a registry.
    pub(crate) fn only(&self, function: &str, arguments: &mut [Value]) -> Result<Dict, Failure> {
        match take(arguments, 0) {
            Value::Dict(registry) => self.checked(function, registry),
            _ => thrown(format!("{function}: requires a {} registry", self.noun)),
        }
    }

    /// The first argument of a function, which must be a registry.
    pub(crate) fn first(&self, function: &str, arguments: &mut [Value]) -> Result<Dict, Failure> {
        match take(arguments, 0) {
            Value::Dict(registry) => self.checked(function, registry),
            _ => {
                let noun = self.noun;
                thrown(format!(
                    "{function}: first argument must be a {noun} registry"
                ))
            }
        }
    }

    fn checked(&self, function: &str, registry: Dict) -> Result<Dict, Failure> {
        if self.is_registry(&registry) {
            return Ok(registry);
        }
        let Self { noun, label, .. } = self;
        thrown(format!(
            "{function}: argument must be a {noun} registry (created with {label}())"
        ))
    }

    /// The entries of a registry in their order. What is no dict is no entry.
    pub(crate) fn entries<'a>(&self, registry: &'a Dict) -> impl Iterator<Item = &'a Dict> {
        let entries: &[Value] = match registry.get(self.entries) {
            Some(Value::List(entries)) => entries,
            _ => &[],
        };
        entries.iter().filter_map(|entry| match entry {
            Value::Dict(entry) => Some(entry),
            _ => None,
        })
    }

    /// The entries of a registry, sorted by name.
    pub(crate) fn sorted<'a>(&self, registry: &'a Dict) -> Vec<(Text, &'a Dict)> {
        let entries = self.entries(registry).map(|entry| (name(entry), entry));
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }

    /// The entry of a name.
    pub(crate) fn entry<'a>(&self, registry: &'a Dict, name: &str) -> Option<&'a Dict> {
        self.entries(registry).find(|entry| is_named(entry, name))
    }

    /// Puts an entry last and removes the one that had its name.
    pub(crate) fn put_last(&self, registry: &mut Dict, name: &str, entry: Dict) {
        self.change(registry, |entries| {
            entries.retain(|one| !is_entry_named(one, name));
            entries.push(entry.into());
        });
    }

    /// Puts an entry where the one with its name is, or last.
    pub(crate) fn put_in_place(&self, registry: &mut Dict, name: &str, entry: Dict) {
        self.change(registry, |entries| {
            match entries.iter().position(|one| is_entry_named(one, name)) {
                Some(at) => entries[at] = entry.into(),
                None => entries.push(entry.into()),
            }
        });
    }

    /// Changes the entries of a registry, in place if nobody else has them.
    fn change(&self, registry: &mut Dict, change: impl FnOnce(&mut Vec<Value>)) {
        let mut entries = match registry.remove(self.entries) {
            Some(Value::List(entries)) => entries,
            _ => List::default(),
        };
        change(entries.items_mut());
        registry.insert(Text::new(self.entries), entries.into());
    }

    /// `*_count(registry)`
    pub(crate) fn count(&self, function: &str, args: &mut [Value]) -> Result<Value, Failure> {
        let registry = self.only(function, args)?;
        Ok(self.entries(&registry).count().into())
    }

    /// `*_find(registry, name)`
    pub(crate) fn find(&self, function: &str, args: &mut [Value]) -> Result<Value, Failure> {
        self.need_two(function, "name", args)?;
        let registry = self.first(function, args)?;
        let name = argument(args, 1).to_text();
        Ok(self.entry(&registry, &name).cloned().into())
    }

    /// `*_remove(registry, name)`
    pub(crate) fn remove(&self, function: &str, args: &mut [Value]) -> Result<Value, Failure> {
        self.need_two(function, "name", args)?;
        let mut registry = self.first(function, args)?;
        let name = argument(args, 1).to_text();
        self.change(&mut registry, |entries| {
            entries.retain(|one| !is_entry_named(one, &name));
        });
        Ok(registry.into())
    }

    /// `*_select(registry, names)`
    pub(crate) fn select(&self, function: &str, args: &mut [Value]) -> Result<Value, Failure> {
        self.need_two(function, "names list", args)?;
        let mut registry = self.first(function, args)?;
        let Value::List(names) = argument(args, 1) else {
            let noun = self.noun;
            return thrown(format!(
                "{function}: second argument must be a list of {noun} names"
            ));
        };
        let mut names: Vec<Text> = names.iter().map(Value::to_text).collect();
        names.sort_unstable();
        self.change(&mut registry, |entries| {
            entries.retain(|entry| match entry {
                Value::Dict(entry) => names.binary_search(&name(entry)).is_ok(),
                _ => false,
            });
        });
        Ok(registry.into())
    }

    fn need_two(&self, function: &str, second: &str, args: &[Value]) -> Result<(), Failure> {
        match args.len() {
            0 | 1 => thrown(format!("{function}: requires registry and {second}")),
            _ => Ok(()),
        }
    }
}

/// The name of an entry.
pub(crate) fn name(entry: &Dict) -> Text {
    text_of(entry, "name")
}

/// What an entry says under a key, as text; `""` if it says nothing.
pub(crate) fn text_of(entry: &Dict, key: &str) -> Text {
    match entry.get(key) {
        None | Some(Value::Nil) => Text::new(""),
        Some(value) => value.to_text(),
    }
}

/// What an entry says under a key, unless that is nil.
pub(crate) fn given<'a>(entry: &'a Dict, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_nil())
}

fn is_named(entry: &Dict, name: &str) -> bool {
    match entry.get("name") {
        Some(Value::Text(text)) => &**text == name,
        Some(other) => other.show() == name,
        None => false,
    }
}

fn is_entry_named(entry: &Value, name: &str) -> bool {
    matches!(entry, Value::Dict(entry) if is_named(entry, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(names: &[&str]) -> Dict {
        let Value::Dict(mut registry) = TOOLS.empty() else {
            unreachable!("a registry is a dict");
        };
        for name in names {
            TOOLS.put_last(&mut registry, name, entry(name, 1));
        }
        registry
    }

    fn entry(name: &str, version: i64) -> Dict {
        let entries = [("name", name.into()), ("version", version.into())];
        let entries = entries.map(|(key, value): (_, Value)| (Text::new(key), value));
        entries.into_iter().collect()
    }

    #[track_caller]
    fn check(registry: &Dict, expected: &str) {
        let entries = TOOLS.entries(registry);
        let shown = entries.map(|entry| format!("{}{}", name(entry), text_of(entry, "version")));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn an_entry_takes_the_last_place_or_the_one_of_its_name() {
        let mut registry = registry(&["a", "b", "c"]);
        check(&registry, "a1 b1 c1");
        TOOLS.put_last(&mut registry, "b", entry("b", 2));
        check(&registry, "a1 c1 b2");
        TOOLS.put_in_place(&mut registry, "a", entry("a", 3));
        check(&registry, "a3 c1 b2");
        TOOLS.put_in_place(&mut registry, "d", entry("d", 4));
        check(&registry, "a3 c1 b2 d4");
    }

    #[test]
    fn a_registry_that_shares_its_entries_leaves_the_other_as_it_is() {
        let before = registry(&["a"]);
        let mut after = before.clone();
        TOOLS.put_last(&mut after, "b", entry("b", 1));
        check(&before, "a1");
        check(&after, "a1 b1");
    }

    #[test]
    fn what_is_no_registry_is_refused_by_what_it_is() {
        let refused = |value: Value| TOOLS.only("f", &mut [value]).unwrap_err().text();
        assert_eq!(refused(Value::Nil), "Thrown: f: requires a tool registry");
        let other = "Thrown: f: argument must be a tool registry (created with tool_registry())";
        assert_eq!(refused(SKILLS.empty()), other);
        assert_eq!(refused(Value::dict([])), other);
        let text = TOOLS.first("f", &mut []).unwrap_err().text();
        assert_eq!(text, "Thrown: f: first argument must be a tool registry");
    }

    #[test]
    fn what_is_in_a_registry_made_by_hand_may_be_anything() {
        let broken = Value::list(vec![Value::Int(1), Value::dict([]), Value::Nil]);
        let fields = [("_type", "tool_registry".into()), ("tools", broken)];
        let find = |arguments: &mut [Value]| TOOLS.find("f", arguments).unwrap();
        assert!(find(&mut [Value::dict(fields.clone()), "a".into()]).is_nil());
        let count = TOOLS.count("f", &mut [Value::dict(fields)]).unwrap();
        assert!(matches!(count, Value::Int(1)));
        let empty = Value::dict([("_type", "tool_registry".into())]);
        assert!(matches!(
            TOOLS.count("f", &mut [empty]).unwrap(),
            Value::Int(0)
        ));
    }
}
