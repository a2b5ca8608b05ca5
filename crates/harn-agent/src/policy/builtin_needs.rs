//! What builtins need of the policy they run under.
//!
//! A tool's handler is a program, and a program can do with builtins what its tool was refused.
//! So builtins ask the same ceiling. The list of tools says nothing about them: it is about what
//! a model may call.
//!
//! Reading needs no level: it has no side effect. What only prepares something in memory, such
//! as mocks and response dicts, needs nothing at all.

use harn_events::SideEffectLevel;

use super::capability::CapabilityPolicy;

/// What a builtin needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What the message calls it.
    pub what: &'static str,
    /// The capability and its operation.
    pub operation: Option<(&'static str, &'static str)>,
    /// The level of side effects.
    pub level: Option<SideEffectLevel>,
}

const READ: Need = reads("workspace.read_text", "read_text");
const LIST: Need = reads("workspace.list", "list");
const EXISTS: Need = reads("workspace.exists", "exists");
const WRITE: Need = writes("workspace write", "write_text");
const DELETE: Need = writes("workspace.delete", "delete");
const KEEP: Need = Need {
    what: "workspace write",
    operation: None,
    level: Some(SideEffectLevel::WorkspaceWrite),
};
const EDIT: Need = writes("workspace.apply_edit", "apply_edit");
const PROCESS: Need = Need {
    what: "process.exec",
    operation: Some(("process", "exec")),
    level: Some(SideEffectLevel::ProcessExec),
};
const NETWORK: Need = Need {
    what: "network",
    operation: None,
    level: Some(SideEffectLevel::Network),
};
const MODEL: Need = Need {
    what: "LLM/network",
    operation: Some(("llm", "call")),
    level: Some(SideEffectLevel::Network),
};
const CONNECTOR: Need = Need {
    what: "connector.call/network",
    operation: Some(("connector", "call")),
    level: Some(SideEffectLevel::Network),
};
const HOST_TOOL: Need = Need {
    what: "host.tool_call",
    operation: Some(("host", "tool_call")),
    level: None,
};
const STATE: Need = Need {
    what: "agent_state.access",
    operation: Some(("agent_state", "access")),
    level: None,
};

const fn reads(what: &'static str, operation: &'static str) -> Need {
    Need {
        what,
        operation: Some(("workspace", operation)),
        level: None,
    }
}

const fn writes(what: &'static str, operation: &'static str) -> Need {
    Need {
        what,
        operation: Some(("workspace", operation)),
        level: Some(SideEffectLevel::WorkspaceWrite),
    }
}

/// Whether only the host knows a builtin.
pub fn needs_host(name: &str) -> bool {
    name == "host_call"
}

/// What a builtin needs; `None` for one that every policy allows. The modules of the language
/// call some builtins by a name that starts with `__`, which changes nothing.
pub fn builtin_need(name: &str) -> Option<Need> {
    let name = name.strip_prefix("__").unwrap_or(name);
    let need = match name {
        "read_file"
        | "read_file_bytes"
        | "read_file_result"
        | "read_lines"
        | "hostlib_fs_read_text" => READ,
        "list_dir"
        | "walk_dir"
        | "glob"
        | "scan_directory"
        | "project_fingerprint"
        | "project_scan_native"
        | "project_scan_tree_native"
        | "project_walk_tree_native"
        | "project_enrich_native" => LIST,
        "file_exists" | "stat" => EXISTS,
        "write_file" | "write_file_bytes" | "append_file" | "mkdir" | "copy_file" | "move_file" => {
            WRITE
        }
        "delete_file" => DELETE,
        // What a program keeps beside its project. Which capabilities it has says nothing about
        // that; whether it may change anything does.
        "store_set" | "store_delete" | "store_clear" | "store_save" | "checkpoint"
        | "checkpoint_delete" | "checkpoint_clear" | "metadata_set" | "metadata_save"
        | "memory_store" | "memory_forget" | "run_record_save" => KEEP,
        "apply_edit"
        | "edit_safe_text_patch"
        | "hostlib_fs_safe_text_patch"
        | "hostlib_fs_commit_staged" => EDIT,
        "exec" | "exec_at" | "shell" | "shell_at" => PROCESS,
        "llm_call"
        | "llm_call_safe"
        | "llm_call_structured"
        | "llm_call_structured_safe"
        | "llm_call_structured_result"
        | "llm_completion"
        | "llm_stream"
        | "llm_stream_open"
        | "llm_healthcheck"
        | "agent_loop"
        | "agent_turn"
        | "daemon_spawn"
        | "daemon_resume"
        | "spawn_agent"
        | "sub_agent_run" => MODEL,
        "connector_call" => CONNECTOR,
        "host_tool_call" | "host_builtin" => HOST_TOOL,
        _ => return family_need(name),
    };
    Some(need)
}

/// What the builtins that share a prefix need.
fn family_need(name: &str) -> Option<Need> {
    let is_any = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if is_any(&["http_header", "http_response", "sse_event"]) || name.contains("_mock") {
        return None;
    }
    if is_any(&["http_", "sse_", "websocket_", "pg_"]) {
        return Some(NETWORK);
    }
    if is_any(&["mcp_", "exec_", "shell_"]) {
        return Some(PROCESS);
    }
    let state = name.strip_prefix("agent_state_")?;
    let changes = ["init", "write", "delete", "handoff"].contains(&state);
    Some(Need {
        level: changes.then_some(SideEffectLevel::WorkspaceWrite),
        ..STATE
    })
}

impl CapabilityPolicy {
    /// Checks a builtin by name. [`check_host_call`](Self::check_host_call) is for `host_call`,
    /// whose argument says what it does.
    ///
    /// # Errors
    /// What to say; its category is `tool_rejected`.
    pub fn check_builtin(&self, name: &str) -> Result<(), String> {
        let Some(need) = builtin_need(name) else {
            return Ok(());
        };
        let operation = need
            .operation
            .is_none_or(|(capability, operation)| self.allows_operation(capability, operation));
        match operation && need.level.is_none_or(|level| self.allows_level(level)) {
            true => Ok(()),
            false => Err(format!("builtin '{name}' exceeds {} ceiling", need.what)),
        }
    }

    /// Checks `host_call(operation)`. A policy that limits neither capabilities nor side effects
    /// has nothing to say about names either.
    ///
    /// # Errors
    /// What to say; its category is `tool_rejected`.
    pub fn check_host_call(&self, operation: &str) -> Result<(), String> {
        if self.capabilities.is_empty() && self.allows_level(SideEffectLevel::Network) {
            return Ok(());
        }
        let named = operation.split_once('.');
        let Some((capability, name)) =
            named.filter(|(left, right)| !left.is_empty() && !right.is_empty())
        else {
            return Err(format!(
                "host_call '{operation}' must use capability.operation naming"
            ));
        };
        if !self.allows_operation(capability, name) {
            return Err(format!("host_call {operation} exceeds capability ceiling"));
        }
        match self.allows_level(host_level(operation)) {
            true => Ok(()),
            false => Err(format!("host_call {operation} exceeds side-effect ceiling")),
        }
    }

    /// Checks a name that only the host's bridge knows. Nobody here knows what it does, so it
    /// passes only where there is nothing to exceed. What a tool's handler calls is trusted and
    /// must not be asked about.
    ///
    /// # Errors
    /// What to say; its category is `tool_rejected`.
    pub fn check_bridged(&self, name: &str) -> Result<(), String> {
        let unlimited = self.tools.is_empty()
            && self.capabilities.is_empty()
            && self.workspace_roots.is_empty()
            && self.allows_level(SideEffectLevel::Network);
        match unlimited {
            true => Ok(()),
            false => Err(format!(
                "bridged builtin '{name}' exceeds execution policy; declare an explicit \
                 capability/tool surface instead"
            )),
        }
    }
}

/// The level of what a host is asked to do, as its name suggests it; the same words as for
/// synthesized tools.
fn host_level(operation: &str) -> SideEffectLevel {
    let contains = |words: &[&str]| words.iter().any(|word| operation.contains(word));
    let starts = |words: &[&str]| words.iter().any(|word| operation.starts_with(word));
    if contains(&["http", "oauth", "network", "connector", "mcp"]) || operation == "llm.call" {
        SideEffectLevel::Network
    } else if contains(&["process", "exec", "shell"]) {
        SideEffectLevel::ProcessExec
    } else if starts(&["workspace.write", "workspace.apply", "workspace.delete"]) {
        SideEffectLevel::WorkspaceWrite
    } else {
        SideEffectLevel::ReadOnly
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn policy(value: Value) -> CapabilityPolicy {
        CapabilityPolicy::read("policy", &value).expect("the policy is well formed")
    }

    const ROWS: [(&str, &str); 27] = [
        ("read_file", "workspace.read_text"),
        ("read_file_bytes", "workspace.read_text"),
        ("read_file_result", "workspace.read_text"),
        ("list_dir", "workspace.list"),
        ("project_scan_native", "workspace.list"),
        ("file_exists", "workspace.exists"),
        ("stat", "workspace.exists"),
        ("write_file", "workspace write"),
        ("write_file_bytes", "workspace write"),
        ("append_file", "workspace write"),
        ("mkdir", "workspace write"),
        ("copy_file", "workspace write"),
        ("delete_file", "workspace.delete"),
        ("hostlib_fs_safe_text_patch", "workspace.apply_edit"),
        ("exec", "process.exec"),
        ("shell_at", "process.exec"),
        ("mcp_connect", "process.exec"),
        ("llm_call", "LLM/network"),
        ("llm_call_safe", "LLM/network"),
        ("llm_completion", "LLM/network"),
        ("llm_stream", "LLM/network"),
        ("llm_healthcheck", "LLM/network"),
        ("agent_loop", "LLM/network"),
        ("connector_call", "connector.call/network"),
        ("__agent_state_write", "agent_state.access"),
        ("host_tool_call", "host.tool_call"),
        ("__host_builtin", "host.tool_call"),
    ];

    #[test]
    fn a_capability_that_is_not_allowed_is_told() {
        let nothing = policy(json!({"capabilities": {"other": []}}));
        for (name, what) in ROWS {
            let text = format!("builtin '{name}' exceeds {what} ceiling");
            assert_eq!(nothing.check_builtin(name), Err(text));
            assert_eq!(policy(json!({})).check_builtin(name), Ok(()));
        }
        assert_eq!(nothing.check_builtin("len"), Ok(()));
        assert_eq!(nothing.check_builtin("http_get"), Ok(()));
    }

    #[test]
    fn levels_are_needed() {
        let rows = [
            ("none", "read_file", None),
            ("read_only", "write_file", Some("workspace write")),
            ("read_only", "delete_file", Some("workspace.delete")),
            ("read_only", "store_set", Some("workspace write")),
            ("read_only", "checkpoint", Some("workspace write")),
            ("read_only", "metadata_save", Some("workspace write")),
            ("read_only", "__memory_store", Some("workspace write")),
            ("read_only", "store_get", None),
            ("workspace_write", "store_set", None),
            ("workspace_write", "write_file", None),
            ("workspace_write", "exec", Some("process.exec")),
            ("process_exec", "exec", None),
            ("process_exec", "mcp_call", None),
            ("process_exec", "http_get", Some("network")),
            ("process_exec", "sse_connect", Some("network")),
            ("process_exec", "websocket_send", Some("network")),
            ("process_exec", "http_mock", None),
            ("process_exec", "http_header", None),
            ("process_exec", "llm_call", Some("LLM/network")),
            ("process_exec", "llm_mock", None),
            (
                "process_exec",
                "connector_call",
                Some("connector.call/network"),
            ),
            ("network", "llm_call", None),
            ("read_only", "__agent_state_read", None),
            (
                "read_only",
                "__agent_state_write",
                Some("agent_state.access"),
            ),
        ];
        for (level, name, what) in rows {
            let answer = policy(json!({"side_effect_level": level})).check_builtin(name);
            let text = what.map(|what| format!("builtin '{name}' exceeds {what} ceiling"));
            assert_eq!(answer.err(), text, "{level} {name}");
        }
    }

    #[test]
    fn both_the_operation_and_the_level_are_needed() {
        let limits = json!({"capabilities": {"llm": ["call"]}, "side_effect_level": "read_only"});
        let text = "builtin 'llm_call' exceeds LLM/network ceiling";
        assert_eq!(
            policy(limits).check_builtin("llm_call"),
            Err(text.to_owned())
        );
        let limits = json!({"capabilities": {"llm": ["call"]}, "side_effect_level": "network"});
        assert_eq!(policy(limits).check_builtin("llm_call"), Ok(()));
    }

    #[test]
    fn tools_do_not_limit_builtins() {
        let limits = policy(json!({"tools": ["look"]}));
        assert!(
            ROWS.iter()
                .all(|(name, _)| limits.check_builtin(name).is_ok())
        );
    }

    #[test]
    fn host_calls_are_checked_by_their_operation() {
        let rows = [
            (json!({}), "odd", None),
            (json!({"side_effect_level": "network"}), "odd", None),
            (
                json!({"side_effect_level": "read_only"}),
                "odd",
                Some("host_call 'odd' must use capability.operation naming"),
            ),
            (
                json!({"side_effect_level": "read_only"}),
                "odd.",
                Some("host_call 'odd.' must use capability.operation naming"),
            ),
            (
                json!({"capabilities": {"workspace": ["list"]}}),
                "workspace.read_text",
                Some("host_call workspace.read_text exceeds capability ceiling"),
            ),
            (
                json!({"capabilities": {"workspace": ["list"]}}),
                "workspace.list",
                None,
            ),
            (
                json!({"side_effect_level": "read_only"}),
                "workspace.list",
                None,
            ),
            (
                json!({"side_effect_level": "none"}),
                "workspace.list",
                Some("host_call workspace.list exceeds side-effect ceiling"),
            ),
            (
                json!({"side_effect_level": "read_only"}),
                "workspace.apply_edit",
                Some("host_call workspace.apply_edit exceeds side-effect ceiling"),
            ),
            (
                json!({"side_effect_level": "workspace_write"}),
                "process.exec",
                Some("host_call process.exec exceeds side-effect ceiling"),
            ),
            (
                json!({"side_effect_level": "process_exec"}),
                "network.fetch",
                Some("host_call network.fetch exceeds side-effect ceiling"),
            ),
        ];
        for (limits, operation, text) in rows {
            let answer = policy(limits).check_host_call(operation);
            assert_eq!(answer.err().as_deref(), text);
        }
    }

    #[test]
    fn names_of_the_bridge_need_a_policy_without_limits() {
        assert_eq!(CapabilityPolicy::ceiling().check_bridged("x"), Ok(()));
        let text = "bridged builtin 'x' exceeds execution policy; declare an explicit \
                    capability/tool surface instead";
        let limits = [
            json!({"tools": ["a"]}),
            json!({"capabilities": {"a": []}}),
            json!({"workspace_roots": ["/w"]}),
            json!({"side_effect_level": "process_exec"}),
        ];
        for limit in limits {
            assert_eq!(policy(limit).check_bridged("x"), Err(text.to_owned()));
        }
    }
}
