//! When a child is started again.

use std::collections::VecDeque;

/// When a child is started again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Policy {
    pub(super) mode: Mode,
    /// How often at most; `None`: as often as it takes.
    pub(super) restarts_max: Option<i64>,
    /// The time in which failures are counted.
    pub(super) window_ms: i64,
    /// How long the first restart waits.
    pub(super) backoff_ms: i64,
    /// How long any restart waits at most.
    pub(super) backoff_max_ms: i64,
    /// How many times longer each restart waits than the one before.
    pub(super) factor: f64,
    /// How much longer a restart may wait.
    pub(super) jitter_ms: i64,
    /// After how long a child that failed too often gets another chance.
    pub(super) circuit_open_ms: Option<i64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: Mode::OnFailure,
            restarts_max: None,
            window_ms: 60_000,
            backoff_ms: 0,
            backoff_max_ms: 30_000,
            factor: 2.0,
            jitter_ms: 0,
            circuit_open_ms: None,
        }
    }
}

/// After which ends a child is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Never,
    OnFailure,
    Always,
}

impl Mode {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "never" => Some(Self::Never),
            "on_failure" => Some(Self::OnFailure),
            "always" => Some(Self::Always),
            _ => None,
        }
    }
}

/// How a child has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Normal,
    Failure,
}

/// What becomes of a child that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It stays as it is.
    Stay,
    /// It is started again after some time.
    Restart(i64),
    /// It had its chances.
    Suppress,
    /// It had its chances, and gets new ones after some time.
    OpenCircuit(i64),
}

/// How often a child has failed and was started again.
#[derive(Debug, Default)]
pub(super) struct History {
    /// When it has failed, within the window.
    failures: VecDeque<i64>,
    pub(super) restarts: i64,
}

impl Policy {
    /// What becomes of a child.
    pub(super) fn judge(&self, end: End, history: &mut History, now: i64, name: &str) -> Verdict {
        let restarts = match self.mode {
            Mode::Never => false,
            Mode::OnFailure => end == End::Failure,
            Mode::Always => true,
        };
        if end == End::Failure {
            self.note_failure(history, now);
        }
        match (restarts, self.is_capped(end, history)) {
            (false, _) => Verdict::Stay,
            (true, false) => Verdict::Restart(self.delay(history.restarts, name)),
            (true, true) => self
                .circuit_open_ms
                .map_or(Verdict::Suppress, Verdict::OpenCircuit),
        }
    }

    fn note_failure(&self, history: &mut History, now: i64) {
        let Some(most) = self.restarts_max else {
            return;
        };
        history.failures.push_back(now);
        let is_old = |time: &i64| now.saturating_sub(*time) >= self.window_ms;
        while history.failures.front().is_some_and(is_old) {
            history.failures.pop_front();
        }
        // Whether there are more than the most does not need more of them.
        let kept = usize::try_from(most).unwrap_or(0).saturating_add(1);
        if history.failures.len() > kept {
            history.failures.pop_front();
        }
    }

    fn is_capped(&self, end: End, history: &History) -> bool {
        let Some(most) = self.restarts_max else {
            return false;
        };
        match end {
            End::Failure if self.window_ms > 0 => {
                i64::try_from(history.failures.len()).is_ok_and(|count| count > most)
            }
            _ => history.restarts >= most,
        }
    }

    /// How long the next restart waits after so many.
    fn delay(&self, restarts: i64, name: &str) -> i64 {
        let growth = self.factor.powf(restarts as f64);
        let backoff = self.backoff_ms as f64 * growth;
        // Beyond what an int holds there is always something smaller.
        let backoff = (backoff as i64).min(self.backoff_max_ms).max(0);
        backoff.saturating_add(self.jitter(restarts, name))
    }

    /// Differs between children and restarts, and is the same in every run.
    fn jitter(&self, restarts: i64, name: &str) -> i64 {
        if self.jitter_ms <= 0 {
            return 0;
        }
        let octets = name.bytes().chain(restarts.to_le_bytes());
        // FNV-1a: a few lines that will not change under our feet.
        let hash = octets.fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x100_0000_01b3)
        });
        let most = self.jitter_ms.unsigned_abs().saturating_add(1);
        i64::try_from(hash % most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(mode: Mode, restarts_max: Option<i64>) -> Policy {
        Policy {
            mode,
            restarts_max,
            ..Policy::default()
        }
    }

    #[track_caller]
    fn check(policy: &Policy, ends: &[(End, i64)], expected: &[Verdict]) {
        let mut history = History::default();
        let verdicts = ends.iter().map(|(end, now)| {
            let verdict = policy.judge(*end, &mut history, *now, "child");
            history.restarts += i64::from(matches!(verdict, Verdict::Restart(_)));
            verdict
        });
        assert_eq!(verdicts.collect::<Vec<_>>(), expected);
    }

    use End::{Failure, Normal};
    use Verdict::{OpenCircuit, Restart, Stay, Suppress};

    #[test]
    fn the_mode_decides_after_which_ends_a_child_starts_again() {
        let ends = [(Normal, 0), (Failure, 0)];
        check(&policy(Mode::Never, None), &ends, &[Stay, Stay]);
        check(&policy(Mode::OnFailure, None), &ends, &[Stay, Restart(0)]);
        check(
            &policy(Mode::Always, None),
            &ends,
            &[Restart(0), Restart(0)],
        );
    }

    #[test]
    fn more_failures_in_the_window_than_allowed_suppress() {
        let policy = Policy {
            window_ms: 100,
            ..policy(Mode::OnFailure, Some(2))
        };
        let ends = [(Failure, 0), (Failure, 10), (Failure, 99)];
        check(&policy, &ends, &[Restart(0), Restart(0), Suppress]);
        let ends = [(Failure, 0), (Failure, 10), (Failure, 100), (Failure, 105)];
        check(
            &policy,
            &ends,
            &[Restart(0), Restart(0), Restart(0), Suppress],
        );
        let open = Policy {
            circuit_open_ms: Some(50),
            ..policy
        };
        let ends = [(Failure, 0), (Failure, 0), (Failure, 0)];
        check(&open, &ends, &[Restart(0), Restart(0), OpenCircuit(50)]);
    }

    #[test]
    fn without_a_window_or_failures_restarts_are_counted() {
        let always = policy(Mode::Always, Some(2));
        let ends = [(Normal, 0), (Normal, 0), (Normal, 0)];
        check(&always, &ends, &[Restart(0), Restart(0), Suppress]);
        let no_window = Policy {
            window_ms: 0,
            ..policy(Mode::OnFailure, Some(1))
        };
        let ends = [(Failure, 0), (Failure, 1_000_000)];
        check(&no_window, &ends, &[Restart(0), Suppress]);
        check(
            &policy(Mode::OnFailure, Some(0)),
            &[(Failure, 0)],
            &[Suppress],
        );
    }

    #[test]
    fn every_restart_waits_longer_up_to_a_bound() {
        let policy = Policy {
            backoff_ms: 10,
            backoff_max_ms: 35,
            ..Policy::default()
        };
        let delays: Vec<i64> = (0..4).map(|n| policy.delay(n, "child")).collect();
        assert_eq!(delays, [10, 20, 35, 35]);
        assert_eq!(policy.delay(i64::MAX, "child"), 35);
    }

    #[test]
    fn jitter_is_bounded_and_always_the_same() {
        let policy = Policy {
            jitter_ms: 5,
            ..Policy::default()
        };
        for restarts in 0..100 {
            let delay = policy.delay(restarts, "child");
            assert!((0..=5).contains(&delay));
            assert_eq!(delay, policy.delay(restarts, "child"));
        }
    }
}
