//! Which conversations a provider would remember.

use std::collections::BTreeSet;

use crate::{Request, Usage};

use super::by_hash;

/// The conversations seen so far, by the hash of model, system prompt and messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    seen: BTreeSet<String>,
}

impl Cache {
    /// Counts the question as written to the cache at first sight and as read from it later.
    pub(super) fn apply(&mut self, request: &Request, usage: &mut Usage) {
        if self.seen.insert(by_hash::request_hash(request)) {
            usage.cache_write = usage.input;
        } else {
            usage.cache_read = usage.input;
        }
    }
}
