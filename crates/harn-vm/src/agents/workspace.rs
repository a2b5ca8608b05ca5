//! The paths of builtins whose files the runtime of agents opens.
//!
//! What a builtin does with files itself is judged where it is performed, whichever builtin it is.
//! The runtime of agents opens files as well: it is told of them by arguments, and does not know
//! which task asked. So the arguments that name files are data here, and are judged before the
//! runtime hears of them.

use std::path::PathBuf;

use harn_machine::{
    Context, Failure, Fault, FileRequest, ProcessRequest, Request, Value, argument,
};

/// Options that name files or folders, of the builtins that start agents.
const PATH_OPTIONS: [&str; 8] = [
    "cwd",
    "llm_transcript_dir",
    "persist_path",
    "resume_path",
    "roots",
    "snapshot_path",
    "summarize_prompt",
    "watch_paths",
];

/// Looks at the arguments of a call.
pub(super) fn check(
    context: &mut Context<'_>,
    builtin: &'static str,
    arguments: &[Value],
) -> Result<(), Failure> {
    for path in paths(builtin, arguments) {
        let place = harn_stdlib::resolve_path(context, &path);
        // A question that says nothing, but is judged like one that reads.
        context.perform(&Request::File(FileRequest::Status(place)));
        refused(context, builtin)?;
    }
    if builtin == "mcp_connect" {
        // It is begun by nobody: what takes time is only judged here.
        context.perform(&Request::Process(command(arguments)));
        refused(context, builtin)?;
    }
    Ok(())
}

fn refused(context: &Context<'_>, builtin: &str) -> Result<(), Failure> {
    match context.refusal() {
        Some(reason) => Err(Fault::refused(builtin, reason)),
        None => Ok(()),
    }
}

/// Whether a builtin names what the runtime of agents opens.
pub(super) fn takes_paths(builtin: &str) -> bool {
    matches!(
        builtin,
        "__agent_loop"
            | "__agent_turn"
            | "__sub_agent_run"
            | "agent_session_seed_from_jsonl"
            | "coding_tools"
            | "daemon_resume"
            | "daemon_spawn"
            | "mcp_connect"
            | "mcp_server_card"
            | "resume_agent"
            | "spawn_agent"
    )
}

/// The paths that a call names.
fn paths(builtin: &str, arguments: &[Value]) -> Vec<String> {
    let first = || match argument(arguments, 0) {
        Value::Text(text) => vec![text.to_string()],
        _ => Vec::new(),
    };
    match builtin {
        "agent_session_seed_from_jsonl" | "daemon_resume" => first(),
        "mcp_server_card" | "resume_agent" => {
            let mut first = first();
            first.retain(|named| {
                let is_path = named.contains('/') || named.ends_with(".json");
                is_path && !named.contains("://")
            });
            first
        }
        _ => arguments.iter().flat_map(options).collect(),
    }
}

/// The paths among options.
fn options(value: &Value) -> Vec<String> {
    let Value::Dict(options) = value else {
        return Vec::new();
    };
    let named = PATH_OPTIONS.iter().filter_map(|key| options.get(key));
    named.flat_map(texts).collect()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.to_string()],
        Value::List(items) => items.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn command(arguments: &[Value]) -> ProcessRequest {
    let (words, folder) = match argument(arguments, 1) {
        Value::Dict(options) => (
            options.get("args").map(texts).unwrap_or_default(),
            options.get("cwd").map(texts).unwrap_or_default(),
        ),
        words => (texts(words), Vec::new()),
    };
    ProcessRequest {
        program: argument(arguments, 0).to_text().to_string(),
        arguments: words,
        folder: folder.into_iter().next().map(PathBuf::from),
        ..ProcessRequest::default()
    }
}
