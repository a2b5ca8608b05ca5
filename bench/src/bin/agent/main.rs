//! `cargo xtask bench agent`: the agent loop against frameworks for Python, and against itself.
//!
//! The same work on both sides: a user says something, the model answers with one call, the tool
//! adds two numbers, and the model answers with a text. Models are scripted and answer at once,
//! in the same process.
//!
//! On paper, before measuring: such a run is two model calls, some twenty events and as many
//! records of the journal, each a few hundred nanoseconds when nobody keeps them, so it should
//! take 30 µs or so; a framework in Python makes some thousand objects and awaits some hundred
//! futures, a millisecond or two. A durable run waits for two barriers of some 100 µs: before its
//! call is made, with the answer that was paid for, and at its end, with the result and the last
//! answer. LangGraph commits each step and the writes of each step, one after the other. An agent
//! that was only made is some strings.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is this program's output"
)]

mod children;
mod creation;
mod finding;
mod growth;
mod idle;
mod long;
mod ours;
mod peer;
mod people;
mod subscriber;
mod turns;

use std::process::ExitCode;

use harn_bench::{Effort, PeakHeap, Table, is_wanted};
use mimalloc::MiMalloc;

/// What the `harn` program uses as well, and a count of it where memory is measured.
#[global_allocator]
static HEAP: PeakHeap<MiMalloc> = PeakHeap::new(MiMalloc);

/// A part of the benchmark.
type Part = fn(Effort, &mut Table) -> Result<(), String>;

const PARTS: [(&str, Part); 10] = [
    ("turn", turns::without_storage),
    ("durable", turns::durable),
    ("create", creation::measure),
    ("growth", growth::measure),
    ("long", long::measure),
    ("idle", idle::measure),
    ("subscriber", subscriber::measure),
    ("children", children::measure),
    ("finding", finding::measure),
    ("people", people::measure),
];

fn main() -> ExitCode {
    let effort = Effort::from_args();
    let mut table = Table::new();
    for (_, measure) in PARTS.iter().filter(|(name, _)| is_wanted(name)) {
        if let Err(why) = measure(effort, &mut table) {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    }
    println!("{}", table.render());
    match table.all_met() || effort == Effort::Smoke {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// How much heap `work` has taken and not given back.
fn kept_by<T>(work: impl FnOnce() -> T) -> (usize, T) {
    HEAP.kept_by(work)
}
