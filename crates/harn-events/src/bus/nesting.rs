//! How deep each thread is in deliveries.
//!
//! A reader may emit, also for other sessions, and a reader of every session may
//! answer every answer. Each level is a level of the machine's stack, so it has
//! to be counted per thread and stopped before the stack ends.

use std::hash::BuildHasher;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::lock::Recover;

const SHARDS: usize = 16;

/// Depths by thread, spread over a few locks.
#[derive(Default)]
pub(super) struct Nesting {
    shards: [Mutex<HashMap<ThreadId, u32>>; SHARDS],
    hasher: DefaultHashBuilder,
}

impl Nesting {
    /// One level deeper on this thread until the guard is dropped; `None` when
    /// that would be deeper than `depth_max`.
    pub(super) fn descend(&self, depth_max: u32) -> Option<Nested<'_>> {
        let thread = thread::current().id();
        let mut depths = self.shard(thread).recover();
        let outer = depths.get(&thread).copied();
        let depth = outer.map_or(0, |outer| outer + 1);
        if depth > depth_max {
            return None;
        }
        depths.insert(thread, depth);
        drop(depths);
        Some(Nested {
            nesting: self,
            thread,
            depth,
            outer,
        })
    }

    /// Whether this thread is delivering anything.
    pub(super) fn is_inside(&self) -> bool {
        let thread = thread::current().id();
        self.shard(thread).recover().contains_key(&thread)
    }

    fn shard(&self, thread: ThreadId) -> &Mutex<HashMap<ThreadId, u32>> {
        &self.shards[self.hasher.hash_one(thread) as usize % SHARDS]
    }
}

/// A delivery in progress on this thread.
pub(super) struct Nested<'a> {
    nesting: &'a Nesting,
    thread: ThreadId,
    /// 0 for what no reader has emitted.
    pub(super) depth: u32,
    /// The depth of the delivery around it.
    outer: Option<u32>,
}

impl Nested<'_> {
    /// The delivery has moved on to an event of another depth.
    pub(super) fn set(&self, depth: u32) {
        let mut depths = self.nesting.shard(self.thread).recover();
        depths.insert(self.thread, depth);
    }
}

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        let mut depths = self.nesting.shard(self.thread).recover();
        match self.outer {
            Some(depth) => drop(depths.insert(self.thread, depth)),
            None => drop(depths.remove(&self.thread)),
        }
    }
}
