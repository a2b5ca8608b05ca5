//! What the command line asks for.

use std::ops::Deref;

use harn_bench::{Offered, Selection};

const USAGE: &str = "\
Usage: cargo xtask bench vm [--no-save] [--smoke] [-- OPTIONS]

  --runs N         rounds of which the best counts, 5 by default
  --only NAME...   these programs, without a verdict
  --peers-only     without Harn
  --cpu            time of the processor, for a machine that is busy with something else
  --build          build the workspace from clean as well, and time it
  --harn PATH      the program to measure, instead of the one built beside this one";

/// What is measured, and how.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    selection: Selection,
    pub(crate) peers_only: bool,
    /// Count the time of the processor instead of what the clock on the wall says.
    pub(crate) processor_time: bool,
    /// Also time a build from clean, which takes minutes.
    pub(crate) build: bool,
}

impl Deref for Options {
    type Target = Selection;

    fn deref(&self) -> &Selection {
        &self.selection
    }
}

impl Options {
    pub(crate) fn from_args(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let offered = Offered {
            one: "program",
            names: &crate::programs::names(),
            usage: USAGE,
        };
        let selection = Selection::from_args(arguments, offered, |flag| {
            match flag {
                "--peers-only" => options.peers_only = true,
                "--cpu" => options.processor_time = true,
                "--build" => options.build = true,
                _ => return false,
            }
            true
        })?;
        Ok(Self {
            selection,
            ..options
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_more_to_ask_for_than_programs() {
        let words = ["--cpu", "--only", "fib", "--peers-only"];
        let options = Options::from_args(words.iter().map(ToString::to_string)).unwrap();
        assert!(options.processor_time && options.peers_only && !options.build);
        assert!(options.wants("fib") && !options.wants("sort"));
    }
}
