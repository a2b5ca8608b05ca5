//! What a browser would send after cookies were set.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime};
use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::parse::{Cookies, pair};
use super::{fail, header, require};

const NAME: &str = "cookie_round_trip";

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[(NAME, cookie_round_trip)]);
}

fn cookie_round_trip(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require(NAME, arguments, 1)?;
    let nothing = Value::Nil;
    let (request, set) = match &*arguments {
        [set] => (&nothing, set),
        _ => (argument(arguments, 0), argument(arguments, 1)),
    };
    let mut jar = kept(request)?;
    let now = context.now().div_euclid(1000);
    for line in set_lines(set)? {
        apply(&mut jar, &line, now);
    }
    let pairs: Vec<String> = jar
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut cookies = Dict::default();
    for (name, value) in jar {
        cookies.insert(name, value.into());
    }
    Ok(Value::dict([
        ("cookie_header", pairs.join("; ").into()),
        ("cookies", cookies.into()),
    ]))
}

/// The cookies that are there already: those of a request, what `cookie_parse` makes of them,
/// or a dict of names and values.
fn kept(request: &Value) -> Result<BTreeMap<Text, Text>, Failure> {
    let named = match request {
        Value::Dict(dict) => match dict.get("cookies") {
            Some(Value::Dict(parsed)) => parsed.clone(),
            _ if header(dict, "cookie").is_none() => dict.clone(),
            _ => Cookies::of(NAME, request)?.first_values(),
        },
        _ => Cookies::of(NAME, request)?.first_values(),
    };
    let pairs = named.iter();
    Ok(pairs
        .map(|(name, value)| (name.clone(), value.to_text()))
        .collect())
}

/// The headers that set cookies: one, several, or those among all of an answer.
fn set_lines(set: &Value) -> Result<Vec<Text>, Failure> {
    match set {
        Value::Nil => Ok(Vec::new()),
        Value::Text(line) => Ok(vec![line.clone()]),
        Value::List(lines) => Ok(lines.iter().map(Value::to_text).collect()),
        Value::Dict(headers) => match header(headers, "set-cookie") {
            Some(Value::Dict(_)) | None => Ok(Vec::new()),
            Some(lines) => set_lines(lines),
        },
        other => {
            let kind = other.type_name();
            fail(format!(
                "{NAME} expects set_cookie as a string, list, dict, or nil, got {kind}"
            ))
        }
    }
}

/// Does what a header says; one that is no cookie is passed over, as browsers do.
fn apply(jar: &mut BTreeMap<Text, Text>, line: &str, now: i64) {
    let mut segments = line.split(';').map(str::trim);
    let Some(Ok((name, value))) = segments.next().map(pair) else {
        return;
    };
    match is_over(segments, now) {
        true => jar.remove(&Text::new(name)),
        false => jar.insert(Text::new(name), Text::new(value)),
    };
}

/// Whether the attributes say that a cookie is to be forgotten. Max-Age counts for more.
fn is_over<'a>(attributes: impl Iterator<Item = &'a str>, now: i64) -> bool {
    let (mut max_age, mut expires) = (None, None);
    for attribute in attributes {
        let Some((name, value)) = attribute.split_once('=') else {
            continue;
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "max-age" => max_age = value.trim().parse::<i64>().ok().or(max_age),
            "expires" => expires = seconds(value.trim()).or(expires),
            _ => {}
        }
    }
    match (max_age, expires) {
        (Some(max_age), _) => max_age <= 0,
        (None, Some(expires)) => expires <= now,
        (None, None) => false,
    }
}

/// The seconds since 1970 of a date in one of the forms that HTTP has had.
fn seconds(date: &str) -> Option<i64> {
    if let Ok(date) = DateTime::parse_from_rfc2822(date) {
        return Some(date.timestamp());
    }
    let forms = [
        "%a, %d-%b-%Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    ];
    let read = |form: &&str| NaiveDateTime::parse_from_str(date, form).ok();
    let date = forms.iter().find_map(read)?;
    Some(date.and_utc().timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_date_is_read() {
        // The example of RFC 9110, section 5.6.7, and the one of old cookies.
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds(date), Some(784_111_777), "{date}");
        }
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn the_greater_age_counts() {
        let check = |attributes: &str, expected: bool| {
            assert_eq!(
                is_over(attributes.split(';'), 1000),
                expected,
                "{attributes}"
            );
        };
        check("", false);
        check("Path=/", false);
        check("Max-Age=0", true);
        check("max-age=-1", true);
        check("Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false);
        check("Expires=Thu, 01 Jan 1970 00:00:00 GMT", true);
        check("Expires=Fri, 01 Jan 2100 00:00:00 GMT", false);
        check("Expires=never", false);
    }
}
