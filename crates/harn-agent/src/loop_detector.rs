//! Notices that a model makes the same call over and over.
//!
//! ```text
//! before a call: should_skip ──► it has given the same often enough; it is not made again
//! after it:      see, told   ──► the model is warned, or is told nothing else any more
//! ```
//!
//! Calls are the same when tool and arguments are. Only digests are kept, and only of the
//! [`CALLS_MAX`] calls that were made last: a model that makes that many other calls in between
//! is not stuck on this one.

use std::collections::BTreeMap;

use harn_llm::options::value::Options;
use harn_llm::sorted_json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::policy::digest;

/// How many different calls are remembered. The one that was made the longest ago is forgotten
/// first, so the state of a session stays small however long it runs.
const CALLS_MAX: usize = 256;

/// How often a call may give the same result before something is done; 0 never does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopThresholds {
    /// From this count on a warning is added to the result. 0 turns all of it off.
    pub warn: u64,
    /// From this count on the result is replaced.
    pub block: u64,
    /// From this count on the call is not made.
    pub skip: u64,
}

/// The calls that were made last and what they gave. Part of a session's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopDetector {
    /// By the digest of tool and arguments.
    calls: BTreeMap<String, Repeats>,
    /// How many calls were recorded; the time of this module.
    recorded: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Repeats {
    /// The digest of the result.
    result: String,
    /// How often it came in a row.
    count: u64,
    /// When the call was made last.
    at: u64,
}

/// A call that is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCall {
    /// How often it has given the same.
    pub count: u64,
    /// What the model reads as its result.
    pub text: String,
}

impl Default for LoopThresholds {
    fn default() -> Self {
        Self {
            warn: 2,
            block: 3,
            skip: 4,
        }
    }
}

impl LoopThresholds {
    /// Reads `loop_detect_warn`, `loop_detect_block` and `loop_detect_skip` among the options of
    /// a loop. A negative number counts as 0.
    pub fn read(options: Options<'_>) -> Self {
        let usual = Self::default();
        Self {
            warn: options.count("loop_detect_warn").unwrap_or(usual.warn),
            block: options.count("loop_detect_block").unwrap_or(usual.block),
            skip: options.count("loop_detect_skip").unwrap_or(usual.skip),
        }
    }

    fn is_off(self) -> bool {
        self.warn == 0
    }

    /// What a call and its result are counted by; `None` if nothing is counted.
    pub fn sees(self, tool: &str, arguments: &Value, result: &str) -> Option<SeenResult> {
        (!self.is_off()).then(|| SeenResult {
            key: key(tool, arguments),
            result: digest(result),
        })
    }

    /// What the model reads of a result that has come so often; `None`: the result.
    pub fn told(self, tool: &str, result: &str, count: u64) -> Option<String> {
        if reached(count, self.block) {
            return Some(format!(
                "BLOCKED: {tool}() has failed {count} times identically. You MUST use a \
                 different approach. Pick a different available tool or change your parameters."
            ));
        }
        reached(count, self.warn).then(|| {
            let first_line = result.lines().next().unwrap_or_default();
            format!(
                "{result}\n[LOOP DETECTED] This exact {tool}() call has produced the same result \
                 {count} times. The result says: \"{first_line}\". Try a DIFFERENT tool or \
                 DIFFERENT parameters."
            )
        })
    }
}

/// A call and its result, as digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenResult {
    /// The call.
    pub key: String,
    /// What it gave.
    pub result: String,
}

impl LoopDetector {
    /// Whether a call is not to be made. Being skipped does not count as being made, so the
    /// count stays what it is.
    pub fn should_skip(
        &self,
        thresholds: LoopThresholds,
        tool: &str,
        arguments: &Value,
    ) -> Option<SkippedCall> {
        if thresholds.is_off() || self.calls.is_empty() {
            return None;
        }
        let count = self.calls.get(&key(tool, arguments))?.count;
        reached(count, thresholds.skip).then(|| SkippedCall {
            count,
            text: format!(
                "BLOCKED: {tool}() was NOT executed (repeated {count} times identically). This \
                 call will not be executed again with these arguments. You MUST change your \
                 approach NOW."
            ),
        })
    }

    /// Counts a result that was [seen](LoopThresholds::sees).
    pub fn see(&mut self, key: &str, result: &str) {
        self.count(key.to_owned(), result.to_owned());
    }

    /// How often a call has given the same in a row.
    pub fn count_of(&self, key: &str) -> u64 {
        self.calls.get(key).map_or(0, |repeats| repeats.count)
    }

    /// Counts a result and gives how often it came in a row.
    fn count(&mut self, key: String, result: String) -> u64 {
        self.recorded += 1;
        let repeats = self.calls.entry(key).or_insert(Repeats {
            result: String::new(),
            count: 0,
            at: 0,
        });
        repeats.at = self.recorded;
        repeats.count = match repeats.result == result {
            true => repeats.count + 1,
            false => 1,
        };
        repeats.result = result;
        let count = repeats.count;
        if self.calls.len() > CALLS_MAX {
            self.forget_oldest();
        }
        count
    }

    fn forget_oldest(&mut self) {
        let oldest = self.calls.iter().min_by_key(|(_, repeats)| repeats.at);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.calls.remove(&key);
        }
    }
}

impl SkippedCall {
    /// The error of the call's update.
    pub fn error(&self) -> String {
        format!("tool loop detected (skipped after {} repeats)", self.count)
    }

    /// The raw output of the call's update.
    pub fn raw_output(&self) -> Value {
        json!({"loop_skipped": true, "repeat_count": self.count})
    }
}

fn reached(count: u64, threshold: u64) -> bool {
    threshold > 0 && count >= threshold
}

/// Compact JSON has no line break, so the last one always stands between name and arguments.
fn key(tool: &str, arguments: &Value) -> String {
    digest(&[tool, "\n", &sorted_json(arguments)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl LoopDetector {
        /// Counts a result and gives what the model reads instead.
        fn record(
            &mut self,
            thresholds: LoopThresholds,
            tool: &str,
            arguments: &Value,
            result: &str,
        ) -> Option<String> {
            let seen = thresholds.sees(tool, arguments, result)?;
            self.see(&seen.key, &seen.result);
            thresholds.told(tool, result, self.count_of(&seen.key))
        }
    }

    const USUAL: LoopThresholds = LoopThresholds {
        warn: 2,
        block: 3,
        skip: 4,
    };

    const BLOCKED: &str = "BLOCKED: run() has failed 3 times identically. You MUST use a \
                           different approach. Pick a different available tool or change your \
                           parameters.";
    const WARNED: &str = "no\nmore\n[LOOP DETECTED] This exact run() call has produced the same \
                          result 2 times. The result says: \"no\". Try a DIFFERENT tool or \
                          DIFFERENT parameters.";

    fn run(detector: &mut LoopDetector, thresholds: LoopThresholds) -> Option<String> {
        detector.record(thresholds, "run", &json!({"a": 1}), "no\nmore")
    }

    #[test]
    fn a_repeated_call_is_warned_about_then_blocked_then_skipped() {
        let mut detector = LoopDetector::default();
        let arguments = json!({"a": 1});
        assert_eq!(run(&mut detector, USUAL), None);
        assert_eq!(run(&mut detector, USUAL).as_deref(), Some(WARNED));
        assert_eq!(run(&mut detector, USUAL).as_deref(), Some(BLOCKED));
        assert_eq!(detector.should_skip(USUAL, "run", &arguments), None);
        assert!(run(&mut detector, USUAL).is_some_and(|text| text.contains("failed 4 times")));
        let skipped = detector.should_skip(USUAL, "run", &arguments);
        let skipped = skipped.expect("it was made four times");
        let text = "BLOCKED: run() was NOT executed (repeated 4 times identically). This call \
                    will not be executed again with these arguments. You MUST change your \
                    approach NOW.";
        assert_eq!((skipped.count, &*skipped.text), (4, text));
        assert_eq!(
            skipped.error(),
            "tool loop detected (skipped after 4 repeats)"
        );
        assert_eq!(
            skipped.raw_output(),
            json!({"loop_skipped": true, "repeat_count": 4})
        );
        assert_eq!(detector.should_skip(USUAL, "run", &json!({"a": 2})), None);
        assert_eq!(detector.should_skip(USUAL, "ran", &arguments), None);
    }

    #[test]
    fn another_result_starts_over() {
        let mut detector = LoopDetector::default();
        assert_eq!(run(&mut detector, USUAL), None);
        let other = detector.record(USUAL, "run", &json!({"a": 1}), "yes");
        assert_eq!(other, None);
        assert_eq!(run(&mut detector, USUAL), None);
        assert_eq!(run(&mut detector, USUAL).as_deref(), Some(WARNED));
    }

    #[test]
    fn other_calls_in_between_do_not_matter() {
        let mut detector = LoopDetector::default();
        assert_eq!(run(&mut detector, USUAL), None);
        assert_eq!(
            detector.record(USUAL, "run", &json!({"a": 2}), "no\nmore"),
            None
        );
        assert_eq!(
            detector.record(USUAL, "ran", &json!({"a": 1}), "no\nmore"),
            None
        );
        assert_eq!(run(&mut detector, USUAL).as_deref(), Some(WARNED));
    }

    #[test]
    fn the_order_of_arguments_does_not_matter() {
        let mut detector = LoopDetector::default();
        let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
        let (one, other) = (parsed(r#"{"a":1,"b":2}"#), parsed(r#"{"b":2,"a":1}"#));
        assert_eq!(detector.record(USUAL, "run", &one, "x"), None);
        assert!(detector.record(USUAL, "run", &other, "x").is_some());
    }

    #[test]
    fn an_empty_result_has_an_empty_first_line() {
        let mut detector = LoopDetector::default();
        detector.record(USUAL, "run", &json!({}), "");
        let text = detector.record(USUAL, "run", &json!({}), "");
        assert!(text.is_some_and(|text| text.contains("The result says: \"\". Try")));
    }

    #[test]
    fn a_stage_of_zero_is_left_out() {
        let with = |warn, block, skip| LoopThresholds { warn, block, skip };
        let outcomes = |thresholds: LoopThresholds| {
            let mut detector = LoopDetector::default();
            let mut seen = String::new();
            for _ in 0..5 {
                if detector
                    .should_skip(thresholds, "run", &json!({"a": 1}))
                    .is_some()
                {
                    seen.push('s');
                    continue;
                }
                seen.push(match run(&mut detector, thresholds) {
                    None => '-',
                    Some(text) if text.starts_with("BLOCKED") => 'b',
                    Some(_) => 'w',
                });
            }
            seen
        };
        let rows = [
            (with(2, 3, 4), "-wbbs"),
            (with(2, 0, 4), "-wwws"),
            (with(2, 3, 0), "-wbbb"),
            (with(2, 0, 0), "-wwww"),
            (with(0, 3, 4), "-----"),
            (with(9, 2, 3), "-bbss"),
            (with(1, 0, 1), "wssss"),
        ];
        for (thresholds, expected) in rows {
            assert_eq!(outcomes(thresholds), expected, "{thresholds:?}");
        }
    }

    #[test]
    fn thresholds_are_read_from_options() {
        let read = |value: Value| {
            let fields = value.as_object().expect("it is a dict").clone();
            LoopThresholds::read(Options(&fields))
        };
        assert_eq!(read(json!({})), USUAL);
        let given = read(json!({
            "loop_detect_warn": 5, "loop_detect_block": 0, "loop_detect_skip": -3,
        }));
        let expected = LoopThresholds {
            warn: 5,
            block: 0,
            skip: 0,
        };
        assert_eq!(given, expected);
        assert_eq!(read(json!({"loop_detect_warn": "x"})), USUAL);
    }

    #[test]
    fn only_so_many_calls_are_remembered() {
        let mut detector = LoopDetector::default();
        run(&mut detector, USUAL);
        detector.record(USUAL, "kept", &json!({}), "x");
        for number in 0..CALLS_MAX - 1 {
            detector.record(USUAL, "other", &json!(number), "x");
        }
        assert_eq!(detector.calls.len(), CALLS_MAX);
        assert_eq!(
            run(&mut detector, USUAL),
            None,
            "the oldest call was forgotten"
        );
        let written = serde_json::to_value(&detector).expect("it is data");
        assert_eq!(serde_json::from_value(written).ok(), Some(detector));
    }
}
