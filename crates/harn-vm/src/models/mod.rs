//! Models, as programs reach them.
//!
//! ```text
//! builtins: values to JSON ─► effect `llm` ─► port: the desk of harn-llm ─► JSON ─► value
//! ```
//!
//! A builtin does nothing but convert. Everything it asks for is an effect of the kind `llm`
//! with the builtin's name and its arguments as JSON, so that a tape of effects holds all a
//! program ever learned from models.

mod asker;
mod builtins;
mod carrier;
mod options;
mod port;
mod reply;
mod runtime;
mod set_up;

pub use asker::ModelAsker;
pub use harn_agent::llm::desk::KnownModels;
pub use options::{ModelOptions, NamedText, Rerun, ScenarioUse, TapeUse, Warn};

pub(crate) use builtins::register;
pub(crate) use port::{ModelPort, read_payload};
pub(crate) use reply::{decode, encode};
pub(crate) use runtime::TokioHandle;
pub use set_up::new_id;

/// The kind of effects that are for the port.
pub(crate) const KIND: &str = "llm";
