//! Spans of time.

use harn_machine::{Context, Failure, Registry, Value};

use super::moment::fail;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("duration_days", |_, arguments| {
            made("duration_days", arguments, DAY)
        }),
        ("duration_hours", |_, arguments| {
            made("duration_hours", arguments, HOUR)
        }),
        ("duration_minutes", |_, arguments| {
            made("duration_minutes", arguments, MINUTE)
        }),
        ("duration_ms", |_, arguments| {
            made("duration_ms", arguments, 1)
        }),
        ("duration_seconds", |_, arguments| {
            made("duration_seconds", arguments, SECOND)
        }),
        ("duration_to_human", to_human),
        ("duration_to_seconds", to_seconds),
    ]);
}

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A duration of so many units.
fn made(function: &str, arguments: &[Value], unit: i64) -> Result<Value, Failure> {
    let milliseconds = match arguments.first() {
        None => return fail(function, "missing value argument"),
        Some(Value::Int(number)) => number.checked_mul(unit),
        Some(Value::Float(number)) => {
            let milliseconds = (number * unit as f64).round();
            let fits = milliseconds.abs() < i64::MAX as f64;
            fits.then_some(milliseconds as i64)
        }
        Some(other) => {
            let message = format!("expected number, got {}", other.type_name());
            return fail(function, &message);
        }
    };
    match milliseconds {
        Some(milliseconds) => Ok(Value::Duration(milliseconds)),
        None => fail(function, "duration overflow"),
    }
}

/// The milliseconds of an argument that is a duration.
pub(super) fn duration_at(function: &str, arguments: &[Value], at: usize) -> Result<i64, Failure> {
    match arguments.get(at) {
        Some(Value::Duration(milliseconds)) => Ok(*milliseconds),
        Some(other) => {
            let message = format!("expected duration, got {}", other.type_name());
            fail(function, &message)
        }
        None => fail(function, "missing duration argument"),
    }
}

fn to_seconds(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let milliseconds = duration_at("duration_to_seconds", arguments, 0)?;
    Ok(Value::Int(milliseconds / SECOND))
}

fn to_human(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let milliseconds = duration_at("duration_to_human", arguments, 0)?;
    Ok(human(milliseconds).into())
}

/// As people say it: the largest units that are not zero, three at most.
fn human(milliseconds: i64) -> String {
    if milliseconds == 0 {
        return "0s".to_owned();
    }
    let mut left = milliseconds.unsigned_abs();
    let mut parts = Vec::new();
    for (size, unit) in [
        (DAY, "d"),
        (HOUR, "h"),
        (MINUTE, "m"),
        (SECOND, "s"),
        (1, "ms"),
    ] {
        let count = left / size.unsigned_abs();
        left %= size.unsigned_abs();
        if count > 0 && parts.len() < 3 {
            parts.push(format!("{count}{unit}"));
        }
    }
    let sign = if milliseconds < 0 { "-" } else { "" };
    format!("{sign}{}", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_three_units_at_most() {
        for (milliseconds, expected) in [
            (0, "0s"),
            (3 * HOUR + 14 * MINUTE, "3h 14m"),
            (DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND, "1d 2h 3m"),
            (1500, "1s 500ms"),
            (-90 * SECOND, "-1m 30s"),
            (DAY + 5, "1d 5ms"),
            (i64::MIN, "-106751991167d 7h 12m"),
        ] {
            assert_eq!(human(milliseconds), expected);
        }
    }

    #[test]
    fn durations_are_made_of_numbers() {
        let check = |value: Value, expected: Option<i64>| {
            let made = made("f", &[value], MINUTE).ok();
            assert_eq!(made, expected.map(Value::Duration));
        };
        check(Value::Int(2), Some(120_000));
        check(Value::Float(0.5), Some(30_000));
        check(Value::Float(0.000_01), Some(1));
        check(Value::Int(i64::MAX), None);
        check(Value::Float(f64::NAN), None);
        check(Value::Float(1e30), None);
        check(Value::text("2"), None);
    }
}
