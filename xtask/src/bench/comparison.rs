//! Compares what was measured now with what was recorded: no goal may be missed, no row may
//! become worse by more than chance, and no row may go away.

use std::fmt;

use super::table::{Better, Goal, Measurement, measurements};

/// A change that is smaller than this share is never called one: the next run may undo it.
const CHANCE: f64 = 0.05;
/// What is taken for the spread of a row that does not tell it.
const SPREAD_UNKNOWN: f64 = 0.10;

/// Something that is not as good as it was, or as it should be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Finding {
    /// The goal of the row is missed.
    Missed {
        name: String,
        measured: String,
        asked: String,
    },
    /// The row is worse than the recorded one by more than its spread.
    Worse {
        name: String,
        before: String,
        now: String,
        by: f64,
        allowed: f64,
    },
    /// A row that was recorded was not measured.
    Gone { name: String },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missed {
                name,
                measured,
                asked,
            } => write!(f, "missed  {name}: {measured}, asked is {asked}"),
            Self::Worse {
                name,
                before,
                now,
                by,
                allowed,
            } => write!(
                f,
                "worse   {name}: {now}, before {before}; {:.0} % worse, {:.0} % may be chance",
                by * 100.0,
                allowed * 100.0
            ),
            Self::Gone { name } => write!(f, "gone    {name}: it was measured before"),
        }
    }
}

/// What is worse in the page `now` than in the recorded page, which may be missing.
pub(super) fn compare(recorded: Option<&str>, now: &str) -> Vec<Finding> {
    let recorded = recorded.map(measurements).unwrap_or_default();
    let now = measurements(now);
    let mut findings: Vec<Finding> = now.iter().filter_map(missed).collect();
    for before in &recorded {
        match now.iter().find(|one| one.name == before.name) {
            Some(now) => findings.extend(worse(before, now)),
            None => findings.push(Finding::Gone {
                name: before.name.clone(),
            }),
        }
    }
    findings
}

fn missed(now: &Measurement) -> Option<Finding> {
    let Goal::Missed { asked } = &now.goal else {
        return None;
    };
    Some(Finding::Missed {
        name: now.name.clone(),
        measured: now.shown.clone(),
        asked: asked.clone(),
    })
}

fn worse(before: &Measurement, now: &Measurement) -> Option<Finding> {
    let found = |by, allowed| Finding::Worse {
        name: now.name.clone(),
        before: before.shown.clone(),
        now: now.shown.clone(),
        by,
        allowed,
    };
    let (old, new) = match (before.value, now.value) {
        (Some(old), Some(new)) => (old, new),
        // What can no longer be measured is not as good as it was.
        (Some(_), None) => return Some(found(1.0, 0.0)),
        (None, _) => return None,
    };
    let by = match now.better {
        Better::Higher => old / new - 1.0,
        Better::Lower => new / old - 1.0,
    };
    let spread = |one: &Measurement| one.spread.unwrap_or(SPREAD_UNKNOWN / 2.0);
    let allowed = (spread(before) + spread(now)).max(CHANCE);
    (by > allowed).then(|| found(by, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
| work | against | ours | theirs | ratio | asked | met |
|---|---|---|---|---|---|---|
";

    fn speed(percent: u32, spread: u32, met: &str) -> String {
        format!(
            "{HEAD}| one turn | a peer | 5 µs ± {spread} % | 9 µs ± {spread} % | {percent} % of its speed | ≥ 150 % | {met} |\n"
        )
    }

    fn told(recorded: Option<&str>, now: &str) -> Vec<String> {
        let findings = compare(recorded, now);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_as_it_was_is_not_mentioned() {
        assert_eq!(
            told(Some(&speed(200, 1, "yes")), &speed(200, 1, "yes")),
            [""; 0]
        );
        assert_eq!(
            told(Some(&speed(200, 1, "yes")), &speed(900, 1, "yes")),
            [""; 0]
        );
        assert_eq!(told(None, &speed(200, 1, "yes")), [""; 0]);
    }

    #[test]
    fn a_missed_goal_is_told_without_a_record_too() {
        let expected = ["missed  one turn; a peer: 140 % of its speed, asked is ≥ 150 %"];
        assert_eq!(told(None, &speed(140, 1, "**no**")), expected);
    }

    #[test]
    fn worse_by_more_than_the_spread_is_told_and_by_less_is_not() {
        let recorded = speed(200, 3, "yes");
        // Four sides of 3 % are 12 %.
        assert_eq!(told(Some(&recorded), &speed(180, 3, "yes")), [""; 0]);
        let expected = "worse   one turn; a peer: 160 % of its speed, before 200 % of its speed; 25 % worse, 12 % may be chance";
        assert_eq!(told(Some(&recorded), &speed(160, 3, "yes")), [expected]);
    }

    #[test]
    fn a_time_that_grows_is_worse() {
        let time = |ratio: &str| {
            format!(
                "{HEAD}| emit | one session | 2 ns ± 0 % | 2 ns ± 0 % | {ratio} × its time | ≤ 1.25 × | yes |\n"
            )
        };
        assert_eq!(told(Some(&time("1.00")), &time("1.04")), [""; 0]);
        let expected = "worse   emit; one session: 1.20 × its time, before 1.00 × its time; 20 % worse, 5 % may be chance";
        assert_eq!(told(Some(&time("1.00")), &time("1.20")), [expected]);
    }

    #[test]
    fn a_row_that_is_gone_or_says_nothing_any_more_is_told() {
        let recorded = speed(200, 1, "yes");
        assert_eq!(
            told(Some(&recorded), HEAD),
            ["gone    one turn; a peer: it was measured before"]
        );
        let failed = recorded.replace("200 % of its speed", "–");
        let findings = compare(Some(&recorded), &failed);
        assert!(
            matches!(findings[..], [Finding::Worse { .. }]),
            "{findings:?}"
        );
    }
}
