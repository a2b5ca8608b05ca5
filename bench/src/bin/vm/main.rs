//! `cargo xtask bench vm`: the same programs in Harn, Lua, CPython and Node.
//!
//! ```text
//! bench/vm/programs/NAME.{harn,lua,py,js}
//!        │  whole processes, in turns, best of N, outputs compared
//!        ▼
//! table of times ──► requirements: ratios, start-up, memory, size
//! ```
//!
//! On paper, before measuring: Lua spends 3 to 5 ns on an instruction, and so should we. A
//! closure, a structure or a short text costs both of us an allocation of some 30 ns; where
//! Lua collects garbage we count references, which is cheaper for values that die young.
//! CPython spends 10 to 20 ns on an instruction and 50 ns on a call, and its lists, texts and
//! regular expressions are as good as ours, so those rows will be close. Node without its
//! compilers is somewhere between the two.
//!
//! `bench/vm/README.md` tells how the programs are chosen and how they are measured.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the tables are this program's output"
)]

mod bytes;
mod footprint;
mod language;
mod options;
mod programs;
mod race;
mod report;
mod requirements;

use std::process::ExitCode;

use language::{Harn, Language};
use options::Options;
use programs::{PROGRAMS, STARTUP};
use race::{Race, Results};
use requirements::Requirements;

fn main() -> ExitCode {
    match Options::from_args(std::env::args().skip(1)).and_then(|options| measure(&options)) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What all of it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    /// A program failed or answered differently, or a requirement is not met.
    Bad,
}

fn measure(options: &Options) -> Result<Verdict, String> {
    let harn = Harn::find(options)?;
    let languages = Language::all(&harn)?;
    print!("{}", report::head(&languages, options));
    let mut results = Results::default();
    for program in PROGRAMS.iter().filter(|one| options.wants(one.name)) {
        let race = Race::run(&languages, program, options);
        println!("{}", report::row(program.name, &race));
        results.add(race);
    }
    let startup = options.wants(STARTUP.name).then(|| {
        let race = Race::run(&languages, &STARTUP, options);
        println!("{}", report::row(STARTUP.name, &race));
        race
    });
    let Harn::Runs(program) = harn else {
        let nothing_asked = options.peers_only || options.smoke;
        return Ok(verdict(nothing_asked && results.all_answered()));
    };
    if results.races.len() < PROGRAMS.len() {
        eprintln!("no verdict: a part of the programs says nothing about the requirements");
        return Ok(verdict(results.all_answered()));
    }
    let startup = startup.expect("when every program is wanted, so is the start-up");
    let requirements = Requirements::measure(&program, &results, &startup, options);
    println!("\n{}", requirements.render());
    match options.smoke {
        true => (),
        false => println!("{}", bytes::tables(&program)?),
    }
    let all_ran = results.all_answered() && startup.all_answered() && requirements.all_measured();
    Ok(verdict(
        all_ran && (options.smoke || requirements.all_met()),
    ))
}

fn verdict(is_good: bool) -> Verdict {
    match is_good {
        true => Verdict::Good,
        false => Verdict::Bad,
    }
}
