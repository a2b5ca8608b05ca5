//! The commands by name, in one table that dispatch, the usage text and the
//! check of documented commands all read.

use std::process::ExitCode;

use crate::book::newcomer;
use crate::error::Error;
use crate::repo::Repo;
use crate::{bench, crash, docs, fuzz, r#gen, peers, start_order, test_run};

/// One thing `cargo xtask` can do.
struct Command {
    name: &'static str,
    /// What follows the name, for the usage text.
    arguments: &'static str,
    about: &'static str,
    run: fn(&Repo, &[String]) -> Result<ExitCode, Error>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "[STEP...]",
        about: "check everything, or only the named steps",
        run: test_run::run,
    },
    Command {
        name: "ci",
        arguments: "[STEP...]",
        about: "the same as `test`, under the name the build server uses",
        run: test_run::run,
    },
    Command {
        name: "bench",
        arguments: "NAME|all [--check] [--smoke] [--no-save] [-- ARGS]",
        about: "run benchmarks and save their tables; --check tells what is worse than recorded",
        run: bench::run,
    },
    Command {
        name: "crash",
        arguments: "[run [--scenarios N] [--seed S] [--part PART] | replay SCENARIO...]",
        about: "break logs in every way we know and kill `harn` in its sessions; a name replays what failed",
        run: crash::run,
    },
    Command {
        name: "docs",
        arguments: "",
        about: "build the book to target/book and check its links",
        run: docs::run,
    },
    Command {
        name: "fuzz",
        arguments: "[TARGET] [--runs N]",
        about: "fuzz one target, or all of them in turn",
        run: fuzz::run,
    },
    Command {
        name: "gen",
        arguments: "[--check]",
        about: "write the files derived from data, or check they are fresh",
        run: r#gen::run,
    },
    Command {
        name: "newcomer",
        arguments: "[--built]",
        about: "follow the README and all examples in a fresh clone, and build there first",
        run: newcomer::run,
    },
    Command {
        name: "peers",
        arguments: "",
        about: "install the programs of other people that tests talk to, as `test` does",
        run: peers::run,
    },
    Command {
        name: "start-order",
        arguments: "",
        about: "list what `harn` calls at its start, for the linker; needs valgrind",
        run: start_order::run,
    },
];

/// Runs the command the arguments name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Error> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Error::usage("a command is needed"));
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", usage());
        return Ok(ExitCode::SUCCESS);
    }
    let command = COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| Error::usage(format!("there is no command `{name}`")))?;
    (command.run)(&Repo::find()?, rest)
}

/// Whether `cargo xtask NAME` exists; the book step asks on behalf of readers.
pub(crate) fn exists(name: &str) -> bool {
    COMMANDS.iter().any(|command| command.name == name)
}

/// The page shown by `--help` and after a usage mistake.
pub(crate) fn usage() -> String {
    let mut page = String::from("Usage: cargo xtask COMMAND\n\nCommands:\n");
    for command in COMMANDS {
        page += &format!("  {} {}\n", command.name, command.arguments);
        page += &format!("      {}\n", command.about);
    }
    page += &format!("\nSteps of `test`: {}\n", test_run::step_names().join(", "));
    page += &format!("Benchmarks: {}\n", bench::names().join(", "));
    page += "\nExamples:\n";
    page += "  cargo xtask test\n";
    page += "  cargo xtask test fmt tidy\n";
    page += "  cargo xtask bench events\n";
    page += "  cargo xtask crash replay disk-17\n";
    page += "  cargo xtask fuzz decode_event --runs 1000000";
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_unknown_command_is_a_usage_mistake() {
        let error = run(&arguments(&["tset"])).unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
        assert_eq!(error.to_string(), "there is no command `tset`");
    }

    #[test]
    fn no_command_is_a_usage_mistake() {
        assert!(matches!(run(&[]), Err(Error::Usage(_))));
    }

    #[test]
    fn the_usage_page_names_every_command() {
        let page = usage();
        for command in COMMANDS {
            assert!(
                page.contains(command.about),
                "{} is missing:\n{page}",
                command.name
            );
        }
    }
}
