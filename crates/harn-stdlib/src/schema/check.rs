//! Values checked against schemas.

use std::cmp::Ordering;

use harn_machine::Value;
use harn_machine::value::{Sameness, Set, Text, order};

use super::compiled::{Additional, Compiled, Node};

/// How many pairs of a value and a schema are looked at. Schemas that refer to themselves in
/// branches could go on for ever.
const STEPS_MAX: u32 = 10_000_000;

/// How many schemas may be inside each other where a value is looked at. A schema that refers to
/// itself follows a value about half as deep, or goes round in circles at one place.
const DEPTH_MAX: u32 = 1_000;

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

/// Checks a value against a schema.
pub(super) fn check(value: &Value, schema: &Compiled, defaults: Defaults) -> Checked {
    let mut checker = Checker {
        schema,
        defaults,
        steps: 0,
        probing: 0,
        failures: 0,
        errors: Vec::new(),
    };
    let changed = checker.value(value, schema.top(), &Place::ROOT);
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
    schema: &'a Compiled,
    defaults: Defaults,
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
    fn value(&mut self, value: &Value, schema: &Node, place: &Place<'_>) -> Option<Value> {
        self.steps += 1;
        if self.steps > STEPS_MAX || place.depth > DEPTH_MAX {
            let problem = match place.depth > DEPTH_MAX {
                true => "schema is nested too deeply",
                false => "schema is too large",
            };
            self.fail(place, || problem.to_owned());
            return None;
        }
        if let Some(reference) = &schema.reference {
            return match self.schema.referred(reference) {
                Some(schema) => self.value(value, &schema, &place.deeper()),
                None => {
                    self.fail(place, || {
                        format!("unresolved schema reference '{reference}'")
                    });
                    None
                }
            };
        }
        if schema.is_nullable && value.is_nil() {
            return None;
        }
        if let Some(constant) = &schema.constant
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
    fn all_of(&mut self, value: &Value, schema: &Node, place: &Place<'_>) -> Option<Value> {
        let mut changed: Option<Value> = None;
        for branch in &schema.all_of {
            let value = changed.as_ref().unwrap_or(value);
            changed = self.value(value, branch, &place.deeper()).or(changed);
        }
        changed
    }

    /// The first branch that fits.
    fn union(&mut self, value: &Value, schema: &Node, place: &Place<'_>) -> Option<Value> {
        let branches = schema.union.as_ref()?;
        let before = self.failures;
        for branch in branches {
            self.probing += 1;
            let changed = self.value(value, branch, &place.deeper());
            self.probing -= 1;
            if self.failures == before {
                return changed;
            }
            self.failures = before;
        }
        self.fail(place, || "value did not match any union branch".to_owned());
        None
    }

    /// The type and what else a schema says about values of the kind.
    fn own(&mut self, value: &Value, schema: &Node, place: &Place<'_>) -> Option<Value> {
        if let Some(name) = &schema.kind
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

    /// The fields of a record are sorted, as the properties of the schema are.
    fn record(
        &mut self,
        fields: &[(&Text, &Value)],
        schema: &Node,
        place: &Place<'_>,
    ) -> Option<Value> {
        let (given, extra) = matched(fields, &schema.properties);
        let mut changed: Vec<(Text, Value)> = Vec::new();
        let fills = self.defaults == Defaults::Applied;
        let has_default = |at: usize| fills && schema.properties[at].1.default.is_some();
        for required in &schema.required {
            let is_there = match required.property {
                Some(at) => given[at].is_some() || has_default(at),
                None => extra.iter().any(|at| *fields[*at].0 == required.key),
            };
            if !is_there {
                let key = &required.key;
                self.fail(place, || format!("missing required key '{key}'"));
            }
        }
        for (at, (key, property)) in schema.properties.iter().enumerate() {
            match (given[at], &property.default) {
                (Some(value), _) => self.field(key, value, property, place, &mut changed),
                (None, Some(default)) if fills => {
                    changed.push((key.clone(), default.clone()));
                    self.field(key, default, property, place, &mut changed);
                }
                _ => {}
            }
        }
        for at in extra {
            let (key, value) = fields[at];
            match &schema.additional {
                Additional::Anything => break,
                Additional::Nothing => self.fail(place, || format!("unexpected key '{key}'")),
                Additional::Checked(schema) => self.field(key, value, schema, place, &mut changed),
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
        schema: &Node,
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

    fn items(&mut self, items: &[Value], schema: &Node, place: &Place<'_>) -> Option<Vec<Value>> {
        let count = items.len();
        if let Some(min) = &schema.min_items
            && order(&count.into(), min) == Some(Ordering::Less)
        {
            self.fail(place, || {
                format!("expected at least {} items, got {count}", plain(min))
            });
        }
        if let Some(max) = &schema.max_items
            && order(&count.into(), max) == Some(Ordering::Greater)
        {
            self.fail(place, || {
                format!("expected at most {} items, got {count}", plain(max))
            });
        }
        let schema = schema.items.as_ref()?;
        // What fits and stays as it is, is copied only once something else did not.
        let mut kept: Option<Vec<Value>> = None;
        for (at, item) in items.iter().enumerate() {
            let before = self.failures;
            let other = self.value(item, schema, &place.inside(Step::Item(at)));
            let fits = self.failures == before;
            if !fits || other.is_some() {
                kept.get_or_insert_with(|| items[..at].to_vec());
            }
            if let Some(kept) = kept.as_mut().filter(|_| fits) {
                kept.push(other.unwrap_or_else(|| item.clone()));
            }
        }
        kept
    }

    fn text(&mut self, text: &Text, schema: &Node, place: &Place<'_>) {
        if let Some(min) = &schema.min_length
            && order(&text.char_count().into(), min) == Some(Ordering::Less)
        {
            let (min, length) = (plain(min), text.char_count());
            self.fail(place, || format!("expected length >= {min}, got {length}"));
        }
        if let Some(max) = &schema.max_length
            && order(&text.char_count().into(), max) == Some(Ordering::Greater)
        {
            let (max, length) = (plain(max), text.char_count());
            self.fail(place, || format!("expected length <= {max}, got {length}"));
        }
        let Some(pattern) = &schema.pattern else {
            return;
        };
        match pattern.is_match(text) {
            Ok(true) => {}
            Ok(false) => self.fail(place, || {
                format!("value does not match pattern '{}'", pattern.text)
            }),
            Err(reason) => self.fail(place, || {
                format!("invalid regex pattern '{}': {reason}", pattern.text)
            }),
        }
    }

    fn number(&mut self, value: &Value, schema: &Node, place: &Place<'_>) {
        if let Some(min) = &schema.min
            && order(value, min) == Some(Ordering::Less)
        {
            let message = || format!("expected value >= {}, got {}", plain(min), plain(value));
            self.fail(place, message);
        }
        if let Some(max) = &schema.max
            && order(value, max) == Some(Ordering::Greater)
        {
            let message = || format!("expected value <= {}, got {}", plain(max), plain(value));
            self.fail(place, message);
        }
    }

    fn choice(&mut self, value: &Value, schema: &Node, place: &Place<'_>) {
        if let Some(choices @ Value::List(items)) = &schema.choices
            && !items.contains(value)
        {
            self.fail(place, || format!("value must be one of {choices}"));
        }
    }
}

/// The value of each property, and the positions of the other fields. Both are sorted, so one
/// walk over both is enough.
fn matched<'a>(
    fields: &[(&Text, &'a Value)],
    properties: &[(Text, Node)],
) -> (Vec<Option<&'a Value>>, Vec<usize>) {
    let mut given = Vec::with_capacity(properties.len());
    let mut extra = Vec::new();
    let mut at = 0;
    for (name, _) in properties {
        let mut value = None;
        while let Some((key, found)) = fields.get(at) {
            match if key.is_same(name) {
                Ordering::Equal
            } else {
                (*key).cmp(name)
            } {
                Ordering::Less => extra.push(at),
                Ordering::Equal => value = Some(*found),
                Ordering::Greater => break,
            }
            at += 1;
            if value.is_some() {
                break;
            }
        }
        given.push(value);
    }
    extra.extend(at..fields.len());
    (given, extra)
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
