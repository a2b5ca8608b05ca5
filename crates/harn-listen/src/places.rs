//! How many connections each peer and each caller may have.
//!
//! ```text
//! accepted ─► unknown, at most 32: the oldest of the peer with most of them makes room
//!                │ a good credential
//!                ▼
//!             known, at most 64 of one caller: one more is refused
//! ```
//!
//! Bounds for one come before the bound for all, so that one peer or caller that takes all it
//! can get leaves room for the others.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::caller::{Caller, Means};
use crate::counters::Counters;
use crate::failures::network;

/// The connections of a listener, by whom they are.
pub(crate) struct Places {
    table: Mutex<Table>,
    unknown_max: usize,
    known_max: usize,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Table {
    /// Those that have shown no good credential yet, the oldest first.
    unknown: BTreeMap<u64, Unknown>,
    known: HashMap<Holder, usize>,
    next_number: u64,
}

struct Unknown {
    peer: IpAddr,
    evicted: Arc<Notify>,
}

/// Whose a connection is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Caller {
        means: Means,
        name: String,
    },
    /// Somebody who was let in without a credential, by the network they come from.
    Peer(IpAddr),
}

/// The place of one connection. Dropping it gives it back.
pub(crate) struct ConnectionPlace {
    places: Arc<Places>,
    number: u64,
    peer: IpAddr,
    evicted: Arc<Notify>,
    holder: Mutex<Option<Holder>>,
}

/// The caller has as many connections as one may have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyConnections;

impl Places {
    pub(crate) fn new(unknown_max: usize, known_max: usize, counters: Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            unknown_max,
            known_max,
            counters,
        })
    }

    /// A place for a connection of which nothing is known but where it comes from.
    pub(crate) fn enter(self: &Arc<Self>, peer: IpAddr) -> Arc<ConnectionPlace> {
        let peer = network(peer);
        let evicted = Arc::new(Notify::new());
        let mut table = self.table();
        let number = table.next_number;
        table.next_number += 1;
        let unknown = Unknown {
            peer,
            evicted: Arc::clone(&evicted),
        };
        table.unknown.insert(number, unknown);
        if table.unknown.len() > self.unknown_max {
            table.evict();
            self.counters.connections_evicted.add();
        }
        drop(table);
        Arc::new(ConnectionPlace {
            places: Arc::clone(self),
            number,
            peer,
            evicted,
            holder: Mutex::default(),
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Ends the oldest connection of the peer that has most of them.
    fn evict(&mut self) {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for unknown in self.unknown.values() {
            *counts.entry(unknown.peer).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or_default();
        let is_of_most = |unknown: &Unknown| counts.get(&unknown.peer) == Some(&most);
        let mut unknown = self.unknown.iter();
        let oldest = unknown.find(|(_, unknown)| is_of_most(unknown));
        if let Some(number) = oldest.map(|(number, _)| *number)
            && let Some(unknown) = self.unknown.remove(&number)
        {
            unknown.evicted.notify_one();
        }
    }

    fn release(&mut self, holder: &Holder) {
        if let Some(count) = self.known.get_mut(holder) {
            *count -= 1;
            if *count == 0 {
                self.known.remove(holder);
            }
        }
    }
}

impl ConnectionPlace {
    /// The connection belongs to this caller from now on.
    ///
    /// # Errors
    /// The caller has too many connections.
    pub(crate) fn identify(&self, caller: &Caller) -> Result<(), TooManyConnections> {
        let holder = match caller.means {
            Means::Nothing => Holder::Peer(self.peer),
            means => Holder::Caller {
                means,
                name: caller.name.clone(),
            },
        };
        let mut held = self.holder();
        if held.as_ref() == Some(&holder) {
            return Ok(());
        }
        let mut table = self.places.table();
        let count = table.known.entry(holder.clone()).or_default();
        if *count >= self.places.known_max {
            self.places.counters.connections_refused.add();
            return Err(TooManyConnections);
        }
        *count += 1;
        table.unknown.remove(&self.number);
        if let Some(former) = held.replace(holder) {
            table.release(&former);
        }
        Ok(())
    }

    /// Resolves when no good credential was shown for that long, and never if one was.
    pub(crate) async fn is_silent(&self, limit: Duration) {
        sleep(limit).await;
        if self.holder().is_some() {
            std::future::pending().await
        }
    }

    /// Resolves when the connection has to make room for another one.
    pub(crate) async fn is_evicted(&self) {
        self.evicted.notified().await;
    }

    fn holder(&self) -> MutexGuard<'_, Option<Holder>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let holder = self.holder().take();
        let mut table = self.places.table();
        table.unknown.remove(&self.number);
        if let Some(holder) = holder {
            table.release(&holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    /// Whether something has happened already.
    fn is_ready(future: impl Future<Output = ()>) -> bool {
        let mut ctx = Context::from_waker(Waker::noop());
        pin!(future).as_mut().poll(&mut ctx).is_ready()
    }

    fn places(unknown_max: usize, known_max: usize) -> Arc<Places> {
        Places::new(unknown_max, known_max, Arc::default())
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn caller(name: &str) -> Caller {
        Caller {
            name: name.to_owned(),
            means: Means::Key,
            ..Caller::anybody()
        }
    }

    #[test]
    fn the_oldest_of_the_peer_with_most_connections_makes_room() {
        let places = places(3, 9);
        let honest = places.enter(ip("10.0.0.1"));
        let flood: Vec<_> = (0..3).map(|_| places.enter(ip("10.0.0.2"))).collect();
        let evicted: Vec<bool> = flood.iter().map(|one| is_ready(one.is_evicted())).collect();
        assert_eq!(evicted, [true, false, false]);
        assert!(!is_ready(honest.is_evicted()));
    }

    #[test]
    fn who_has_shown_a_credential_is_not_evicted() {
        let places = places(1, 9);
        let known = places.enter(ip("127.0.0.1"));
        known.identify(&caller("ci")).unwrap();
        let idle = places.enter(ip("127.0.0.1"));
        let _newer = places.enter(ip("127.0.0.1"));
        assert!(is_ready(idle.is_evicted()));
        assert!(!is_ready(known.is_evicted()));
    }

    #[test]
    fn a_caller_that_has_all_it_may_have_leaves_room_for_others() {
        let places = places(9, 2);
        let enter = |name| {
            let place = places.enter(ip("127.0.0.1"));
            let is_in = place.identify(&caller(name)).is_ok();
            (place, is_in)
        };
        let (first, _) = enter("a");
        let (_second, is_in) = enter("a");
        assert!(is_in);
        assert!(!enter("a").1, "it has two");
        assert!(enter("b").1, "others are not kept out");
        first.identify(&caller("a")).unwrap();
        drop(first);
        assert!(enter("a").1, "one that has ended makes room");
    }

    #[test]
    fn a_connection_counts_for_its_last_caller() {
        let places = places(9, 1);
        let proxy = places.enter(ip("127.0.0.1"));
        proxy.identify(&caller("a")).unwrap();
        proxy.identify(&caller("b")).unwrap();
        let other = places.enter(ip("127.0.0.1"));
        assert_eq!(other.identify(&caller("b")), Err(TooManyConnections));
        assert_eq!(other.identify(&caller("a")), Ok(()));
    }
}
