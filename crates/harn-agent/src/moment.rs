//! Times, as records show them.

use chrono::{DateTime, SecondsFormat};

/// A time as text: RFC 3339 with milliseconds, in UTC. What is no time of the calendar is its
/// beginning.
pub fn rfc3339(milliseconds: i64) -> String {
    let moment = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The same without milliseconds, where people read it.
pub fn rfc3339_seconds(milliseconds: i64) -> String {
    let moment = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_know_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_769_860_799_999, "2026-01-31T11:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
        }
    }
}
