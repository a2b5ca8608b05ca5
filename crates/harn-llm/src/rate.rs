//! How often a provider may be asked: so many requests in any 60 seconds.

use std::collections::{HashMap, VecDeque};

/// The window that requests are counted in.
const WINDOW_MS: i64 = 60_000;

/// The limits of all providers, and when they were asked lately.
#[derive(Debug, Default)]
pub struct RateLimits {
    providers: HashMap<String, Window>,
}

#[derive(Debug, Default)]
struct Window {
    requests_per_minute: Option<u32>,
    /// When the last requests were made, oldest first; as many as the limit at most.
    asked_at: VecDeque<i64>,
}

impl RateLimits {
    /// Sets or clears a limit.
    pub fn set(&mut self, provider: &str, requests_per_minute: Option<u32>) {
        let window = self.providers.entry(provider.to_owned()).or_default();
        window.requests_per_minute = requests_per_minute;
    }

    /// The limit of a provider.
    pub fn get(&self, provider: &str) -> Option<u32> {
        self.providers.get(provider)?.requests_per_minute
    }

    /// Takes a permit, at a time in milliseconds.
    ///
    /// # Errors
    /// How many milliseconds to wait before trying again. No permit was taken.
    pub fn acquire(&mut self, provider: &str, now: i64) -> Result<(), u64> {
        let Some(window) = self.providers.get_mut(provider) else {
            return Ok(());
        };
        let Some(limit) = window.requests_per_minute else {
            return Ok(());
        };
        while window
            .asked_at
            .front()
            .is_some_and(|at| now - at >= WINDOW_MS)
        {
            window.asked_at.pop_front();
        }
        if window.asked_at.len() < limit as usize {
            window.asked_at.push_back(now);
            return Ok(());
        }
        let oldest = window.asked_at.front().copied().unwrap_or(now);
        Err(u64::try_from(oldest + WINDOW_MS - now).unwrap_or(0).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_sixty_seconds_slides() {
        let mut limits = RateLimits::default();
        assert_eq!(limits.acquire("p", 0), Ok(()));
        limits.set("p", Some(2));
        assert_eq!(limits.acquire("p", 0), Ok(()));
        assert_eq!(limits.acquire("p", 10_000), Ok(()));
        assert_eq!(limits.acquire("p", 20_000), Err(40_000));
        assert_eq!(limits.acquire("other", 20_000), Ok(()));
        assert_eq!(limits.acquire("p", 60_000), Ok(()));
        assert_eq!(limits.acquire("p", 60_000), Err(10_000));
        limits.set("p", None);
        assert_eq!(limits.acquire("p", 60_000), Ok(()));
        assert_eq!(limits.get("p"), None);
    }
}
