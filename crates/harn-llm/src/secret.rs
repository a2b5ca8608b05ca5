//! Keys and tokens, which can be sent but not shown.

use std::fmt;

/// A key or token. Whoever prints it sees `[redacted]`; only [`Secret::expose`] gives the
/// text, so a search for that name finds every place where a secret can leave.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the wire.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("sk-live-1");
        assert_eq!(
            format!("{secret:?} {:#?}", Some(&secret)),
            "[redacted] Some(\n    [redacted],\n)"
        );
        assert_eq!(secret.expose(), "sk-live-1");
    }
}
