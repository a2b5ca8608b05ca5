//! Whether and when a request is sent again.

use harn_machine::value::Dict;
use harn_machine::{Context, Value};

use super::options::number;
use super::reply::Head;
use crate::dates::clock::now_ms;
use crate::random::Random;
use crate::tasks::milliseconds;

const BACKOFF_MS: i64 = 1000;

/// The longest time between two attempts.
const DELAY_MS_MAX: i64 = 60_000;

const STATUSES: [i64; 6] = [408, 429, 500, 502, 503, 504];
const METHODS: [&str; 5] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"];

/// Whether and when a request is sent again.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    /// How often at most.
    max: i64,
    backoff_ms: i64,
    /// After which statuses; `None`: the usual ones.
    statuses: Option<Vec<i64>>,
    /// With which methods, in upper case; `None`: the usual ones.
    methods: Option<Vec<String>>,
    /// Whether the server may say how long to wait.
    heeds_server: bool,
}

impl Retries {
    pub(super) fn of(options: &Dict) -> Self {
        let retry = match options.get("retry") {
            Some(Value::Dict(retry)) => retry.clone(),
            _ => Dict::default(),
        };
        let direct = number(options, "retry").or_else(|| number(options, "retries"));
        let listed = |name: &str| match options.get(name) {
            Some(Value::List(items)) => Some(items.clone()),
            _ => None,
        };
        let backoff = retry.get("backoff_ms").or_else(|| options.get("backoff"));
        Self {
            max: number(&retry, "max").or(direct).unwrap_or(0),
            backoff_ms: backoff.and_then(milliseconds).unwrap_or(BACKOFF_MS).max(0),
            statuses: listed("retry_on").map(|statuses| {
                let statuses = statuses.iter();
                let statuses = statuses.filter_map(|status| match status {
                    Value::Int(status) => Some(*status),
                    _ => None,
                });
                statuses.collect()
            }),
            methods: listed("retry_methods").map(|methods| {
                let methods = methods.iter();
                methods
                    .map(|method| method.to_text().to_uppercase())
                    .collect()
            }),
            heeds_server: options
                .get("respect_retry_after")
                .is_none_or(Value::is_truthy),
        }
    }

    /// Whether a request with that method may be sent again after so many attempts.
    pub(super) fn allow(&self, method: &str, attempts: i64) -> bool {
        let methods = match &self.methods {
            Some(methods) => methods.iter().any(|one| one == method),
            None => METHODS.contains(&method),
        };
        methods && attempts <= self.max
    }

    /// Whether a status is one after which it is worth another attempt.
    pub(super) fn is_worth_it(&self, status: i64) -> bool {
        match &self.statuses {
            Some(statuses) => statuses.contains(&status),
            None => STATUSES.contains(&status),
        }
    }

    /// How long to wait after so many attempts, the last of which had this answer.
    pub(super) fn delay_ms(
        &self,
        context: &mut Context<'_>,
        attempts: i64,
        answer: Option<&Head>,
    ) -> i64 {
        let doubled = u32::try_from(attempts - 1).ok();
        let doubled = doubled.and_then(|times| 2_i64.checked_pow(times));
        let backoff = self.backoff_ms.saturating_mul(doubled.unwrap_or(i64::MAX));
        let backoff = match backoff.min(2 * DELAY_MS_MAX) {
            0 => 0,
            backoff => (backoff as f64 * (0.75 + Random::fresh(context).unit() / 2.0)) as i64,
        };
        let wished = answer.filter(|head| self.heeds_server && matches!(head.status, 429 | 503));
        let wished = wished.and_then(|head| head.header("retry-after"));
        let wished = wished.and_then(|text| retry_after(text.trim(), now_ms(context)));
        backoff.max(wished.unwrap_or(0)).min(DELAY_MS_MAX)
    }
}

/// The time of a `Retry-After` header, in seconds or as a date.
fn retry_after(text: &str, now_ms: i64) -> Option<i64> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(i64::from(seconds) * 1000);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let date = i64::try_from(since.as_millis()).ok()?;
    Some(date.saturating_sub(now_ms).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gives_seconds_or_a_date() {
        assert_eq!(retry_after("2", 0), Some(2000));
        let date = "Thu, 01 Jan 1970 00:01:00 GMT";
        assert_eq!(retry_after(date, 10_000), Some(50_000));
        assert_eq!(retry_after(date, 90_000), Some(0));
        assert_eq!(retry_after("soon", 0), None);
    }

    #[test]
    fn only_some_methods_are_sent_again() {
        let options = Value::dict([("retries", Value::Int(1))]);
        let Value::Dict(options) = options else {
            unreachable!("it was made as one")
        };
        let retries = Retries::of(&options);
        assert!(retries.allow("GET", 1));
        assert!(!retries.allow("GET", 2));
        assert!(!retries.allow("POST", 1));
    }
}
