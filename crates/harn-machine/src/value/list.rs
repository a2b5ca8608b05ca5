//! Lists.

use std::ops::Deref;
use std::rc::Rc;

use super::Value;
use super::bury::bury;

/// Values in order, cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct List(Rc<Body>);

#[derive(Debug, Default)]
struct Body(Vec<Value>);

impl List {
    /// The items, to be changed: in place if nobody else has the list, else in a copy.
    pub fn items_mut(&mut self) -> &mut Vec<Value> {
        &mut Rc::make_mut(&mut self.0).0
    }

    /// The items, without a copy if nobody else has the list.
    pub fn into_items(mut self) -> Vec<Value> {
        match Rc::get_mut(&mut self.0) {
            Some(body) => std::mem::take(&mut body.0),
            None => self.0.0.clone(),
        }
    }

    /// Whether nobody else has the list.
    pub fn is_unique(&self) -> bool {
        Rc::strong_count(&self.0) == 1
    }

    /// How many items are copied before one can be changed.
    #[inline]
    pub(crate) fn copied(&self) -> usize {
        if self.is_unique() { 0 } else { self.len() }
    }

    /// Whether both are the same list in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is in memory.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// The items if nobody else has the list.
    pub(super) fn take_if_last(&mut self) -> Option<Vec<Value>> {
        Rc::get_mut(&mut self.0).map(|body| std::mem::take(&mut body.0))
    }
}

impl Clone for Body {
    fn clone(&self) -> Self {
        // A copy is made to be changed, and mostly to grow.
        let mut items = Vec::with_capacity(self.0.len() + self.0.len() / 8 + 1);
        items.extend_from_slice(&self.0);
        Self(items)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.0.iter().any(Value::is_container) {
            bury(std::mem::take(&mut self.0));
        }
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        Self(Rc::new(Body(items)))
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<Vec<_>>())
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.0
    }
}
