//! The names of scenarios. A name is all it takes to run one again.

use std::fmt;
use std::str::FromStr;

/// One scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scenario {
    /// Any program on a disk that breaks in any way: `disk-SEED`.
    Disk(u64),
    /// A fixed program, one fault at one operation: `sweep-PROGRAM-OPERATION-FAULT-SEED`.
    Sweep {
        /// Which program.
        program: u64,
        /// Which operation.
        at: u64,
        /// Which kind of fault.
        fault: u64,
        /// Decides what a power cut leaves.
        seed: u64,
    },
    /// A small log with one thing changed in its files: `files-LOG-FILE-BYTE-CHANGE`.
    Files {
        /// Which log.
        log: u64,
        /// Which of its files.
        file: u64,
        /// Where it is changed.
        at: u64,
        /// In what way.
        change: u64,
    },
    /// A real process that is killed: `kill-SEED`.
    Kill(u64),
    /// A conversation whose processes are killed: `session-SEED`.
    Session(u64),
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(seed) => write!(f, "disk-{seed}"),
            Self::Sweep {
                program,
                at,
                fault,
                seed,
            } => write!(f, "sweep-{program}-{at}-{fault}-{seed}"),
            Self::Files {
                log,
                file,
                at,
                change,
            } => write!(f, "files-{log}-{file}-{at}-{change}"),
            Self::Kill(seed) => write!(f, "kill-{seed}"),
            Self::Session(seed) => write!(f, "session-{seed}"),
        }
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut parts = name.split('-');
        let part = parts.next();
        let numbers: Result<Vec<u64>, _> = parts.map(str::parse).collect();
        match (part, numbers.as_deref()) {
            (Some("disk"), Ok([seed])) => Ok(Self::Disk(*seed)),
            (Some("kill"), Ok([seed])) => Ok(Self::Kill(*seed)),
            (Some("session"), Ok([seed])) => Ok(Self::Session(*seed)),
            (Some("sweep"), Ok([program, at, fault, seed])) => Ok(Self::Sweep {
                program: *program,
                at: *at,
                fault: *fault,
                seed: *seed,
            }),
            (Some("files"), Ok([log, file, at, change])) => Ok(Self::Files {
                log: *log,
                file: *file,
                at: *at,
                change: *change,
            }),
            _ => Err(format!("`{name}` is not the name of a scenario")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in [
            "disk-7",
            "sweep-1-2-3-4",
            "files-0-1-2-3",
            "kill-9",
            "session-3",
        ] {
            assert_eq!(name.parse::<Scenario>().unwrap().to_string(), name);
        }
        for name in ["disk", "disk-x", "sweep-1", "tape-1", ""] {
            assert!(name.parse::<Scenario>().is_err(), "{name}");
        }
    }
}
