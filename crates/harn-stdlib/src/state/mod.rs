//! What outlives a run.
//!
//! ```text
//! store        ─┐
//! checkpoints  ─┼─► kept: an object in a JSON file ─► Replace ─► the world
//! metadata     ─┘
//! agent        ──► files of their own, each replaced in one step
//! scan         ◄── what is in folders
//! ```
//!
//! A file is written whenever something changes, in one step, and only if it still holds what
//! was read: if another process was faster, its changes are taken in and ours are made again.
//! So of two processes that set different keys neither loses one; of two that set the same key
//! the last one wins.

mod agent;
mod checkpoints;
mod encoding;
mod kept;
mod metadata;
mod place;
mod scan;
mod shelf;
mod store;

use harn_machine::Registry;

pub(crate) use place::state_root;
pub use place::{WorkerFolders, worker_folders};

pub(crate) fn register(registry: &mut Registry) {
    agent::register(registry);
    checkpoints::register(registry);
    metadata::register(registry);
    scan::register(registry);
    store::register(registry);
}
