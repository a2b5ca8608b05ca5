//! What a tool call is: its state, its class, how it failed and who ran it.

use serde::{Deserialize, Serialize};

use super::string_enum::string_enum;

string_enum! {
    /// State of a tool call.
    pub enum ToolCallStatus {
        /// Known but not started.
        Pending = "pending",
        /// Backend is running it.
        InProgress = "in_progress",
        /// Ended successfully (terminal).
        Completed = "completed",
        /// Ended with an error or was refused (terminal).
        Failed = "failed",
    }
}

string_enum! {
    /// Semantic class of a tool. read, search, think and fetch count as read-only; other does not.
    pub enum ToolKind {
        /// Reads content.
        Read = "read",
        /// Changes content.
        Edit = "edit",
        /// Removes content.
        Delete = "delete",
        /// Moves or renames.
        Move = "move",
        /// Looks things up.
        Search = "search",
        /// Runs a process.
        Execute = "execute",
        /// Reasoning only.
        Think = "think",
        /// Gets remote content.
        Fetch = "fetch",
        /// Unclassified; default.
        Other = "other",
    }
    unknown => Other
}

string_enum! {
    /// Failure class of a tool call.
    pub enum ToolCallErrorCategory {
        /// Arguments rejected before running; the only class the model may retry with a correction.
        SchemaValidation = "schema_validation",
        /// The tool ran and reported an error.
        ToolError = "tool_error",
        /// MCP transport or server fault.
        McpServerError = "mcp_server_error",
        /// Host bridge fault.
        HostBridgeError = "host_bridge_error",
        /// Refused by a person or a policy.
        PermissionDenied = "permission_denied",
        /// Refused as a repeated identical call.
        RejectedLoop = "rejected_loop",
        /// A streamed candidate never became a call.
        ParseAborted = "parse_aborted",
        /// Time budget spent.
        Timeout = "timeout",
        /// Transient network, rate-limit or 5xx fault.
        Network = "network",
        /// Stopped on purpose.
        Cancelled = "cancelled",
        /// Not classified; default.
        Unknown = "unknown",
        /// Shared local resource contended.
        ResourceBusy = "resource_busy",
        /// Still in flight when the run ended; synthesised.
        AbandonedAtLoopExit = "abandoned_at_loop_exit",
        /// Machine or sandbox not provisioned.
        Environment = "environment",
    }
    unknown => Unknown
}

/// Backend that ran a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolExecutor {
    /// Runtime builtin or script handler.
    HarnBuiltin,
    /// Capability offered by the embedding host.
    HostBridge,
    /// A connected MCP server.
    McpServer {
        /// Configured server name.
        server_name: String,
    },
    /// Executed by the model provider itself.
    ProviderNative,
}

string_enum! {
    /// Side-effect ladder, ranked from harmless to invasive.
    pub enum SideEffectLevel {
        /// Rank 0; default.
        None = "none",
        /// Rank 1.
        ReadOnly = "read_only",
        /// Rank 2.
        WorkspaceWrite = "workspace_write",
        /// Rank 3.
        ProcessExec = "process_exec",
        /// Between process_exec and network.
        NetworkRead = "network_read",
        /// Above process_exec.
        Network = "network",
        /// Top of the ladder.
        DesktopControl = "desktop_control",
    }
    unknown => None
}
