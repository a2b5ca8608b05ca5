//! Remembers who failed to show a good credential, so that guessing is slow.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// The peers that failed of late. Bounded: the oldest is forgotten for a new one.
pub(crate) struct Failures {
    peers: HashMap<IpAddr, Failed>,
    failures_max: u32,
    window_ms: i64,
    peers_max: usize,
}

struct Failed {
    since_ms: i64,
    count: u32,
}

impl Failures {
    pub(crate) fn new(failures_max: u32, window_ms: i64, peers_max: usize) -> Self {
        Self {
            peers: HashMap::new(),
            failures_max,
            window_ms,
            peers_max,
        }
    }

    /// How many seconds the peer has to wait, if it failed too often.
    pub(crate) fn wait_secs(&self, peer: IpAddr, now_ms: i64) -> Option<i64> {
        let failed = self.peers.get(&network(peer))?;
        let left_ms = self.left_ms(failed, now_ms);
        (failed.count >= self.failures_max && left_ms > 0).then(|| (left_ms + 999) / 1000)
    }

    /// The peer failed.
    pub(crate) fn note(&mut self, peer: IpAddr, now_ms: i64) {
        let peer = network(peer);
        let is_over = self
            .peers
            .get(&peer)
            .is_some_and(|failed| self.left_ms(failed, now_ms) <= 0);
        if is_over {
            self.peers.remove(&peer);
        }
        if !self.peers.contains_key(&peer) && self.peers.len() >= self.peers_max {
            self.forget_oldest();
        }
        let failed = self.peers.entry(peer).or_insert(Failed {
            since_ms: now_ms,
            count: 0,
        });
        failed.count = failed.count.saturating_add(1);
    }

    /// Never more than the window, also when the clock was set back meanwhile.
    fn left_ms(&self, failed: &Failed, now_ms: i64) -> i64 {
        let passed = now_ms.saturating_sub(failed.since_ms).max(0);
        self.window_ms.saturating_sub(passed)
    }

    fn forget_oldest(&mut self) {
        let oldest = self.peers.iter().min_by_key(|(_, failed)| failed.since_ms);
        if let Some(peer) = oldest.map(|(peer, _)| *peer) {
            self.peers.remove(&peer);
        }
    }
}

/// One customer gets a whole network of IPv6 addresses, so those are counted together.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_peer_that_failed_too_often_waits_and_others_do_not() {
        let mut failures = Failures::new(2, 60_000, 10);
        let (peer, other) = (ip("10.0.0.1"), ip("10.0.0.2"));
        failures.note(peer, 0);
        assert_eq!(failures.wait_secs(peer, 0), None);
        failures.note(peer, 30_000);
        assert_eq!(failures.wait_secs(peer, 30_000), Some(30));
        assert_eq!(failures.wait_secs(other, 30_000), None);
        assert_eq!(failures.wait_secs(peer, 60_000), None);
        failures.note(peer, 60_000);
        assert_eq!(failures.wait_secs(peer, 60_000), None, "it starts anew");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut failures = Failures::new(1, 60_000, 2);
        for (time, peer) in ["10.0.0.1", "10.0.0.2", "10.0.0.3"].into_iter().enumerate() {
            failures.note(ip(peer), time as i64);
        }
        assert_eq!(failures.peers.len(), 2);
        assert_eq!(failures.wait_secs(ip("10.0.0.1"), 3), None, "the oldest");
        assert!(failures.wait_secs(ip("10.0.0.3"), 3).is_some());
    }

    #[test]
    fn addresses_of_one_customer_are_one_peer() {
        let mut failures = Failures::new(1, 60_000, 10);
        failures.note(ip("2001:db8::1"), 0);
        assert!(failures.wait_secs(ip("2001:db8::ffff:1:2"), 0).is_some());
        assert!(failures.wait_secs(ip("2001:db8:0:1::1"), 0).is_none());
        failures.note(ip("::ffff:10.0.0.1"), 0);
        assert!(failures.wait_secs(ip("10.0.0.1"), 0).is_some());
    }
}
