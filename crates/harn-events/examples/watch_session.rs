//! Watches an agent session and finds everything again in its log.
//!
//! The agent is a script of seven events; a real one emits the same way.
//! `cargo run -q -p harn-events --example watch_session [FOLDER]`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, CloseSession, EventBus, JsonlDirectory, load_directory,
};
use serde_json::{Value, json};

/// A sink: whatever implements this one function can watch a session.
struct Printer;

impl AgentEventSink for Printer {
    fn handle_event(&self, event: &AgentEvent) {
        let detail = match event {
            AgentEvent::ToolCall { raw_input, .. } => raw_input.to_string(),
            AgentEvent::ToolCallUpdate { status, .. } => status.to_string(),
            AgentEvent::AgentMessageChunk { content, .. } => content.clone(),
            AgentEvent::LoopCheckpoint { kind, .. } => kind.clone(),
            _ => String::new(),
        };
        println!("  {:20} {detail}", event.tag());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let fresh = || std::env::temp_dir().join(format!("harn-demo-{}", std::process::id()));
    let folder = std::env::args_os().nth(1).map_or_else(fresh, PathBuf::from);

    // Every session that is opened on this bus gets a log in the folder.
    let logs = JsonlDirectory::new(&folder);
    let log_path = logs.path_of("demo");
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(logs)),
        ..BusConfig::default()
    });
    bus.open_session("demo")?;
    bus.register_sink("demo", Arc::new(Printer));

    println!("What a sink sees:");
    // However the run ends, also by a panic, the guard closes what it left open.
    let run = bus.begin_run("demo");
    for event in script() {
        bus.emit(&serde_json::from_value(event)?);
    }
    run.finish("done");
    bus.close_session("demo", CloseSession::default());

    let log = load_directory(&folder)?;
    let session = &log.sessions["demo"];
    println!("What the log has:");
    println!("  {} records", session.records.len());
    println!("  dense: {}", session.report.is_dense());
    println!("  complete: {}", session.report.is_complete);
    println!("Look at it:");
    println!("  jq -c '[.index, .type]' {}", log_path.display());
    Ok(())
}

/// What the agent does. The tool needs the header; nobody who reads along does.
fn script() -> Vec<Value> {
    let arguments = json!({"path": "app.toml", "headers": {"Authorization": "Bearer s3cr3t"}});
    let mut events = [
        json!({"type": "iteration_start", "iteration": 1}),
        json!({"type": "tool_call", "status": "pending", "raw_input": arguments}),
        json!({"type": "tool_call_update", "status": "in_progress"}),
        json!({"type": "tool_call_update", "status": "completed", "raw_output": "port = 80"}),
        json!({"type": "agent_message_chunk", "content": "It listens on port 80."}),
        json!({"type": "iteration_end", "iteration": 1, "iteration_info": {"tool_count": 1}}),
        json!({"type": "loop_checkpoint", "iteration": 1, "kind": "loop_exit", "delivered": 0}),
    ];
    for event in &mut events {
        event["session_id"] = "demo".into();
    }
    for call in &mut events[1..=3] {
        call["tool_call_id"] = "call-1".into();
        call["tool_name"] = "read_file".into();
    }
    events.into()
}
