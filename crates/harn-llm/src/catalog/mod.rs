//! Which providers and models there are, and what they can do.
//!
//! ```text
//! built-in defaults ┐
//! provider file     ├─► Config ──┬─► resolve ─► Selection ─► route ─► Route (wire + Target)
//! harn.toml         ┘            ├─► introspect, price, rank
//!                     Capabilities ─► what a model can do, what an encoder must know
//! ```
//!
//! Everything here is a pure function of what it is given: who calls reads the files and the
//! environment once, and passes them in. Keys come out of the environment as
//! [`Secret`](crate::Secret)s and go nowhere but into a [`route::Route`].

pub mod capabilities;
pub mod config;
mod environment;
pub mod introspect;
mod invalid;
pub mod price;
pub mod rank;
pub mod resolve;
pub mod route;
pub mod tool_format;
mod version;

pub use capabilities::{Capabilities, Capability, Parity, StructuredOutput};
pub use config::{Config, ProjectTrust, Source};
pub use environment::Environment;
pub use invalid::Invalid;
