//! When a judge is asked although the model does not propose to end.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, truthy};
use serde_json::{Map, Value};

use super::options::{Config, Given, whole};
use crate::callback::Callback;

/// When a judge is asked although the model does not propose to end.
pub(super) struct Rhythm {
    /// After how many iterations it is asked again.
    every: u64,
    when: When,
    /// How many iterations there are before it is asked first.
    iterations_before: u64,
    /// How often it is asked like that; `None`: as often as it comes.
    asked_max: Option<u64>,
}

enum When {
    Always,
    /// After a turn in which no call succeeded.
    Stalled,
    /// When a function says so.
    Function(Arc<dyn Callback>),
}

/// What happened so far.
pub(super) struct Beat {
    /// How many iterations there were.
    pub(super) iterations: u64,
    /// The iteration after which the judge was asked last, if it was.
    pub(super) last: Option<u64>,
    /// How often it was asked.
    pub(super) asked: u64,
    /// Whether no call of the turn succeeded.
    pub(super) is_stalled: bool,
}

/// The keys that may stand beside those of the judge.
const KEYS: [&str; 3] = ["every", "when", "min_iterations_before_first"];

impl Rhythm {
    /// Reads `cadence`, or its keys beside those of the judge; `None` without any.
    ///
    /// # Errors
    /// One of them has the wrong type.
    pub(super) fn read(judge: &str, config: &Config) -> Result<Option<Self>, Thrown> {
        let given = |key: &&str| {
            config
                .options
                .get(*key)
                .is_some_and(|value| !value.is_null())
        };
        match config.options.get("cadence") {
            None | Some(Value::Null) => {
                let is_function = config.functions.at("/when").is_some();
                if !is_function && !KEYS.iter().any(given) {
                    return Ok(None);
                }
                let when = config.functions.at("/when");
                Self::of_fields(judge, &config.options, when, None).map(Some)
            }
            Some(Value::Object(fields)) => {
                let place = format!("{judge}.cadence");
                let max = whole(fields, &place, "max_invocations", 0)?;
                let when = config.functions.at("/cadence/when");
                Self::of_fields(&place, fields, when, max).map(Some)
            }
            Some(other) => Err(Given::wrong(
                &format!("{judge}.cadence"),
                "a dict or nil",
                other,
            )),
        }
    }

    fn of_fields(
        place: &str,
        fields: &Map<String, Value>,
        when: Option<&Arc<dyn Callback>>,
        asked_max: Option<u64>,
    ) -> Result<Self, Thrown> {
        let when = match (when, fields.get("when")) {
            (Some(function), _) => When::Function(Arc::clone(function)),
            (None, None | Some(Value::Null)) => When::Always,
            (None, Some(Value::String(word))) if word == "always" => When::Always,
            (None, Some(Value::String(word))) if word == "stalled" => When::Stalled,
            (None, Some(other)) => {
                let text = format!(
                    "agent_loop: `{place}.when` must be \"always\", \"stalled\", or a closure; \
                     got {}",
                    display(other)
                );
                return Err(Thrown::Plain(text));
            }
        };
        Ok(Self {
            every: whole(fields, place, "every", 1)?.unwrap_or(1),
            when,
            iterations_before: whole(fields, place, "min_iterations_before_first", 0)?.unwrap_or(0),
            asked_max,
        })
    }

    /// Whether the judge is asked now.
    ///
    /// # Errors
    /// What the function throws that decides it.
    pub(super) async fn is_due(
        &self,
        beat: Beat,
        payload: impl FnOnce() -> Value,
    ) -> Result<bool, Thrown> {
        let has_rested = beat.iterations - beat.last.unwrap_or(0) >= self.every;
        let may_begin = beat.iterations >= self.iterations_before;
        let may_ask = self.asked_max.is_none_or(|max| beat.asked < max);
        if !(has_rested && may_begin && may_ask) {
            return Ok(false);
        }
        match &self.when {
            When::Always => Ok(true),
            When::Stalled => Ok(beat.is_stalled),
            When::Function(function) => Ok(truthy(&function.call(vec![payload()]).await?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::callback::Functions;

    fn read(options: Value) -> Result<Option<Rhythm>, Thrown> {
        let Value::Object(options) = options else {
            panic!("options are a dict");
        };
        let functions = Functions::default();
        Rhythm::read("done_judge", &Config { options, functions })
    }

    async fn due(options: Value, iterations: u64, last: Option<u64>, is_stalled: bool) -> bool {
        let rhythm = read(options).unwrap().unwrap();
        let asked = u64::from(last.is_some());
        let beat = Beat {
            iterations,
            last,
            asked,
            is_stalled,
        };
        rhythm.is_due(beat, || json!(null)).await.unwrap()
    }

    #[tokio::test]
    async fn a_judge_is_asked_in_its_rhythm() {
        assert!(read(json!({"model": "m"})).unwrap().is_none());
        assert!(due(json!({"cadence": {}}), 1, None, false).await);
        for (iterations, last, expected) in [
            (1, None, false),
            (2, None, true),
            (3, Some(2), false),
            (4, Some(2), true),
        ] {
            let every = json!({"every": 2});
            assert_eq!(
                due(every, iterations, last, false).await,
                expected,
                "{iterations}"
            );
        }
        let patient = json!({"cadence": {"min_iterations_before_first": 3}});
        assert!(!due(patient.clone(), 2, None, false).await);
        assert!(due(patient, 3, None, false).await);
        let once = json!({"cadence": {"max_invocations": 1}});
        assert!(!due(once, 9, Some(1), false).await);
        let stalled = json!({"cadence": {"when": "stalled"}});
        assert!(!due(stalled.clone(), 1, None, false).await);
        assert!(due(stalled, 1, None, true).await);
    }

    #[test]
    fn a_rhythm_that_is_none_is_thrown() {
        for (options, text) in [
            (
                json!({"cadence": 5}),
                "agent_loop: `done_judge.cadence` must be a dict or nil; got int",
            ),
            (
                json!({"cadence": {"every": 0}}),
                "agent_loop: `done_judge.cadence.every` must be a positive integer; got 0",
            ),
            (
                json!({"min_iterations_before_first": -1}),
                "agent_loop: `done_judge.min_iterations_before_first` must be >= 0",
            ),
            (
                json!({"when": "often"}),
                "agent_loop: `done_judge.when` must be \"always\", \"stalled\", or a closure; got \
                 often",
            ),
        ] {
            assert_eq!(read(options).err(), Some(Thrown::Plain(text.to_owned())));
        }
    }
}
