//! What a scenario does to a log.

use crate::random::Random;

/// How many topics there are.
pub(super) const TOPICS: usize = 2;
/// How many keys idempotent appends choose from.
const KEYS: u64 = 4;

/// One thing that is done to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Appends a record with so many bytes in it.
    Append { topic: usize, bytes: u64 },
    /// Appends records next to each other.
    Batch {
        topic: usize,
        records: u64,
        bytes: u64,
    },
    /// Appends a record unless there is one with this key.
    Once { topic: usize, key: u64 },
    /// Takes a barrier.
    Barrier,
    /// Takes a barrier, and appends while its sync is under way.
    SlowBarrier { topic: usize },
    /// Acknowledges so much of a topic, in hundredths.
    Ack { topic: usize, part: u64 },
    /// Sets the consumer to so much of a topic.
    Rewind { topic: usize, part: u64 },
    /// Compacts so much of a topic.
    Compact {
        topic: usize,
        part: u64,
        force: bool,
    },
    /// Closes the log and opens it again.
    Reopen,
    /// Recovers from a failure, if there was one.
    Recover,
    /// Reads everything and checks it.
    Read,
}

/// Steps, and how large segments may become under them.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) segment_bytes_max: u64,
    pub(super) steps: Vec<Step>,
}

impl Program {
    /// Any program.
    pub(super) fn random(random: &mut Random) -> Self {
        let steps = random.between(2, 18);
        // Some programs do little but one thing, so that it gets into every corner.
        let favourite = random.below(12);
        Self {
            segment_bytes_max: random.between(600, 4000),
            steps: (0..steps).map(|_| random_step(random, favourite)).collect(),
        }
    }

    /// The programs in which everything goes wrong at every operation.
    pub(super) fn fixed() -> Vec<Self> {
        use Step::*;
        let append = |bytes| Append { topic: 0, bytes };
        let batch = |records| Batch {
            topic: 0,
            records,
            bytes: 30,
        };
        let other = Append { topic: 1, bytes: 9 };
        let compact = |part| Compact {
            topic: 0,
            part,
            force: true,
        };
        let ack = |part| Ack { topic: 0, part };
        let programs = [
            vec![append(9), append(9), Barrier, append(9), append(9)],
            vec![batch(4), Barrier, batch(3), batch(5), Barrier, append(1)],
            vec![
                append(400),
                append(400),
                Barrier,
                append(400),
                append(400),
                append(9),
            ],
            vec![
                append(9),
                other.clone(),
                Barrier,
                append(9),
                other.clone(),
                Barrier,
                other,
            ],
            vec![
                batch(3),
                ack(60),
                append(9),
                ack(100),
                Barrier,
                Rewind { topic: 0, part: 30 },
            ],
            vec![
                batch(6),
                Barrier,
                compact(50),
                append(9),
                Barrier,
                append(9),
            ],
            vec![
                batch(6),
                compact(100),
                append(300),
                compact(100),
                append(9),
                Barrier,
            ],
            vec![
                append(500),
                append(500),
                compact(50),
                append(500),
                compact(70),
                append(9),
            ],
            vec![
                Once { topic: 0, key: 1 },
                Once { topic: 0, key: 2 },
                Barrier,
                Once { topic: 0, key: 1 },
                compact(50),
                Once { topic: 0, key: 1 },
                Once { topic: 0, key: 2 },
            ],
            vec![
                batch(2),
                Reopen,
                append(9),
                Barrier,
                Reopen,
                append(9),
                append(9),
            ],
            vec![
                append(9),
                SlowBarrier { topic: 0 },
                append(9),
                SlowBarrier { topic: 1 },
            ],
            vec![
                append(600),
                append(600),
                append(600),
                Recover,
                append(9),
                Barrier,
                append(9),
            ],
        ];
        let program = |steps: Vec<Step>| Self {
            segment_bytes_max: 1200,
            steps,
        };
        programs.into_iter().map(program).collect()
    }
}

fn random_step(random: &mut Random, favourite: u64) -> Step {
    let topic = usize::from(random.percent(25));
    let part = *random.pick(&[0, 20, 50, 70, 90, 100, 100]);
    let choice = match random.percent(25) {
        true => favourite,
        false => random.below(20),
    };
    match choice {
        0 | 12..=15 => Step::Append {
            topic,
            bytes: *random.pick(&[0, 1, 20, 20, 20, 100, 300, 700]),
        },
        1 | 16 => Step::Batch {
            topic,
            records: random.between(2, 6),
            bytes: random.below(120),
        },
        2 => Step::Once {
            topic,
            key: random.below(KEYS),
        },
        3 | 17 | 18 => Step::Barrier,
        4 => Step::SlowBarrier { topic },
        5 | 19 => Step::Ack { topic, part },
        6 => Step::Rewind { topic, part },
        7 | 8 => Step::Compact {
            topic,
            part,
            force: random.percent(70),
        },
        9 => Step::Reopen,
        10 => Step::Recover,
        _ => Step::Read,
    }
}
