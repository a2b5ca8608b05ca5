//! Values that stand for something else.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::{Rc, Weak};

use super::Text;
use crate::sync::Bell;

/// The right to go on, until it is given back.
#[derive(Debug)]
pub struct Permit {
    /// What kind of lock it belongs to.
    pub kind: &'static str,
    /// The name of the lock.
    pub key: Text,
    /// How many of the lock's places it takes.
    pub places: i64,
    /// When it was given, in milliseconds.
    pub since: i64,
    /// Whether it was given back.
    pub released: Cell<bool>,
    /// Where the permits go that nobody holds any more.
    pub lost: Weak<LostPermits>,
}

/// Permits that became unreachable while they were held.
#[derive(Debug, Default)]
pub struct LostPermits {
    list: RefCell<Vec<LostPermit>>,
    /// Tells those who wait for a lock.
    bell: Rc<Bell>,
}

impl LostPermits {
    /// None; those that come ring the bell.
    pub fn new(bell: Rc<Bell>) -> Self {
        let list = RefCell::default();
        Self { list, bell }
    }

    /// All of them, in the order in which they were lost; none are left.
    pub fn take(&self) -> Vec<LostPermit> {
        self.list.take()
    }
}

/// A permit that became unreachable while it was held.
#[derive(Debug)]
pub struct LostPermit {
    /// What kind of lock it belonged to.
    pub kind: &'static str,
    /// The name of the lock.
    pub key: Text,
    /// How many of its places it took.
    pub places: i64,
    /// When it was given.
    pub since: i64,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.released.get() {
            return;
        }
        let Some(lost) = self.lost.upgrade() else {
            return;
        };
        lost.bell.ring();
        lost.list.borrow_mut().push(LostPermit {
            kind: self.kind,
            key: self.key.clone(),
            places: self.places,
            since: self.since,
        });
    }
}

/// Something that only the library that made it understands, such as a generator of random
/// numbers or a connection.
pub struct Foreign {
    type_name: &'static str,
    label: String,
    /// What it is.
    pub content: Box<dyn Any>,
}

impl Foreign {
    /// Something of a kind, shown as `label`.
    pub fn new(type_name: &'static str, label: String, content: Box<dyn Any>) -> Self {
        Self {
            type_name,
            label,
            content,
        }
    }

    /// What `type_of` calls it.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// How it is shown.
    pub fn label(&self) -> &str {
        &self.label
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}
