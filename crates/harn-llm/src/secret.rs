//! Keys and tokens, which can be sent but not shown.

use std::fmt;
use std::sync::Arc;

use crate::audience::KeyAudience;

/// A key or token. Whoever prints it sees `[redacted]`; only [`Secret::expose`] gives the
/// text, so a search for that name finds every place where a secret can leave.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    /// Where the transport may send it; `None`: wherever the component that made it says.
    audience: Option<Arc<KeyAudience>>,
}

impl Secret {
    /// Keeps `text` from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            audience: None,
        }
    }

    /// The same, only for certain hosts: the transport sends it to no other.
    #[must_use]
    pub fn only_for(mut self, audience: KeyAudience) -> Self {
        self.audience = Some(Arc::new(audience));
        self
    }

    /// The text itself, for the wire.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Where it may be sent, if that is said.
    pub(crate) fn audience(&self) -> Option<&KeyAudience> {
        self.audience.as_deref()
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
