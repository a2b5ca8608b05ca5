//! When a process is killed: some time after something that can be seen from outside.

use std::time::Duration;

use serde_json::Value;

use super::project::ProjectFeatures;
use crate::random::Random;

/// Something that was seen.
#[derive(Debug)]
pub(super) enum Happening {
    /// A process has said something.
    Said { number: u64, message: Value },
    /// A process has ended.
    Ended { number: u64 },
    /// The landmark that the server was told to look for.
    Reached,
}

/// Something that happens several times after a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landmark {
    /// The prompt was sent.
    Prompted,
    /// A request has arrived at the server.
    Asked,
    /// Half of an answer was written.
    HalfAnswered,
    /// An answer was written, to its last byte.
    Answered,
    /// A closure of the program runs after an answer and before its calls.
    Between,
    /// A call takes effect.
    Effect,
    /// The editor is told that a call runs, or that it has ended.
    Update(&'static str),
}

/// When a process is killed.
#[derive(Clone, Copy, Debug)]
pub(super) struct KillMoment {
    pub(super) landmark: Landmark,
    /// The landmark is passed so many times before.
    pub(super) passed: u64,
    /// Whether the process gets no answer at the landmark, so that it cannot go on.
    pub(super) is_held: bool,
    /// How long after it.
    pub(super) delay: Duration,
}

/// How long a prompt takes if it is not disturbed, at most and on a busy machine.
const PROMPT_MICROSECONDS: u64 = 400_000;

impl KillMoment {
    pub(super) fn of(random: &mut Random, features: ProjectFeatures) -> Self {
        let mut landmarks = vec![
            Landmark::Prompted,
            Landmark::Asked,
            Landmark::HalfAnswered,
            Landmark::Answered,
            Landmark::Effect,
            Landmark::Update("in_progress"),
            Landmark::Update("in_progress"),
            Landmark::Update("completed"),
        ];
        if features.is_watched {
            landmarks.extend([Landmark::Between; 6]);
        }
        let landmark = *random.pick(&landmarks);
        // Most things happen twice, calls more often.
        let passed = match landmark {
            Landmark::Prompted => 0,
            Landmark::Effect | Landmark::Update(_) => random.below(7),
            Landmark::Asked | Landmark::Answered | Landmark::HalfAnswered => random.below(3),
            Landmark::Between => random.below(2),
        };
        let is_held = match landmark {
            Landmark::HalfAnswered => true,
            Landmark::Between | Landmark::Effect => random.percent(60),
            Landmark::Prompted | Landmark::Asked | Landmark::Answered | Landmark::Update(_) => {
                false
            }
        };
        let longest = if landmark == Landmark::Prompted {
            PROMPT_MICROSECONDS
        } else if is_held {
            20_000
        } else {
            *random.pick(&[1, 500, 3_000, 10_000])
        };
        Self {
            landmark,
            passed,
            is_held,
            delay: Duration::from_micros(random.below(longest)),
        }
    }
}
