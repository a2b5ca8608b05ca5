//! Servers that are processes: one message per line, over their input and output.
//!
//! ```text
//! send ─► queue ─► writer task ─► stdin ┐
//!                                       ├ process, leader of its group ◄─ guardian thread
//! receive ◄─ frames: bounded lines ◄────┤ stdout
//!            stderr task: last words ◄──┘
//! ```
//!
//! A server is not trusted to behave. What it writes is read in bounded pieces: lines that are
//! no messages are skipped and counted, a message that is too large or too deep ends the
//! connection. Ending goes the way of the protocol: its input is closed, then it is asked to
//! terminate, then it is killed, each with all that it has started. What it writes meanwhile is
//! thrown away, because a server that cannot write does not come to see that its input is closed.

mod frames;
mod process;
mod stderr;
mod transport;

pub(crate) use process::Guardians;
pub use process::Patience;
pub(crate) use transport::{Fault, open};
