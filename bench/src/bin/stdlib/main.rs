//! `cargo xtask bench stdlib`: what programs do with the library, in Harn, CPython and Node.
//!
//! ```text
//! material ─► a folder with documents, texts and files, and a server on this machine
//!    │
//!    ▼  bench/stdlib/programs/NAME.{harn,py,js}: in turns, best of N, answers compared
//! table of times ──► requirements: no row slower than the faster peer, CPython twice over
//! ```
//!
//! A time is what a program measures itself: the work without the start of the language and
//! without reading its material, as often as the row says, divided by how often.
//!
//! On paper, before measuring: JSON, CSV and regular expressions cost the peers what their C or
//! C++ costs, 100 to 500 MB/s, and ours is Rust at the same speeds, so values decide: how fast
//! dicts, lists and texts are made. SHA-256 is the same instructions everywhere. Files cost
//! system calls, three or four each, some 10 µs together. A process costs the system 300 to
//! 500 µs, and what is around it should stay below a tenth of that.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the tables are this program's output"
)]

mod language;
mod material;
mod options;
mod race;
mod report;
mod rows;
mod server;

use harn_bench::Selection;
use std::process::ExitCode;

use language::Language;
use material::Material;
use race::Race;
use report::Requirements;
use rows::ROWS;

fn main() -> ExitCode {
    match options::from_args(std::env::args().skip(1)).and_then(|options| measure(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything that was asked for is as it should be.
fn measure(options: &Selection) -> Result<bool, String> {
    let languages = Language::all(options)?;
    let material = Material::make(options.smoke)?;
    print!("{}", report::head(&languages, options));
    let mut races = Vec::new();
    for row in ROWS.iter().filter(|row| options.wants(row.name)) {
        let race = Race::run(&languages, row, &material, options);
        println!("{}", report::row(&race));
        races.push(race);
    }
    let all_answered = races.iter().all(Race::all_answered);
    if races.len() < ROWS.len() {
        eprintln!("no verdict: a part of the rows says nothing about the requirements");
        return Ok(all_answered);
    }
    let requirements = Requirements::of(&races);
    println!("\n{}", requirements.render());
    Ok(all_answered && (options.smoke || requirements.all_met()))
}
