//! Dates as the clocks of a place show them.

use std::fmt::Write;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, Offset};
use harn_machine::{Context, Failure, Registry, Value};

use super::components::components;
use super::moment::{fail, moment_at};
use super::optional_text;
use super::zone::Zone;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("date_format", date_format),
        ("date_in_zone", date_in_zone),
        ("date_to_zone", date_to_zone),
        ("month_name", |_, arguments| {
            named("month_name", arguments, "%B")
        }),
        ("weekday_name", |_, arguments| {
            named("weekday_name", arguments, "%A")
        }),
    ]);
}

fn date_format(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let moment = moment_at("date_format", arguments, 0)?;
    let format = optional_text(arguments, 1);
    let format = format.as_deref().unwrap_or("%Y-%m-%d %H:%M:%S");
    let zone = match arguments.get(2) {
        Some(name) => zone_named("date_format", &name.to_text())?,
        None => Zone::utc(),
    };
    match formatted(&moment.0.with_timezone(&zone), format) {
        Some(text) => Ok(text.into()),
        None => fail("date_format", &format!("invalid format '{format}'")),
    }
}

fn date_in_zone(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let moment = moment_at("date_in_zone", arguments, 0)?;
    let (zone, name) = zone_at("date_in_zone", arguments, 1)?;
    let local = moment.0.with_timezone(&zone);
    let mut dict = components(&local);
    let offset = local.offset().fix().local_minus_utc();
    for (key, value) in [
        ("iso8601", local.to_rfc3339().into()),
        ("offset_seconds", Value::Int(i64::from(offset))),
        ("timestamp", moment.timestamp()),
        ("zone", name),
    ] {
        dict.insert(key.into(), value);
    }
    Ok(Value::Dict(dict))
}

fn date_to_zone(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let moment = moment_at("date_to_zone", arguments, 0)?;
    let (zone, _) = zone_at("date_to_zone", arguments, 1)?;
    Ok(moment.0.with_timezone(&zone).to_rfc3339().into())
}

fn named(function: &str, arguments: &[Value], format: &str) -> Result<Value, Failure> {
    let moment = moment_at(function, arguments, 0)?;
    let zone = zone_or_utc(function, arguments, 1)?;
    let text = formatted(&moment.0.with_timezone(&zone), format);
    Ok(text.unwrap_or_default().into())
}

/// The time zone of a name.
fn zone_named(function: &str, name: &str) -> Result<Zone, Failure> {
    match Zone::named(name) {
        Some(zone) => Ok(zone),
        None => fail(function, &format!("unknown timezone '{name}'")),
    }
}

/// The time zone that an argument names, with its name.
fn zone_at(function: &str, arguments: &[Value], at: usize) -> Result<(Zone, Value), Failure> {
    let Some(name) = arguments.get(at) else {
        return fail(function, "missing timezone argument");
    };
    let name = name.to_text();
    Ok((zone_named(function, &name)?, name.into()))
}

/// The time zone that an argument names; UTC if it is nil or missing.
pub(super) fn zone_or_utc(function: &str, arguments: &[Value], at: usize) -> Result<Zone, Failure> {
    match optional_text(arguments, at) {
        Some(name) => zone_named(function, &name),
        None => Ok(Zone::utc()),
    }
}

/// A time in a format of strftime; `None` if the format is none.
fn formatted(time: &DateTime<Zone>, format: &str) -> Option<String> {
    let items: Vec<Item<'_>> = StrftimeItems::new(format).collect();
    if items.contains(&Item::Error) {
        return None;
    }
    let mut out = String::new();
    write!(out, "{}", time.format_with_items(items.iter())).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_chrono() {
        let moment = DateTime::from_timestamp_micros(1_767_323_045_006_007).expect("a year 2026");
        let new_york = Zone::named("America/New_York").unwrap();
        for (zone, format, expected) in [
            (Zone::utc(), "%Y-%m-%d %H:%M:%S", "2026-01-02 03:04:05"),
            (Zone::utc(), "%A %B %j %s", "Friday January 002 1767323045"),
            (
                Zone::utc(),
                "%Z %z %:z %3f %6f",
                "UTC +0000 +00:00 006 006007",
            ),
            (new_york, "%F %T %Z %z", "2026-01-01 22:04:05 EST -0500"),
            (Zone::utc(), "100%%", "100%"),
        ] {
            let text = formatted(&moment.with_timezone(&zone), format);
            assert_eq!(text.as_deref(), Some(expected));
        }
        assert_eq!(formatted(&moment.with_timezone(&Zone::utc()), "%Q"), None);
    }
}
