//! What is said about skills.

use crate::dict::{OptionDict, Others, read};

/// How a loop chooses skills.
pub static SKILL_MATCH: OptionDict = OptionDict::closed(
    "skill_match",
    &[
        read("strategy"),
        read("top_n"),
        read("sticky"),
        read("min_score"),
    ],
);

/// The config of `skill_define` and the fields of a `skill` declaration. What a skill keeps for
/// others stays in it; a misspelt key of ours would open what it was to narrow.
pub static SKILL: OptionDict = OptionDict {
    name: "skill_define",
    keys: &[
        read("name"),
        read("short"),
        read("description"),
        read("when_to_use"),
        read("disable_model_invocation"),
        read("disable-model-invocation"),
        read("allowed_tools"),
        read("user_invocable"),
        read("paths"),
        read("context"),
        read("agent"),
        read("hooks"),
        read("model"),
        read("effort"),
        read("require_signature"),
        read("trusted_signers"),
        read("shell"),
        read("argument_hint"),
        read("prompt"),
        read("body"),
        read("invocation"),
        read("mcp"),
        read("requires_mcp"),
        read("namespace"),
        read("provenance"),
        read("source"),
        read("on_activate"),
        read("on_deactivate"),
    ],
    family: &[],
    others: Others::KeptUnlessMisspelt,
};
