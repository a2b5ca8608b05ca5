//! What those who judge a loop can be told.

use crate::dict::{OptionDict, dict, read};

/// A model that says whether a task is done.
pub static COMPLETION_JUDGE: OptionDict = OptionDict::closed(
    "verify_completion_judge",
    &[
        read("enabled"),
        read("provider"),
        read("model"),
        read("rubric"),
        read("max_invocations"),
        read("timeout_ms"),
        read("temperature"),
        read("max_tokens"),
        read("llm_retries"),
        read("schema_retries"),
    ],
);

/// The same, with a rhythm of its own.
pub static TURN_END_CONDITION: OptionDict = OptionDict::closed(
    "turn_end_condition",
    &[
        read("enabled"),
        read("provider"),
        read("model"),
        read("rubric"),
        read("max_invocations"),
        read("timeout_ms"),
        read("temperature"),
        read("max_tokens"),
        read("llm_retries"),
        read("schema_retries"),
        dict("cadence", &CADENCE),
        read("every"),
        read("when"),
        read("min_iterations_before_first"),
    ],
);

/// When a judge is asked.
pub static CADENCE: OptionDict = OptionDict::closed(
    "cadence",
    &[
        read("every"),
        read("when"),
        read("min_iterations_before_first"),
        read("max_invocations"),
    ],
);

/// A model that says whether a message is something for the loop.
pub static SCOPE_CLASSIFIER: OptionDict = OptionDict::closed(
    "pre_turn_scope_classifier",
    &[
        read("enabled"),
        read("provider"),
        read("model"),
        read("confidence_threshold"),
        read("context_window"),
        read("skip_main_turn"),
        read("classifier"),
        read("timeout_ms"),
        read("temperature"),
        read("max_tokens"),
        read("llm_retries"),
        read("schema_retries"),
    ],
);
