//! Sets.
//!
//! ```text
//! few members:   found by looking through them
//! many members:  found by hash, in one index for each of the two ways to be the same,
//!                made when somebody first asks in that way
//! ```

use std::cell::OnceCell;
use std::rc::Rc;

use hashbrown::HashTable;

use super::Value;
use super::bury::bury;
use super::equality::{equals_nothing, hash_value};
use super::structural::{hash_structure, is_same_structure};

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

    /// A hash that values share which are the same in this way.
    fn hash(self, value: &Value) -> u64 {
        match self {
            Self::Equal => hash_value(value),
            Self::Structural => hash_structure(value),
        }
    }

    /// Whether a value is the same as none, not even as itself.
    fn excludes(self, value: &Value) -> bool {
        self == Self::Equal && equals_nothing(value)
    }
}

/// Values without duplicates in the order of their first insertion, cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Set(Rc<Body>);

#[derive(Clone, Debug, Default)]
struct Body {
    items: Vec<Value>,
    /// Empty as long as there are few members.
    equal: OnceCell<Index>,
    /// Empty as long as there are few members.
    structural: OnceCell<Index>,
}

/// Positions of members, each with its hash.
type Index = Box<HashTable<(u64, u32)>>;

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

    /// The members, without a copy if nobody else has the set.
    pub fn into_items(mut self) -> Vec<Value> {
        match Rc::get_mut(&mut self.0) {
            Some(body) => std::mem::take(&mut body.items),
            None => self.0.items.clone(),
        }
    }

    /// Whether a value is a member.
    pub fn contains(&self, value: &Value, sameness: Sameness) -> bool {
        self.0.find(value, sameness).is_some()
    }

    /// Where the first member is that equals a value, as `is_equal` says.
    pub(super) fn position_by(
        &self,
        value: &Value,
        is_equal: impl Fn(&Value, &Value) -> bool,
    ) -> Option<usize> {
        self.0.find_by(value, Sameness::Equal, is_equal)
    }

    /// Adds a value unless it is a member.
    pub fn add(&mut self, value: Value, sameness: Sameness) -> bool {
        if self.contains(&value, sameness) {
            return false;
        }
        Rc::make_mut(&mut self.0).push(value);
        true
    }

    /// Removes a value. The others keep their order. Members that a function told apart may be
    /// the same here, as `1` and `1.0` are: all of them go.
    pub fn remove(&mut self, value: &Value, sameness: Sameness) -> bool {
        let count = self.len();
        while let Some(at) = self.0.find(value, sameness) {
            Rc::make_mut(&mut self.0).remove(at);
        }
        self.len() < count
    }

    /// Keeps the members that pass a test, in order.
    pub fn retain(&mut self, test: impl FnMut(&Value) -> bool) {
        let body = Rc::make_mut(&mut self.0);
        body.equal.take();
        body.structural.take();
        body.items.retain(test);
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
        self.find_by(value, sameness, |one, other| sameness.holds(one, other))
    }

    fn find_by(
        &self,
        value: &Value,
        sameness: Sameness,
        is_same: impl Fn(&Value, &Value) -> bool,
    ) -> Option<usize> {
        if self.items.len() <= FEW {
            return self.items.iter().position(|one| is_same(one, value));
        }
        if sameness.excludes(value) {
            return None;
        }
        let hash = sameness.hash(value);
        let is_it =
            |(one, at): &(u64, u32)| *one == hash && is_same(&self.items[*at as usize], value);
        let found = self.index(sameness).find(hash, is_it);
        found.map(|(_, at)| *at as usize)
    }

    fn index(&self, sameness: Sameness) -> &Index {
        let cell = match sameness {
            Sameness::Equal => &self.equal,
            Sameness::Structural => &self.structural,
        };
        cell.get_or_init(|| {
            let mut index = Box::new(HashTable::with_capacity(self.items.len()));
            for (at, value) in self.items.iter().enumerate() {
                insert(&mut index, value, at, sameness);
            }
            index
        })
    }

    fn push(&mut self, value: Value) {
        let at = self.items.len();
        if let Some(index) = self.equal.get_mut() {
            insert(index, &value, at, Sameness::Equal);
        }
        if let Some(index) = self.structural.get_mut() {
            insert(index, &value, at, Sameness::Structural);
        }
        self.items.push(value);
    }

    /// Those after it move up, and so do their positions.
    fn remove(&mut self, at: usize) {
        self.items.remove(at);
        for index in [self.equal.get_mut(), self.structural.get_mut()] {
            let Some(index) = index else { continue };
            let gone = narrow(at);
            index.retain(|(_, at)| *at != gone);
            for (_, at) in index.iter_mut().filter(|(_, at)| *at > gone) {
                *at -= 1;
            }
        }
    }
}

fn insert(index: &mut Index, value: &Value, at: usize, sameness: Sameness) {
    if !sameness.excludes(value) {
        let hash = sameness.hash(value);
        index.insert_unique(hash, (hash, narrow(at)), |(hash, _)| *hash);
    }
}

/// Four billion members do not fit into memory: each takes 16 bytes at least.
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
