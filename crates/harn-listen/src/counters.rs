//! How often each rule of a listener was applied.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened at a listener. Only ever counts up.
#[derive(Debug, Default)]
pub struct Counters {
    pub(crate) connections: Count,
    pub(crate) connections_waited: Count,
    pub(crate) connections_evicted: Count,
    pub(crate) connections_refused: Count,
    pub(crate) connections_silent: Count,
    pub(crate) connections_insecure: Count,
    pub(crate) handshakes_failed: Count,
    pub(crate) hosts_refused: Count,
    pub(crate) origins_refused: Count,
    pub(crate) credentials_refused: Count,
    pub(crate) peers_slowed: Count,
    pub(crate) replays_refused: Count,
    pub(crate) replay_cache_full: Count,
    pub(crate) bodies_refused: Count,
    pub(crate) bodies_late: Count,
}

impl Counters {
    /// All of them by name.
    pub fn all(&self) -> [(&'static str, u64); 15] {
        [
            ("connections", self.connections.get()),
            ("connections_waited", self.connections_waited.get()),
            ("connections_evicted", self.connections_evicted.get()),
            ("connections_refused", self.connections_refused.get()),
            ("connections_silent", self.connections_silent.get()),
            ("connections_insecure", self.connections_insecure.get()),
            ("handshakes_failed", self.handshakes_failed.get()),
            ("hosts_refused", self.hosts_refused.get()),
            ("origins_refused", self.origins_refused.get()),
            ("credentials_refused", self.credentials_refused.get()),
            ("peers_slowed", self.peers_slowed.get()),
            ("replays_refused", self.replays_refused.get()),
            ("replay_cache_full", self.replay_cache_full.get()),
            ("bodies_refused", self.bodies_refused.get()),
            ("bodies_late", self.bodies_late.get()),
        ]
    }

    /// The number with this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let mut all = self.all().into_iter();
        all.find_map(|(known, count)| (known == name).then_some(count))
    }
}

/// One number that several connections add to.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
