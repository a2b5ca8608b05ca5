//! Whether the journal of a session is in order, and can be read again.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Findings;
use crate::session::{Change, JournalRecord, SessionState};

/// Checks the records of one journal, from the first to the last.
pub fn check_journal(records: &[JournalRecord]) -> Findings {
    let is_cut = false;
    check(records, is_cut)
}

/// Checks the records of a journal whose beginning has been thrown away.
pub fn check_journal_after_cut(records: &[JournalRecord]) -> Findings {
    let is_cut = true;
    check(records, is_cut)
}

fn check(records: &[JournalRecord], is_cut: bool) -> Findings {
    let mut order = JournalOrder {
        is_cut,
        ..JournalOrder::default()
    };
    for record in records {
        order.see(record);
    }
    let mut findings = order.finish();
    check_fold(records, &mut findings);
    findings
}

/// What is open at a point of a journal.
#[derive(Default)]
struct JournalOrder {
    findings: Findings,
    is_cut: bool,
    last: Option<(u64, u64)>,
    /// Where the run began that is open.
    run: Option<u64>,
    iteration: Option<usize>,
    /// The calls that run, with where they began.
    calls: BTreeMap<String, u64>,
}

impl JournalOrder {
    fn see(&mut self, record: &JournalRecord) {
        self.place(record);
        let index = record.index;
        match &record.change {
            Change::Opened | Change::Accepted | Change::Resumed => self.open(),
            Change::RunStarted { .. } => self.start_run(index),
            Change::RunEnded { status } => self.end_run(index, status),
            Change::IterationStarted { iteration } => self.iterate(index, *iteration),
            Change::CallStarted { id, .. } => self.start_call(index, id),
            Change::CallFinished { id, .. } => self.finish_call(index, id),
            Change::Answered { .. } => self.within_iteration(index, "a model answers"),
            Change::RunRestored { .. } if self.run.is_none() && !self.is_cut => {
                self.findings.broken(
                    index,
                    "a run is taken up again that has not begun",
                    "`run_restored` follows `run_started`",
                );
            }
            _ => {}
        }
        self.last = Some((index, record.events_before));
    }

    fn place(&mut self, record: &JournalRecord) {
        let index = record.index;
        let is_opened = record.change == Change::Opened;
        match self.last {
            None if self.is_cut => {}
            None => {
                if index != 0 {
                    self.misplaced(index, 0);
                }
                if !is_opened {
                    self.findings.broken(
                        index,
                        "the first record is not `opened`",
                        "a journal begins with the opening of its session",
                    );
                }
            }
            Some((last, _)) if index != last + 1 => self.misplaced(index, last + 1),
            Some(_) if matches!(record.change, Change::Accepted | Change::Resumed) => {}
            Some((_, before)) if !is_opened && record.events_before < before => {
                let now = record.events_before;
                self.findings.broken(
                    index,
                    format!("{now} events came before it, and {before} before the record before"),
                    "the count of events begins at 0 with `opened` or `resumed` and never falls",
                );
            }
            Some(_) => {}
        }
    }

    fn misplaced(&mut self, index: u64, expected: u64) {
        self.findings.broken(
            index,
            format!("the index is {index} where {expected} comes next"),
            "indexes begin at 0 and rise by one",
        );
    }

    /// Another session of the same name begins. A run that is open never came to its end.
    fn open(&mut self) {
        self.note_interruption();
        self.run = None;
        self.iteration = None;
        self.calls.clear();
        self.is_cut = false;
    }

    fn start_run(&mut self, index: u64) {
        if let Some(since) = self.run {
            self.findings.broken(
                index,
                format!("a run begins although that of record {since} has not ended"),
                "a run ends before the next one begins",
            );
        }
        self.run = Some(index);
        self.iteration = None;
        self.calls.clear();
    }

    fn end_run(&mut self, index: u64, status: &str) {
        if self.run.is_none() && !self.is_cut {
            self.findings.broken(
                index,
                "a run ends that has not begun",
                "a run begins once and ends once",
            );
        }
        // What fails or is cancelled leaves its calls as they are.
        let may_leave_calls = matches!(status, "error" | "cancelled");
        for (id, since) in std::mem::take(&mut self.calls) {
            if !may_leave_calls {
                self.findings.broken(
                    index,
                    format!("the run ends well while call `{id}` of record {since} runs"),
                    "a call that has started is finished before its run is",
                );
            }
        }
        self.run = None;
        self.iteration = None;
    }

    fn iterate(&mut self, index: u64, iteration: usize) {
        if self.run.is_none() && !self.is_cut {
            self.findings.broken(
                index,
                format!("iteration {iteration} begins outside of a run"),
                "iterations are part of a run",
            );
        }
        let expected = self.iteration.map_or(0, |last| last + 1);
        if iteration != expected && !self.is_cut {
            self.findings.broken(
                index,
                format!("iteration {iteration} begins where {expected} comes next"),
                "the iterations of a run are counted from 0, one by one",
            );
        }
        self.iteration = Some(iteration);
    }

    fn start_call(&mut self, index: u64, id: &str) {
        self.within_iteration(index, &format!("call `{id}` starts"));
        if let Some(since) = self.calls.insert(id.to_owned(), index) {
            self.findings.broken(
                index,
                format!("call `{id}` starts although it runs since record {since}"),
                "a call has one start",
            );
        }
    }

    fn finish_call(&mut self, index: u64, id: &str) {
        if self.calls.remove(id).is_none() && !self.is_cut {
            self.findings.broken(
                index,
                format!("call `{id}` is finished although it does not run"),
                "a call starts once and is finished once",
            );
        }
    }

    fn within_iteration(&mut self, index: u64, what: &str) {
        if self.iteration.is_none() && !self.is_cut {
            self.findings.broken(
                index,
                format!("{what} outside of an iteration"),
                "models are asked and tools are called inside an iteration",
            );
        }
    }

    fn note_interruption(&mut self) {
        let (Some(since), Some((last, _))) = (self.run, self.last) else {
            return;
        };
        let mut what = format!("the run of record {since} has no end");
        if !self.calls.is_empty() {
            let calls: Vec<&str> = self.calls.keys().map(String::as_str).collect();
            what = format!(
                "{what}, and these calls may have had an effect: {}",
                calls.join(", ")
            );
        }
        self.findings.interrupted(last, what);
    }

    fn finish(mut self) -> Findings {
        self.note_interruption();
        self.findings
    }
}

/// The state follows from the records alone, also from records that were written and read.
fn check_fold(records: &[JournalRecord], findings: &mut Findings) {
    let (mut live, mut read) = (SessionState::default(), SessionState::default());
    for record in records {
        let index = record.index;
        let written = serde_json::to_string(record);
        let again: Result<JournalRecord, _> = written.and_then(|text| serde_json::from_str(&text));
        let again = match again {
            Ok(again) if again == *record => again,
            Ok(_) => {
                findings.broken(
                    index,
                    "it is another after it was written and read",
                    "a record says everything there is to say about a change",
                );
                return;
            }
            Err(error) => {
                let what = format!("it cannot be read again: {error}");
                findings.broken(index, what, "what is written can be read");
                return;
            }
        };
        let applied = catch_unwind(AssertUnwindSafe(|| {
            live.apply(record.change.clone());
            read.apply(again.change);
        }));
        if applied.is_err() {
            findings.broken(
                index,
                "it cannot be applied",
                "any record can be applied to any state",
            );
            return;
        }
    }
    if live != read {
        let index = records.last().map_or(0, |record| record.index);
        findings.broken(
            index,
            "the state is another when the journal is read again",
            "the state of a session follows from its records alone",
        );
    }
}
