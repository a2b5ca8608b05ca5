//! Agents that other agents start.
//!
//! ```text
//! sub_agent_run ─► SubAgent ─► fork of the parent's session ─► child loop ─► envelope
//!                     │ background
//!                     ▼
//! spawn_agent ─► Worker: one record, changed by transitions only
//!                     │
//!                     ├─ cycle: a stage or a child loop, in the background
//!                     ├─ each transition: hooks ─► record + event + snapshot ─► closures
//!                     └─ snapshot file ─► resume_agent, in this process or another
//! ```
//!
//! A child never has more rights than the one that starts it: what holds outside is captured
//! when a child is asked for, travels with it, and its own policies are intersected with that.

mod artifacts;
mod awaited;
mod carried;
mod carry;
mod child;
mod cycle;
mod ending;
mod envelope;
mod execution;
mod gate;
mod input;
mod job;
mod places;
mod requested;
mod restore;
mod snapshot;
mod spawn;
mod stage;
mod status;
mod sub_agent;
mod suspension;
mod table;
#[cfg(test)]
mod tests;
mod transition;
mod worker;

pub use places::WorkerPlaces;

pub(crate) use awaited::AwaitedEvent;
pub(crate) use child::Asking;
pub(crate) use ending::{close, wait};
pub(crate) use execution::surroundings;
pub(crate) use input::{send, trigger};
pub(crate) use restore::{AtHand, load};
pub(crate) use spawn::Start;
pub(crate) use status::Status;
pub(crate) use sub_agent::{SubAgent, read_task, run_and_wait};
pub(crate) use suspension::resume;
pub(crate) use table::{Slot, Workers};
