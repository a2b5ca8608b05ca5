//! Leases on NATS.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use harn_log::{LogError, NatsEventLog};

use crate::support::block_on;
use crate::support::nats_server::NatsServer;

const TTL: Duration = Duration::from_secs(1);

fn two() -> (NatsServer, [Arc<NatsEventLog>; 2]) {
    let server = NatsServer::start();
    let open = || {
        let mut config = server.config("p");
        config.lease_ttl = TTL;
        NatsEventLog::open(config).unwrap()
    };
    let logs = [open(), open()];
    (server, logs)
}

#[test]
fn only_one_gets_a_lease() {
    let (_server, [one, other]) = two();
    let lease = block_on(one.try_lease("session 1/ä", "one"))
        .unwrap()
        .unwrap();
    assert_eq!((lease.name(), lease.owner()), ("session 1/ä", "one"));
    assert_eq!(
        block_on(other.try_lease("session 1/ä", "other")).unwrap(),
        None
    );
    assert_eq!(block_on(one.try_lease("session 1/ä", "one")).unwrap(), None);
    assert!(
        block_on(other.try_lease("another", "other"))
            .unwrap()
            .is_some()
    );
    let holder = block_on(other.lease_holder("session 1/ä")).unwrap();
    assert_eq!(holder, Some(lease));
    assert_eq!(block_on(other.lease_holder("free")).unwrap(), None);
}

#[test]
fn of_many_at_once_one_gets_it() {
    let (_server, logs) = two();
    let got: Vec<_> = thread::scope(|scope| {
        let take = |number: usize| {
            let log = &logs[number % 2];
            scope.spawn(move || block_on(log.try_lease("l", &number.to_string())).unwrap())
        };
        let running: Vec<_> = (0..8).map(take).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(got.iter().flatten().count(), 1);
}

#[test]
fn a_released_lease_is_free_at_once() {
    let (_server, [one, other]) = two();
    let lease = block_on(one.try_lease("l", "one")).unwrap().unwrap();
    let token = lease.token();
    let begun = Instant::now();
    let waiting = thread::spawn(move || {
        block_on(other.lease("l", "other", Duration::from_secs(10))).unwrap()
    });
    assert!(block_on(one.release_lease(lease.clone())).unwrap());
    let taken = waiting.join().unwrap().unwrap();
    assert!(begun.elapsed() < TTL, "nobody waits for the end of it");
    assert!(taken.token() > token);
    assert_eq!(
        block_on(one.renew_lease(lease.clone())).unwrap(),
        None,
        "it is lost"
    );
    assert!(!block_on(one.release_lease(lease)).unwrap());
}

#[test]
fn a_lease_that_is_not_renewed_is_taken_over() {
    let (_server, [one, other]) = two();
    let lease = block_on(one.try_lease("l", "one")).unwrap().unwrap();
    let begun = Instant::now();
    let taken = block_on(other.lease("l", "other", 10 * TTL))
        .unwrap()
        .unwrap();
    assert_eq!(taken.owner(), "other");
    assert!(begun.elapsed() >= TTL * 8 / 10, "{:?}", begun.elapsed());
    assert!(begun.elapsed() < 3 * TTL, "{:?}", begun.elapsed());
    assert_eq!(block_on(one.renew_lease(lease)).unwrap(), None);
    let holder = block_on(one.lease_holder("l")).unwrap().unwrap();
    assert_eq!(holder.owner(), "other");
}

#[test]
fn a_renewed_lease_is_kept() {
    let (_server, [one, other]) = two();
    let mut lease = block_on(one.try_lease("l", "one")).unwrap().unwrap();
    let waiting = thread::spawn(move || block_on(other.lease("l", "other", 2 * TTL)).unwrap());
    // Renewed all the time, until the other one has lost its patience.
    while !waiting.is_finished() {
        lease = block_on(one.renew_lease(lease))
            .unwrap()
            .expect("it is kept");
    }
    assert_eq!(waiting.join().unwrap(), None);
}

#[test]
fn all_agree_how_long_a_lease_lasts() {
    let server = NatsServer::start();
    let mut config = server.config("p");
    let log = NatsEventLog::open(config.clone()).unwrap();
    block_on(log.try_lease("l", "one")).unwrap().unwrap();
    config.lease_ttl *= 2;
    let other = NatsEventLog::open(config).unwrap();
    let refused = block_on(other.try_lease("m", "other")).unwrap_err();
    assert!(matches!(refused, LogError::Config(_)), "{refused}");
}
