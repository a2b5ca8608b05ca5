//! The environment, read once.
//!
//! Nobody else asks for a variable, so this file is the list of all that can
//! change what the program does from outside its arguments.

use std::env::VarError;

/// What the environment says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Environment {
    /// `NO_COLOR` is set and not empty: <https://no-color.org>.
    pub(crate) no_color: bool,
}

impl Environment {
    pub(crate) fn read() -> Self {
        Self {
            no_color: is_set("NO_COLOR"),
        }
    }
}

fn is_set(name: &str) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    match std::env::var(name) {
        Ok(value) => !value.is_empty(),
        Err(VarError::NotPresent) => false,
        Err(VarError::NotUnicode(_)) => true,
    }
}
