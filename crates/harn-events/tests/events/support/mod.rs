//! What the tests of the bus share: sample events, sinks that remember, and ways
//! to drive futures and threads that end in a failed test instead of a hang.

#![allow(dead_code, reason = "every test binary uses its own part of this")]
#![allow(unused_imports, reason = "every test binary uses its own part of this")]

pub(crate) mod catalogue_defaults;
pub(crate) mod catalogue_direct_types;
pub(crate) mod catalogue_samples;
pub(crate) mod catalogue_strategies;
mod executor;
mod log_capture;
mod readers;
mod samples;

pub(crate) use executor::{
    PATIENCE, block_on, interleave, poll_alternately, receive, within_patience, yield_once,
};
pub(crate) use log_capture::{LogLine, capture_logs};
pub(crate) use readers::{
    Diary, DurableFactory, Frame, Recording, listener, sink, subscriber, telling_sink,
    telling_subscriber,
};
pub(crate) use samples::{
    candidate, checkpoint, event, iteration_end, iteration_start, message, text_of, tool_call,
    tool_call_with, tool_update, worker_update,
};
