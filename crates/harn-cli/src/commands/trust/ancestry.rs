//! Whether an agent answers in the place of a person.
//!
//! A command that a model has started is a child of a run. It cannot be kept from pretending
//! everything else, but its ancestors are told by the system. A process that has left its
//! ancestors behind is not noticed.

use std::fs;

/// Variables that runs give to the commands they start.
const MARKS: [&str; 3] = ["HARN_RUN_ID", "HARN_EFFECT_ID", "HARN_SANDBOX"];

/// How the system calls our processes.
const NAME: &str = "harn";

/// Ancestors that are looked at.
const ANCESTORS_MAX: usize = 256;

/// Whether this process is below another one of ours.
pub(super) fn is_below_a_run() -> bool {
    let is_marked = |name: &&str| crate::environment::variable(name).is_some();
    MARKS.iter().any(is_marked) || has_ancestor_of_ours()
}

fn has_ancestor_of_ours() -> bool {
    let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let mut parent = Process::read(&own).map(|process| process.parent);
    for _ in 0..ANCESTORS_MAX {
        let Some(id) = parent.filter(|id| *id > 0) else {
            return false;
        };
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let Some(process) = Process::read(&stat) else {
            return false;
        };
        if process.name == NAME {
            return true;
        }
        parent = Some(process.parent);
    }
    false
}

/// A process, as `/proc/ID/stat` tells it.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    name: String,
    parent: u32,
}

impl Process {
    /// `ID (NAME) STATE PARENT …`; a name may have parentheses in it.
    fn read(stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let parent = after.split_whitespace().nth(1)?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            parent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_it_is_called() {
        let process = |name: &str| Process {
            name: name.to_owned(),
            parent: 7,
        };
        assert_eq!(Process::read("12 (harn) S 7 12 12"), Some(process("harn")));
        assert_eq!(Process::read("12 (a) (b) R 7 1"), Some(process("a) (b")));
        assert_eq!(Process::read(""), None);
    }
}
