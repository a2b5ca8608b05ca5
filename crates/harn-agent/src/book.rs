//! The Rust code of the book pages about agents, run as documentation tests.

#[doc = include_str!("../../../docs/src/agents/overview.md")]
mod overview {}

#[doc = include_str!("../../../docs/src/events/subscriptions.md")]
mod subscriptions {}
