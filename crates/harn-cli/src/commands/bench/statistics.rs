//! What can be said about some times.

use serde::Serialize;

/// What is known about the times of some runs, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Statistics {
    pub(super) runs: usize,
    pub(super) min_ns: u64,
    pub(super) median_ns: u64,
    pub(super) mean_ns: u64,
    pub(super) max_ns: u64,
    /// How far a run is from the mean: the standard deviation.
    pub(super) deviation_ns: u64,
}

impl Statistics {
    /// There must be a time at least.
    pub(super) fn of(mut times: Vec<u64>) -> Self {
        assert!(!times.is_empty(), "something was measured");
        times.sort_unstable();
        let (mean, variance) = mean_and_variance(&times);
        let middle = times.len() / 2;
        let median = match times.len() % 2 {
            0 => u64::midpoint(times[middle - 1], times[middle]),
            _ => times[middle],
        };
        Self {
            runs: times.len(),
            min_ns: times[0],
            median_ns: median,
            mean_ns: mean as u64,
            max_ns: times[times.len() - 1],
            deviation_ns: variance.sqrt() as u64,
        }
    }
}

/// Whether the mean of some times is known to one percent: it is unlikely to be further away
/// than twice its standard error.
pub(super) fn is_stable(times: &[u64]) -> bool {
    let (mean, variance) = mean_and_variance(times);
    let error = (variance / times.len() as f64).sqrt();
    2.0 * error <= mean / 100.0
}

fn mean_and_variance(times: &[u64]) -> (f64, f64) {
    let count = times.len() as f64;
    let mean = times.iter().map(|time| *time as f64).sum::<f64>() / count;
    let squares = times.iter().map(|time| (*time as f64 - mean).powi(2));
    (mean, squares.sum::<f64>() / (count - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_numbers() {
        let expected = Statistics {
            runs: 4,
            min_ns: 2,
            median_ns: 5,
            mean_ns: 6,
            max_ns: 12,
            // The squares are 16, 4, 0 and 36; their sum by three is 18.67.
            deviation_ns: 4,
        };
        assert_eq!(Statistics::of(vec![6, 2, 12, 4]), expected);
        let one = Statistics::of(vec![7]);
        assert_eq!((one.median_ns, one.mean_ns, one.deviation_ns), (7, 7, 0));
    }

    #[test]
    fn many_equal_times_are_stable_and_few_different_ones_are_not() {
        assert!(is_stable(&[1000; 10]));
        assert!(!is_stable(&[1000, 2000, 1500]));
        // Errors become smaller with the square root of the number of runs.
        let times: Vec<u64> = (0..10_000).map(|at| 1000 + at % 2 * 100).collect();
        assert!(is_stable(&times));
        assert!(!is_stable(&times[..40]));
    }
}
