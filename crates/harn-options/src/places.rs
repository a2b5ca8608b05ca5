//! Which argument of which builtin is a dict of options.

use crate::dict::OptionDict;
use crate::tables::*;

/// An argument that is a dict of options.
#[derive(Clone, Copy, Debug)]
pub struct OptionPlace {
    /// The builtin.
    pub builtin: &'static str,
    /// The number of the argument, from 0.
    pub argument: usize,
    /// What may stand there.
    pub dict: &'static OptionDict,
}

const fn at(builtin: &'static str, argument: usize, dict: &'static OptionDict) -> OptionPlace {
    OptionPlace {
        builtin,
        argument,
        dict,
    }
}

/// Every such argument, sorted by builtin.
pub const PLACES: &[OptionPlace] = &[
    at("agent_done_contract", 0, &AGENT_DONE_CONTRACT),
    at("agent_loop", 2, &AGENT_LOOP),
    at("agent_session_compact", 1, &AGENT_SESSION_COMPACT),
    at("agent_session_reanchor", 2, &AGENT_SESSION_REANCHOR),
    at("agent_turn", 1, &AGENT_LOOP),
    at("coding_tools", 0, &CODING_TOOLS),
    at("command_policy", 0, &COMMAND_POLICY),
    at("daemon_spawn", 0, &DAEMON),
    at("egress_policy", 0, &EGRESS_POLICY),
    at("llm_call", 2, &MODEL_CALL),
    at("llm_call_safe", 2, &MODEL_CALL),
    at("llm_call_structured", 2, &STRUCTURED_CALL),
    at("llm_call_structured_result", 2, &STRUCTURED_CALL),
    at("llm_call_structured_safe", 2, &STRUCTURED_CALL),
    at("llm_completion", 3, &MODEL_CALL),
    at("llm_stream", 2, &MODEL_CALL),
    at("register_tool_hook", 0, &TOOL_HOOK),
    at("request_approval", 1, &REQUEST_APPROVAL),
    at("skill_define", 2, &SKILL),
    at("spawn_agent", 0, &WORKER),
    at("sub_agent_run", 1, &SUB_AGENT),
    at("tool_define", 3, &TOOL),
    at("with_consent", 0, &WITH_CONSENT),
    at("with_dry_run", 0, &WITH_DRY_RUN),
    at("with_idempotency", 0, &WITH_IDEMPOTENCY),
    at("with_rate_limit", 2, &RATE_LIMIT),
    at("with_redaction", 0, &WITH_REDACTION),
    at("with_required_reason", 0, &WITH_REQUIRED_REASON),
    at("with_scoped_executor", 0, &WITH_SCOPED_EXECUTOR),
    at("with_structural_validator", 0, &WITH_STRUCTURAL_VALIDATOR),
    at("with_telemetry", 0, &WITH_TELEMETRY),
];

/// The providers that every build knows. A dict may stand under the name of one, whatever else
/// the name looks like.
pub const BUILT_IN_PROVIDERS: &[&str] = &[
    "anthropic",
    "azure_openai",
    "bedrock",
    "dashscope",
    "deepseek",
    "fireworks",
    "gemini",
    "groq",
    "huggingface",
    "local",
    "mlx",
    "mock",
    "ollama",
    "openai",
    "openrouter",
    "tgi",
    "together",
    "vertex",
    "vllm",
];

/// The argument of a builtin that is a dict of options, if it has one.
pub fn place_of(builtin: &str) -> Option<&'static OptionPlace> {
    let at = PLACES.binary_search_by_key(&builtin, |place| place.builtin);
    at.ok().map(|at| &PLACES[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found() {
        for place in PLACES {
            let found = place_of(place.builtin).map(|found| found.argument);
            assert_eq!(found, Some(place.argument), "{}", place.builtin);
        }
        assert!(place_of("len").is_none());
    }
}
