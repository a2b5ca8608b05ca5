//! The time, for what we stamp ourselves.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the convenience for programs without a clock of their own"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
