//! Values with named or numbered parts that a program declares: structs, enums, pairs, ranges.

use std::cell::RefCell;
use std::rc::Rc;

use super::bury::bury;
use super::{Text, Value};

/// A value of a struct: which fields it has is its shape, shared by all that are made alike.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name and the names of its fields.
    pub shape: Rc<Shape>,
    /// Its fields in the order of the shape; [`Value::Absent`] where one was not given.
    pub values: Vec<Value>,
}

impl Struct {
    /// A field, unless it is absent.
    pub fn get(&self, field: &str) -> Option<&Value> {
        let at = self.shape.position(field)?;
        self.values
            .get(at)
            .filter(|value| !matches!(value, Value::Absent))
    }

    /// Sets a field, also one that was not declared.
    pub fn set(&mut self, field: &Text, value: Value) {
        match self.shape.position(field) {
            Some(at) => self.values[at] = value,
            None => {
                self.shape = self.shape.with(field);
                self.values.push(value);
            }
        }
    }

    /// The fields that are there, sorted by name.
    pub fn fields(&self) -> impl Iterator<Item = (&Text, &Value)> {
        let sorted = self.shape.sorted.iter();
        let fields = sorted.map(|at| (&self.shape.fields[*at], &self.values[*at]));
        fields.filter(|(_, value)| !matches!(value, Value::Absent))
    }
}

impl Drop for Struct {
    fn drop(&mut self) {
        if self.values.iter().any(Value::is_container) {
            bury(std::mem::take(&mut self.values));
        }
    }
}

/// The name of a struct and which fields it has.
#[derive(Debug)]
pub struct Shape {
    /// The name of the struct.
    pub name: Text,
    /// The names of the fields in the order of their values.
    pub fields: Vec<Text>,
    /// Their positions, sorted by name.
    sorted: Vec<usize>,
    /// What a value becomes when it gets one more field.
    wider: RefCell<Vec<Rc<Shape>>>,
}

impl Shape {
    /// A shape with these fields, none of them twice.
    pub fn new(name: Text, fields: Vec<Text>) -> Rc<Self> {
        let mut sorted: Vec<usize> = (0..fields.len()).collect();
        sorted.sort_by(|one, other| fields[*one].cmp(&fields[*other]));
        Rc::new(Self {
            name,
            fields,
            sorted,
            wider: RefCell::default(),
        })
    }

    /// Where a field is.
    pub fn position(&self, field: &str) -> Option<usize> {
        match self.fields.len() {
            0..=8 => self.fields.iter().position(|one| one.as_str() == field),
            _ => {
                let found = self
                    .sorted
                    .binary_search_by(|at| self.fields[*at].as_str().cmp(field));
                found.ok().map(|at| self.sorted[at])
            }
        }
    }

    /// The shape with one more field.
    fn with(&self, field: &Text) -> Rc<Self> {
        let mut wider = self.wider.borrow_mut();
        let known = wider
            .iter()
            .find(|shape| shape.fields.last() == Some(field));
        if let Some(known) = known {
            return known.clone();
        }
        let mut fields = self.fields.clone();
        fields.push(field.clone());
        let shape = Self::new(self.name.clone(), fields);
        wider.push(shape.clone());
        shape
    }
}

/// A variant of an enum with what it carries.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Which variant of which enum.
    pub tag: Rc<Tag>,
    /// What it carries.
    pub payload: Vec<Value>,
}

impl Enum {
    /// A variant.
    pub fn new(tag: Rc<Tag>, payload: Vec<Value>) -> Self {
        Self { tag, payload }
    }
}

impl Drop for Enum {
    fn drop(&mut self) {
        if self.payload.iter().any(Value::is_container) {
            bury(std::mem::take(&mut self.payload));
        }
    }
}

/// The name of an enum and of one of its variants.
#[derive(Debug, PartialEq, Eq)]
pub struct Tag {
    /// The enum.
    pub name: Text,
    /// The variant.
    pub variant: Text,
}

impl Tag {
    /// A tag.
    pub fn new(name: &str, variant: &str) -> Rc<Self> {
        Rc::new(Self {
            name: Text::new(name),
            variant: Text::new(variant),
        })
    }

    /// `Result.Ok`.
    pub fn ok() -> Rc<Self> {
        Self::new("Result", "Ok")
    }

    /// `Result.Err`.
    pub fn err() -> Rc<Self> {
        Self::new("Result", "Err")
    }
}

/// Two values.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The first.
    pub first: Value,
    /// The second.
    pub second: Value,
}

impl Drop for Pair {
    fn drop(&mut self) {
        if self.first.is_container() || self.second.is_container() {
            let parts = [&mut self.first, &mut self.second];
            bury(parts.map(std::mem::take).into());
        }
    }
}

/// An interval of ints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where it begins.
    pub start: i64,
    /// Where it ends.
    pub end: i64,
    /// Whether the end is left out.
    pub exclusive: bool,
}

impl Range {
    /// The last int in it, or `None` if it is empty.
    pub fn last(&self) -> Option<i64> {
        let last = match self.exclusive {
            true => self.end.checked_sub(1)?,
            false => self.end,
        };
        (self.start <= last).then_some(last)
    }

    /// How many ints are in it. Only the range of all ints has more than can be counted.
    pub fn len(&self) -> i64 {
        let Some(last) = self.last() else {
            return 0;
        };
        let distance = i128::from(last) - i128::from(self.start) + 1;
        i64::try_from(distance).unwrap_or(i64::MAX)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.last().is_none()
    }

    /// Whether an int is in it.
    pub fn contains(&self, number: i64) -> bool {
        self.last()
            .is_some_and(|last| (self.start..=last).contains(&number))
    }

    /// The int at a position; a negative one counts from the end.
    pub fn at(&self, index: i64) -> Option<i64> {
        let last = self.last()?;
        let number = match index {
            0.. => self.start.checked_add(index)?,
            _ => last.checked_add(index)?.checked_add(1)?,
        };
        self.contains(number).then_some(number)
    }
}
