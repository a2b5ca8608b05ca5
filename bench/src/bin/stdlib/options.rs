//! What the command line asks for.

use harn_bench::{Offered, Selection};

use crate::rows::ROWS;

const USAGE: &str = "\
Usage: cargo xtask bench stdlib [--no-save] [--smoke] [-- OPTIONS]

  --runs N         rounds of which the best counts, 5 by default
  --only NAME...   these rows, without a verdict
  --harn PATH      the program to measure, instead of the one built beside this one";

/// Which rows are measured, and how often.
pub(crate) fn from_args(arguments: impl Iterator<Item = String>) -> Result<Selection, String> {
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    let offered = Offered {
        one: "row",
        names: &names,
        usage: USAGE,
    };
    Selection::from_args(arguments, offered, |_| false)
}
