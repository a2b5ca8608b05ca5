//! Times as people write and read them: RFC 3339 in UTC, and "3s ago".
//!
//! Inside, a time is milliseconds since the Unix epoch, as in the log.

use std::fmt;
use std::str::FromStr;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const YEAR: i64 = 365 * DAY;

/// Days from the first of March of the year 0, where years are easiest to count,
/// to the Unix epoch.
const EPOCH_DAY: i64 = 719_468;
/// Days in 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// `2026-01-31T12:00:00.000Z`.
pub(crate) fn rfc3339(ms: i64) -> String {
    let (year, month, day) = date_of(ms.div_euclid(DAY));
    let of_day = ms.rem_euclid(DAY);
    let (hour, minute) = (of_day / HOUR, of_day % HOUR / MINUTE);
    let (second, millisecond) = (of_day % MINUTE / SECOND, of_day % SECOND);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}

/// `3s ago`, `2h ago`, `in 5m`.
pub(crate) fn relative(ms: i64, now_ms: i64) -> String {
    let age = now_ms.saturating_sub(ms);
    let distance = age.saturating_abs();
    let (unit, letter) = match distance {
        ..SECOND => return "just now".to_owned(),
        SECOND..MINUTE => (SECOND, 's'),
        MINUTE..HOUR => (MINUTE, 'm'),
        HOUR..DAY => (HOUR, 'h'),
        DAY..YEAR => (DAY, 'd'),
        YEAR.. => (YEAR, 'y'),
    };
    let number = distance / unit;
    match age > 0 {
        true => format!("{number}{letter} ago"),
        false => format!("in {number}{letter}"),
    }
}

/// The time of an RFC 3339 text. Without an offset it is UTC, and a date alone is
/// its midnight.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let mut rest = Rest(text.trim());
    let (year, month, day) = rest.date()?;
    let midnight = day_of(year, month, day)? * DAY;
    if rest.0.is_empty() {
        return Some(midnight);
    }
    rest.one_of("Tt ")?;
    let (hour, minute) = rest.clock()?;
    rest.one_of(":")?;
    // A leap second is the last one of its minute to us.
    let second = rest.number(2).filter(|second| *second <= 60)?.min(59);
    let of_day = hour * HOUR + minute * MINUTE + second * SECOND + rest.fraction()?;
    let offset = rest.offset()?;
    rest.0
        .is_empty()
        .then_some(midnight + of_day - offset * MINUTE)
}

/// A time somebody typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A time of the calendar.
    At(i64),
    /// So many milliseconds ago.
    Ago(i64),
}

impl When {
    pub(crate) fn ms(self, now_ms: i64) -> i64 {
        match self {
            Self::At(ms) => ms,
            Self::Ago(age) => now_ms.saturating_sub(age),
        }
    }
}

impl FromStr for When {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let ago = || age_of(text).map(Self::Ago);
        parse(text).map(Self::At).or_else(ago).ok_or(NotATime)
    }
}

/// A text that is no time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "write a time such as 2026-01-31T12:00:00Z or 2026-01-31, \
             or how long ago, such as 30s, 10m, 2h, 3d or 1w",
        )
    }
}

impl std::error::Error for NotATime {}

/// `10m` in milliseconds.
fn age_of(text: &str) -> Option<i64> {
    let text = text.trim();
    let (split, letter) = text.char_indices().next_back()?;
    let unit = match letter {
        's' => SECOND,
        'm' => MINUTE,
        'h' => HOUR,
        'd' => DAY,
        'w' => WEEK,
        _ => return None,
    };
    let digits = &text[..split];
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i64>().ok()?.checked_mul(unit)
}

/// What is left of a text that is being read.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.0 = rest;
        number.parse().ok()
    }

    fn one_of(&mut self, characters: &str) -> Option<char> {
        let first = self.0.chars().next()?;
        let found = characters.contains(first);
        found.then(|| {
            self.0 = &self.0[first.len_utf8()..];
            first
        })
    }

    fn date(&mut self) -> Option<(i64, i64, i64)> {
        let year = self.number(4)?;
        self.one_of("-")?;
        let month = self.number(2)?;
        self.one_of("-")?;
        Some((year, month, self.number(2)?))
    }

    fn clock(&mut self) -> Option<(i64, i64)> {
        let hour = self.number(2).filter(|hour| *hour < 24)?;
        self.one_of(":")?;
        Some((hour, self.number(2).filter(|minute| *minute < 60)?))
    }

    /// Milliseconds after the point; finer digits are left out.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(".").is_none() {
            return Some(0);
        }
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        let padded = format!("{number:0<3}");
        (digits > 0).then(|| padded[..3].parse().ok())?
    }

    /// Minutes east of Greenwich.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of("Zz+-") {
            None | Some('Z' | 'z') => return Some(0),
            Some('-') => -1,
            Some(_) => 1,
        };
        let (hours, minutes) = self.clock()?;
        Some(sign * (hours * 60 + minutes))
    }
}

/// The date of a day, counted from the Unix epoch.
fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + EPOCH_DAY;
    let (era, of_era) = (day.div_euclid(ERA_DAYS), day.rem_euclid(ERA_DAYS));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// The day of a date, counted from the Unix epoch, if there is such a date.
fn day_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let from_march = (month + 9).rem_euclid(12);
    let march_year = year - i64::from(month <= 2);
    let (era, of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let found = era * ERA_DAYS + of_era - EPOCH_DAY;
    (date_of(found) == (year, month, day)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
            assert_eq!(parse(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn no_time_makes_it_panic() {
        for ms in [i64::MIN, i64::MAX] {
            assert!(rfc3339(ms).ends_with('Z'));
            assert!(relative(ms, 0).contains('y'));
        }
    }

    #[test]
    fn every_day_of_four_centuries_reads_back() {
        for day in 0..ERA_DAYS {
            assert_eq!(parse(&rfc3339(day * DAY)), Some(day * DAY));
        }
    }

    #[test]
    fn offsets_fractions_and_bare_dates_are_understood() {
        let noon = 1_769_860_800_000;
        for (text, expected) in [
            ("2026-01-31T12:00:00Z", noon),
            ("2026-01-31 12:00:00", noon),
            ("2026-01-31t14:30:00+02:30", noon),
            ("2026-01-31T11:00:00-01:00", noon),
            ("2026-01-31T12:00:00.5Z", noon + 500),
            ("2026-01-31T12:00:00.123456789Z", noon + 123),
            ("2026-01-31", noon - 12 * HOUR),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60:00Z",
            "2026-01-31T12:00:00Zulu",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T",
            "+026-01-31",
            "10",
            "m",
            "-5m",
            "5 m",
            "5x",
            "99999999999999999999d",
            "ä",
        ] {
            assert_eq!(text.parse::<When>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn a_time_may_be_so_long_ago() {
        for (text, age) in [
            ("30s", 30_000),
            ("10m", 600_000),
            ("2h", 7_200_000),
            ("3d", 259_200_000),
            ("1w", 604_800_000),
        ] {
            assert_eq!(text.parse(), Ok(When::Ago(age)));
            assert_eq!(
                When::Ago(age).ms(1_000_000_000_000),
                1_000_000_000_000 - age
            );
        }
    }

    #[test]
    fn distances_have_one_unit() {
        let now = 10 * YEAR;
        for (age, text) in [
            (0, "just now"),
            (-999, "just now"),
            (1000, "1s ago"),
            (59_999, "59s ago"),
            (MINUTE, "1m ago"),
            (HOUR - 1, "59m ago"),
            (2 * HOUR, "2h ago"),
            (DAY, "1d ago"),
            (364 * DAY, "364d ago"),
            (2 * YEAR, "2y ago"),
            (-5 * MINUTE, "in 5m"),
        ] {
            assert_eq!(relative(now - age, now), text);
        }
    }
}
