//! Pages of the book whose code is run with the tests of this crate.

#[doc = include_str!("../../../docs/src/embedding.md")]
struct Embedding;
