//! Lists that grow, and that many hold as they were.
//!
//! ```text
//! a list of 70 items:  [ ● ● ● ]         a clone that has one more:  [ ● ● ○ ]
//!                        │ │ └ 6 items                                 │ │ └ 7 items
//!                        │ └── 32 items                                │ └── the same 32
//!                        └──── 32 items                                └──── the same 32
//! ```
//!
//! A conversation is held as it was by each question to a model, by whoever logs these questions
//! and by the session, which goes on. Clones share all but what changed since, so a clone costs
//! nothing and a new item the copy of a few short nodes, however long the list is.

use std::sync::Arc;

/// How many items or nodes a node has at most, as a power of two.
const WIDTH_BITS: u32 = 5;
const WIDTH: usize = 1 << WIDTH_BITS;

/// A list that grows, and that many hold as it was. A clone counts one more holder.
#[derive(Clone, Debug)]
pub struct GrowingList<T> {
    root: Arc<Node<T>>,
    /// How many branches are above each leaf; as few as the length allows.
    levels: u32,
    len: usize,
}

#[derive(Clone, Debug)]
enum Node<T> {
    Leaf(Vec<T>),
    Branch(Vec<Arc<Node<T>>>),
}

impl<T> Default for GrowingList<T> {
    fn default() -> Self {
        Self {
            root: Arc::new(Node::Leaf(Vec::new())),
            levels: 0,
            len: 0,
        }
    }
}

/// Which part of a node of that level has an item.
fn slot(at: usize, level: u32) -> usize {
    (at >> (WIDTH_BITS * level)) & (WIDTH - 1)
}

/// How many items a node of that level has room for.
fn capacity(level: u32) -> usize {
    1 << (WIDTH_BITS * (level + 1))
}

impl<T> GrowingList<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An item.
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self.leaf(at)[slot(at, 0)])
    }

    /// The items, in order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// The items from one on.
    pub fn iter_from(&self, first: usize) -> Iter<'_, T> {
        Iter {
            list: self,
            front: first.min(self.len),
            back: self.len,
            front_leaf: &[],
            back_leaf: &[],
        }
    }

    /// The items that are in one leaf with this one.
    fn leaf(&self, at: usize) -> &[T] {
        let mut node = &*self.root;
        let mut level = self.levels;
        loop {
            match node {
                Node::Leaf(items) => return items,
                Node::Branch(nodes) => node = &nodes[slot(at, level)],
            }
            level = level.saturating_sub(1);
        }
    }

    /// With how many items both lists begin. Parts that they share are not looked at.
    pub fn common_prefix(&self, other: &Self, is_same: impl Fn(&T, &T) -> bool) -> usize {
        let levels = self.levels.min(other.levels);
        let (one, other) = (self.beginning(levels), other.beginning(levels));
        common_prefix(one, other, levels, &is_same)
    }

    /// The first node of that level.
    fn beginning(&self, level: u32) -> &Arc<Node<T>> {
        let mut node = &self.root;
        for _ in level..self.levels {
            if let Node::Branch(nodes) = &**node {
                node = &nodes[0];
            }
        }
        node
    }
}

impl<T: Clone> GrowingList<T> {
    /// Adds an item.
    pub fn push(&mut self, item: T) {
        if self.len == capacity(self.levels) {
            let root = Node::Branch(vec![Arc::clone(&self.root)]);
            self.root = Arc::new(root);
            self.levels += 1;
        }
        let mut node = Arc::make_mut(&mut self.root);
        for level in (0..=self.levels).rev() {
            match node {
                Node::Leaf(items) => return self.len = added(items, item, self.len),
                Node::Branch(nodes) => {
                    let slot = slot(self.len, level);
                    if slot == nodes.len() {
                        nodes.push(Arc::new(empty(level - 1)));
                    }
                    node = Arc::make_mut(&mut nodes[slot]);
                }
            }
        }
    }

    /// Keeps the first items only.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        let Some(last) = len.checked_sub(1) else {
            return *self = Self::default();
        };
        let mut node = Arc::make_mut(&mut self.root);
        let mut level = self.levels;
        loop {
            match node {
                Node::Leaf(items) => {
                    items.truncate(slot(last, 0) + 1);
                    break;
                }
                Node::Branch(nodes) => {
                    let slot = slot(last, level);
                    nodes.truncate(slot + 1);
                    node = Arc::make_mut(&mut nodes[slot]);
                }
            }
            level = level.saturating_sub(1);
        }
        while self.levels > 0 && len <= capacity(self.levels - 1) {
            self.root = Arc::clone(self.beginning(self.levels - 1));
            self.levels -= 1;
        }
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let item = self.get(last).cloned();
        self.truncate(last);
        item
    }
}

/// Adds an item to a leaf; gives the new length of its list.
fn added<T>(leaf: &mut Vec<T>, item: T, len: usize) -> usize {
    leaf.push(item);
    len + 1
}

fn empty<T>(level: u32) -> Node<T> {
    match level {
        0 => Node::Leaf(Vec::new()),
        _ => Node::Branch(Vec::new()),
    }
}

/// With how many items two nodes of one level begin.
fn common_prefix<T>(
    one: &Arc<Node<T>>,
    other: &Arc<Node<T>>,
    level: u32,
    is_same: &impl Fn(&T, &T) -> bool,
) -> usize {
    if Arc::ptr_eq(one, other) {
        return items_in(one, level);
    }
    match (&**one, &**other) {
        (Node::Leaf(one), Node::Leaf(other)) => {
            let both = one.iter().zip(other);
            both.take_while(|(one, other)| is_same(one, other)).count()
        }
        (Node::Branch(one), Node::Branch(other)) => {
            let mut count = 0;
            for (one, other) in one.iter().zip(other) {
                let same = common_prefix(one, other, level - 1, is_same);
                count += same;
                if same < capacity(level - 1) {
                    break;
                }
            }
            count
        }
        (Node::Leaf(_), Node::Branch(_)) | (Node::Branch(_), Node::Leaf(_)) => 0,
    }
}

/// How many items a node of that level has.
fn items_in<T>(node: &Node<T>, level: u32) -> usize {
    match node {
        Node::Leaf(items) => items.len(),
        Node::Branch(nodes) => {
            let full = nodes.len().saturating_sub(1) * capacity(level - 1);
            full + nodes.last().map_or(0, |last| items_in(last, level - 1))
        }
    }
}

impl<T: Clone> Extend<T> for GrowingList<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T: Clone> FromIterator<T> for GrowingList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        list.extend(items);
        list
    }
}

/// The items of a [`GrowingList`], from either end.
#[derive(Debug)]
pub struct Iter<'a, T> {
    list: &'a GrowingList<T>,
    front: usize,
    back: usize,
    /// The leaf that was looked at last, from each end.
    front_leaf: &'a [T],
    back_leaf: &'a [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        if self.front == self.back {
            return None;
        }
        let slot = slot(self.front, 0);
        if slot == 0 || self.front_leaf.is_empty() {
            self.front_leaf = self.list.leaf(self.front);
        }
        self.front += 1;
        Some(&self.front_leaf[slot])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.back - self.front;
        (left, Some(left))
    }

    fn nth(&mut self, count: usize) -> Option<&'a T> {
        self.front = self.front.saturating_add(count).min(self.back);
        self.front_leaf = &[];
        self.next()
    }
}

impl<'a, T> DoubleEndedIterator for Iter<'a, T> {
    fn next_back(&mut self) -> Option<&'a T> {
        if self.front == self.back {
            return None;
        }
        self.back -= 1;
        let slot = slot(self.back, 0);
        if slot == WIDTH - 1 || self.back_leaf.is_empty() {
            self.back_leaf = self.list.leaf(self.back);
        }
        Some(&self.back_leaf[slot])
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Lengths around which nodes and levels become full.
    const LENGTHS: [usize; 12] = [0, 1, 31, 32, 33, 64, 1023, 1024, 1025, 2000, 32_768, 33_000];

    fn list(len: usize) -> GrowingList<usize> {
        (0..len).collect()
    }

    #[track_caller]
    fn check(list: &GrowingList<usize>, len: usize) {
        assert_eq!(list.len(), len);
        assert!(list.iter().copied().eq(0..len));
        assert!(list.iter().rev().copied().eq((0..len).rev()));
        assert_eq!(list.get(len), None);
        for at in [0, len / 2, len.saturating_sub(1)] {
            assert_eq!(list.get(at).copied(), (at < len).then_some(at));
            assert!(list.iter_from(at).copied().eq(at..len));
            assert_eq!(list.iter().nth(at).copied(), (at < len).then_some(at));
        }
    }

    #[test]
    fn items_are_found_in_order() {
        for len in LENGTHS {
            check(&list(len), len);
        }
    }

    #[test]
    fn a_list_can_be_walked_from_both_ends_at_once() {
        let list = list(70);
        let mut items = list.iter();
        let mut seen = 0;
        while let (Some(_), Some(_)) = (items.next(), items.next_back()) {
            seen += 2;
        }
        assert_eq!(seen, 70);
    }

    #[test]
    fn what_is_cut_off_can_be_put_on_again() {
        for len in LENGTHS {
            for left in LENGTHS.into_iter().filter(|left| *left <= len) {
                let mut list = list(len);
                list.truncate(left);
                check(&list, left);
                list.extend(left..len.min(left + 100));
                check(&list, len.min(left + 100));
            }
        }
        let mut list = list(33);
        assert_eq!(
            (list.pop(), list.pop(), list.len()),
            (Some(32), Some(31), 31)
        );
    }

    #[test]
    fn a_holder_does_not_see_what_comes_later() {
        let mut growing = GrowingList::default();
        let mut held = Vec::new();
        for at in 0..1100 {
            held.push(growing.clone());
            growing.push(at);
        }
        growing.truncate(5);
        growing.push(7);
        for (len, list) in held.iter().enumerate() {
            assert!(list.iter().copied().eq(0..len));
        }
    }

    #[test]
    fn lists_that_grew_from_one_are_compared_where_they_differ() {
        for len in LENGTHS {
            let one = list(len);
            for more in [0, 1, 40, 1100] {
                let mut other = one.clone();
                other.extend(len..len + more);
                let compared = AtomicUsize::new(0);
                let is_same = |one: &usize, other: &usize| {
                    compared.fetch_add(1, Ordering::Relaxed);
                    one == other
                };
                assert_eq!(one.common_prefix(&other, is_same), len);
                assert_eq!(other.common_prefix(&one, is_same), len);
                let compared = compared.into_inner();
                assert!(compared <= 4 * WIDTH, "{len} and {more} more: {compared}");
            }
        }
    }

    #[test]
    fn lists_that_are_alike_begin_alike() {
        let same = |one: &usize, other: &usize| one == other;
        for len in LENGTHS {
            for other in LENGTHS {
                assert_eq!(list(len).common_prefix(&list(other), same), len.min(other));
            }
        }
        let mut changed: GrowingList<usize> = (0..1500).chain([0]).collect();
        changed.extend(1501..3000);
        assert_eq!(changed.common_prefix(&list(3000), same), 1500);
    }
}
