//! What a question to a model can be told.

use super::FAMILY;
use crate::dict::{OptionDict, Others, dict, read};

/// `llm_call` and all that asks a model.
pub static MODEL_CALL: OptionDict = OptionDict {
    name: "llm_call",
    keys: &[
        read("provider"),
        read("model"),
        read("model_tier"),
        read("max_tokens"),
        read("temperature"),
        read("top_p"),
        read("top_k"),
        read("seed"),
        read("frequency_penalty"),
        read("presence_penalty"),
        read("stop"),
        read("timeout"),
        read("idle_timeout"),
        read("stream"),
        read("cache"),
        read("tools"),
        read("tool_choice"),
        read("tool_format"),
        dict("tool_search", &TOOL_SEARCH),
        read("messages"),
        read("prefill"),
        dict("thinking", &THINKING),
        read("reasoning_effort"),
        read("interleaved_thinking"),
        read("anthropic_beta_features"),
        read("vision"),
        read("audio"),
        read("pdf"),
        read("response_format"),
        read("json_schema"),
        read("schema"),
        read("output_schema"),
        dict("output_format", &OUTPUT_FORMAT),
        read("output_validation"),
        read("schema_retries"),
        read("schema_retry_nudge"),
        read("llm_retries"),
        read("llm_backoff_ms"),
        dict("budget", &BUDGET),
        read("max_cost_usd"),
        read("total_budget_usd"),
        read("max_input_tokens"),
        read("max_output_tokens"),
        dict("route_policy", &ROUTE_POLICY),
        read("fallback_chain"),
        dict("structural_experiment", &STRUCTURAL_EXPERIMENT),
        read("session_id"),
        read("user_visible"),
        // It was removed, and has a text of its own that says what took its place.
        read("transcript"),
    ],
    family: &FAMILY,
    others: Others::Providers,
};

/// What the calls for structured answers read besides.
pub static STRUCTURED_CALL: OptionDict = OptionDict {
    name: "llm_call_structured",
    keys: &[read("system"), read("retries"), dict("repair", &REPAIR)],
    family: &FAMILY,
    others: Others::Providers,
};

/// How an answer is repaired: whether, and what is asked otherwise for that.
pub static REPAIR: OptionDict = OptionDict {
    name: "repair",
    keys: &[read("enabled")],
    family: &FAMILY,
    others: Others::Providers,
};

/// How tools are searched for.
pub static TOOL_SEARCH: OptionDict = OptionDict::closed(
    "tool_search",
    &[
        read("variant"),
        read("mode"),
        read("always_loaded"),
        read("strategy"),
        read("budget_tokens"),
        read("name"),
        read("include_stub_listing"),
    ],
);

/// How much a model thinks.
pub static THINKING: OptionDict = OptionDict::closed(
    "thinking",
    &[
        read("enabled"),
        read("mode"),
        read("budget_tokens"),
        read("level"),
    ],
);

/// What an answer looks like.
pub static OUTPUT_FORMAT: OptionDict = OptionDict::closed(
    "output_format",
    &[
        read("kind"),
        read("schema"),
        read("json_schema"),
        read("strict"),
    ],
);

/// What a call may cost.
pub static BUDGET: OptionDict = OptionDict::closed(
    "budget",
    &[
        read("max_cost_usd"),
        read("total_budget_usd"),
        read("max_input_tokens"),
        read("max_output_tokens"),
    ],
);

/// Who chooses the model.
pub static ROUTE_POLICY: OptionDict = OptionDict::closed(
    "route_policy",
    &[read("mode"), read("target"), read("quality"), read("id")],
);

/// What is tried with the prompt.
pub static STRUCTURAL_EXPERIMENT: OptionDict = OptionDict::closed(
    "structural_experiment",
    &[
        read("name"),
        read("experiment"),
        read("label"),
        read("args"),
        read("transform"),
        read("handler"),
    ],
);

/// `with_rate_limit`
pub static RATE_LIMIT: OptionDict = OptionDict::closed(
    "with_rate_limit",
    &[read("max_retries"), read("backoff_ms")],
);
