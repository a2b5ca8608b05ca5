//! When a failed call is tried again, and after how long.

use std::time::Duration;

use crate::Error;
use crate::classify::{Kind, classify, is_empty_completion, wait_for};

/// How often and how slowly a call is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many more times.
    pub retries: u32,
    /// The first pause; each further one is twice as long, up to the fifth.
    pub backoff_ms: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            retries: 0,
            backoff_ms: 250,
        }
    }
}

/// The number of pauses after which they no longer grow.
const DOUBLINGS_MAX: u32 = 4;

impl Retry {
    /// How long to wait before trying again; `None` to give up. `attempt` counts the failures
    /// before this one. `chance` between 0 and 1 spreads callers that failed together over a
    /// quarter of the pause.
    pub fn pause(&self, attempt: u32, error: &Error, now: i64, chance: f64) -> Option<Duration> {
        if attempt >= self.retries || !is_transient(error) {
            return None;
        }
        if let Some(wait) = wait_for(error, now) {
            return Some(wait);
        }
        let factor = 1_u64 << attempt.min(DOUBLINGS_MAX);
        let pause = Duration::from_millis(self.backoff_ms.saturating_mul(factor));
        Some(pause.mul_f64(1.0 + chance.clamp(0.0, 1.0) / 4.0))
    }
}

/// Whether trying again makes sense.
pub fn is_transient(error: &Error) -> bool {
    is_empty_completion(&error.message)
        || classify(error.category, &error.message).kind() == Kind::Transient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    #[test]
    fn pauses_double_until_the_fifth() {
        let retry = Retry {
            retries: 10,
            backoff_ms: 100,
        };
        let error = Error::new(Category::ServerError, "no");
        let pauses: Vec<u128> = (0..7)
            .filter_map(|attempt| retry.pause(attempt, &error, 0, 0.0))
            .map(|pause| pause.as_millis())
            .collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 1600, 1600]);
        let spread = retry.pause(0, &error, 0, 1.0).unwrap();
        assert_eq!(spread.as_millis(), 125);
    }

    #[test]
    fn what_the_provider_says_comes_first() {
        let retry = Retry {
            retries: 1,
            backoff_ms: 100,
        };
        let error = Error::new(Category::RateLimit, "slow down\nretry-after: 1.5\n");
        assert_eq!(
            retry.pause(0, &error, 0, 1.0),
            Some(Duration::from_millis(1500))
        );
        let error = Error::new(
            Category::RateLimit,
            "p HTTP 429 x [rate_limited]: y (retry-after: 900)",
        );
        assert_eq!(
            retry.pause(0, &error, 0, 1.0),
            Some(Duration::from_secs(60))
        );
        assert_eq!(retry.pause(1, &error, 0, 1.0), None);
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        let retry = Retry {
            retries: 3,
            backoff_ms: 100,
        };
        for error in [
            Error::new(Category::Auth, "no"),
            Error::new(Category::RateLimit, "maximum context length reached"),
            Error::new(Category::Generic, "whatever"),
        ] {
            assert_eq!(retry.pause(0, &error, 0, 0.0), None, "{error}");
        }
    }
}
