//! Installs what a fresh Debian machine with Rust still lacks.
//!
//! Each [`Requirement`] knows how to find out whether it is there and how to get
//! it, so a machine that has everything is never touched.

use std::process::Command;

use crate::error::Error;
use crate::process;
use crate::scoreboard::Tally;
use crate::test_run::Step;

/// A program some steps cannot do without.
struct Requirement {
    name: &'static str,
    /// Steps that use it; it is left alone when none of them runs.
    steps: &'static [Step],
    /// Commands of which one must succeed, program first.
    probes: &'static [&'static [&'static str]],
    source: Source,
}

/// Where a missing program comes from.
enum Source {
    /// Packages of the system.
    Apt(&'static [&'static str]),
    /// A component of the Rust toolchain in use.
    Rustup(&'static str),
}

const REQUIREMENTS: &[Requirement] = &[
    Requirement {
        name: "rustfmt",
        steps: &[Step::Fmt],
        probes: &[&["cargo", "fmt", "--version"]],
        source: Source::Rustup("rustfmt"),
    },
    Requirement {
        name: "clippy",
        steps: &[Step::Clippy],
        probes: &[&["cargo", "clippy", "--version"]],
        source: Source::Rustup("clippy"),
    },
    Requirement {
        name: "git",
        steps: &[Step::Book, Step::Tidy],
        probes: &[&["git", "--version"]],
        source: Source::Apt(&["git"]),
    },
    Requirement {
        // The tests of the event log on NATS start real servers.
        name: "nats-server",
        steps: &[Step::Unit],
        probes: &[&["nats-server", "--version"]],
        source: Source::Apt(&["nats-server"]),
    },
    Requirement {
        // The tests of `harn chat` look at it in a real terminal.
        name: "tmux",
        steps: &[Step::Unit],
        probes: &[&["tmux", "-V"]],
        source: Source::Apt(&["tmux"]),
    },
    Requirement {
        // Its parser and its machine are what ours are measured against, and servers and SDKs
        // that we talk to are written in it; so is the server of an example.
        name: "python3",
        steps: &[Step::Unit, Step::Book],
        probes: &[&["python3", "--version"]],
        source: Source::Apt(&["python3"]),
    },
    Requirement {
        // Those servers and SDKs live in environments of their own.
        name: "Python environments",
        steps: &[Step::Unit],
        probes: &[&["python3", "-c", "import ensurepip, venv"]],
        source: Source::Apt(&["python3-venv"]),
    },
    Requirement {
        // Likewise.
        name: "node",
        steps: &[Step::Unit],
        probes: &[&["node", "--version"]],
        source: Source::Apt(&["nodejs"]),
    },
    Requirement {
        name: "npm",
        steps: &[Step::Unit],
        probes: &[&["npm", "--version"]],
        source: Source::Apt(&["npm"]),
    },
    Requirement {
        // What our machine is measured against.
        name: "lua5.4",
        steps: &[Step::Unit],
        probes: &[&["lua5.4", "-v"]],
        source: Source::Apt(&["lua5.4"]),
    },
    Requirement {
        // Tells how much memory a program had.
        name: "GNU time",
        steps: &[Step::Unit],
        probes: &[&["/usr/bin/time", "--version"]],
        source: Source::Apt(&["time"]),
    },
    Requirement {
        // libFuzzer is written in C++ and compiled from source.
        name: "a C++ compiler",
        steps: &[Step::Fuzz],
        probes: &[&["c++", "--version"], &["g++", "--version"]],
        source: Source::Apt(&["g++"]),
    },
];

/// Makes sure that everything the chosen steps need is there. Only a
/// requirement that could not be met is counted, as a failure: having a
/// compiler is not a check of the project.
pub(crate) fn run(steps: &[Step]) -> Tally {
    let mut tally = Tally::default();
    let mut apt = Apt::default();
    for requirement in REQUIREMENTS.iter().filter(|one| one.is_needed_by(steps)) {
        if requirement.is_met() {
            continue;
        }
        println!("installing {}", requirement.name);
        if let Err(why) = requirement.install(&mut apt) {
            tally.check::<Error>(requirement.name, Err(why));
        }
    }
    tally
}

impl Requirement {
    fn is_needed_by(&self, steps: &[Step]) -> bool {
        self.steps.iter().any(|step| steps.contains(step))
    }

    fn is_met(&self) -> bool {
        self.probes
            .iter()
            .any(|probe| process::succeeds(command(probe)))
    }

    fn install(&self, apt: &mut Apt) -> Result<(), Error> {
        match &self.source {
            Source::Apt(packages) => apt.install(packages),
            Source::Rustup(component) => must_succeed(&["rustup", "component", "add", component]),
        }
    }
}

/// The system's package manager.
#[derive(Default)]
struct Apt {
    /// The list of packages is fetched once, and only when something is missing.
    updated: bool,
}

impl Apt {
    fn install(&mut self, packages: &[&str]) -> Result<(), Error> {
        if !self.updated {
            as_root(&["apt-get", "update"])?;
            self.updated = true;
        }
        let mut words = vec!["apt-get", "install", "-y", "--no-install-recommends"];
        words.extend(packages);
        as_root(&words)
    }
}

fn as_root(words: &[&str]) -> Result<(), Error> {
    let user = process::capture(command(&["id", "-u"]))?;
    if user.trim() == "0" {
        return must_succeed(words);
    }
    let mut with_sudo = vec!["sudo"];
    with_sudo.extend(words);
    must_succeed(&with_sudo)
}

fn must_succeed(words: &[&str]) -> Result<(), Error> {
    let status = process::live(command(words))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: words.join(" "),
        outcome: status.to_string(),
    })
}

/// The first word is the program.
fn command(words: &[&str]) -> Command {
    let (program, arguments) = words.split_first().expect("a command names a program");
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_met_when_one_probe_succeeds() {
        let mut requirement = Requirement {
            name: "shell",
            steps: &[Step::Book],
            probes: &[&["no-such-program-here"], &["bash", "--version"]],
            source: Source::Apt(&["bash"]),
        };
        assert!(requirement.is_met());
        requirement.probes = &[&["no-such-program-here"]];
        assert!(!requirement.is_met());
    }

    #[test]
    fn a_requirement_matters_only_to_its_steps() {
        let compiler = REQUIREMENTS.last().unwrap();
        assert!(compiler.is_needed_by(&[Step::Tidy, Step::Fuzz]));
        assert!(!compiler.is_needed_by(&[Step::Tidy]));
    }
}
