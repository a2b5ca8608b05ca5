//! Sets.

use std::rc::Rc;

use hashbrown::HashTable;

use super::Value;
use super::bury::bury;
use super::equality::hash_value;
use super::structural::is_same_structure;

/// The most members that are found by looking through them.
const FEW: usize = 8;

/// When two members count as one. Functions tell `1` from `1.0`, methods do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// They are equal.
    Equal,
    /// They are equal and of the same kinds.
    Structural,
}

impl Sameness {
    fn holds(self, one: &Value, other: &Value) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Structural => is_same_structure(one, other),
        }
    }
}

/// Values without duplicates in the order of their first insertion, cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Set(Rc<Body>);

#[derive(Clone, Debug, Default)]
struct Body {
    items: Vec<Value>,
    /// Positions by hash, once there are many.
    index: Option<Box<HashTable<u32>>>,
}

impl Set {
    /// The values, of those that are the same only the first.
    pub fn new(values: impl IntoIterator<Item = Value>, sameness: Sameness) -> Self {
        let mut set = Self::default();
        for value in values {
            set.add(value, sameness);
        }
        set
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.items.is_empty()
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.items.iter()
    }

    /// The members in order.
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// Whether a value is a member.
    pub fn contains(&self, value: &Value, sameness: Sameness) -> bool {
        self.0.find(value, sameness).is_some()
    }

    /// Adds a value unless it is a member.
    pub fn add(&mut self, value: Value, sameness: Sameness) -> bool {
        if self.contains(&value, sameness) {
            return false;
        }
        Rc::make_mut(&mut self.0).push(value);
        true
    }

    /// Removes a value. The others keep their order.
    pub fn remove(&mut self, value: &Value, sameness: Sameness) -> bool {
        let Some(at) = self.0.find(value, sameness) else {
            return false;
        };
        let body = Rc::make_mut(&mut self.0);
        body.items.remove(at);
        body.index = None;
        body.build_index();
        true
    }

    /// Whether both are the same set in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is in memory.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Moves the members to `to` if nobody else has the set.
    pub(super) fn take_if_last(&mut self, to: &mut Vec<Value>) {
        if let Some(body) = Rc::get_mut(&mut self.0) {
            to.append(&mut body.items);
        }
    }
}

impl Body {
    fn find(&self, value: &Value, sameness: Sameness) -> Option<usize> {
        let Some(index) = &self.index else {
            return self.items.iter().position(|one| sameness.holds(one, value));
        };
        let is_it = |at: &u32| sameness.holds(&self.items[*at as usize], value);
        index.find(hash_value(value), is_it).map(|at| *at as usize)
    }

    fn push(&mut self, value: Value) {
        let at = self.items.len();
        self.items.push(value);
        match &mut self.index {
            Some(index) => {
                let rehash = |at: &u32| hash_value(&self.items[*at as usize]);
                index.insert_unique(hash_value(&self.items[at]), narrow(at), rehash);
            }
            None => self.build_index(),
        }
    }

    /// From now on members are found by hash, if there are many.
    fn build_index(&mut self) {
        if self.items.len() <= FEW {
            return;
        }
        let mut index = HashTable::with_capacity(self.items.len());
        for (at, value) in self.items.iter().enumerate() {
            let rehash = |at: &u32| hash_value(&self.items[*at as usize]);
            index.insert_unique(hash_value(value), narrow(at), rehash);
        }
        self.index = Some(Box::new(index));
    }
}

/// Four billion members do not fit into memory: each takes 20 bytes at least.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a set has fewer than four billion members")
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.items.iter().any(Value::is_container) {
            bury(std::mem::take(&mut self.items));
        }
    }
}
