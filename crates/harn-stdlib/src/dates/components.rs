//! Dates by their parts.

use chrono::{DateTime, Datelike, LocalResult, TimeZone, Timelike};
use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value};

use super::iso8601;
use super::moment::{Moment, fail};
use super::parse::{Numbers, local_time};
use super::zones::zone_or_utc;

const FROM: &str = "date_from_components";

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("date_from_components", from_components),
        ("date_now", date_now),
    ]);
}

fn date_now(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let now = context.now();
    let moment = DateTime::from_timestamp_millis(now).unwrap_or_default();
    let mut dict = components(&moment);
    dict.insert("iso8601".into(), iso8601(now).into());
    dict.insert("timestamp".into(), Value::Float(now as f64 / 1000.0));
    Ok(Value::Dict(dict))
}

/// The parts of a time.
pub(super) fn components<Zone: TimeZone>(time: &DateTime<Zone>) -> Dict {
    let parts = [
        ("day", time.day()),
        ("hour", time.hour()),
        ("minute", time.minute()),
        ("month", time.month()),
        ("second", time.second()),
        ("weekday", time.weekday().num_days_from_sunday()),
    ];
    let parts = parts.map(|(key, part)| (key.into(), Value::Int(i64::from(part))));
    let mut dict = Dict::from_sorted(parts.into());
    dict.insert("year".into(), Value::Int(i64::from(time.year())));
    dict
}

fn from_components(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let dict = match arguments.first() {
        None => return fail(FROM, "missing components argument"),
        Some(Value::Dict(dict)) => dict,
        Some(other) => {
            return fail(FROM, &format!("expected dict, got {}", other.type_name()));
        }
    };
    let numbers = Numbers {
        year: part(dict, "year", None)?,
        month: part(dict, "month", None)?,
        day: part(dict, "day", None)?,
        hour: part(dict, "hour", Some(0))?,
        minute: part(dict, "minute", Some(0))?,
        second: part(dict, "second", Some(0))?,
    };
    let zone = zone_or_utc(FROM, arguments, 1)?;
    let local = match local_time(&numbers) {
        Ok(local) => local,
        Err(problem) => return harn_machine::thrown(problem),
    };
    match zone.from_local_datetime(&local) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => {
            Ok(Moment(time.to_utc()).timestamp())
        }
        LocalResult::None => fail(FROM, "local time does not exist in that timezone"),
    }
}

fn part(dict: &Dict, key: &str, usual: Option<i64>) -> Result<i64, Failure> {
    match (dict.get(key), usual) {
        (Some(Value::Int(number)), _) => Ok(*number),
        (None, Some(usual)) => Ok(usual),
        (None, None) => fail(FROM, &format!("missing {key}")),
        (Some(other), _) => {
            let kind = other.type_name();
            fail(FROM, &format!("{key} must be an integer, got {kind}"))
        }
    }
}
