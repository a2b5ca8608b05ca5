//! Events from whoever emits them to whoever reads them. One program, because to link is what
//! takes long about a test; those that change what is there once in a process have their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod brackets;
mod bus_isolation;
mod bus_order;
mod bus_readers;
mod catalogue;
mod catalogue_types;
mod closing;
mod closure_failures;
mod closures;
mod concurrency;
mod feedback;
mod host_door;
mod host_issues;
mod host_special;
mod index_limits;
mod jsonl_recovery;
mod jsonl_sink;
mod loop_sink;
mod old_iterations;
mod open_sessions;
mod planted_secrets;
mod queued;
mod redaction;
mod round_trip;
mod session_end;
mod session_lists;
mod support;
mod unknown_material;
mod versions;
mod worker_records;
