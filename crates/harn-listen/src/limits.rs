//! How much strangers may cost.

use std::time::Duration;

/// The limits of a listener. Each has a default, and a counter of how often it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time. Those beyond wait in the backlog of the system.
    pub connections_max: usize,
    /// Connections at a time that have shown no good credential yet. One more ends the oldest of
    /// the peer that has most of them.
    pub unknown_connections_max: usize,
    /// Connections of one caller at a time. More are refused.
    pub caller_connections_max: usize,
    /// How long a peer may take for the TLS handshake, for the head of a request, and to show a
    /// good credential.
    pub head_timeout: Duration,
    /// How long the body of a request may take.
    pub body_timeout: Duration,
    /// Bytes of the head of a request.
    pub head_bytes_max: usize,
    /// Bytes of a signed body, which is read whole before it is believed.
    pub signed_body_bytes_max: usize,
    /// Failed attempts of one peer in [`failures_window`](Self::failures_window) until further
    /// ones are told to wait. Good credentials are let in all the same.
    pub failures_max: u32,
    /// How long failures are remembered.
    pub failures_window: Duration,
    /// Peers whose failures are remembered. The oldest is forgotten for a new one.
    pub failing_peers_max: usize,
    /// How far the clock of whoever signs may be off, either way.
    pub clock_window: Duration,
    /// Signed requests that are remembered, so that none is accepted twice.
    pub replay_entries_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 256,
            unknown_connections_max: 32,
            caller_connections_max: 64,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            head_bytes_max: 64 * 1024,
            signed_body_bytes_max: 16 * 1024 * 1024,
            failures_max: 10,
            failures_window: Duration::from_secs(60),
            failing_peers_max: 4096,
            clock_window: Duration::from_secs(300),
            replay_entries_max: 65_536,
        }
    }
}

impl Limits {
    /// The limits that can be set by name. Times are in seconds.
    pub const NAMES: [&str; 12] = [
        "connections",
        "unknown_connections",
        "caller_connections",
        "head_secs",
        "body_secs",
        "head_bytes",
        "signed_body_bytes",
        "failures",
        "failures_secs",
        "failing_peers",
        "clock_secs",
        "replay_entries",
    ];

    /// All of them, by the names they can be set by.
    pub fn all(&self) -> [(&'static str, u64); 12] {
        let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
        [
            ("connections", number(self.connections_max)),
            ("unknown_connections", number(self.unknown_connections_max)),
            ("caller_connections", number(self.caller_connections_max)),
            ("head_secs", self.head_timeout.as_secs()),
            ("body_secs", self.body_timeout.as_secs()),
            ("head_bytes", number(self.head_bytes_max)),
            ("signed_body_bytes", number(self.signed_body_bytes_max)),
            ("failures", u64::from(self.failures_max)),
            ("failures_secs", self.failures_window.as_secs()),
            ("failing_peers", number(self.failing_peers_max)),
            ("clock_secs", self.clock_window.as_secs()),
            ("replay_entries", number(self.replay_entries_max)),
        ]
    }

    /// Sets a limit by its name; `false` if there is none of that name.
    pub fn set(&mut self, name: &str, value: u32) -> bool {
        let secs = Duration::from_secs(u64::from(value));
        let number = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "connections" => self.connections_max = number,
            "unknown_connections" => self.unknown_connections_max = number,
            "caller_connections" => self.caller_connections_max = number,
            "head_secs" => self.head_timeout = secs,
            "body_secs" => self.body_timeout = secs,
            "head_bytes" => self.head_bytes_max = number,
            "signed_body_bytes" => self.signed_body_bytes_max = number,
            "failures" => self.failures_max = value,
            "failures_secs" => self.failures_window = secs,
            "failing_peers" => self.failing_peers_max = number,
            "clock_secs" => self.clock_window = secs,
            "replay_entries" => self.replay_entries_max = number,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_can_be_set_by_its_name() {
        for name in Limits::NAMES {
            let mut limits = Limits::default();
            assert!(limits.set(name, 7), "{name}");
            assert!(limits.all().contains(&(name, 7)), "{name}");
        }
        assert!(!Limits::default().set("none", 1));
    }
}
