//! `cargo xtask test`: every check we have, in the order a person would want to
//! hear about them, with one sum at the end.
//!
//! A failed step does not stop the next one, because the second failure is often
//! the clue to the first.

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use crate::error::Error;
use crate::repo::Repo;
use crate::scoreboard::{Scoreboard, Tally};
use crate::verdict::{Verdict, complain};
use crate::{book, fuzz, r#gen, libtest, peers, process, setup, tidy};

/// A named part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Fmt,
    Clippy,
    Unit,
    Doc,
    Book,
    Tidy,
    Gen,
    Fuzz,
}

impl Step {
    /// In the order they run: quick and frequent complaints first.
    const ALL: [Step; 8] = [
        Step::Fmt,
        Step::Clippy,
        Step::Unit,
        Step::Doc,
        Step::Book,
        Step::Tidy,
        Step::Gen,
        Step::Fuzz,
    ];

    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Clippy => "clippy",
            Step::Unit => "unit",
            Step::Doc => "doc",
            Step::Book => "book",
            Step::Tidy => "tidy",
            Step::Gen => "gen",
            Step::Fuzz => "fuzz",
        }
    }

    /// Whether it talks to programs of other people.
    fn needs_peers(self) -> bool {
        self == Step::Unit
    }

    fn run(self, repo: &Repo) -> Result<Tally, Error> {
        match self {
            Step::Fmt => Ok(format(repo)),
            Step::Clippy => Ok(clippy(repo)),
            Step::Unit => libtest::run(repo),
            Step::Doc => libtest::run_doc(repo),
            Step::Book => book::check(repo),
            Step::Tidy => tidy::check(repo),
            Step::Gen => r#gen::check(repo),
            Step::Fuzz => fuzz::check(repo),
        }
    }
}

/// Runs the named steps, or all of them.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let steps = chosen(arguments)?;
    let mut board = Scoreboard::default();
    let started = Instant::now();
    board.add_failures("setup", setup::run(&steps), started.elapsed());
    thread::scope(|scope| {
        // They come from elsewhere and need little of this machine, so they come meanwhile.
        let needs_peers = steps.iter().any(|step| step.needs_peers());
        let mut arriving = needs_peers.then(|| scope.spawn(|| peers::install(repo)));
        for step in steps {
            if let Some(peers) = arriving.take_if(|_| step.needs_peers()) {
                let tally = peers.join().expect("installing does not panic");
                board.add_failures("peers", tally, started.elapsed());
            }
            println!("\n── {} ──", step.name());
            let started = Instant::now();
            board.add(step.name(), tally_of(step, repo), started.elapsed());
        }
    });
    println!("\n{board}");
    Ok(if board.succeeded() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn tally_of(step: Step, repo: &Repo) -> Tally {
    step.run(repo).unwrap_or_else(|why| {
        let mut tally = Tally::default();
        tally.check(step.name(), Err(why));
        tally
    })
}

/// For the usage page.
pub(crate) fn step_names() -> Vec<&'static str> {
    Step::ALL.iter().map(|step| step.name()).collect()
}

/// The steps the arguments name, in the order they should run.
fn chosen(arguments: &[String]) -> Result<Vec<Step>, Error> {
    for argument in arguments {
        if !step_names().contains(&argument.as_str()) {
            return Err(Error::usage(format!(
                "there is no step `{argument}`; the steps are {}",
                step_names().join(", ")
            )));
        }
    }
    let is_chosen =
        |step: &Step| arguments.is_empty() || arguments.iter().any(|a| a == step.name());
    Ok(Step::ALL.into_iter().filter(is_chosen).collect())
}

/// The fuzz targets are a workspace apart, so they are asked separately.
fn format(repo: &Repo) -> Tally {
    let mut tally = Tally::default();
    let workspace = ["fmt", "--all", "--", "--check"];
    let targets = ["fmt", "--manifest-path", fuzz::MANIFEST, "--", "--check"];
    tally.check("format of the workspace", cargo(repo, &workspace));
    tally.check("format of the fuzz targets", cargo(repo, &targets));
    tally
}

fn clippy(repo: &Repo) -> Tally {
    let mut tally = Tally::default();
    let mut arguments = vec!["clippy", "--workspace", "--all-targets", "--locked"];
    arguments.extend(["--", "-D", "warnings"]);
    tally.check("clippy", cargo(repo, &arguments));
    tally
}

/// Runs cargo on the terminal.
fn cargo(repo: &Repo, arguments: &[&str]) -> Verdict {
    let status = process::live(process::cargo(repo, arguments))?;
    if status.success() {
        return Ok(());
    }
    complain(format!("`cargo {}` was not happy", arguments.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: &[Step]) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        assert_eq!(chosen(&arguments).unwrap(), expected);
    }

    #[test]
    fn without_names_every_step_runs() {
        check(&[], &Step::ALL);
    }

    #[test]
    fn named_steps_run_in_their_usual_order() {
        check(&["tidy", "fmt"], &[Step::Fmt, Step::Tidy]);
    }

    #[test]
    fn an_unknown_step_is_a_usage_mistake() {
        let error = chosen(&["lint".to_string()]).unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
    }
}
