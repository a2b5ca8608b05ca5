//! What may be done.

use super::ANNOTATIONS;
use crate::dict::{Form, OptionDict, dict, each, list, read, unavailable};

/// The ceiling above everything an agent does.
pub static POLICY: OptionDict = OptionDict::rules(
    "policy",
    &[
        read("tools"),
        read("capabilities"),
        read("workspace_roots"),
        read("side_effect_level"),
        read("recursion_limit"),
        list("tool_arg_constraints", &ARGUMENT_CONSTRAINT),
        each("tool_annotations", &ANNOTATIONS),
        dict("command_policy", &COMMAND_POLICY),
    ],
);

/// What one argument of a tool may be.
pub static ARGUMENT_CONSTRAINT: OptionDict = OptionDict::rules(
    "tool_arg_constraints",
    &[read("tool"), read("arg_patterns"), read("arg_key")],
);

/// Which calls a person or the host is asked about.
pub static APPROVAL_POLICY: OptionDict = OptionDict::rules(
    "approval_policy",
    &[
        read("auto_approve"),
        read("auto_deny"),
        read("require_approval"),
        read("write_path_allowlist"),
        unavailable("rules", Form::Anything),
        unavailable("allow_sensitive_paths", Form::Anything),
        unavailable("sensitive_path_patterns", Form::Anything),
        unavailable("allow_external_paths", Form::Anything),
        unavailable("external_roots", Form::Anything),
        unavailable("repeat_limit", Form::Anything),
        unavailable("repeated_call_limit", Form::Anything),
        unavailable("repeat_action", Form::Anything),
        unavailable("repeated_call_action", Form::Anything),
    ],
);

/// What one agent may do. Its rules are dicts from globs to matchers.
pub static PERMISSIONS: OptionDict = OptionDict::rules(
    "permissions",
    &[
        // Their matchers have words of their own for what is missing, which come first.
        read("allow"),
        read("deny"),
        read("on_escalation"),
        unavailable("commands", Form::Anything),
    ],
);

/// Which calls of a tool a rule is about.
pub static ARGUMENT_MATCHER: OptionDict = OptionDict::rules(
    "matcher",
    &[
        read("arg_key"),
        read("key"),
        read("patterns"),
        read("arg_patterns"),
        read("allow"),
    ],
);

/// What may be run. `command_policy(…)` gives one with more in it, all of which is known.
pub static COMMAND_POLICY: OptionDict = OptionDict::rules(
    "command_policy",
    &[
        read("tools"),
        read("workspace_roots"),
        read("default_shell_mode"),
        read("deny_patterns"),
        read("require_approval"),
        read("pre"),
        read("post"),
        read("allow_recursive"),
    ],
);

/// `egress_policy`
pub static EGRESS_POLICY: OptionDict = OptionDict::rules(
    "egress_policy",
    &[read("allow"), read("deny"), read("default")],
);

/// `request_approval`
pub static REQUEST_APPROVAL: OptionDict = OptionDict::rules(
    "request_approval",
    &[
        read("detail"),
        read("args"),
        read("quorum"),
        read("reviewers"),
        read("deadline"),
        read("principal"),
        read("evidence_refs"),
        read("undo_metadata"),
        read("capabilities_requested"),
    ],
);

/// `register_tool_hook`
pub static TOOL_HOOK: OptionDict = OptionDict::closed(
    "register_tool_hook",
    &[read("pattern"), read("deny"), read("max_output")],
);
