//! What children, workers and daemons can be told.

use super::{AGENT_LOOP, APPROVAL_POLICY, FAMILY, PERMISSIONS, POLICY};
use crate::dict::{Form, OptionDict, Others, dict, read, unavailable};

/// What `sub_agent_run` reads besides the options of its loop.
pub static SUB_AGENT: OptionDict = OptionDict {
    name: "sub_agent_run",
    keys: &[
        read("name"),
        read("system"),
        read("allowed_tools"),
        dict("returns", &RETURNS),
        read("background"),
        dict("carry", &CARRY),
        dict("execution", &EXECUTION),
        read("request"),
        read("research_questions"),
        read("questions"),
        read("action_items"),
        read("actions"),
        read("workflow_stages"),
        read("stages"),
        read("verification_steps"),
        read("verification"),
    ],
    family: &FAMILY,
    others: Others::Providers,
};

/// `spawn_agent`
pub static WORKER: OptionDict = OptionDict {
    name: "spawn_agent",
    keys: &[
        read("task"),
        read("name"),
        read("wait"),
        // Workflows have an answer of their own.
        read("graph"),
        read("options"),
        // A node of a workflow keeps whatever its workflow needs.
        read("node"),
        read("artifacts"),
        read("transcript"),
        dict("permissions", &PERMISSIONS),
        dict("policy", &POLICY),
        read("tools"),
        dict("carry", &CARRY),
        dict("execution", &EXECUTION),
        read("audit"),
        read("system"),
        unavailable("sandbox", Form::Anything),
    ],
    family: &FAMILY,
    others: Others::Providers,
};

/// `daemon_spawn`, apart from the options of its loop.
pub static DAEMON: OptionDict = OptionDict {
    name: "daemon_spawn",
    keys: &[
        read("task"),
        read("prompt"),
        read("persist_path"),
        read("state_dir"),
        read("name"),
        read("system"),
        read("session_id"),
        read("event_queue_capacity"),
        read("queue_capacity"),
        dict("options", &AGENT_LOOP),
    ],
    family: &FAMILY,
    others: Others::Providers,
};

/// What stages of workflows and the functions of `std/agents` that make them are told. They hand
/// it on to calls and loops.
pub static STAGE: OptionDict = OptionDict {
    name: "stage",
    keys: &[
        read("mode"),
        read("tier"),
        read("model_alias"),
        read("prompt"),
        read("task_label"),
        read("label"),
        read("context"),
        read("separator"),
        read("verify"),
        read("command"),
        read("assert_text"),
        read("expect_status"),
        read("expect_text"),
        read("capability_policy"),
        dict("approval_policy", &APPROVAL_POLICY),
        read("context_policy"),
        read("model_policy"),
        read("retry_policy"),
        read("output_visibility"),
        read("metadata"),
    ],
    family: &[],
    others: Others::Kept,
};

/// What the next cycle of a worker keeps of the last one.
pub static CARRY: OptionDict = OptionDict::closed(
    "carry",
    &[
        read("artifact_mode"),
        read("artifacts"),
        read("transcript_mode"),
        read("transcript"),
        read("context_policy"),
        read("resume_workflow"),
        read("persist_state"),
        read("retriggerable"),
        dict("policy", &POLICY),
        read("tools"),
    ],
);

/// Where a worker works.
pub static EXECUTION: OptionDict = OptionDict::closed(
    "execution",
    &[read("cwd"), read("env"), dict("worktree", &WORKTREE)],
);

/// A worktree of its own.
pub static WORKTREE: OptionDict = OptionDict::closed(
    "worktree",
    &[
        read("repo"),
        read("path"),
        read("branch"),
        read("base_ref"),
        read("cleanup"),
    ],
);

/// What a child has to give back.
pub static RETURNS: OptionDict = OptionDict::closed("returns", &[read("schema")]);

/// On which conditions a model that has stopped goes on, as it says to `agent_await_resumption`.
pub static RESUMPTION: OptionDict = OptionDict::closed(
    "conditions",
    &[
        read("trigger"),
        dict("timeout", &RESUMPTION_TIMEOUT),
        dict("on_event", &RESUMPTION_EVENT),
    ],
);

/// How long it waits, and what happens then.
pub static RESUMPTION_TIMEOUT: OptionDict =
    OptionDict::closed("timeout", &[read("duration_minutes"), read("on_timeout")]);

/// The event that it waits for.
pub static RESUMPTION_EVENT: OptionDict =
    OptionDict::closed("on_event", &[read("type"), read("session_id")]);
