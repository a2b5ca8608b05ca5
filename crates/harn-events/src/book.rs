//! The Rust blocks of the book, compiled and run as doc tests of this crate.
//!
//! One item per page that has such blocks. `cargo xtask test book` complains
//! about a page that has them and is not listed here.

#[doc = include_str!("../../../README.md")]
pub struct Readme;

#[doc = include_str!("../../../docs/src/events/overview.md")]
pub struct Overview;

#[doc = include_str!("../../../docs/src/events/sinks.md")]
pub struct Sinks;

#[doc = include_str!("../../../docs/src/events/logs.md")]
pub struct Logs;

#[doc = include_str!("../../../docs/src/events/compatibility.md")]
pub struct Compatibility;

#[doc = include_str!("../../../docs/src/events/redaction.md")]
pub struct Redaction;

#[doc = include_str!("../../../docs/src/events/hosts.md")]
pub struct Hosts;

#[doc = include_str!("../../../docs/src/formats/jsonl.md")]
pub struct Jsonl;

#[doc = include_str!("../../../docs/src/adr/0003-opaque-records-keep-their-text.md")]
pub struct OpaqueRecords;
