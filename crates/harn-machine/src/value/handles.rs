//! Values that stand for something else.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::rc::Weak;

use super::Text;

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
    /// Who takes it back if nobody holds it any more.
    pub home: Weak<dyn PermitHome>,
}

/// Takes back permits that became unreachable while they were held.
pub trait PermitHome {
    /// Nobody holds a permit any more. Whoever lost it may be in the middle of something, so
    /// this is to be noted and dealt with later.
    fn take_back(&self, permit: LostPermit);
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
        if let Some(home) = self.home.upgrade() {
            home.take_back(LostPermit {
                kind: self.kind,
                key: self.key.clone(),
                places: self.places,
                since: self.since,
            });
        }
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
