//! Runs that can be repeated.
//!
//! A fuzzer goes on from every input that reached something new. What is reached depends on
//! more than the input: threads take turns as they like, tables are hashed with random keys,
//! memory is where the system puts it, and some code asks which processor it runs on. So two
//! runs with one seed soon try different inputs, and a find on one machine is none on another.
//!
//! A run that was told `--seeds=N` goes on from its first `N` inputs only, whatever the others
//! reach. Then all inputs follow from the seeds and the seed of chance, everywhere.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use libfuzzer_sys::Corpus;

/// What a target checks of every input.
#[macro_export]
macro_rules! target {
    (|$bytes:ident| $check:block) => {
        libfuzzer_sys::fuzz_target!(|$bytes: &[u8]| -> libfuzzer_sys::Corpus {
            let check = |$bytes: &[u8]| $check;
            check($bytes);
            $crate::repeat::after_input()
        });
    };
}

/// Seeds that can be told apart.
const SEEDS_MAX: usize = 1 << 15;

/// What libFuzzer takes for something reached, apart from the code. Each seed reaches one of
/// these that no other does, so that it is kept whatever else it reaches.
// SAFETY: libFuzzer reads the section as bytes and clears it in words, between inputs.
#[unsafe(link_section = "__libfuzzer_extra_counters")]
#[used] // Nobody in Rust reads it.
static REACHED: Reached = Reached([const { AtomicU8::new(0) }; SEEDS_MAX]);

#[repr(align(8))]
struct Reached([AtomicU8; SEEDS_MAX]);

/// Inputs so far. The first is always an empty one.
static INPUTS: AtomicUsize = AtomicUsize::new(0);

/// Says whether to go on from the input that has just been checked.
pub fn after_input() -> Corpus {
    let Some(seeds) = seeds() else {
        return Corpus::Keep;
    };
    let number = INPUTS.fetch_add(1, Ordering::Relaxed);
    if number > seeds {
        return Corpus::Reject;
    }
    REACHED.0[number].store(1, Ordering::Relaxed);
    Corpus::Keep
}

/// How many of the first inputs are seeds; `None` if the run need not be repeated.
fn seeds() -> Option<usize> {
    static SEEDS: OnceLock<Option<usize>> = OnceLock::new();
    *SEEDS.get_or_init(|| {
        let number = std::env::args().find_map(|word| word.strip_prefix("--seeds=")?.parse().ok());
        number.map(|seeds: usize| seeds.min(SEEDS_MAX - 1))
    })
}
