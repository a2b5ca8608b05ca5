//! The builtins about agents: values become JSON, and JSON becomes values.

use std::task::Poll;

use harn_machine::value::Text;
use harn_machine::{Answer, Context, Failure, Fault, Registry, Request, Value, Waiting, argument};
use harn_stdlib::{WORKER, scope_command_policy, with_command_policy};
use serde_json::json;

use super::artifacts;
use super::convert;
use super::daemons;
use super::guard;
use super::known;
use super::question;
use super::workers;
use super::{KIND, POLICY, SESSION, SUBSCRIBER_DEPTH};
use crate::models::decode;

/// Bodies that ask the port, each with its name and what it asks.
macro_rules! asking {
    ($($name:literal asks $asked:literal),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            ask(context, $asked, arguments, waiting)
        })),*]
    };
    ($($name:literal),* $(,)?) => { asking![$($name asks $name),*] };
}

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(asking![
        "__tool_next",
        "add_assistant",
        "add_message",
        "add_system",
        "add_tool_result",
        "add_user",
        "agent_emit_event",
        "agent_inject_feedback",
        "agent_progress",
        "agent_session_actor_chain",
        "agent_session_add_root",
        "agent_session_ancestry",
        "agent_session_attach",
        "agent_session_claim_tool_format",
        "agent_session_clear_scratchpad",
        "agent_session_client_inject_prompt",
        "agent_session_close",
        "agent_session_compact",
        "agent_session_detach",
        "agent_session_drain_inbox",
        "agent_session_exists",
        "agent_session_fork",
        "agent_session_fork_at",
        "agent_session_heartbeat",
        "agent_session_inject",
        "agent_session_length",
        "agent_session_list_roots",
        "agent_session_live_clients",
        "agent_session_open",
        "agent_session_post_event",
        "agent_session_reanchor",
        "agent_session_record_changed_path",
        "agent_session_redo",
        "agent_session_remove_root",
        "agent_session_reset",
        "agent_session_rollback",
        "agent_session_route_permission",
        "agent_session_scratchpad",
        "agent_session_seed_from_jsonl",
        "agent_session_set_scratchpad",
        "agent_session_set_workspace_anchor",
        "agent_session_set_workspace_policy",
        "agent_session_snapshot",
        "agent_session_system_prompt",
        "agent_session_takeover",
        "agent_session_tool_format",
        "agent_session_trim",
        "agent_session_workspace_anchor",
        "agent_session_workspace_policy",
        "cancel_in_flight_tool_call",
        "clear_tool_hooks",
        "close_agent",
        "coding_tools",
        "conversation",
        "daemon_snapshot",
        "daemon_stop",
        "daemon_trigger",
        "estimate_tokens",
        "load_skill",
        "list_agents",
        "microcompact",
        "plan_artifact",
        "plan_entries",
        "register_tool_hook",
        "send_input",
        "suspend_agent",
        "transcript",
        "transcript_abandon",
        "transcript_add_asset",
        "transcript_archive",
        "transcript_assets",
        "transcript_auto_compact",
        "transcript_events",
        "transcript_events_by_kind",
        "transcript_export",
        "transcript_fork",
        "transcript_from_messages",
        "transcript_id",
        "transcript_import",
        "transcript_messages",
        "transcript_project",
        "transcript_render_full",
        "transcript_render_visible",
        "transcript_reset",
        "transcript_resume",
        "transcript_stats",
        "transcript_summarize",
        "transcript_summary",
        "wait_agent",
        "worker_trigger",
    ]);
    registry.waiting(asking!["__transcript_compact" asks "transcript_compact"]);
    registry.waiting(&[
        ("__agent_loop", |context, arguments, waiting| {
            begin_loop(context, ("agent_loop", 2), arguments, waiting)
        }),
        ("__agent_turn", |context, arguments, waiting| {
            begin_loop(context, ("agent_turn", 1), arguments, waiting)
        }),
        ("__sub_agent_run", workers::sub_agent_run),
        ("agent_subscribe", subscribe),
        ("daemon_resume", daemons::resume),
        ("daemon_spawn", daemons::spawn),
        ("resume_agent", workers::resume_agent),
        ("spawn_agent", workers::spawn_agent),
    ]);
    registry.plain(&[
        ("__known_options", known::known_options),
        ("agent_session_current_id", current_id),
    ]);
    registry.file("agents", include_str!("../../harn/agents.harn"));
    let written_in_harn = [
        "agent_loop",
        "agent_turn",
        "sub_agent_run",
        "transcript_compact",
    ];
    registry.harn("agents", &written_in_harn.map(|name| (name, name)));
    artifacts::register(registry);
    registry.file("validators", include_str!("../../harn/validators.harn"));
    let validators = ["agent_done_contract", "with_structural_validator"];
    registry.harn("validators", &validators.map(|name| (name, name)));
    registry.file("middleware", include_str!("../../harn/middleware.harn"));
    let middleware = [
        "compose_tool_callers",
        "tools_use_middleware",
        "with_consent",
        "with_dry_run",
        "with_idempotency",
        "with_redaction",
        "with_required_reason",
        "with_scoped_executor",
        "with_telemetry",
    ];
    registry.harn("middleware", &middleware.map(|name| (name, name)));
    registry.file("caches", include_str!("../../harn/caches.harn"));
    let caches = [
        "cache_clear",
        "cache_get",
        "cache_put",
        "cache_stats",
        "fs_cache",
        "mem_cache",
        "with_cache",
        "with_cache_envelope",
    ];
    registry.harn("caches", &caches.map(|name| (name, name)));
    registry.set_guard(guard::check);
}

pub(crate) fn ask(
    context: &mut Context<'_>,
    builtin: &str,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let request = match waiting.is_resumed() {
        true => None,
        false => {
            let session = current(context);
            Some(request(context, builtin, arguments, (session, None)))
        }
    };
    answered(context, waiting, request)
}

/// Begins an effect, or gives its answer.
pub(super) fn answered(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    request: Option<Request>,
) -> Result<Poll<Value>, Failure> {
    let request = || request.expect("the first call makes it");
    match waiting.effect(context, request) {
        None => Ok(Poll::Pending),
        Some(Answer::Text(Some(text))) => decode(&text).map(Poll::Ready),
        Some(Answer::Failed(failure)) => Err(Fault::runtime(failure.message)),
        Some(_) => Err(Fault::runtime("the world does not know agents")),
    }
}

/// What is asked, from inside which session, and which id an unnamed one would get.
pub(super) fn request(
    context: &mut Context<'_>,
    builtin: &str,
    arguments: &[Value],
    (session, unnamed): (Option<String>, Option<&str>),
) -> Request {
    let ids = (session, unnamed);
    request_about(context, builtin, arguments, ids, serde_json::Map::new())
}

/// The same, with more that the port has to know.
pub(super) fn request_about(
    context: &mut Context<'_>,
    builtin: &str,
    arguments: &[Value],
    (session, unnamed): (Option<String>, Option<&str>),
    more: serde_json::Map<String, serde_json::Value>,
) -> Request {
    let (json, closures) = convert::arguments(context, arguments);
    let mut payload = json!({
        "builtin": builtin,
        "arguments": json,
        "closures": closures,
        "session": session,
        "unnamed": unnamed,
        "subscriber_depth": subscriber_depth(context),
    });
    if let Some(fields) = payload.as_object_mut() {
        fields.extend(more);
    }
    Request::Other {
        kind: KIND,
        payload: payload.to_string(),
    }
}

/// The session in whose loop the task runs.
pub(super) fn current(context: &mut Context<'_>) -> Option<String> {
    match context.strand().values.get(SESSION) {
        Some(Value::Text(id)) => Some(id.to_string()),
        _ => None,
    }
}

/// How many readers of events deep the task is, if one of them has started it.
pub(super) fn subscriber_depth(context: &mut Context<'_>) -> Option<i64> {
    match context.strand().values.get(SUBSCRIBER_DEPTH) {
        Some(Value::Int(depth)) => Some(*depth),
        _ => None,
    }
}

/// `agent_session_current_id()`
fn current_id(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let Some(session) = current(context) else {
        return Ok(Value::Nil);
    };
    // A worker may have moved on to another session than the one its functions know.
    match context.strand().values.get(WORKER) {
        Some(_) => workers::session_now(context, &session),
        None => Ok(Value::from(session)),
    }
}

/// A loop. What it calls back runs inside its session.
fn begin_loop(
    context: &mut Context<'_>,
    (builtin, options): (&str, usize),
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let outer = current(context);
    let id = match session_id(argument(arguments, options)) {
        Some(id) => id,
        None => new_session_id(context)?,
    };
    let has_policy = match argument(arguments, options) {
        Value::Dict(options) => !matches!(options.get("policy"), None | Some(Value::Nil)),
        _ => false,
    };
    let has_policy = has_policy || session_has_policy(context, &id)?;
    let request = inside(context, &id, has_policy, |context| {
        scope_command_policy(context, argument(arguments, options))?;
        let given = with_command_policy(context, argument(arguments, options));
        let mut arguments = arguments.to_vec();
        if !given.is_nil() {
            arguments.resize(arguments.len().max(options + 1), Value::Nil);
            arguments[options] = given;
        }
        Ok(request(context, builtin, &arguments, (outer, Some(&id))))
    })?;
    answered(context, waiting, Some(request))
}

/// The session that options name.
pub(super) fn session_id(options: &Value) -> Option<String> {
    match options {
        Value::Dict(options) => match options.get("session_id") {
            None | Some(Value::Nil) => None,
            Some(id) => Some(id.to_text().to_string()).filter(|id| !id.is_empty()),
        },
        _ => None,
    }
}

pub(super) fn new_session_id(context: &mut Context<'_>) -> Result<String, Failure> {
    let id = question::answer(context, "__new_session_id", &json!([]))?;
    Ok(id.to_text().to_string())
}

/// Whether a session has a policy of its own, which holds in all its loops.
fn session_has_policy(context: &mut Context<'_>, id: &str) -> Result<bool, Failure> {
    let has_policy = question::ask(context, "__has_policy", &json!([id]))?;
    Ok(has_policy.is_some_and(|has_policy| has_policy.is_truthy()))
}

/// Does something as if the task ran inside a session's loop; closures that are let out
/// meanwhile do.
pub(super) fn inside<T>(
    context: &mut Context<'_>,
    session: &str,
    has_policy: bool,
    work: impl FnOnce(&mut Context<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let before = context.strand().values.clone();
    let values = &mut context.strand().values;
    values.insert(Text::new(SESSION), Value::from(session));
    if has_policy || values.get(POLICY).is_some() {
        values.insert(Text::new(POLICY), Value::from(session));
    }
    let result = work(context);
    context.strand().values = before;
    result
}

/// `agent_subscribe(session_id, callback)`: the callback runs inside the session it sees.
fn subscribe(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let session = argument(arguments, 0).to_text().to_string();
    let outer = current(context);
    let request = inside(context, &session, false, |context| {
        let ids = (outer, None);
        Ok(request(context, "agent_subscribe", arguments, ids))
    })?;
    answered(context, waiting, Some(request))
}
