//! The messages of a conversation.

use std::iter::Map;
use std::ops::{Index, Range};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::growing_list::{GrowingList, Iter};

/// The messages of a conversation, which is held as it was by many while it grows: a clone
/// copies nothing, and a message that is said is stored once, whatever it becomes a part of.
#[derive(Clone, Debug, Default)]
pub struct Messages(GrowingList<Arc<Value>>);

/// Messages in order, from either end.
pub type MessagesIter<'a> = Map<Iter<'a, Arc<Value>>, fn(&'a Arc<Value>) -> &'a Value>;

fn value(message: &Arc<Value>) -> &Value {
    message
}

impl Messages {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them.
    pub fn get(&self, at: usize) -> Option<&Value> {
        self.0.get(at).map(value)
    }

    /// One of them, to be put into another conversation.
    pub fn share(&self, at: usize) -> Option<Arc<Value>> {
        self.0.get(at).cloned()
    }

    /// The first.
    pub fn first(&self) -> Option<&Value> {
        self.get(0)
    }

    /// The last.
    pub fn last(&self) -> Option<&Value> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All of them, in order.
    pub fn iter(&self) -> MessagesIter<'_> {
        self.iter_from(0)
    }

    /// Those from one on.
    pub fn iter_from(&self, first: usize) -> MessagesIter<'_> {
        self.0.iter_from(first).map(value as fn(_) -> _)
    }

    /// Adds one.
    pub fn push(&mut self, message: impl Into<Arc<Value>>) {
        self.0.push(message.into());
    }

    /// Takes the last one away.
    pub fn pop(&mut self) -> Option<Arc<Value>> {
        self.0.pop()
    }

    /// Keeps the first ones only.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Puts messages in place of some. What follows them is moved, so this takes as long as there
    /// are messages after the place.
    pub fn splice<M: Into<Arc<Value>>>(
        &mut self,
        place: Range<usize>,
        messages: impl IntoIterator<Item = M>,
    ) {
        let after: Vec<Arc<Value>> = self.0.iter_from(place.end).cloned().collect();
        self.0.truncate(place.start);
        self.0.extend(messages.into_iter().map(Into::into));
        self.0.extend(after);
    }

    /// Puts one before all others.
    pub fn prepend(&mut self, message: impl Into<Arc<Value>>) {
        self.splice(0..0, [message.into()]);
    }

    /// Takes the first ones away.
    pub fn drop_first(&mut self, count: usize) {
        self.0 = self.0.iter_from(count).cloned().collect();
    }

    /// As a list of their own.
    pub fn to_vec(&self) -> Vec<Value> {
        self.iter().cloned().collect()
    }

    /// With how many messages both begin. What they share is not looked at.
    pub fn common_prefix(&self, other: &Self) -> usize {
        let is_same =
            |one: &Arc<Value>, other: &Arc<Value>| Arc::ptr_eq(one, other) || one == other;
        self.0.common_prefix(&other.0, is_same)
    }
}

impl Index<usize> for Messages {
    type Output = Value;

    fn index(&self, at: usize) -> &Value {
        let len = self.len();
        let message = self.get(at);
        message.unwrap_or_else(|| panic!("message {at} of {len} was asked for"))
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.common_prefix(other) == self.len()
    }
}

impl PartialEq<[Value]> for Messages {
    fn eq(&self, other: &[Value]) -> bool {
        self.iter().eq(other)
    }
}

impl PartialEq<Vec<Value>> for Messages {
    fn eq(&self, other: &Vec<Value>) -> bool {
        self.iter().eq(other)
    }
}

impl<const COUNT: usize> PartialEq<[Value; COUNT]> for Messages {
    fn eq(&self, other: &[Value; COUNT]) -> bool {
        self.iter().eq(other)
    }
}

impl From<Vec<Value>> for Messages {
    fn from(messages: Vec<Value>) -> Self {
        messages.into_iter().collect()
    }
}

impl<M: Into<Arc<Value>>> FromIterator<M> for Messages {
    fn from_iter<I: IntoIterator<Item = M>>(messages: I) -> Self {
        Self(messages.into_iter().map(Into::into).collect())
    }
}

impl<M: Into<Arc<Value>>> Extend<M> for Messages {
    fn extend<I: IntoIterator<Item = M>>(&mut self, messages: I) {
        self.0.extend(messages.into_iter().map(Into::into));
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Value;
    type IntoIter = MessagesIter<'a>;

    fn into_iter(self) -> MessagesIter<'a> {
        self.iter()
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Value>::deserialize(deserializer).map(Self::from)
    }
}

/// Numbers that messages add up to, counted on from conversation to conversation: only messages
/// that the one before had not, or had and this one has not, are measured.
#[derive(Clone, Debug)]
pub struct Totals<const COUNT: usize> {
    counted: Messages,
    totals: [u64; COUNT],
    measure: fn(&Value) -> [u64; COUNT],
}

impl<const COUNT: usize> Totals<COUNT> {
    /// Totals of what `measure` gives for each message.
    pub fn of(measure: fn(&Value) -> [u64; COUNT]) -> Self {
        Self {
            counted: Messages::default(),
            totals: [0; COUNT],
            measure,
        }
    }

    /// What a conversation adds up to.
    pub fn count(&mut self, messages: &Messages) -> [u64; COUNT] {
        let known = self.counted.common_prefix(messages);
        for gone in self.counted.iter_from(known) {
            let measured = (self.measure)(gone);
            for (total, one) in self.totals.iter_mut().zip(measured) {
                *total -= one;
            }
        }
        for new in messages.iter_from(known) {
            let measured = (self.measure)(new);
            for (total, one) in self.totals.iter_mut().zip(measured) {
                *total += one;
            }
        }
        self.counted.clone_from(messages);
        self.totals
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(texts: &[&str]) -> Messages {
        texts.iter().map(|text| json!(text)).collect()
    }

    #[test]
    fn messages_are_put_in_the_place_of_others() {
        let all = said(&["a", "b", "c", "d"]);
        let spliced = |place: Range<usize>, new: &[&str]| {
            let mut messages = all.clone();
            messages.splice(place, new.iter().map(|text| json!(text)));
            messages
        };
        assert_eq!(spliced(1..3, &["x"]), said(&["a", "x", "d"]));
        assert_eq!(
            spliced(0..0, &["x", "y"]),
            said(&["x", "y", "a", "b", "c", "d"])
        );
        assert_eq!(spliced(4..4, &["x"]), said(&["a", "b", "c", "d", "x"]));
        let mut left = all.clone();
        left.drop_first(3);
        assert_eq!(left, said(&["d"]));
        left.drop_first(9);
        assert_eq!(left, said(&[]));
        left.prepend(json!("z"));
        assert_eq!(left, said(&["z"]));
        assert_eq!(all.len(), 4, "the others are not touched");
    }

    #[test]
    fn they_are_written_as_a_list() {
        let messages = said(&["a", "b"]);
        assert_eq!(json!(messages), json!(["a", "b"]));
        let again: Messages = serde_json::from_value(json!(messages)).unwrap();
        assert_eq!(again, messages);
        assert_ne!(again, said(&["a"]));
        assert_eq!(messages.to_vec(), ["a", "b"]);
    }

    #[test]
    fn totals_follow_a_conversation_wherever_it_goes() {
        let length = |message: &Value| [1, message.as_str().map_or(0, str::len) as u64];
        let mut totals = Totals::of(length);
        let mut messages = said(&["a", "bb"]);
        assert_eq!(totals.count(&messages), [2, 3]);
        let mut with_ledger = messages.clone();
        with_ledger.push(json!("ledger"));
        assert_eq!(totals.count(&with_ledger), [3, 9]);
        messages.push(json!("ccc"));
        assert_eq!(totals.count(&messages), [3, 6]);
        messages.splice(0..2, [json!("dddd")]);
        assert_eq!(totals.count(&messages), [2, 7]);
        assert_eq!(totals.count(&Messages::default()), [0, 0]);
    }
}
