//! What is put around the calls and turns of a loop.

use super::COMPLETION_JUDGE;
use crate::dict::{OptionDict, dict, list, read};

/// `agent_done_contract`
pub static AGENT_DONE_CONTRACT: OptionDict = OptionDict::closed(
    "agent_done_contract",
    &[
        read("max_vetoes"),
        read("max_verify_attempts"),
        read("verify"),
        read("verify_completion"),
        dict("judge", &COMPLETION_JUDGE),
        dict("verify_completion_judge", &COMPLETION_JUDGE),
    ],
);

/// `with_structural_validator`
pub static WITH_STRUCTURAL_VALIDATOR: OptionDict = OptionDict::closed(
    "with_structural_validator",
    &[
        list("rules", &VALIDATOR_RULE),
        read("on_failure"),
        read("max_attempts"),
        read("locale"),
        read("no_phantom_completion_catalog"),
    ],
);

/// A rule of it.
pub static VALIDATOR_RULE: OptionDict =
    OptionDict::closed("rules", &[read("name"), read("warn_only")]);

/// `with_consent`
pub static WITH_CONSENT: OptionDict =
    OptionDict::closed("with_consent", &[read("ask"), read("decide")]);

/// `with_dry_run`
pub static WITH_DRY_RUN: OptionDict = OptionDict::closed("with_dry_run", &[read("result")]);

/// `with_idempotency`
pub static WITH_IDEMPOTENCY: OptionDict = OptionDict::closed("with_idempotency", &[read("key")]);

/// `with_redaction`
pub static WITH_REDACTION: OptionDict =
    OptionDict::closed("with_redaction", &[read("patterns"), read("replacement")]);

/// `with_required_reason`
pub static WITH_REQUIRED_REASON: OptionDict =
    OptionDict::closed("with_required_reason", &[read("param")]);

/// `with_scoped_executor`
pub static WITH_SCOPED_EXECUTOR: OptionDict =
    OptionDict::closed("with_scoped_executor", &[read("allow"), read("executors")]);

/// `with_telemetry`
pub static WITH_TELEMETRY: OptionDict = OptionDict::closed("with_telemetry", &[read("record")]);
