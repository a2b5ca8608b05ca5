//! What the command line asks of a benchmark that compares programs.

use std::path::PathBuf;

/// Which programs are measured, and how often.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Once through everything with little to do, to see that it still runs.
    pub smoke: bool,
    /// Rounds of which the best counts.
    pub runs: usize,
    /// Names; empty means all.
    only: Vec<String>,
    /// The `harn` to measure when it is not the one beside us.
    pub harn: Option<PathBuf>,
}

/// What can be selected, and what is said to somebody who does not know.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// What one of them is called.
    pub one: &'a str,
    /// Their names.
    pub names: &'a [&'a str],
    /// The options, in words.
    pub usage: &'a str,
}

impl Selection {
    /// From the command line. `flag` takes what else there is, and says whether it knows it.
    ///
    /// # Errors
    /// An option or a name is not known, or a number is none.
    pub fn from_args(
        arguments: impl Iterator<Item = String>,
        offered: Offered<'_>,
        mut flag: impl FnMut(&str) -> bool,
    ) -> Result<Self, String> {
        let usage = offered.usage;
        let mut selection = Self::default();
        let mut arguments = arguments.peekable();
        let mut runs = None;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--smoke" => selection.smoke = true,
                "--harn" => selection.harn = arguments.next().map(PathBuf::from),
                "--runs" => {
                    let number = arguments.next().and_then(|word| word.parse().ok());
                    let number = number.filter(|runs| *runs > 0);
                    runs =
                        Some(number.ok_or_else(|| {
                            format!("`--runs` wants a number above zero\n\n{usage}")
                        })?);
                }
                "--only" => {
                    let is_name = |word: &String| !word.starts_with("--");
                    while let Some(name) = arguments.next_if(is_name) {
                        selection.only.push(offered.known(name)?);
                    }
                }
                other if flag(other) => {}
                unknown => return Err(format!("`{unknown}` is not an option\n\n{usage}")),
            }
        }
        let usual = if selection.smoke { 1 } else { 5 };
        selection.runs = runs.unwrap_or(usual);
        Ok(selection)
    }

    /// Whether one of them is to be run.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }
}

impl Offered<'_> {
    /// A misspelt name would otherwise be an empty table.
    fn known(&self, name: String) -> Result<String, String> {
        match self.names.contains(&name.as_str()) {
            true => Ok(name),
            false => Err(format!(
                "there is no {} `{name}`; there are {}",
                self.one,
                self.names.join(", ")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Selection, String> {
        let offered = Offered {
            one: "program",
            names: &["fib", "sort", "calls"],
            usage: "Usage: …",
        };
        let words = words.iter().map(ToString::to_string);
        Selection::from_args(words, offered, |flag| flag == "--cpu")
    }

    #[test]
    fn everything_is_wanted_unless_something_is_named() {
        let all = parsed(&[]).unwrap();
        assert!(all.wants("fib") && all.wants("startup") && all.runs == 5);
        let some = parsed(&["--only", "fib", "sort", "--cpu", "--runs", "3"]).unwrap();
        assert!(some.wants("fib") && some.wants("sort") && !some.wants("calls"));
        assert_eq!(some.runs, 3);
    }

    #[test]
    fn a_smoke_test_runs_once() {
        assert_eq!(parsed(&["--smoke"]).unwrap().runs, 1);
        assert_eq!(parsed(&["--smoke", "--runs", "2"]).unwrap().runs, 2);
    }

    #[test]
    fn mistakes_are_explained() {
        for (words, expected) in [
            (&["--fast"][..], "`--fast` is not an option\n\nUsage"),
            (&["--runs", "0"], "`--runs` wants a number above zero"),
            (&["--runs"], "`--runs` wants a number above zero"),
            (
                &["--only", "fbi"],
                "there is no program `fbi`; there are fib, sort, calls",
            ),
        ] {
            let why = parsed(words).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
