//! Values checked against canonical schemas.

use std::cmp::Ordering;

use harn_machine::value::{Dict, Sameness, Set, Text, order};
use harn_machine::{Context, Value};

use super::DEPTH_MAX;
use super::canonical::resolve;
use crate::regex::{compile, compiled};

/// How many pairs of a value and a schema are looked at. Schemas that refer to themselves in
/// branches could go on for ever.
const STEPS_MAX: u32 = 10_000_000;

/// Whether absent properties get the defaults of their schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Defaults {
    /// They stay absent.
    Ignored,
    /// They get them.
    Applied,
}

/// What a check came to.
pub(super) struct Checked {
    /// The value, with defaults filled in. What does not fit is as it was given, or left out
    /// if it is an item.
    pub(super) value: Value,
    /// What is wrong.
    pub(super) errors: Vec<String>,
}

/// Checks a value against a canonical schema.
pub(super) fn check(
    context: &mut Context<'_>,
    value: &Value,
    schema: &Dict,
    defaults: Defaults,
) -> Checked {
    let mut matches = |pattern: &Text, text: &str| {
        let regex = compiled(context, pattern, &Text::new(""))?;
        Ok(regex.is_match(text))
    };
    check_with(value, schema, defaults, &mut matches)
}

/// The same outside of any program: patterns are read anew each time.
pub(super) fn check_alone(value: &Value, schema: &Dict) -> Checked {
    let mut matches = |pattern: &Text, text: &str| {
        let regex = compile(pattern, "")?;
        Ok(regex.is_match(text))
    };
    check_with(value, schema, Defaults::Ignored, &mut matches)
}

/// Tells whether a text matches a pattern, or what is wrong with the pattern.
type Matches<'a> = dyn FnMut(&Text, &str) -> Result<bool, String> + 'a;

fn check_with(
    value: &Value,
    schema: &Dict,
    defaults: Defaults,
    matches: &mut Matches<'_>,
) -> Checked {
    let mut checker = Checker {
        root: schema,
        defaults,
        matches,
        steps: 0,
        probing: 0,
        failures: 0,
        errors: Vec::new(),
    };
    let changed = checker.value(value, schema, &Place::ROOT);
    Checked {
        value: changed.unwrap_or_else(|| value.clone()),
        errors: checker.errors,
    }
}

/// Where in the value that is checked something is.
#[derive(Clone, Copy)]
struct Place<'a> {
    outer: Option<&'a Place<'a>>,
    step: Step<'a>,
    depth: u32,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    const ROOT: Place<'static> = Place {
        outer: None,
        step: Step::Item(0),
        depth: 0,
    };

    fn inside(&'a self, step: Step<'a>) -> Place<'a> {
        Place {
            outer: Some(self),
            step,
            depth: self.depth + 1,
        }
    }

    /// The same place, seen from one schema deeper.
    fn deeper(&self) -> Place<'a> {
        Place {
            depth: self.depth + 1,
            ..*self
        }
    }

    fn show(&self) -> String {
        let mut steps = Vec::new();
        let mut place = *self;
        while let Some(outer) = place.outer {
            steps.push(place.step);
            place = *outer;
        }
        if steps.is_empty() {
            return "root".to_owned();
        }
        let mut out = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Item(at) => out.push_str(&format!("[{at}]")),
                Step::Field(name) if out.is_empty() => out.push_str(name),
                Step::Field(name) => out.push_str(&format!(".{name}")),
            }
        }
        out
    }
}

struct Checker<'a> {
    root: &'a Dict,
    defaults: Defaults,
    matches: &'a mut Matches<'a>,
    steps: u32,
    /// In how many unions a branch is being tried, where only whether it fits matters.
    probing: u32,
    failures: usize,
    errors: Vec<String>,
}

impl Checker<'_> {
    fn fail(&mut self, place: &Place<'_>, message: impl FnOnce() -> String) {
        self.failures += 1;
        if self.probing == 0 {
            self.errors
                .push(format!("at {}: {}", place.show(), message()));
        }
    }

    /// Checks a value. Gives what it becomes, if that is something else.
    fn value(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) -> Option<Value> {
        self.steps += 1;
        if self.steps > STEPS_MAX || place.depth > DEPTH_MAX {
            self.fail(place, || "schema is too large".to_owned());
            return None;
        }
        if let Some(Value::Text(reference)) = schema.get("$ref") {
            return match resolve(self.root, reference) {
                Some(schema) => self.value(value, schema, &place.deeper()),
                None => {
                    self.fail(place, || {
                        format!("unresolved schema reference '{reference}'")
                    });
                    None
                }
            };
        }
        if value.is_nil() && matches!(schema.get("nullable"), Some(Value::Bool(true))) {
            return None;
        }
        if let Some(constant) = schema.get("const")
            && constant != value
        {
            self.fail(place, || {
                format!("expected constant {constant}, got {value}")
            });
            return None;
        }
        let of_all = self.all_of(value, schema, place);
        let value = of_all.as_ref().unwrap_or(value);
        let of_one = self.union(value, schema, place);
        let value = of_one.as_ref().unwrap_or(value);
        self.own(value, schema, place).or(of_one).or(of_all)
    }

    /// Every branch in order, each applied to what the one before made of the value.
    fn all_of(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) -> Option<Value> {
        let Some(Value::List(branches)) = schema.get("all_of") else {
            return None;
        };
        let mut changed: Option<Value> = None;
        for branch in branches.iter() {
            if let Value::Dict(branch) = branch {
                let value = changed.as_ref().unwrap_or(value);
                changed = self.value(value, branch, &place.deeper()).or(changed);
            }
        }
        changed
    }

    /// The first branch that fits.
    fn union(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) -> Option<Value> {
        let Some(Value::List(branches)) = schema.get("union") else {
            return None;
        };
        let before = self.failures;
        for branch in branches.iter() {
            if let Value::Dict(branch) = branch {
                self.probing += 1;
                let changed = self.value(value, branch, &place.deeper());
                self.probing -= 1;
                if self.failures == before {
                    return changed;
                }
                self.failures = before;
            }
        }
        self.fail(place, || "value did not match any union branch".to_owned());
        None
    }

    /// The type and what else a schema says about values of the kind.
    fn own(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) -> Option<Value> {
        if let Some(Value::Text(name)) = schema.get("type")
            && !is_of_type(value, name)
        {
            let actual = value.type_name();
            self.fail(place, || format!("expected type '{name}', got '{actual}'"));
            return None;
        }
        match value {
            Value::Dict(dict) => {
                let fields: Vec<_> = dict.iter().collect();
                self.record(&fields, schema, place)
            }
            Value::Struct(value) => {
                let fields: Vec<_> = value.fields().collect();
                self.record(&fields, schema, place)
            }
            Value::List(items) => self.items(items, schema, place).map(Value::list),
            Value::Set(set) => self
                .items(set.items(), schema, place)
                .map(|items| Set::new(items, Sameness::Structural).into()),
            Value::Text(text) => {
                self.text(text, schema, place);
                self.choice(value, schema, place);
                None
            }
            Value::Int(_) | Value::Float(_) => {
                self.number(value, schema, place);
                self.choice(value, schema, place);
                None
            }
            Value::Bool(_) | Value::Nil => {
                self.choice(value, schema, place);
                None
            }
            _ => None,
        }
    }

    fn record(
        &mut self,
        fields: &[(&Text, &Value)],
        schema: &Dict,
        place: &Place<'_>,
    ) -> Option<Value> {
        let find = |key: &str| {
            let at = fields
                .binary_search_by(|(one, _)| one.as_str().cmp(key))
                .ok();
            at.map(|at| fields[at].1)
        };
        let empty = Dict::default();
        let properties = match schema.get("properties") {
            Some(Value::Dict(properties)) => properties,
            _ => &empty,
        };
        let mut changed: Vec<(Text, Value)> = Vec::new();
        if self.defaults == Defaults::Applied {
            changed = defaults(properties, |key| find(key).is_none());
        }
        let filled: Dict = changed.iter().cloned().collect();
        if let Some(Value::List(required)) = schema.get("required") {
            for key in required.iter() {
                let key = key.to_text();
                if find(&key).is_none() && !filled.contains(&key) {
                    self.fail(place, || format!("missing required key '{key}'"));
                }
            }
        }
        for (key, property) in properties {
            let value = find(key).or_else(|| filled.get_text(key));
            if let (Some(value), Value::Dict(property)) = (value, property) {
                self.field(key, value, property, place, &mut changed);
            }
        }
        for (key, value) in fields.iter().filter(|(key, _)| !properties.contains(key)) {
            match schema.get("additional_properties") {
                Some(Value::Bool(false)) => self.fail(place, || format!("unexpected key '{key}'")),
                Some(Value::Dict(schema)) => self.field(key, value, schema, place, &mut changed),
                _ => {}
            }
        }
        if changed.is_empty() {
            return None;
        }
        let fields = fields
            .iter()
            .map(|(key, value)| ((*key).clone(), (*value).clone()));
        Some(Value::Dict(fields.chain(changed).collect()))
    }

    /// A field that fails keeps the value that was given.
    fn field(
        &mut self,
        key: &Text,
        value: &Value,
        schema: &Dict,
        place: &Place<'_>,
        changed: &mut Vec<(Text, Value)>,
    ) {
        let before = self.failures;
        let other = self.value(value, schema, &place.inside(Step::Field(key)));
        if self.failures == before
            && let Some(other) = other
        {
            changed.push((key.clone(), other));
        }
    }

    fn items(&mut self, items: &[Value], schema: &Dict, place: &Place<'_>) -> Option<Vec<Value>> {
        let count = items.len();
        let bound = |key: &str| schema.get(key).filter(|bound| !bound.is_nil());
        if let Some(min) = bound("min_items")
            && order(&count.into(), min) == Some(Ordering::Less)
        {
            self.fail(place, || {
                format!("expected at least {} items, got {count}", plain(min))
            });
        }
        if let Some(max) = bound("max_items")
            && order(&count.into(), max) == Some(Ordering::Greater)
        {
            self.fail(place, || {
                format!("expected at most {} items, got {count}", plain(max))
            });
        }
        let Some(Value::Dict(schema)) = schema.get("items") else {
            return None;
        };
        let mut kept = Vec::with_capacity(count);
        let mut is_changed = false;
        for (at, item) in items.iter().enumerate() {
            let before = self.failures;
            let other = self.value(item, schema, &place.inside(Step::Item(at)));
            match self.failures == before {
                true => {
                    is_changed |= other.is_some();
                    kept.push(other.unwrap_or_else(|| item.clone()));
                }
                false => is_changed = true,
            }
        }
        is_changed.then_some(kept)
    }

    fn text(&mut self, text: &Text, schema: &Dict, place: &Place<'_>) {
        let length = text.char_count();
        if let Some(min) = schema.get("min_length")
            && order(&length.into(), min) == Some(Ordering::Less)
        {
            self.fail(place, || {
                format!("expected length >= {}, got {length}", plain(min))
            });
        }
        if let Some(max) = schema.get("max_length")
            && order(&length.into(), max) == Some(Ordering::Greater)
        {
            self.fail(place, || {
                format!("expected length <= {}, got {length}", plain(max))
            });
        }
        let Some(pattern) = schema.get("pattern") else {
            return;
        };
        let pattern = pattern.to_text();
        match (self.matches)(&pattern, text) {
            Ok(true) => {}
            Ok(false) => self.fail(place, || {
                format!("value does not match pattern '{pattern}'")
            }),
            Err(reason) => {
                self.fail(place, || {
                    format!("invalid regex pattern '{pattern}': {reason}")
                });
            }
        }
    }

    fn number(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) {
        if let Some(min) = schema.get("min")
            && order(value, min) == Some(Ordering::Less)
        {
            let message = || format!("expected value >= {}, got {}", plain(min), plain(value));
            self.fail(place, message);
        }
        if let Some(max) = schema.get("max")
            && order(value, max) == Some(Ordering::Greater)
        {
            let message = || format!("expected value <= {}, got {}", plain(max), plain(value));
            self.fail(place, message);
        }
    }

    fn choice(&mut self, value: &Value, schema: &Dict, place: &Place<'_>) {
        if let Some(choices @ Value::List(items)) = schema.get("enum")
            && !items.contains(value)
        {
            self.fail(place, || format!("value must be one of {choices}"));
        }
    }
}

/// The defaults of the properties that are absent.
fn defaults(properties: &Dict, is_absent: impl Fn(&str) -> bool) -> Vec<(Text, Value)> {
    let absent = properties.iter().filter(|(key, _)| is_absent(key));
    let defaults = absent.filter_map(|(key, property)| match property {
        Value::Dict(property) => Some((key.clone(), property.get("default")?.clone())),
        _ => None,
    });
    defaults.collect()
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("any", _) | ("dict", Value::Struct(_)) => true,
        _ => value.type_name() == name,
    }
}

/// A number without a decimal that says nothing.
fn plain(number: &Value) -> String {
    match number {
        Value::Float(number) => number.to_string(),
        _ => number.show(),
    }
}

#[cfg(test)]
mod tests;
