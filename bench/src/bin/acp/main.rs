//! `cargo xtask bench acp`: an agent for editors, from its start to its updates.
//!
//! The start is measured without a client library: a process is made, `initialize` is written to
//! it, and the clock stops when the answer is there; then a session is made and a prompt sent,
//! until the first update. The peer is an agent on the Python SDK that says one thing to every
//! prompt, like the one its README begins with. Ours has a scripted model and keeps its session.
//!
//! The updates are counted through the TypeScript SDK. Its maximum is what it takes in from a
//! program that writes the same frames from memory, as fast as it reads them. Ours makes every
//! one of them: the model's piece, the event, its record in the log, the update.
//!
//! On paper, before measuring: Python needs some 300 ms to import its SDK, our program some ten
//! to read its own and open a log. The library parses, checks and dispatches each update in some
//! 20 µs; an event of ours costs two or three with its record.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is this program's output"
)]

mod flood;
mod stage;
mod start;
mod updates;

use std::process::ExitCode;

use harn_bench::{Effort, Table, is_wanted};

/// A part of the benchmark.
type Part = fn(Effort, &mut Table) -> Result<(), String>;

const PARTS: [(&str, Part); 2] = [("start", start::measure), ("updates", updates::measure)];

fn main() -> ExitCode {
    if let Some(count) = flood::asked_for() {
        return flood::run(count);
    }
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
