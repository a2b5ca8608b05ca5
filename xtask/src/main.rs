//! The project's chores, as one small program: `cargo xtask COMMAND`.
//!
//! ```text
//! main ──► commands ──┬─► test_run ──► setup, peers, libtest, book, tidy, gen, fuzz
//!                     ├─► bench   one benchmark, result saved
//!                     ├─► crash   the whole crash campaign
//!                     ├─► docs    the book for a browser
//!                     ├─► fuzz    one fuzz target, or all
//!                     ├─► gen     files derived from data
//!                     ├─► peers   programs of others that tests talk to
//!                     └─► start-order   which functions lie beside each other in `harn`
//! ```
//!
//! A chore written in Rust runs wherever the project compiles, is reviewed like
//! any other code and has tests; a folder of shell scripts offers none of that.
//! What a chore decides lives in pure functions, and what it does to the machine
//! goes through [`process`].

#![expect(
    clippy::disallowed_methods,
    reason = "a chore works in the environment of whoever calls it"
)]
#![expect(
    clippy::print_stdout,
    reason = "talking to the terminal is what this program is for"
)]

mod at_once;
mod bench;
mod book;
mod commands;
mod crash;
mod docs;
mod error;
mod finding;
mod fuzz;
mod r#gen;
mod libtest;
mod markdown;
mod metadata;
mod peers;
mod process;
mod program;
mod relative;
mod repo;
mod scoreboard;
mod scratch;
mod setup;
mod sources;
mod start_order;
mod test_run;
mod tidy;
mod verdict;

use std::process::ExitCode;

use crate::error::Error;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match commands::run(&arguments) {
        Ok(code) => code,
        Err(error @ Error::Usage(_)) => {
            eprintln!("error: {error}\n\n{}", commands::usage());
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
