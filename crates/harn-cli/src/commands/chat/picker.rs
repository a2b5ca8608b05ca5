//! Chooses one of the earlier sessions.

use super::past::Past;
use crate::amounts::dollars;
use crate::columns::{fit, width};
use crate::timestamp::relative;

/// The earlier sessions, and which of them is chosen.
#[derive(Debug, Default)]
pub(super) struct Picker {
    /// `None` while the log is read.
    sessions: Option<Vec<Past>>,
    /// Only those in whose title or id this is.
    filter: String,
    chosen: usize,
}

impl Picker {
    /// The log was read.
    pub(super) fn set(&mut self, sessions: Vec<Past>) {
        self.sessions = Some(sessions);
        self.chosen = 0;
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    pub(super) fn is_loading(&self) -> bool {
        self.sessions.is_none()
    }

    /// More of the filter.
    pub(super) fn add(&mut self, letter: char) {
        self.filter.push(letter);
        self.chosen = 0;
    }

    /// Less of it.
    pub(super) fn remove(&mut self) {
        self.filter.pop();
        self.chosen = 0;
    }

    /// Up or down.
    pub(super) fn go(&mut self, by: isize) {
        let last = self.shown().count().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
    }

    /// The session that is chosen.
    pub(super) fn choice(&self) -> Option<&Past> {
        self.shown().nth(self.chosen)
    }

    fn shown(&self) -> impl Iterator<Item = &Past> {
        let filter = self.filter.to_lowercase();
        let sessions = self.sessions.iter().flatten();
        sessions.filter(move |past| {
            past.title.to_lowercase().contains(&filter) || past.id.contains(&filter)
        })
    }

    /// As many rows as there is room for, and which of them is chosen.
    pub(super) fn rows(&self, columns: usize, room: usize, now_ms: i64) -> (Vec<String>, usize) {
        let from = (self.chosen + 1).saturating_sub(room);
        let rows = self.shown().skip(from).take(room);
        let rows = rows.map(|past| row(past, columns, now_ms)).collect();
        (rows, self.chosen - from)
    }
}

/// `2h ago   3 turns  $0.01  Fix the tests`
fn row(past: &Past, columns: usize, now_ms: i64) -> String {
    let when = relative(past.active_at_ms, now_ms);
    let mut start = format!("{when:>8}  ");
    if columns >= 60 {
        start += &format!("{:>4} turns  {:>7}  ", past.turns, dollars(past.cost_usd));
    }
    let room = columns.saturating_sub(width(&start));
    format!("{start}{}", fit(&past.title, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(id: &str, title: &str) -> Past {
        Past {
            id: id.to_owned(),
            title: title.to_owned(),
            active_at_ms: 0,
            turns: 2,
            cost_usd: 0.5,
        }
    }

    #[test]
    fn one_is_chosen_among_those_that_fit_the_filter() {
        let mut picker = Picker::default();
        assert!(picker.is_loading() && picker.choice().is_none());
        let sessions = (0..30).map(|at| past(&format!("s{at}"), &format!("Task {at}")));
        picker.set(sessions.collect());
        picker.go(40);
        assert_eq!(picker.choice().unwrap().id, "s29");
        let (rows, chosen) = picker.rows(80, 5, 60_000);
        assert_eq!((rows.len(), chosen), (5, 4));
        assert!(rows[4].ends_with("Task 29"), "{rows:?}");
        "task 7".chars().for_each(|letter| picker.add(letter));
        assert_eq!(picker.choice().unwrap().id, "s7");
        picker.remove();
        picker.go(-1);
        assert_eq!(picker.choice().unwrap().id, "s0");
        let (rows, _) = picker.rows(30, 5, 60_000);
        assert!(rows.iter().all(|row| width(row) <= 30), "{rows:?}");
    }
}
