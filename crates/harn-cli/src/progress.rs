//! One line on standard error that tells how far a long operation is.
//!
//! It is for the person who waits: nobody gets it in a pipe, in JSON, or for
//! something that is over before it could be read.

use std::io::{self, Stderr, Write};

/// Fewer records than this are done at once.
const RECORDS_MIN: u64 = 20_000;
/// How long the bar is.
const BAR_COLUMNS: u64 = 24;
const BACK_TO_THE_START: &str = "\r\u{1b}[K";

/// How far an operation is. The line goes away with it.
pub(crate) struct Progress<W: Write = Stderr> {
    /// `None` if nobody is to see it.
    line: Option<W>,
    verb: &'static str,
    total: u64,
    done: u64,
    shown_percent: Option<u64>,
}

impl Progress {
    /// An operation on so many records. `is_watched` says whether a person waits.
    pub(crate) fn new(verb: &'static str, total: u64, is_watched: bool) -> Self {
        let is_shown = is_watched && total >= RECORDS_MIN;
        Self::on(is_shown.then(io::stderr), verb, total)
    }

    /// An operation of so many steps, each of which may take long.
    pub(crate) fn of_steps(verb: &'static str, total: u64, is_watched: bool) -> Self {
        let is_shown = is_watched && total > 1;
        Self::on(is_shown.then(io::stderr), verb, total)
    }
}

impl<W: Write> Progress<W> {
    fn on(line: Option<W>, verb: &'static str, total: u64) -> Self {
        Self {
            line,
            verb,
            total,
            done: 0,
            shown_percent: None,
        }
    }

    /// So many more records are done.
    pub(crate) fn advance(&mut self, records: u64) {
        self.done += records;
        let percent = (self.done * 100).checked_div(self.total).unwrap_or(100);
        let percent = percent.min(100);
        if self.shown_percent == Some(percent) {
            return;
        }
        self.shown_percent = Some(percent);
        if let Some(line) = &mut self.line {
            let filled = percent * BAR_COLUMNS / 100;
            let bar: String = (0..BAR_COLUMNS)
                .map(|at| if at < filled { '█' } else { '░' })
                .collect();
            let (verb, done, total) = (self.verb, self.done, self.total);
            let text = format!("{BACK_TO_THE_START}{verb} {bar} {percent:>3} %  {done} of {total}");
            show(line, &text);
        }
    }
}

impl<W: Write> Progress<W> {
    /// Takes the line away, so that something else can be told; it comes back with the next
    /// record.
    pub(crate) fn hide(&mut self) {
        if let Some(line) = self.line.as_mut().filter(|_| self.shown_percent.is_some()) {
            show(line, BACK_TO_THE_START);
        }
        self.shown_percent = None;
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        self.hide();
    }
}

/// A line that cannot be shown is not worth failing for.
fn show(line: &mut impl Write, text: &str) {
    let _nobody_looks = line.write_all(text.as_bytes()).and_then(|()| line.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_drawn_once_per_percent_and_cleared_at_the_end() {
        let mut seen = Vec::new();
        let mut progress = Progress::on(Some(&mut seen), "reading", 1000);
        progress.advance(500);
        progress.advance(1);
        progress.advance(499);
        drop(progress);
        let expected = "\r\u{1b}[Kreading ████████████░░░░░░░░░░░░  50 %  500 of 1000\
                        \r\u{1b}[Kreading ████████████████████████ 100 %  1000 of 1000\
                        \r\u{1b}[K";
        assert_eq!(String::from_utf8(seen).unwrap(), expected);
    }

    #[test]
    fn a_hidden_line_comes_back() {
        let mut seen = Vec::new();
        let mut progress = Progress::on(Some(&mut seen), "testing", 2);
        progress.hide();
        progress.advance(1);
        progress.hide();
        progress.advance(0);
        drop(progress);
        let expected = "\r\u{1b}[Ktesting ████████████░░░░░░░░░░░░  50 %  1 of 2\r\u{1b}[K";
        assert_eq!(String::from_utf8(seen).unwrap(), expected.repeat(2));
    }

    #[test]
    fn more_records_than_expected_are_no_more_than_all() {
        let mut seen = Vec::new();
        Progress::on(Some(&mut seen), "reading", 2).advance(3);
        assert!(String::from_utf8(seen).unwrap().contains("100 %  3 of 2"));
    }

    #[test]
    fn short_operations_and_absent_people_get_none() {
        assert!(Progress::new("reading", RECORDS_MIN, false).line.is_none());
        assert!(
            Progress::new("reading", RECORDS_MIN - 1, true)
                .line
                .is_none()
        );
        assert!(Progress::new("reading", RECORDS_MIN, true).line.is_some());
    }
}
