//! Times, as records show them.

use chrono::{DateTime, SecondsFormat};

/// A time as text: RFC 3339 with milliseconds, in UTC. What is no time of the calendar is its
/// beginning.
pub fn rfc3339(milliseconds: i64) -> String {
    let moment = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
