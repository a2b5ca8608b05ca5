//! What the command line asks for.

use std::path::PathBuf;

use crate::rows::ROWS;

const USAGE: &str = "\
Usage: cargo xtask bench stdlib [--no-save] [--smoke] [-- OPTIONS]

  --runs N         rounds of which the best counts, 5 by default
  --only NAME...   these rows, without a verdict
  --harn PATH      the program to measure, instead of the one built beside this one";

/// What is measured, and how often.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Once through everything with little material, to see that it still runs.
    pub(crate) smoke: bool,
    /// Rounds of which the best counts.
    pub(crate) runs: usize,
    /// Names of rows; empty means all.
    only: Vec<String>,
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
                "--harn" => options.harn = arguments.next().map(PathBuf::from),
                "--runs" => runs = Some(count(arguments.next())?),
                "--only" => {
                    let is_name = |word: &String| !word.starts_with("--");
                    while let Some(name) = arguments.next_if(is_name) {
                        options.only.push(known(name)?);
                    }
                }
                unknown => return Err(format!("`{unknown}` is not an option\n\n{USAGE}")),
            }
        }
        let usual = if options.smoke { 1 } else { 5 };
        options.runs = runs.unwrap_or(usual);
        Ok(options)
    }

    /// Whether a row is to be run.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }
}

/// A misspelt name would otherwise be an empty table.
fn known(name: String) -> Result<String, String> {
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    match names.contains(&name.as_str()) {
        true => Ok(name),
        false => Err(format!(
            "there is no row `{name}`; there are {}",
            names.join(", ")
        )),
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
        assert!(all.wants("glob_files") && all.runs == 5);
        let some = parsed(&["--only", "glob_files", "csv_parse", "--smoke"]).unwrap();
        assert!(some.wants("csv_parse") && !some.wants("http_get") && some.runs == 1);
    }

    #[test]
    fn mistakes_are_explained() {
        for (words, expected) in [
            (&["--fast"][..], "`--fast` is not an option"),
            (&["--runs", "0"], "`--runs` wants a number above zero"),
            (&["--only", "globe"], "there is no row `globe`; there are "),
        ] {
            let why = parsed(words).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
