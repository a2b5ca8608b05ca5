//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clock {
    /// From the system.
    #[default]
    System,
    /// It is always this many milliseconds after the Unix epoch.
    Stopped(i64),
}

impl Clock {
    /// Milliseconds since the Unix epoch.
    pub(crate) fn now_ms(self) -> i64 {
        match self {
            Self::Stopped(now_ms) => now_ms,
            Self::System => system_ms(),
        }
    }
}

fn system_ms() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "this is the clock port")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
