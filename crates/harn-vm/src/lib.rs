//! Harn for embedders.
//!
//! ```text
//! Program ─► Isolate (harn-machine) + bodies (harn-stdlib)
//!    │            ▲ completions
//!    └─ drive ────┴─ World: clock, chance, files, processes, environment
//! ```

mod diagnostic;
mod driver;
mod process;
mod program;
mod session;
mod world;

pub use diagnostic::{RuntimeError, runtime_error};
pub use driver::{Outcome, drive};
pub use program::{LoadedProgram, Program, RunOptions};
pub use session::{Session, Typed};
pub use world::{Sink, World, WorldOptions};

pub use harn_machine as machine;
pub use harn_stdlib::registry;
