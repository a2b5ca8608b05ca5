//! Which options there are: every dict of options that builtins take, as data.
//!
//! ```text
//!                       ┌─► harn-check   warns where a literal dict stands in a program
//! tables ─► OptionDict ─┼─► harn-llm     refuses before a model is asked
//!                       └─► harn-agent   refuses before a loop, a child or a worker begins
//! ```
//!
//! The tables stand below all of them, because an option must mean the same to the checker, to
//! the language and to a Rust program that uses the agent runtime alone. A key that no table has
//! is a mistake of its writer, and [`Unknown`] is what all of them say about it.
//!
//! The patterns that rules are made of stand here as well, for the same reason: one pattern means
//! the same in every list.
//!
//! What an option may be is decided where it is read; a table says only that it is read, what
//! dict it holds, and whether this build can do what it asks for.

mod dict;
mod nearest;
mod pattern;
mod places;
mod tables;
mod unknown;

pub use dict::{Form, Holds, OptionDict, OptionKey, Others, Status};
pub use nearest::{distance_within, nearest};
pub use pattern::{TextPattern, UnreadablePattern};
pub use places::{BUILT_IN_PROVIDERS, OptionPlace, PLACES, place_of};
pub use tables::*;
pub use unknown::{Unknown, unavailable};
