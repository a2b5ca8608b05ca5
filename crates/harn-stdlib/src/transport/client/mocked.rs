//! What stands for servers, by the pattern of their URLs.

use crate::http::mock::Pattern;

/// What stands for servers. The first pattern that describes a URL counts.
pub(super) struct Mocked<T>(Vec<(Pattern, T)>);

impl<T> Default for Mocked<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Mocked<T> {
    /// Replaces what had the same pattern.
    pub(super) fn set(&mut self, pattern: Pattern, mock: T) {
        self.0.retain(|(one, _)| *one != pattern);
        self.0.push((pattern, mock));
    }

    pub(super) fn find(&self, url: &str) -> Option<&T> {
        let found = self.0.iter().find(|(pattern, _)| pattern.matches(url));
        found.map(|(_, mock)| mock)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, mock)| mock)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
