//! Requests to people, as everybody else sees them: the event log, the host, other processes.
//!
//! ```text
//! program ─► Request ─► the log ──► requests: what is open, and who asked
//!               │          ▲ └────► respond: an answer from anywhere
//!               ├─► announce: `hitl_requested` … `hitl_resolved`
//!               └─► notice: what a host is told
//! ```
//!
//! A request is a record of the log before anybody hears of it, so it outlives the process that
//! made it. A program that is started again and asks the same finds its request, and the answer
//! that somebody has given meanwhile. What is thrown and returned in a program is decided where
//! its builtins are. Only `asking` waits, for those who ask without a program.

mod announce;
mod asking;
mod kind;
mod notice;
mod process;
mod request;
mod requests;
mod respond;
#[cfg(test)]
mod tests;

pub use announce::AskedPerson;
pub(crate) use asking::{Asking, Question, Reply};
pub use kind::RequestKind;
pub use notice::{NOTICE, RESOLVED, notice};
pub use process::{is_gone, this_process};
pub use request::{Outcome, Request, RequestState};
pub use requests::Requests;
pub use respond::{Given, RespondError, Response, respond};

/// Headers of the record of a request.
pub mod headers {
    /// The session that asks.
    pub const SESSION: &str = "hitl.session_id";
    /// The process that waits.
    pub const PROCESS: &str = "hitl.process";
    /// The program that asks.
    pub const PROGRAM: &str = "hitl.program";
    /// Until when there is time to answer, RFC 3339.
    pub const DEADLINE: &str = "hitl.deadline";
    /// How many requests like this one the program had made before.
    pub const OCCURRENCE: &str = "hitl.occurrence";
}

/// The event that a response is.
pub const RESPONDED: &str = "hitl.response_received";

/// The event that another process waits for the answer now.
pub const RESUMED: &str = "hitl.request_resumed";
