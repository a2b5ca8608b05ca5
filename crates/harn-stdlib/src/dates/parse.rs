//! Dates that people write.

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeZone};
use harn_machine::Value;

use super::moment::Moment;

/// The timestamp of a text. Whatever has no known form but numbers in it is read as year,
/// month, day, hour, minute and second.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Ok(Moment(moment.to_utc()).timestamp());
    }
    let forms = [
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M",
    ];
    let mut parsed = forms
        .iter()
        .map(|form| NaiveDateTime::parse_from_str(text, form));
    if let Some(Ok(moment)) = parsed.find(Result::is_ok) {
        return Ok(Moment(moment.and_utc()).timestamp());
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Ok(Moment(date.and_time(chrono::NaiveTime::MIN).and_utc()).timestamp());
    }
    from_numbers(text)
}

fn from_numbers(text: &str) -> Result<Value, String> {
    let groups = text.split(|letter: char| !letter.is_ascii_digit());
    let groups: Vec<&str> = groups.filter(|group| !group.is_empty()).take(6).collect();
    let [year, month, day, time @ ..] = groups.as_slice() else {
        return Err(format!("Cannot parse date: {text}"));
    };
    // Too many digits for a number are too many for any of these.
    let number = |digits: &str| digits.parse().unwrap_or(i64::MAX);
    let time = |at: usize| time.get(at).map_or(0, |digits| number(digits));
    let local = local_time(&Numbers {
        year: number(year),
        month: number(month),
        day: number(day),
        hour: time(0),
        minute: time(1),
        second: time(2),
    })?;
    Ok(Moment(chrono::Utc.from_utc_datetime(&local)).timestamp())
}

/// The parts of a date and a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

/// The time that the parts stand for, or which of them cannot be.
pub(super) fn local_time(numbers: &Numbers) -> Result<NaiveDateTime, String> {
    let month = within("month", numbers.month, 1, 12)?;
    let day = within("day", numbers.day, 1, 31)?;
    let hour = within("hour", numbers.hour, 0, 23)?;
    let minute = within("minute", numbers.minute, 0, 59)?;
    let second = within("second", numbers.second, 0, 59)?;
    let year = i32::try_from(numbers.year).ok();
    let year = year.filter(|year| NaiveDate::from_ymd_opt(*year, 1, 1).is_some());
    let year = year.ok_or_else(|| format!("Invalid year: {}", numbers.year))?;
    let time = NaiveDate::from_ymd_opt(year, month, day)
        .and_then(|date| date.and_hms_opt(hour, minute, second));
    time.ok_or_else(|| format!("Invalid date: {year:04}-{month:02}-{day:02}"))
}

fn within(part: &str, number: i64, first: u32, last: u32) -> Result<u32, String> {
    u32::try_from(number)
        .ok()
        .filter(|number| (first..=last).contains(number))
        .ok_or_else(|| format!("Invalid {part}: {number} (must be {first}-{last})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_forms_are_read() {
        for (text, shown) in [
            ("1970-01-01", "0"),
            (" 1970-01-02T00:00:00Z ", "86400"),
            ("1970-01-01T02:00:00+02:00", "0"),
            ("1970-01-01 00:01", "60"),
            ("1970-01-01T00:01:02", "62"),
            ("1970-01-01 00:00:01.5", "1.5"),
            ("1969-12-31T23:59:59Z", "-1"),
            ("2024/02/29", "1709164800"),
            ("on 1970 01 01 at 1h 2m 3s", "3723"),
        ] {
            assert_eq!(parse(text).expect(text).show(), shown, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_says_why() {
        for (text, problem) in [
            (" soon ", "Cannot parse date: soon"),
            ("12/25", "Cannot parse date: 12/25"),
            ("2024-13-01", "Invalid month: 13 (must be 1-12)"),
            ("2024-01-32", "Invalid day: 32 (must be 1-31)"),
            ("2024-01-01 24:00", "Invalid hour: 24 (must be 0-23)"),
            ("2024-01-01 00:60", "Invalid minute: 60 (must be 0-59)"),
            ("2024/01/01 00:00:61", "Invalid second: 61 (must be 0-59)"),
            ("2023-02-29", "Invalid date: 2023-02-29"),
            ("9999999-01-01", "Invalid year: 9999999"),
        ] {
            assert_eq!(parse(text).expect_err(text), problem);
        }
    }
}
