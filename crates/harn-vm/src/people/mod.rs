//! People, as programs reach them: the effects of the kind `people`.
//!
//! ```text
//! ask_user ─► open ───────► an earlier process may have asked the same
//!          ─► requested ──► event `hitl_requested`, the host
//!          ─► wait ───────► the program's log, the project's log, the host
//!          ─► resolved ───► event `hitl_resolved`
//! ```
//!
//! The builtins of `harn-stdlib` decide what a request is and what an answer means, and write
//! both to the log. This module knows who else there is. A program whose log is in memory has
//! its requests in the log of the project as well, where `harn hitl` finds them; an answer that
//! comes there is copied to the log that the program reads.

mod asked;
mod earlier;
mod port;
mod wait;

pub(crate) use port::{PeoplePort, Work};
