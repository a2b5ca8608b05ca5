//! The event log, as programs reach it, and all of `harn-log` for embedders.
//!
//! ```text
//! harn-stdlib: event_log.emit ─► effect `event_log` ─► port ─► the log of the project,
//!                                                              or one in memory
//! ```
//!
//! A project that configures a log gets it, so that its events outlive the run. Any other
//! program gets a log of its own that begins empty: ids begin with 1 in every run.

mod asked;
mod options;
mod port;

pub use harn_agent::log::*;
pub use options::EventLogOptions;

pub(crate) use asked::any;
pub(crate) use port::{EventLogPort, Logs};
