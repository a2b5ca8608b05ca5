//! The hash of values, with a seed that is drawn when a process starts.
//!
//! With a seed that everybody knows, a text from outside could hold thousands of keys of one
//! hash, and each of them would be compared with all others. Nothing a program sees depends on
//! the seed: dicts are gone through by key and sets in the order of their members, so a run
//! that is recorded with one seed is the same with another.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;

/// What is hashed. The same octets have another hash as another kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hashed {
    Text,
    Value,
    Int,
    Structure,
}

/// Both parts are needed: with one of them known, keys can be made that collide whatever the
/// other is.
struct Seed {
    shared: SharedSeed,
    hasher: u64,
}

static SEED: LazyLock<Seed> = LazyLock::new(|| {
    // The standard library asks the system for chance.
    let chance = RandomState::new();
    Seed {
        shared: SharedSeed::from_u64(chance.hash_one(0)),
        hasher: chance.hash_one(1),
    }
});

/// A hasher with the seed of this process.
#[inline]
pub(super) fn seeded(what: Hashed) -> FoldHasher<'static> {
    let seed = &*SEED;
    FoldHasher::with_seed(seed.hasher ^ what as u64, &seed.shared)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use foldhash::fast::FixedState;

    use super::super::text::hash_text;

    /// The part of a hash that finds a place in a table of that many.
    const PLACES: u64 = 4096;

    #[test]
    fn keys_that_collide_under_a_known_seed_do_not_collide_here() {
        let known = |key: &String| FixedState::with_seed(0).hash_one(key.as_bytes());
        let keys = (0_u32..).map(|number| format!("key {number}"));
        let keys: Vec<String> = keys
            .filter(|key| known(key) % PLACES == 0)
            .take(100)
            .collect();
        let places: HashSet<u64> = keys.iter().map(|key| hash_text(key) % PLACES).collect();
        assert!(places.len() > 80, "{}", places.len());
    }
}
