//! Who may connect to a listener of ours.
//!
//! ```text
//! socket ──► TLS ──► Host ──► Origin ──► credential ──► router ──► HSTS, CORS
//!   │ address, too many    403      403        401, 429
//!   ▼
//!   refused
//! ```
//!
//! Every listener asks for a credential, that of a loopback address too: programs of other users
//! of this machine reach it as well. One without keys makes a token when it opens.
//!
//! One [`Policy`] holds for every listener, whatever it serves. [`Policy::open`] refuses a
//! policy that would let strangers in by accident, reads certificates, and only then binds the
//! address; [`Listener::serve`] puts the checks in front of a router. No body is read before
//! host, origin and credential were found good.
//!
//! What one may do once inside is not decided here: the [`Caller`] is handed on with the
//! request.

mod address;
mod caller;
mod clock;
mod counters;
mod error;
mod failures;
mod guard;
mod hosts;
mod late;
mod limits;
mod listener;
mod origins;
mod places;
mod policy;
mod replay;
mod secret;
mod signed;
mod tls;
mod token;

pub use address::is_loopback;
pub use caller::{Caller, Credentials, Means};
pub use clock::Clock;
pub use counters::Counters;
pub use error::Error;
pub use hosts::Hosts;
pub use limits::Limits;
pub use listener::{Listener, Peer};
pub use origins::Origins;
pub use policy::Policy;
pub use secret::Secret;
pub use signed::{SCHEME as SIGNATURE_SCHEME, sign};
pub use tls::Tls;
