//! What the command line asks for.

use std::path::PathBuf;

const USAGE: &str = "\
Usage: cargo xtask bench vm [--no-save] [--smoke] [-- OPTIONS]

  --runs N         rounds of which the best counts, 5 by default
  --only NAME...   these programs, without a verdict
  --peers-only     without Harn
  --cpu            time of the processor, for a machine that is busy with something else
  --build          build the workspace from clean as well, and time it
  --harn PATH      the program to measure, instead of the one built beside this one";

/// What is measured, and how often.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Once through everything with tiny sizes, to see that it still runs.
    pub(crate) smoke: bool,
    /// Rounds of which the best counts.
    pub(crate) runs: usize,
    /// Names of programs; empty means all.
    only: Vec<String>,
    pub(crate) peers_only: bool,
    /// Count the time of the processor instead of what the clock on the wall says.
    pub(crate) processor_time: bool,
    /// Also time a build from clean, which takes minutes.
    pub(crate) build: bool,
    /// The `harn` to measure when it is not the one beside us.
    pub(crate) harn: Option<PathBuf>,
}

impl Options {
    pub(crate) fn from_args(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.peekable();
        let mut runs = None;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--smoke" => options.smoke = true,
                "--peers-only" => options.peers_only = true,
                "--cpu" => options.processor_time = true,
                "--build" => options.build = true,
                "--harn" => options.harn = arguments.next().map(PathBuf::from),
                "--runs" => runs = Some(count(arguments.next())?),
                "--only" => {
                    let is_name = |word: &String| !word.starts_with("--");
                    while let Some(name) = arguments.next_if(is_name) {
                        options.only.push(name);
                    }
                }
                unknown => return Err(format!("`{unknown}` is not an option\n\n{USAGE}")),
            }
        }
        let usual = if options.smoke { 1 } else { 5 };
        options.runs = runs.unwrap_or(usual);
        options.known_names_only()
    }

    /// Whether a program is to be run.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }

    /// A misspelt name would otherwise be an empty table.
    fn known_names_only(self) -> Result<Self, String> {
        let known = crate::programs::names();
        match self
            .only
            .iter()
            .find(|name| !known.contains(&name.as_str()))
        {
            None => Ok(self),
            Some(name) => Err(format!(
                "there is no program `{name}`; there are {}",
                known.join(", ")
            )),
        }
    }
}

fn count(word: Option<String>) -> Result<usize, String> {
    let number = word.and_then(|word| word.parse().ok());
    number
        .filter(|runs| *runs > 0)
        .ok_or_else(|| format!("`--runs` wants a number above zero\n\n{USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options, String> {
        Options::from_args(words.iter().map(ToString::to_string))
    }

    #[test]
    fn everything_is_wanted_unless_something_is_named() {
        let all = parsed(&[]).unwrap();
        assert!(all.wants("fib") && all.wants("startup"));
        let some = parsed(&["--only", "fib", "sort", "--runs", "3"]).unwrap();
        assert!(some.wants("fib") && some.wants("sort") && !some.wants("calls"));
        assert_eq!(some.runs, 3);
    }

    #[test]
    fn a_smoke_test_runs_once() {
        assert_eq!(parsed(&["--smoke"]).unwrap().runs, 1);
        assert_eq!(parsed(&[]).unwrap().runs, 5);
    }

    #[test]
    fn mistakes_are_explained() {
        let mistakes = [
            (&["--fast"][..], "`--fast` is not an option"),
            (&["--runs", "0"], "`--runs` wants a number above zero"),
            (&["--runs"], "`--runs` wants a number above zero"),
            (&["--only", "fbi"], "there is no program `fbi`; there are "),
        ];
        for (words, expected) in mistakes {
            let why = parsed(words).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
