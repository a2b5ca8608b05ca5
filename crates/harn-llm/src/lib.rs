//! How models are asked: one way for all of them, with every byte of the stream under our
//! control.
//!
//! ```text
//! Request ─► wire::encode ─► HttpRequest ─► transport ─► bytes ─► frames ─► wire::Decoder
//!                                                                              │
//!                     Reply ◄─ collect ◄─ StreamEvent, StreamEvent, … ◄────────┘
//! ```
//!
//! An adapter is a pure pair: a request becomes an HTTP request, and frames of the answer
//! become [`StreamEvent`]s. It neither waits nor knows where bytes come from, so a test feeds
//! it a file byte by byte, a tape feeds it what was recorded, and the transport feeds it the
//! network; all three run the same code.
//!
//! ```
//! use harn_llm::wire::{self, Frame, Wire};
//! use harn_llm::{Collector, StopReason};
//!
//! let mut decoder = wire::decoder(Wire::Chat);
//! let (mut events, mut collector) = (Vec::new(), Collector::default());
//! for data in [
//!     r#"{"choices": [{"delta": {"content": "Good "}}]}"#,
//!     r#"{"choices": [{"delta": {"content": "day"}, "finish_reason": "stop"}]}"#,
//! ] {
//!     decoder.frame(Frame { event: "", data }, &mut events)?;
//! }
//! decoder.finish(&mut events)?;
//! events.into_iter().for_each(|event| collector.push(event));
//! let reply = collector.finish();
//! assert_eq!(reply.text, "Good day");
//! assert_eq!(reply.stop.map(|stop| stop.reason), Some(StopReason::End));
//! # Ok::<(), harn_llm::Error>(())
//! ```
//!
//! Whoever wants retries, budgets, a mock and structured answers as well asks at a
//! [`desk`]; it is what programs speak to.
//!
//! This crate knows nothing of events, sessions or programs. Who calls it decides what is
//! shown, stored and charged.

pub mod audience;
pub mod budget;
pub mod catalog;
pub mod classify;
pub mod desk;
mod event;
pub mod exchange;
pub mod experiment;
mod failure;
mod glob;
pub mod grammar;
mod growing_list;
mod messages;
pub mod mock;
pub mod nudge;
mod object;
pub mod options;
pub mod partial_json;
pub mod rate;
mod reply;
mod request;
pub mod retry;
pub mod scenario;
mod secret;
mod shared_list;
mod sorted_json;
pub mod tape;
pub mod tool_search;
pub mod transcript;
pub mod transport;
pub mod wire;

pub use event::{Stop, StopReason, StreamEvent, Usage};
pub use failure::{Category, Error};
pub use growing_list::GrowingList;
pub use messages::{Messages, MessagesIter, Totals};
pub use reply::{Collector, Reply, ToolCall};
pub use request::{
    Effort, Output, Request, Sampling, SearchVariant, Thinking, ToolSearch, ToolSpec,
};
pub use secret::Secret;
pub use shared_list::SharedList;
pub use sorted_json::{sorted_json, sorted_json_pretty};
