//! What a loop can be told.

use super::{
    APPROVAL_POLICY, COMMAND_POLICY, COMPLETION_JUDGE, FAMILY, PERMISSIONS, POLICY,
    SCOPE_CLASSIFIER, SKILL_MATCH, TURN_END_CONDITION,
};
use crate::dict::{Form, OptionDict, Others, dict, read, unavailable};

/// `agent_loop`, apart from what it tells its model calls.
pub static AGENT_LOOP: OptionDict = OptionDict {
    name: "agent_loop",
    keys: &[
        read("profile"),
        read("max_iterations"),
        read("max_nudges"),
        read("tool_retries"),
        read("tool_backoff_ms"),
        read("persistent"),
        read("loop_until_done"),
        read("nudge"),
        read("done_sentinel"),
        read("break_unless_phase"),
        read("exit_when_verified"),
        read("native_tool_fallback"),
        read("daemon"),
        read("persist_path"),
        read("resume_path"),
        read("wake_interval_ms"),
        read("watch_paths"),
        read("consolidate_on_idle"),
        read("idle_watchdog_attempts"),
        read("auto_compact"),
        dict("compaction", &COMPACTION),
        read("compact_threshold"),
        read("compact_strategy"),
        read("compact_callback"),
        read("compact_keep_first"),
        read("compact_keep_last"),
        read("hard_limit_tokens"),
        read("hard_limit_strategy"),
        read("tool_output_max_chars"),
        read("summarize_prompt"),
        read("mask_callback"),
        read("compress_callback"),
        dict("policy", &POLICY),
        dict("approval_policy", &APPROVAL_POLICY),
        dict("permissions", &PERMISSIONS),
        dict("command_policy", &COMMAND_POLICY),
        read("token_budget"),
        read("loop_detect_warn"),
        read("loop_detect_block"),
        read("loop_detect_skip"),
        read("tool_examples"),
        dict("turn_policy", &TURN_POLICY),
        read("stop_after_successful_tools"),
        read("require_successful_tools"),
        dict("task_ledger", &TASK_LEDGER),
        read("root_task"),
        read("deliverables"),
        read("rationale"),
        read("observations"),
        read("post_turn_callback"),
        read("context_callback"),
        read("context_filter"),
        read("skills"),
        dict("skill_match", &SKILL_MATCH),
        read("working_files"),
        // What a server has is read, and refused, where servers are known.
        read("mcp_servers"),
        read("mutation_scope"),
        read("audit"),
        read("loop_control"),
        dict("iteration_budget", &ITERATION_BUDGET),
        read("deadline_ms"),
        read("final_wrapup"),
        read("verify_completion"),
        dict("verify_completion_judge", &COMPLETION_JUDGE),
        dict("turn_end_condition", &TURN_END_CONDITION),
        dict("done_judge", &TURN_END_CONDITION),
        read("max_verify_attempts"),
        read("structural_validator"),
        read("input_guardrail"),
        dict("pre_turn_scope_classifier", &SCOPE_CLASSIFIER),
        dict("progress_tool", &PROGRESS_TOOL),
        dict("transcript_projection", &TRANSCRIPT_PROJECTION),
        read("tool_caller"),
        read("tool_format_override_reason"),
        read("agent_await_resumption"),
        read("llm_transcript_dir"),
        unavailable("llm_caller", Form::Function),
        unavailable("message_decorator", Form::Function),
        unavailable("step_judge", Form::Switch),
        unavailable("missing_tool_call_recovery", Form::Switch),
        unavailable("read_only_stance", Form::Switch),
        unavailable("tool_surface_narrowing", Form::Switch),
        unavailable("scratchpad", Form::Switch),
        unavailable("stall_diagnostics", Form::Switch),
        unavailable("compass", Form::Switch),
        unavailable("timestamp_messages", Form::Switch),
        unavailable("plan", Form::Switch),
        unavailable("reminders", Form::Switch),
        unavailable("sandbox", Form::Anything),
        unavailable("provenance", Form::Anything),
    ],
    family: &FAMILY,
    others: Others::Providers,
};

/// What a turn has to be.
pub static TURN_POLICY: OptionDict = OptionDict::closed(
    "turn_policy",
    &[
        read("require_action_or_yield"),
        read("allow_done_sentinel"),
        read("max_prose_chars"),
    ],
);

/// How a conversation is shortened.
pub static COMPACTION: OptionDict = OptionDict::closed(
    "compaction",
    &[
        read("type"),
        read("kind"),
        read("strategy"),
        read("keep_first_n"),
        read("keep_first"),
        read("keep_last_n"),
        read("keep_last"),
    ],
);

/// What was promised. A deliverable may be any dict with an id and a text.
pub static TASK_LEDGER: OptionDict = OptionDict::closed(
    "task_ledger",
    &[
        read("root_task"),
        read("deliverables"),
        read("rationale"),
        read("observations"),
    ],
);

/// How long a loop may go on.
pub static ITERATION_BUDGET: OptionDict = OptionDict::closed(
    "iteration_budget",
    &[
        read("mode"),
        read("initial"),
        read("max"),
        read("extend_by"),
        read("progress_window"),
        read("expose_decisions"),
        read("wall_clock_ms"),
        read("total_cost_usd"),
        dict("consecutive_failures", &CONSECUTIVE_FAILURES),
    ],
);

/// How many calls of a model may fail in a row.
pub static CONSECUTIVE_FAILURES: OptionDict = OptionDict::closed(
    "consecutive_failures",
    &[read("max"), read("kinds"), read("paused_for_ms")],
);

/// The tool with which a model says how far it has come.
pub static PROGRESS_TOOL: OptionDict =
    OptionDict::closed("progress_tool", &[read("enabled"), read("description")]);

/// What a model sees of a conversation.
pub static TRANSCRIPT_PROJECTION: OptionDict = OptionDict::closed(
    "transcript_projection",
    &[
        read("policy"),
        read("type"),
        read("kind"),
        read("name"),
        read("callback"),
        read("custom"),
        read("closure"),
        read("function"),
        read("project"),
        read("projector"),
        read("keep_last"),
        read("large_bytes"),
    ],
);

/// `agent_session_compact`
pub static AGENT_SESSION_COMPACT: OptionDict = OptionDict::closed(
    "agent_session_compact",
    &[
        read("keep_last"),
        read("token_threshold"),
        read("tool_output_max_chars"),
        read("compact_strategy"),
        read("hard_limit_tokens"),
        read("hard_limit_strategy"),
        read("custom_compactor"),
        read("mask_callback"),
        read("compress_callback"),
    ],
);

/// `agent_session_reanchor`
pub static AGENT_SESSION_REANCHOR: OptionDict = OptionDict::closed(
    "agent_session_reanchor",
    &[read("carry_transcript"), read("compact"), read("reason")],
);
