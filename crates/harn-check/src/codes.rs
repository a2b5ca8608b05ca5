//! Every kind of thing that can be said about a program before it runs.
//!
//! Whoever says something lists its codes with [`code_list`], which also makes the constants
//! to say it with, so that none is forgotten. Here are all of them together, for the book and
//! for `harn explain`.

use harn_syntax::{Code, SYNTAX_CODES};

use crate::lint::rules;
use crate::modules::IMPORT_CODES;
use crate::refusals::REFUSAL_CODES;
use crate::types::TYPE_CODES;

/// A constant for each code, and a list of all of them with one line about each.
macro_rules! code_list {
    (
        $(#[$about:meta])*
        $list:ident: $($constant:ident $name:literal $summary:literal)*
    ) => {
        $(pub(super) const $constant: Code = Code($name);)*

        $(#[$about])*
        pub const $list: &[(Code, &str)] = &[$(($constant, $summary),)*];
    };
}

pub(crate) use code_list;

/// Codes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeGroup {
    /// What they have in common.
    pub title: &'static str,
    /// The codes with one line about each.
    pub codes: Vec<(Code, &'static str)>,
}

/// Every code there is, in the order of the phases a program goes through. Two phases may
/// share a code.
pub fn code_groups() -> [CodeGroup; 5] {
    let lint = rules().iter().map(|rule| (Code(rule.name), rule.summary));
    [
        ("Syntax", SYNTAX_CODES.to_vec()),
        ("Imports", IMPORT_CODES.to_vec()),
        ("Types", TYPE_CODES.to_vec()),
        ("Compiling", REFUSAL_CODES.to_vec()),
        ("Lint rules", lint.collect()),
    ]
    .map(|(title, codes)| CodeGroup { title, codes })
}
