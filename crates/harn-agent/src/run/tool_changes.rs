//! Tools of servers that are not the approved ones any more: told, asked about, and withheld.

use std::sync::Arc;

use harn_events::{AgentEvent, ToolCallErrorCategory, ToolCallStatus};
use serde_json::{Value, json};

use super::Run;
use crate::policy::{HostAnswer, permission_request, read_host_answer};
use crate::session::kept;
use crate::tool::ToolCall;
use crate::tool_servers::{ToolServer, Withheld, offer};

/// What a person is asked about, in the place of a tool.
const APPROVE_TOOLS: &str = "approve_changed_tools";

/// Tells which tools are withheld and asks a person about them; gives those that are approved.
pub(super) async fn settle(
    run: &Run<'_>,
    server: &Arc<dyn ToolServer>,
    withheld: &[Withheld],
) -> Vec<Value> {
    tell(run, server.name(), withheld).await;
    for one in withheld {
        forget_grants(run, &offer::shown_name(server.name(), &one.tool));
    }
    if !is_approved(run, server.name(), withheld).await {
        return Vec::new();
    }
    if let Err(why) = run.runtime.approved_tools.approve(&**server, withheld) {
        run.runtime.warn("mcp", &why);
    }
    let tools = withheld.iter().map(|one| one.now.clone());
    run.emit(AgentEvent::McpCatalogChanged {
        session_id: run.id(),
        server: Some(server.name().to_owned()),
        reason: "allowlist_updated".to_owned(),
    })
    .await;
    tools.collect()
}

async fn tell(run: &Run<'_>, server: &str, withheld: &[Withheld]) {
    let named = withheld.iter().map(|one| {
        let name = offer::shown_name(server, &one.tool);
        json!({"name": name, "changed": one.changed})
    });
    let named: Vec<Value> = named.collect();
    let names = withheld.iter().map(|one| one.tool.as_str());
    run.runtime.warn(
        "mcp",
        &format!(
            "tools of mcp server '{server}' are not as they were approved and are withheld: {}",
            names.collect::<Vec<_>>().join(", ")
        ),
    );
    run.emit(AgentEvent::McpCatalogChanged {
        session_id: run.id(),
        server: Some(server.to_owned()),
        reason: "allowlist_updated".to_owned(),
    })
    .await;
    run.emit(AgentEvent::McpNotification {
        session_id: run.id(),
        server: server.to_owned(),
        method: "harn/tools_withheld".to_owned(),
        direction: "notification".to_owned(),
        params: json!({"tools": named}),
    })
    .await;
}

/// Whether a person approves the change. Where nobody can be asked, nobody does.
async fn is_approved(run: &Run<'_>, server: &str, withheld: &[Withheld]) -> bool {
    let Some(bridge) = &run.runtime.bridge else {
        return false;
    };
    let id = run.runtime.new_id();
    let changes = withheld.iter().map(|one| {
        json!({
            "tool": offer::shown_name(server, &one.tool),
            "changed": one.changed, "before": one.before, "now": one.now,
        })
    });
    let input = json!({"server": server, "tools": changes.collect::<Vec<_>>()});
    run.emit(AgentEvent::ToolCall {
        session_id: run.id(),
        tool_call_id: id.clone(),
        tool_name: APPROVE_TOOLS.to_owned(),
        kind: None,
        status: ToolCallStatus::Pending,
        raw_input: input.clone(),
        parsing: None,
        audit: None,
    })
    .await;
    let asked = ToolCall {
        id: &id,
        session_id: run.session.id(),
        name: APPROVE_TOOLS,
        arguments: &input,
    };
    let record = json!({
        "id": run.runtime.new_id(),
        "action": format!("use changed tools of mcp server '{server}'"),
        "args": input,
    });
    let parameters = permission_request(&asked, None, record, Value::Null, None);
    let said = bridge
        .request("session/request_permission", parameters)
        .await;
    let answer = said.map(|said| read_host_answer(&said));
    let is_granted = matches!(answer, Ok(HostAnswer::Granted { .. }));
    let (status, error) = match is_granted {
        true => (ToolCallStatus::Completed, None),
        false => (
            ToolCallStatus::Failed,
            Some("the change was not approved".to_owned()),
        ),
    };
    run.emit(AgentEvent::ToolCallUpdate {
        session_id: run.id(),
        tool_call_id: id,
        tool_name: APPROVE_TOOLS.to_owned(),
        status,
        error_category: error
            .is_some()
            .then_some(ToolCallErrorCategory::PermissionDenied),
        error,
        raw_output: None,
        duration_ms: None,
        execution_duration_ms: None,
        executor: None,
        parsing: None,
        raw_input: None,
        raw_input_partial: None,
        audit: None,
    })
    .await;
    is_granted
}

/// What was allowed for good was allowed for the tool as it was.
fn forget_grants(run: &Run<'_>, name: &str) {
    let Some(Value::Object(mut known)) = run.session.kept(kept::APPROVALS) else {
        return;
    };
    let count = known.len();
    let of_call = format!("{name} ");
    known.retain(|key, allowed| {
        let is_its = key == name || key.starts_with(&of_call);
        !is_its || *allowed != json!(true)
    });
    if known.len() != count {
        run.session.keep(kept::APPROVALS, Value::Object(known));
    }
}
