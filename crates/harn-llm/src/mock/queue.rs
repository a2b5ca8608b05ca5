//! Which scripted answer comes next.

use std::collections::VecDeque;

use super::entry::Entry;

/// Scripted answers in the order they were declared.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    plain: VecDeque<Entry>,
    /// Those that have a pattern.
    patterned: VecDeque<Entry>,
}

impl Queue {
    pub(super) fn add(&mut self, entry: Entry) {
        match entry.pattern {
            None => self.plain.push_back(entry),
            Some(_) => self.patterned.push_back(entry),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.patterned.is_empty()
    }

    /// The entry that answers a conversation whose text fits certain patterns. One without a pattern goes
    /// before all that have one, wherever it was declared, and is used up; one with a pattern
    /// stays unless it says otherwise.
    pub(super) fn take(&mut self, fits: impl Fn(&str) -> bool) -> Option<Entry> {
        if let Some(entry) = self.plain.pop_front() {
            return Some(entry);
        }
        let fitting = |entry: &Entry| entry.pattern.as_deref().is_some_and(&fits);
        let at = self.patterned.iter().position(fitting)?;
        if self.patterned[at].consume_match {
            return self.patterned.remove(at);
        }
        self.patterned.get(at).cloned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::glob;

    #[track_caller]
    fn check(entries: &[Value], texts: &[&str], expected: &[Option<&str>]) {
        let mut queue = Queue::default();
        for entry in entries {
            queue.add(Entry::from_program(entry).unwrap());
        }
        let answers: Vec<Option<String>> = texts
            .iter()
            .map(|text| queue.take(|pattern| glob::matches(pattern, text)))
            .map(|entry| entry.map(|entry| entry.text))
            .collect();
        let answers: Vec<Option<&str>> = answers.iter().map(Option::as_deref).collect();
        assert_eq!(answers, expected);
    }

    #[test]
    fn entries_without_a_pattern_are_used_up_in_order() {
        let entries = [json!({"text": "1"}), json!({"text": "2", "match": null})];
        check(&entries, &["a", "a", "a"], &[Some("1"), Some("2"), None]);
    }

    #[test]
    fn an_entry_without_a_pattern_goes_before_patterns_declared_earlier() {
        let entries = [
            json!({"text": "pattern", "match": "*"}),
            json!({"text": "plain"}),
        ];
        check(&entries, &["a", "a"], &[Some("plain"), Some("pattern")]);
    }

    #[test]
    fn patterns_are_tried_in_order_and_stay() {
        let entries = [
            json!({"text": "1", "match": "*x*"}),
            json!({"text": "2", "match": "*"}),
        ];
        check(
            &entries,
            &["x", "y", "x"],
            &[Some("1"), Some("2"), Some("1")],
        );
    }

    #[test]
    fn a_consumed_pattern_is_gone() {
        let entries = [
            json!({"text": "1", "match": "*x*", "consume_match": true}),
            json!({"text": "2", "match": "*x*", "consume_match": false}),
        ];
        check(
            &entries,
            &["y", "x", "x", "x"],
            &[None, Some("1"), Some("2"), Some("2")],
        );
    }
}
