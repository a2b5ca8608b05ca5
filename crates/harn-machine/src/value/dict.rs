//! Dicts.
//!
//! ```text
//! few entries:   sorted, found by looking through them
//! many entries:  in the order they came, found by hash; their sorted order is made when
//!                somebody wants to go through them, and kept until a key comes or goes
//! ```
//!
//! Programs see entries sorted by key. Most dicts are records of a few fields, where looking
//! is faster than hashing; the others must take in keys in any order without moving the rest.

use std::cell::OnceCell;
use std::rc::Rc;

use hashbrown::HashTable;

use super::bury::bury;
use super::text::hash_text;
use super::{Text, Value};

/// The most entries that are kept sorted.
const FEW: usize = 8;

/// Values by name, cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Dict(Rc<Body>);

type Entry = (Text, Value);

#[derive(Clone, Debug, Default)]
struct Body {
    /// Sorted as long as there is no index.
    entries: Vec<Entry>,
    index: Option<Box<Index>>,
}

/// How entries are found and gone through when there are many.
#[derive(Clone, Debug, Default)]
struct Index {
    by_hash: HashTable<u32>,
    /// Whether every key came after all that were there.
    is_sorted: bool,
    /// The positions of the entries, sorted by key.
    order: OnceCell<Vec<u32>>,
}

impl Dict {
    /// A dict of entries that are sorted by key, none of them twice.
    pub fn from_sorted(entries: Vec<(Text, Value)>) -> Self {
        debug_assert!(entries.is_sorted_by(|one, next| one.0 < next.0));
        let mut body = Body {
            entries,
            index: None,
        };
        if body.entries.len() > FEW {
            body.build_index();
        }
        Self(Rc::new(body))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.0.find(key)?;
        Some(&self.0.entries[at].1)
    }

    /// The value of a key whose hash may be known already.
    pub fn get_text(&self, key: &Text) -> Option<&Value> {
        let at = self.0.find_text(key)?;
        Some(&self.0.entries[at].1)
    }

    /// The value at a position where a key was found before, if it is there again.
    pub(crate) fn get_at(&self, at: usize, key: &Text) -> Option<&Value> {
        let (found, value) = self.0.entries.get(at)?;
        found.is_same(key).then_some(value)
    }

    /// Where a key is, for [`Self::get_at`].
    pub(crate) fn position(&self, key: &Text) -> Option<usize> {
        self.0.find_text(key)
    }

    /// The value of a key that was found at a place in another dict. Dicts of one document have
    /// the same keys at the same places, so that mostly two addresses are compared. The key and
    /// the place become those of this dict.
    #[inline]
    pub fn get_near(&self, key: &mut Text, place: &mut usize) -> Option<&Value> {
        if let Some((found, value)) = self.0.entries.get(*place)
            && found.is_same(key)
        {
            return Some(value);
        }
        let at = self.0.find_text(key)?;
        let (found, value) = &self.0.entries[at];
        key.clone_from(found);
        *place = at;
        Some(value)
    }

    /// Whether a key is there.
    pub fn contains(&self, key: &str) -> bool {
        self.0.find(key).is_some()
    }

    /// Sets the value of a key and gives the old one.
    pub fn insert(&mut self, key: Text, value: Value) -> Option<Value> {
        Rc::make_mut(&mut self.0).insert(key, value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &Text) -> Option<&mut Value> {
        let at = self.0.find_text(key)?;
        Some(&mut Rc::make_mut(&mut self.0).entries[at].1)
    }

    /// Removes a key and gives its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.find(key)?;
        Some(Rc::make_mut(&mut self.0).remove(at))
    }

    /// The entries, sorted by key.
    pub fn iter(&self) -> Entries<'_> {
        let order = self.0.order();
        Entries {
            body: &self.0,
            order,
            next: 0,
        }
    }

    /// The keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &Text> {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }

    /// The entry at a position in the order of keys.
    pub fn entry(&self, at: usize) -> Option<(&Text, &Value)> {
        let at = match self.0.order() {
            Some(order) => *order.get(at)? as usize,
            None => at,
        };
        self.0.entries.get(at).map(|(key, value)| (key, value))
    }

    /// Whether nobody else has the dict.
    pub(crate) fn is_unique(&self) -> bool {
        Rc::strong_count(&self.0) == 1
    }

    /// Whether both are the same dict in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is in memory.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Moves the values to `to` if nobody else has the dict.
    pub(super) fn take_if_last(&mut self, to: &mut Vec<Value>) {
        if let Some(body) = Rc::get_mut(&mut self.0) {
            to.extend(body.entries.drain(..).map(|(_, value)| value));
        }
    }
}

impl Body {
    fn find(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.find(hash_text(key), key, &self.entries),
            None => self.look_through(key),
        }
    }

    fn find_text(&self, key: &Text) -> Option<usize> {
        match &self.index {
            Some(index) => index.find_text(key, &self.entries),
            None => {
                let same = self.entries.iter().position(|(one, _)| one.is_same(key));
                same.or_else(|| self.look_through(key))
            }
        }
    }

    fn look_through(&self, key: &str) -> Option<usize> {
        let mut keys = self.entries.iter().map(|(key, _)| key.as_str());
        keys.position(|one| one == key)
    }

    fn insert(&mut self, key: Text, value: Value) -> Option<Value> {
        if let Some(at) = self.find_text(&key) {
            return Some(std::mem::replace(&mut self.entries[at].1, value));
        }
        match &mut self.index {
            Some(index) => {
                let is_last = self.entries.last().is_none_or(|(last, _)| *last < key);
                index.is_sorted &= is_last;
                index.order.take();
                index.add(key.hash(), self.entries.len(), &self.entries);
                self.entries.push((key, value));
            }
            None => {
                let at = self.entries.partition_point(|(one, _)| *one < key);
                self.entries.insert(at, (key, value));
                if self.entries.len() > FEW {
                    self.build_index();
                }
            }
        }
        None
    }

    /// From now on entries are found by hash.
    fn build_index(&mut self) {
        let mut index = Index {
            by_hash: HashTable::with_capacity(self.entries.len()),
            is_sorted: true,
            order: OnceCell::new(),
        };
        for (at, (key, _)) in self.entries.iter().enumerate() {
            index.add(key.hash(), at, &self.entries);
        }
        self.index = Some(Box::new(index));
    }

    /// The last entry takes the place of the one that goes.
    fn remove(&mut self, at: usize) -> Value {
        let Some(index) = &mut self.index else {
            return self.entries.remove(at).1;
        };
        let last = self.entries.len() - 1;
        index.forget(self.entries[at].0.hash(), at);
        if at != last {
            index.forget(self.entries[last].0.hash(), last);
        }
        let (_, value) = self.entries.swap_remove(at);
        if at != last {
            index.add(self.entries[at].0.hash(), at, &self.entries);
            index.is_sorted = false;
        }
        index.order.take();
        value
    }

    /// The positions of the entries by key; `None` if they are in order.
    fn order(&self) -> Option<&[u32]> {
        let index = self.index.as_ref()?;
        if index.is_sorted {
            return None;
        }
        let order = index.order.get_or_init(|| {
            let mut order: Vec<u32> = (0..narrow(self.entries.len())).collect();
            let key = |at: &u32| &self.entries[*at as usize].0;
            order.sort_unstable_by(|one, other| key(one).cmp(key(other)));
            order
        });
        Some(order)
    }
}

impl Index {
    fn find(&self, hash: u64, key: &str, entries: &[Entry]) -> Option<usize> {
        let is_it = |at: &u32| entries[*at as usize].0.as_str() == key;
        self.by_hash.find(hash, is_it).map(|at| *at as usize)
    }

    /// Keys that are the same in memory need not be compared.
    fn find_text(&self, key: &Text, entries: &[Entry]) -> Option<usize> {
        let is_it = |at: &u32| {
            let found = &entries[*at as usize].0;
            found.is_same(key) || found.as_str() == key.as_str()
        };
        self.by_hash.find(key.hash(), is_it).map(|at| *at as usize)
    }

    fn add(&mut self, hash: u64, at: usize, entries: &[Entry]) {
        let rehash = |at: &u32| entries[*at as usize].0.hash();
        self.by_hash.insert_unique(hash, narrow(at), rehash);
    }

    fn forget(&mut self, hash: u64, at: usize) {
        let found = self.by_hash.find_entry(hash, |one| *one as usize == at);
        if let Ok(entry) = found {
            entry.remove();
        }
    }
}

/// Four billion entries do not fit into memory: each takes 32 bytes at least.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a dict has fewer than four billion entries")
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.entries.iter().any(|(_, value)| value.is_container()) {
            bury(self.entries.drain(..).map(|(_, value)| value).collect());
        }
    }
}

/// The entries of a dict, sorted by key.
pub struct Entries<'a> {
    body: &'a Body,
    order: Option<&'a [u32]>,
    next: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a Text, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        let at = match self.order {
            Some(order) => *order.get(self.next)? as usize,
            None => self.next,
        };
        let (key, value) = self.body.entries.get(at)?;
        self.next += 1;
        Some((key, value))
    }
}

impl<'a> IntoIterator for &'a Dict {
    type Item = (&'a Text, &'a Value);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

impl FromIterator<(Text, Value)> for Dict {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(entries: I) -> Self {
        let mut dict = Self::default();
        for (key, value) in entries {
            dict.insert(key, value);
        }
        dict
    }
}
