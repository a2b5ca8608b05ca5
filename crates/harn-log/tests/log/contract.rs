//! What every log promises, whichever backend it has.
//!
//! A backend joins with a fixture and one line at the end of this file. The cases
//! are in `contract/`; one that is not listed here is dead code, which the compiler
//! reports.

use std::sync::Arc;

use harn_log::{EventLog, FileEventLog, FileOptions, MemoryEventLog, NatsEventLog, SqliteEventLog};
use tempfile::TempDir;

mod chain;
mod compaction;
mod concurrency;
mod cursors;
mod keys;
mod readers;
mod records;
mod reopening;

use crate::support::Driver;
use crate::support::nats_server::NatsServer;

/// A place for one log.
trait Fixture {
    /// The backend.
    type Log: EventLog + 'static;

    /// A place where no log has been.
    fn new() -> Self;

    /// Opens the log of this place.
    fn open(&self) -> Arc<Self::Log>;

    /// Whether the log is still there when it is opened again.
    fn survives_reopen() -> bool;

    /// What the log calls its backend.
    fn backend() -> &'static str;

    /// How many records a reader of the log takes at once.
    fn queue_depth() -> usize;
}

/// A new log. The fixture is kept for as long as the log is used.
fn start<F: Fixture>() -> (F, Driver<F::Log>) {
    let fixture = F::new();
    let log = Driver(fixture.open());
    (fixture, log)
}

macro_rules! tests {
    ($fixture:ty; $($module:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() {
                crate::contract::$module::$case::<$fixture>();
            }
        )*)*
    };
}

macro_rules! contract {
    ($backend:ident, $fixture:ty) => {
        mod $backend {
            use super::*;

            tests! {
                $fixture;
                records {
                    ids_start_at_one_and_rise_by_one
                    topics_count_on_their_own
                    a_topic_without_records_is_empty
                    a_range_starts_after_its_bound_and_ends_at_its_limit
                    a_batch_is_contiguous
                    batches_of_several_topics_are_each_contiguous
                    an_empty_batch_changes_nothing
                    records_come_back_as_they_went_in
                    bytes_say_the_same_as_values
                    topics_are_sorted_and_had_a_record
                    a_long_topic_is_dense
                    flush_and_barrier_resolve
                    a_log_describes_itself
                }
                chain {
                    each_record_names_the_one_before
                    the_hash_is_over_the_canonical_record
                    provenance_cannot_be_forged
                    every_way_of_appending_continues_the_chain
                    a_fresh_topic_verifies
                    the_rest_of_a_compacted_topic_verifies
                    the_chain_goes_on_after_everything_was_compacted
                    a_new_record_needs_the_right_head
                    the_first_record_expects_no_head
                    a_repetition_succeeds_whatever_the_head
                    a_refused_record_leaves_no_trace
                    the_head_outlives_compaction
                }
                keys {
                    a_repetition_returns_the_stored_record
                    a_new_record_carries_its_key
                    keys_are_per_topic_and_header
                    a_plain_record_with_the_header_counts
                    a_look_up_finds_the_record_or_nothing
                    an_empty_value_is_a_value
                    blank_header_names_are_refused
                    the_key_of_a_compacted_record_is_free_again
                    a_key_is_taken_while_any_of_its_records_exists
                    of_many_callers_one_inserts
                    of_many_chained_callers_with_one_head_one_inserts
                }
                cursors {
                    a_consumer_that_never_said_has_no_cursor
                    an_earlier_acknowledgement_changes_nothing
                    nobody_has_read_what_does_not_exist
                    only_rewinding_goes_back
                    nobody_rewinds_beyond_the_head
                    cursors_are_per_topic_and_consumer
                    a_compacted_head_can_be_acknowledged
                    acknowledging_does_not_make_a_topic
                    concurrent_acknowledgements_keep_the_highest
                }
                compaction {
                    records_up_to_the_bound_go
                    a_bound_beyond_the_head_takes_everything
                    ids_go_on_after_everything_was_compacted
                    compacting_nothing_reports_so
                    the_lowest_cursor_is_not_crossed
                    a_refused_compaction_changes_nothing
                    the_cursor_itself_may_go
                    a_forced_compaction_crosses_cursors
                    a_forced_compaction_leaves_a_consumer_able_to_go_on
                    consumers_of_other_topics_hold_nothing_back
                    other_topics_stay_whole
                }
                readers {
                    history_comes_first_and_then_what_is_new
                    a_reader_starts_after_its_position
                    a_reader_at_the_head_sees_only_what_is_new
                    a_reader_beyond_the_head_waits_for_its_place
                    a_reader_of_an_unknown_topic_waits_for_the_first_record
                    a_reader_sees_what_read_range_returns
                    every_way_of_appending_wakes_a_reader
                    a_reader_does_not_see_other_topics
                    a_slow_reader_sees_every_record
                    readers_do_not_disturb_each_other
                    a_reader_in_a_compacted_range_continues_after_it
                    a_reader_overtaken_by_compaction_misses_nothing_that_is_left
                    a_reader_of_an_emptied_topic_sees_the_next_record
                    the_last_waker_is_the_one_woken
                    a_dropped_reader_is_forgotten
                    a_replaced_waker_may_own_a_reader
                    a_waker_may_use_the_log
                }
                concurrency {
                    concurrent_appends_are_dense_and_keep_each_order
                    concurrent_batches_stay_together
                    a_waiting_reader_is_woken_by_another_thread
                    readers_and_writers_at_once_lose_and_repeat_nothing
                    compaction_under_way_disturbs_no_writer
                    readers_that_leave_take_no_topic_with_them
                }
                reopening {
                    records_survive
                    the_head_survives_even_without_records
                    cursors_survive
                    keys_survive
                    the_anchor_survives
                }
            }
        }
    };
}

/// Memory: each place is forgotten with its log.
struct MemoryFixture<const QUEUE_DEPTH: usize>;

impl<const QUEUE_DEPTH: usize> Fixture for MemoryFixture<QUEUE_DEPTH> {
    type Log = MemoryEventLog;

    fn new() -> Self {
        Self
    }

    fn open(&self) -> Arc<MemoryEventLog> {
        MemoryEventLog::new(QUEUE_DEPTH)
    }

    fn survives_reopen() -> bool {
        false
    }

    fn backend() -> &'static str {
        "memory"
    }

    fn queue_depth() -> usize {
        QUEUE_DEPTH
    }
}

/// Files in a folder of their own. Small segments make every longer case cross several.
struct FileFixture<const QUEUE_DEPTH: usize, const SEGMENT_BYTES_MAX: u64> {
    folder: TempDir,
}

impl<const QUEUE_DEPTH: usize, const SEGMENT_BYTES_MAX: u64> Fixture
    for FileFixture<QUEUE_DEPTH, SEGMENT_BYTES_MAX>
{
    type Log = FileEventLog;

    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
        }
    }

    fn open(&self) -> Arc<FileEventLog> {
        let options = FileOptions {
            queue_depth: QUEUE_DEPTH,
            segment_bytes_max: SEGMENT_BYTES_MAX,
            ..FileOptions::default()
        };
        FileEventLog::open_with(self.folder.path(), options).expect("a log can be opened")
    }

    fn survives_reopen() -> bool {
        true
    }

    fn backend() -> &'static str {
        "file"
    }

    fn queue_depth() -> usize {
        QUEUE_DEPTH
    }
}

/// A SQLite file in a folder of its own.
struct SqliteFixture<const QUEUE_DEPTH: usize> {
    folder: TempDir,
}

impl<const QUEUE_DEPTH: usize> Fixture for SqliteFixture<QUEUE_DEPTH> {
    type Log = SqliteEventLog;

    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
        }
    }

    fn open(&self) -> Arc<SqliteEventLog> {
        let path = self.folder.path().join("state/events.sqlite");
        SqliteEventLog::open(path, QUEUE_DEPTH).expect("a log can be opened")
    }

    fn survives_reopen() -> bool {
        true
    }

    fn backend() -> &'static str {
        "sqlite"
    }

    fn queue_depth() -> usize {
        QUEUE_DEPTH
    }
}

/// NATS: a server of its own.
struct NatsFixture(NatsServer);

impl Fixture for NatsFixture {
    type Log = NatsEventLog;

    fn new() -> Self {
        Self(NatsServer::start())
    }

    fn open(&self) -> Arc<NatsEventLog> {
        self.0.open("harn.log")
    }

    fn survives_reopen() -> bool {
        true
    }

    fn backend() -> &'static str {
        "nats"
    }

    fn queue_depth() -> usize {
        128
    }
}

contract!(file, FileFixture<128, 8_388_608>);
contract!(file_in_small_segments, FileFixture<2, 1_000>);
contract!(sqlite, SqliteFixture<3>);
contract!(nats, NatsFixture);
contract!(memory, MemoryFixture<2>);
contract!(memory_with_the_default_queue, MemoryFixture<128>);

/// 5.4 of the event specification: a queue holds at least one.
#[test]
fn a_reader_without_a_queue_takes_one_at_a_time() {
    let log = Driver(MemoryEventLog::new(0));
    assert_eq!(log.0.describe().queue_depth, 1);
    let topic = crate::support::topic("t");
    log.append_numbers(&topic, 3);
    let mut stream = log.subscribe(&topic, None);
    assert_eq!(crate::support::next_ids(&mut stream, 3), [1, 2, 3]);
}
