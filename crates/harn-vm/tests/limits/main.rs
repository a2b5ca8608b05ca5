//! Every builtin and every method keeps the limits of a program, whatever it is given.
//!
//! The calls are made from the declarations, so that one that is added is tried as well. A call
//! may give a value or an error; it may not take much longer than the program has, nor much
//! more memory. Time is that of the processor, because other tests want it too.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::disallowed_macros,
    reason = "tests run side by side, and nothing can be handed to an allocator"
)]

mod calls;
mod heap;

use std::rc::Rc;
use std::time::Duration;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::{
    Answer, EffectFailure, EffectId, Effects, Entry, Isolate, Limits, Outside, Request, Stream,
    inbox,
};
use harn_vm::{Outcome, drive};
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static HEAP: heap::PeakHeap = heap::PeakHeap;

/// What a program may use.
const TIME: Duration = Duration::from_millis(250);
const MEMORY: usize = 24 << 20;

/// How much more it may take until it has ended: as long again, and 64 MB.
const TIME_MOST: Duration = Duration::from_millis(500);
const MEMORY_MOST: usize = MEMORY + (64 << 20);

/// A world in which nothing is possible.
struct Nothing(Outside);

impl Effects for Nothing {
    fn perform(&mut self, request: &Request) -> Answer {
        match request {
            Request::Now | Request::Elapsed => Answer::Number(0),
            Request::Random(count) => Answer::Octets(vec![42; *count]),
            _ => Answer::Failed(EffectFailure {
                kind: std::io::ErrorKind::Unsupported,
                message: "not in this world".to_owned(),
            }),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        let answer = self.perform(&request);
        self.0.complete(id, answer);
    }

    fn cancel(&mut self, _id: EffectId) {}

    fn write(&mut self, _stream: Stream, _text: &str) {}
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap(),
        time.tv_nsec.try_into().unwrap(),
    )
}

/// What a program comes to; an error if it cannot be compiled.
fn ended(text: &str) -> Result<Outcome, String> {
    let files = MemoryFiles::new();
    files.write("/p/main.harn", text);
    let mut workspace = Workspace::new(Box::new(files));
    let (outside, inbox) = inbox();
    let registry = Rc::new(harn_vm::registry());
    let limits = Limits {
        memory: Some(MEMORY),
    };
    let mut isolate = Isolate::new(registry, Box::new(Nothing(outside)), inbox, &limits);
    let loaded = isolate.load(&mut workspace, "/p/main.harn".as_ref(), &Entry::Default);
    loaded.map_err(|error| error.to_string())?;
    Ok(drive(&mut isolate, Some(TIME)))
}

/// What a call has done wrong.
fn complaint(program: &str) -> Option<String> {
    let begun = processor_time();
    let (peak, ended) = heap::peak_of(|| ended(program));
    let took = processor_time() - begun;
    let mut wrong = Vec::new();
    if let Err(error) = &ended {
        wrong.push(format!("cannot be tried: {error}"));
    }
    if took > TIME_MOST {
        wrong.push(format!("took {took:?}"));
    }
    if peak > MEMORY_MOST {
        wrong.push(format!("took {} MB", peak >> 20));
    }
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

/// Tries every call with the same values.
fn try_all(values: &calls::Values) {
    let mut complaints = Vec::new();
    for call in calls::all(values) {
        let program = format!(
            "pipeline default() {{\n{}\nreturn {call}\n}}",
            values.prelude
        );
        if let Some(complaint) = complaint(&program) {
            complaints.push(format!("{call}: {complaint}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_builtin_keeps_its_limits_with_large_values() {
    try_all(&calls::LARGE);
}

#[test]
fn every_builtin_keeps_its_limits_with_texts_of_many_small_parts() {
    try_all(&calls::BRACKETS);
}

#[test]
fn every_builtin_keeps_its_limits_with_the_largest_numbers() {
    try_all(&calls::NUMBERS);
}
