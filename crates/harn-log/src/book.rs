//! The Rust code of the book pages about the log, run as documentation tests.

#[doc = include_str!("../../../docs/src/log/design.md")]
mod design {}

#[cfg(feature = "nats")]
#[doc = include_str!("../../../docs/src/log/nats.md")]
mod nats {}
