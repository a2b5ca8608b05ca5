//! What is said about a tool. Other keys stay: hosts have uses for them.

use crate::dict::{OptionDict, dict, read};

/// The config of `tool_define`.
pub static TOOL: OptionDict = OptionDict::open(
    "tool_define",
    &[
        read("parameters"),
        // It is refused by `tool_define`, which says what it is called now.
        read("params"),
        read("handler"),
        read("returns"),
        read("executor"),
        read("host_capability"),
        read("mcp_server"),
        dict("annotations", &ANNOTATIONS),
        read("defer_loading"),
        read("namespace"),
        read("policy"),
        read("compact"),
        read("examples"),
        read("strict"),
        read("outputSchema"),
        read("inputSchema"),
        read("name"),
        read("description"),
        read("type"),
        read("title"),
        read("tags"),
        read("task"),
    ],
);

/// What a tool does to the world.
pub static ANNOTATIONS: OptionDict = OptionDict::open(
    "annotations",
    &[
        read("kind"),
        read("side_effect_level"),
        dict("arg_schema", &ARGUMENT_SCHEMA),
        read("capabilities"),
        read("emits_artifacts"),
        read("inline_result"),
        read("result_readers"),
        read("completion_evidence_role"),
        read("readOnlyHint"),
        read("destructiveHint"),
        read("idempotentHint"),
        read("openWorldHint"),
        read("title"),
    ],
);

/// What the arguments of a tool are.
pub static ARGUMENT_SCHEMA: OptionDict = OptionDict::open(
    "arg_schema",
    &[
        read("path_params"),
        read("command_params"),
        read("arg_aliases"),
        read("required"),
        read("dependency_key_params"),
        read("dependency_range_params"),
    ],
);

/// `coding_tools`
pub static CODING_TOOLS: OptionDict = OptionDict::closed(
    "coding_tools",
    &[read("roots"), read("only"), read("terminals")],
);
