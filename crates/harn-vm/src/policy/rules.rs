//! The rules of one layer.

use std::fmt::Write;
use std::path::PathBuf;

use super::hosts::Host;

/// What one layer allows. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The folders that files may be in, whatever is done with them. None: all.
    pub workspace_roots: Vec<PathBuf>,
    /// What may be looked at: files, and folders with all that is in them.
    pub read: Rule<PathBuf>,
    /// What may be made, changed and removed.
    pub write: Rule<PathBuf>,
    /// Which programs may be run: names that are looked up in `PATH`, or paths.
    pub exec: Rule<String>,
    /// Which hosts may be spoken with.
    pub net: Rule<Host>,
    /// Which variables of the environment may be seen.
    pub env: Rule<String>,
}

/// What a rule allows of one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rule<T> {
    /// Everything.
    #[default]
    Anything,
    /// Nothing at all.
    Nothing,
    /// These.
    Only(Vec<T>),
}

impl<T> Rule<T> {
    /// What is allowed by name.
    pub(super) fn allowed(&self) -> &[T] {
        match self {
            Self::Anything | Self::Nothing => &[],
            Self::Only(allowed) => allowed,
        }
    }

    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Anything)
    }

    /// The rule as errors show it: `the rule 'deny net'`, `the rule 'allow net [a, b]'`.
    pub(super) fn describe(&self, name: &str, show: impl Fn(&T) -> String) -> String {
        let mut text = match self {
            Self::Anything => format!("the rule 'allow {name}"),
            Self::Nothing => format!("the rule 'deny {name}"),
            Self::Only(allowed) => {
                let allowed: Vec<String> = allowed.iter().map(show).collect();
                format!("the rule 'allow {name} [{}]", allowed.join(", "))
            }
        };
        let _a_string_takes_everything = text.write_char('\'');
        text
    }
}
