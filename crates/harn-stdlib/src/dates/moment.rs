//! A point in time.

use chrono::{DateTime, SecondsFormat, Utc};
use harn_machine::{Failure, Fault, Value};

/// A point in time, exact to the microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub(super) DateTime<Utc>);

impl Moment {
    /// The moment so many microseconds after 1970, if there are so many years.
    fn of_microseconds(microseconds: i64) -> Option<Self> {
        DateTime::from_timestamp_micros(microseconds).map(Self)
    }

    /// What programs see of it: seconds, as an int if they are whole.
    pub(super) fn timestamp(self) -> Value {
        // A leap second has more than a second's worth of nanoseconds.
        let (seconds, nanoseconds) = (self.0.timestamp(), self.0.timestamp_subsec_nanos());
        match nanoseconds % 1_000_000_000 {
            0 => Value::Int(seconds + i64::from(nanoseconds / 1_000_000_000)),
            _ => Value::Float(seconds as f64 + f64::from(nanoseconds) / 1e9),
        }
    }

    /// The moment so many milliseconds later.
    pub(super) fn plus(self, milliseconds: i64) -> Option<Self> {
        let span = chrono::Duration::try_milliseconds(milliseconds)?;
        self.0.checked_add_signed(span).map(Self)
    }

    /// How many milliseconds it is after another.
    pub(super) fn since(self, other: Self) -> i64 {
        (self.0 - other.0).num_milliseconds()
    }
}

/// The moment that an argument stands for.
pub(super) fn moment_at(function: &str, arguments: &[Value], at: usize) -> Result<Moment, Failure> {
    let Some(value) = arguments.get(at) else {
        return fail(function, "missing timestamp argument");
    };
    let timestamp = match value {
        Value::Dict(dict) => dict.get("timestamp").unwrap_or(value),
        _ => value,
    };
    let moment = match timestamp {
        Value::Int(seconds) => DateTime::from_timestamp(*seconds, 0).map(Moment),
        Value::Float(seconds) if !seconds.is_finite() => {
            return fail(function, "timestamp must be finite");
        }
        Value::Float(seconds) => {
            let microseconds = (seconds * 1e6).round();
            let fits = microseconds.abs() < 9.2e18;
            fits.then(|| Moment::of_microseconds(microseconds as i64))
                .flatten()
        }
        _ => {
            let kind = timestamp.type_name();
            let message = format!("expected timestamp number or date dict, got {kind}");
            return fail(function, &message);
        }
    };
    moment.map_or_else(|| fail(function, "timestamp out of range"), Ok)
}

/// What is thrown by a function.
pub(super) fn fail<T>(function: &str, message: &str) -> Result<T, Failure> {
    Err(Fault::thrown(format!("{function}: {message}")))
}

/// A time in UTC with milliseconds, as log lines show it.
pub(crate) fn iso8601(milliseconds: i64) -> String {
    let moment = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_for_moments() {
        for (value, shown) in [
            (Value::Int(-1), "-1"),
            (Value::Float(1.5), "1.5"),
            (Value::Float(1.0), "1"),
            (Value::Float(1.000_000_4), "1"),
            (Value::Float(1.000_001), "1.000001"),
            (Value::dict([("timestamp", Value::Int(5))]), "5"),
        ] {
            let moment = moment_at("f", &[value], 0).expect("it is a moment");
            assert_eq!(moment.timestamp().show(), shown);
        }
    }

    #[test]
    fn what_is_no_moment_fails() {
        for (arguments, message) in [
            (vec![], "Thrown: f: missing timestamp argument"),
            (
                vec![Value::Float(f64::NAN)],
                "Thrown: f: timestamp must be finite",
            ),
            (
                vec![Value::Float(1e300)],
                "Thrown: f: timestamp out of range",
            ),
            (
                vec![Value::Int(i64::MAX)],
                "Thrown: f: timestamp out of range",
            ),
            (
                vec![Value::text("x")],
                "Thrown: f: expected timestamp number or date dict, got string",
            ),
            (
                vec![Value::dict([])],
                "Thrown: f: expected timestamp number or date dict, got dict",
            ),
        ] {
            let failure = moment_at("f", &arguments, 0).expect_err("it is none");
            assert_eq!(failure.text(), message);
        }
    }

    #[test]
    fn log_lines_have_milliseconds() {
        assert_eq!(iso8601(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso8601(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
    }
}
