//! Blocks of Harn: what a page shows as a program must be one.

use crate::verdict::{Verdict, complain};

/// Complains about the first thing that is wrong.
pub(super) fn check(text: &str) -> Verdict {
    match harn_syntax::parse(text).errors.first() {
        Some(error) => complain(format!("it does not parse: {}", error.message)),
        None => Ok(()),
    }
}
