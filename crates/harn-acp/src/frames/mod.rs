//! What comes in from a peer, and what goes out to it, within limits.
//!
//! ```text
//! bytes ──► lines ──► envelope ──► gate ──► the SDK's connection ──► handlers
//!                        │ refused   │ unknown, too many                 │
//!                        ▼           ▼                                   ▼
//! bytes ◄── writer ◄── outbox ◄──────────────────────────────── answers, updates
//! ```
//!
//! The SDK reads lines of any length, answers a broken one with its text, and has queues
//! without an end. So this sits below it: nothing reaches the SDK that is not one well-formed
//! message, and nothing piles up behind a peer that does not read. [`lines`] and [`envelope`]
//! are pure and know nothing of the SDK; the fuzz target reads them alone.
//!
//! A peer that reads slowly loses nothing. Whoever sends it the updates of a session asks the
//! [`Room`] for a place first, and reads on in the journal when it has got one; answers and
//! questions do not wait, and a peer that lets too many of those lie is cut off. So neither a
//! slow nor a dead peer is ever felt by a session.

mod counters;
pub(crate) mod envelope;
mod gate;
mod limits;
pub(crate) mod lines;
mod outbox;
mod pump;
mod stream;

pub(crate) use counters::{Count, Counters};
pub(crate) use gate::{Gate, Verdict};
pub(crate) use limits::Limits;
pub(crate) use outbox::{End, Gone, Outbox, Room};
pub(crate) use pump::{Inlet, drive, drive_into_outbox};
pub(crate) use stream::{Ended, serve};

#[cfg(test)]
mod hostile_tests;
