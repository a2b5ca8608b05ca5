//! What to keep, and for how long.
//!
//! A retention is a bound on age, size and number of the records of some topics.
//! Whatever is beyond the tightest bound goes, oldest first, unless a consumer has
//! not read it yet. A keeper does that when a log is opened and from time to time.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Deserialize;

use crate::any::AnyEventLog;
use crate::block::block_on;
use crate::clock::now_ms;
use crate::error::LogError;
use crate::log::{CompactForce, CompactReport, EventLog, Result};
use crate::name::{EventId, Topic};

/// Records looked at together.
const CHUNK_RECORDS: usize = 1024;
/// How often a keeper looks.
const KEEP_EVERY: Duration = Duration::from_secs(60);
/// Topics may be shared by sessions whose names look alike; this header tells them apart.
const SESSION_HEADER: &str = "session_id";

/// What to keep of some topics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// A topic, or the beginning of several followed by `*`.
    pub topics: String,
    /// Records older than this go.
    pub max_age_days: Option<u32>,
    /// The oldest records go while all of them are larger than this.
    pub max_bytes: Option<u64>,
    /// The oldest records go while there are more than this.
    pub max_count: Option<u64>,
}

impl Retention {
    /// Whether it is about this topic.
    pub fn covers(&self, topic: &Topic) -> bool {
        match self.topics.strip_suffix('*') {
            Some(start) => topic.as_str().starts_with(start),
            None => self.topics == topic.as_str(),
        }
    }

    /// Removes what is not to be kept of a topic, at the time `now_ms`.
    ///
    /// # Errors
    /// The log fails.
    pub async fn enforce<L: EventLog>(
        &self,
        log: &L,
        topic: &Topic,
        now_ms: i64,
    ) -> Result<CompactReport> {
        let Some(head) = log.latest(topic).await? else {
            return Ok(CompactReport::default());
        };
        let by_age = self.aged(log, topic, now_ms).await?;
        let by_count = self.max_count.map_or(0, |count| head.saturating_sub(count));
        let by_amount = by_count.max(self.oversized(log, topic, head).await?);
        // One session must not push out the records of another.
        let by_amount = match by_amount > by_age && is_shared(log, topic, by_amount).await? {
            true => 0,
            false => by_amount,
        };
        compact_unread_aside(log, topic, by_age.max(by_amount)).await
    }

    /// The last record that is too old.
    async fn aged<L: EventLog>(&self, log: &L, topic: &Topic, now_ms: i64) -> Result<EventId> {
        let Some(days) = self.max_age_days else {
            return Ok(0);
        };
        let oldest = now_ms.saturating_sub(i64::from(days) * 24 * 60 * 60 * 1000);
        let mut last = 0;
        loop {
            let records = log.read_range_bytes(topic, Some(last), CHUNK_RECORDS);
            let records = records.await?;
            let aged = records
                .iter()
                .take_while(|(_, event)| event.occurred_at_ms < oldest);
            let count = aged.clone().count();
            last = aged.last().map_or(last, |(id, _)| *id);
            if count < CHUNK_RECORDS {
                return Ok(last);
            }
        }
    }

    /// The last record that is too much, counted from the newest one back.
    async fn oversized<L: EventLog>(
        &self,
        log: &L,
        topic: &Topic,
        head: EventId,
    ) -> Result<EventId> {
        let Some(max_bytes) = self.max_bytes else {
            return Ok(0);
        };
        let (mut end, mut bytes) = (head, 0);
        while end > 0 {
            let start = end.saturating_sub(CHUNK_RECORDS as u64);
            let records = log.read_range_bytes(topic, Some(start), CHUNK_RECORDS);
            let records = records.await?;
            for (id, event) in records.iter().rev().filter(|(id, _)| *id <= end) {
                let headers = event.headers.iter();
                let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
                bytes += (event.payload.len() + event.kind.len() + headers) as u64;
                if bytes > max_bytes {
                    return Ok(*id);
                }
            }
            if records.is_empty() {
                break; // Compacted away already.
            }
            end = start;
        }
        Ok(0)
    }
}

/// Whether records of several sessions are among those up to `before`.
async fn is_shared<L: EventLog>(log: &L, topic: &Topic, before: EventId) -> Result<bool> {
    let mut sessions = BTreeSet::new();
    let mut last = 0;
    loop {
        let records = log.read_range_bytes(topic, Some(last), CHUNK_RECORDS);
        let records = records.await?;
        for (id, event) in &records {
            last = *id;
            if last > before {
                break;
            }
            sessions.extend(event.headers.get(SESSION_HEADER).cloned());
        }
        if sessions.len() > 1 {
            return Ok(true);
        }
        if records.len() < CHUNK_RECORDS || last > before {
            return Ok(false);
        }
    }
}

/// Compacts as far as every consumer has read.
async fn compact_unread_aside<L: EventLog>(
    log: &L,
    topic: &Topic,
    before: EventId,
) -> Result<CompactReport> {
    match log.compact(topic, before, CompactForce::Respect).await {
        Err(LogError::CompactionBlocked { cursor, .. }) => {
            log.compact(topic, cursor, CompactForce::Respect).await
        }
        other => other,
    }
}

/// Keeps to the retentions of a log for as long as somebody has it.
pub(crate) fn keep(log: &Arc<AnyEventLog>, retentions: &[Retention]) -> Result<()> {
    if retentions.is_empty() {
        return Ok(());
    }
    let (log, retentions) = (Arc::downgrade(log), retentions.to_vec());
    let thread = std::thread::Builder::new().name("harn-log-keep".to_owned());
    thread.spawn(move || {
        while keep_once(&log, &retentions) {
            std::thread::park_timeout(KEEP_EVERY);
        }
    })?;
    Ok(())
}

/// `false` when the log has gone.
fn keep_once(log: &Weak<AnyEventLog>, retentions: &[Retention]) -> bool {
    let Some(log) = log.upgrade() else {
        return false;
    };
    // A failure shows in the health of the log, and the next turn tries again.
    let _shows_elsewhere = block_on(enforce_all(&*log, retentions, now_ms()));
    true
}

/// Removes what is not to be kept of any topic; returns how many records went.
///
/// # Errors
/// The log fails.
pub async fn enforce_all<L: EventLog>(
    log: &L,
    retentions: &[Retention],
    now_ms: i64,
) -> Result<u64> {
    let mut removed = 0;
    for topic in log.topics().await? {
        for retention in retentions {
            if retention.covers(&topic) {
                removed += retention.enforce(log, &topic, now_ms).await?.removed;
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::LogEvent;
    use crate::memory::MemoryEventLog;
    use crate::name::ConsumerId;

    const DAY_MS: i64 = 24 * 60 * 60 * 1000;

    fn topic() -> Topic {
        Topic::new("t").unwrap()
    }

    /// Ten records, one a day, of so many sessions in turn.
    fn log(sessions: u64) -> Arc<MemoryEventLog> {
        let log = MemoryEventLog::new(16);
        for day in 0..10 {
            let session = day % sessions;
            let event = LogEvent::at("k", json!("x".repeat(1000)), day.cast_signed() * DAY_MS);
            let event = event.with_header(SESSION_HEADER, session.to_string());
            block_on(log.append(&topic(), event)).unwrap();
        }
        log
    }

    /// The first record that is left after enforcing on the tenth day.
    fn first_left(log: &MemoryEventLog, retention: &Retention) -> Option<EventId> {
        block_on(retention.enforce(log, &topic(), 10 * DAY_MS)).unwrap();
        let left = block_on(log.read_range(&topic(), None, 1)).unwrap();
        left.first().map(|(id, _)| *id)
    }

    fn by_count(count: u64) -> Retention {
        Retention {
            topics: "t".to_owned(),
            max_count: Some(count),
            ..Retention::default()
        }
    }

    #[test]
    fn the_newest_records_are_kept_by_number() {
        assert_eq!(first_left(&log(1), &by_count(3)), Some(8));
        assert_eq!(first_left(&log(1), &by_count(10)), Some(1));
        assert_eq!(first_left(&log(1), &by_count(0)), None);
    }

    #[test]
    fn the_newest_records_are_kept_by_age() {
        let retention = Retention {
            max_age_days: Some(4),
            ..Retention::default()
        };
        // On day 10, day 6 is four days ago and the record of day 6 is the seventh.
        assert_eq!(first_left(&log(1), &retention), Some(7));
    }

    #[test]
    fn the_newest_records_are_kept_by_size() {
        let of_size = |max_bytes| Retention {
            max_bytes: Some(max_bytes),
            ..Retention::default()
        };
        // A record is a little over 1,000 bytes with its headers, and under 1,400.
        assert_eq!(first_left(&log(1), &of_size(4_200)), Some(8));
        assert_eq!(first_left(&log(1), &of_size(20_000)), Some(1));
        assert_eq!(first_left(&log(1), &of_size(10)), None);
    }

    #[test]
    fn the_tightest_bound_counts() {
        let retention = Retention {
            max_age_days: Some(4),
            ..by_count(2)
        };
        assert_eq!(first_left(&log(1), &retention), Some(9));
    }

    #[test]
    fn what_a_consumer_has_not_read_stays() {
        let log = log(1);
        let consumer = ConsumerId::new("c").unwrap();
        block_on(log.ack(&topic(), &consumer, 5)).unwrap();
        assert_eq!(first_left(&log, &by_count(2)), Some(6));
    }

    #[test]
    fn no_session_pushes_out_another_but_age_is_the_same_for_all() {
        assert_eq!(first_left(&log(2), &by_count(3)), Some(1));
        let retention = Retention {
            max_age_days: Some(4),
            ..by_count(3)
        };
        assert_eq!(first_left(&log(2), &retention), Some(7));
    }

    #[test]
    fn a_retention_covers_a_topic_or_a_family() {
        let covers = |topics: &str, topic: &str| {
            let retention = Retention {
                topics: topics.to_owned(),
                ..Retention::default()
            };
            retention.covers(&Topic::new(topic).unwrap())
        };
        assert!(covers("a.b", "a.b"));
        assert!(!covers("a.b", "a.bc"));
        assert!(covers("a.*", "a.b"));
        assert!(!covers("a.*", "ab"));
        assert!(covers("*", "anything"));
    }

    #[test]
    fn all_topics_are_seen_to() {
        let log = log(1);
        let other = Topic::new("other").unwrap();
        block_on(log.append(&other, LogEvent::at("k", json!(1), 0))).unwrap();
        let removed = block_on(enforce_all(&*log, &[by_count(4)], 0)).unwrap();
        assert_eq!(removed, 6);
        assert_eq!(block_on(log.read_range(&other, None, 9)).unwrap().len(), 1);
    }
}
