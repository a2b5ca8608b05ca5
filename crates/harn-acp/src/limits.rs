//! How much clients may have open at once, on all connections of a server together.

use std::sync::Arc;

use crate::frames::Count;

/// How much clients may have open at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Sessions. More are refused until one is closed.
    pub(crate) sessions_max: usize,
    /// Questions of one session whether a call may be made. More are answered with no.
    pub(crate) permissions_max: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            sessions_max: 1024,
            permissions_max: 64,
        }
    }
}

impl SessionLimits {
    /// The limits that can be set by name.
    pub const NAMES: [&str; 2] = ["sessions", "permissions"];

    /// Sets a limit by its name; `false` if there is none of that name.
    pub fn set(&mut self, name: &str, value: u32) -> bool {
        let Some(limit) = self.named(name) else {
            return false;
        };
        *limit = usize::try_from(value).unwrap_or(usize::MAX);
        true
    }

    /// All of them, by name.
    pub fn all(mut self) -> Vec<(&'static str, u64)> {
        let names = Self::NAMES.into_iter();
        let all = names.filter_map(|name| Some((name, *self.named(name)? as u64)));
        all.collect()
    }

    fn named(&mut self, name: &str) -> Option<&mut usize> {
        match name {
            "sessions" => Some(&mut self.sessions_max),
            "permissions" => Some(&mut self.permissions_max),
            _ => None,
        }
    }
}

/// How often each of the limits was met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refused(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sessions: Count,
    permissions: Count,
}

impl Refused {
    pub(crate) fn session(&self) {
        self.0.sessions.add();
    }

    pub(crate) fn permission(&self) {
        self.0.permissions.add();
    }

    /// All of them by name, for a person to read.
    pub(crate) fn all(&self) -> [(&'static str, u64); 2] {
        [
            ("sessions_refused", self.0.sessions.get()),
            ("permissions_refused", self.0.permissions.get()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_can_be_set_by_its_name() {
        for name in SessionLimits::NAMES {
            let mut limits = SessionLimits::default();
            assert!(limits.set(name, 7), "{name}");
            assert!(limits.all().contains(&(name, 7)), "{name}");
        }
        assert!(!SessionLimits::default().set("none", 1));
    }
}
