//! A loop begins: its session, and what depends on it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use harn_events::AgentEvent;
use harn_llm::Category;
use harn_llm::catalog::tool_format::{self, Choice};
use harn_llm::desk::Thrown;
use harn_llm::grammar::contract::Mode;
use harn_llm::options::CallOptions;
use harn_llm::options::value::Options;
use serde_json::{Map, Value, json};

use super::prepare::{LABEL, Prepared, check_surface};
use super::search::Searched;
use super::servers::RunServers;
use super::skills::RunSkills;
use super::{Run, contract, stream, texts};
use crate::loop_options::LoopOptions;
use crate::mutation;
use crate::policy::{ApprovalPolicy, CapabilityPolicy, Permissions, RECURSION_LIMIT};
use crate::runtime::{Ambient, LoopRequest, Runtime};
use crate::session::{CannotOpen, Session, kept};

/// Begins a loop that was made ready.
pub(super) async fn start<'a>(
    runtime: &'a Arc<Runtime>,
    prepared: &Prepared,
    prompt: &str,
) -> Result<Run<'a>, Thrown> {
    let request = &prepared.request;
    let mut options = Arc::clone(&prepared.options);
    let session = open_session(runtime, &options, request).await?;
    let tools = prepared.tools.clone();
    let servers = RunServers::new(runtime, session.id(), &request.options, tools.clone())?;
    // Servers bring theirs later, and how calls are written is decided now.
    let has_tools = !prepared.call.request.tools.is_empty() || !servers.is_empty();
    hold_to_format(&session, &mut options)?;
    let mut call = prepared.call.clone();
    let choice = choose_format(runtime, &options, &call, has_tools, &request.options)?;
    let mode = mode_of(&choice.format);
    call.tool_format.clone_from(&choice.format);
    settle_channel(&mut call, mode, &options);
    let ambient = narrow(runtime, request, &session)?;
    if !(prepared.is_surface_checked && ambient.policy.is_none() && ambient.approval.is_none()) {
        check_surface(runtime, request, &options, &tools, &ambient)?;
    }
    Ok(Run {
        started_ms: runtime.now_ms(),
        format_events: format_events(&choice, session.id()),
        system: call.request.system.take(),
        runtime,
        session,
        options,
        compaction: prepared.compaction.clone(),
        call,
        call_options: Arc::clone(&prepared.call_options),
        projection: prepared.projection.clone(),
        experiment: prepared.experiment.clone(),
        tools,
        mode,
        has_tools,
        ambient,
        contract: contract::Cache::default(),
        skills: RunSkills::new(prepared.skills.clone(), runtime),
        search: Searched::default(),
        servers,
        controls: Arc::clone(&prepared.controls),
        mailbox: request.mailbox.clone(),
        pause: request.pause.clone(),
        resumption: prepared.resumption.clone(),
        streamed: stream::StreamedCalls::default(),
        told: Mutex::default(),
        messages_tokens: Mutex::default(),
        compaction_backoff: Mutex::default(),
        prompt_messages: match &prepared.given_messages {
            Some(messages) => messages.clone(),
            None => vec![texts::user(prompt.to_owned())],
        },
        answers_secured: AtomicBool::new(true),
    })
}

/// The session to work on.
async fn open_session(
    runtime: &Runtime,
    options: &LoopOptions,
    request: &LoopRequest,
) -> Result<Arc<Session>, Thrown> {
    let opened = open_chosen(runtime, options, request).await;
    opened.map_err(|error| error.told_by("agent_loop"))
}

async fn open_chosen(
    runtime: &Runtime,
    options: &LoopOptions,
    request: &LoopRequest,
) -> Result<Arc<Session>, CannotOpen> {
    if let Some(id) = &options.session_id {
        return runtime.open_session(id).await;
    }
    // One that is given may have been there before, as in a run that is repeated.
    let given = Some(&request.unnamed_session_id).filter(|id| !id.is_empty());
    let made = || format!("agent_session_{}", runtime.new_id());
    match (&runtime.bridge, given) {
        (Some(_), given) => {
            let id = given.cloned().unwrap_or_else(made);
            let id = runtime.bus.current_session_id().unwrap_or(id);
            runtime.open_session(&id).await
        }
        (None, Some(id)) => runtime.sessions().open_unnamed(id),
        (None, None) => runtime.sessions().open_new(&made()),
    }
}

/// A session that was promised one format keeps it.
fn hold_to_format(session: &Session, options: &mut Arc<LoopOptions>) -> Result<(), Thrown> {
    let Some(Value::String(pinned)) = session.kept(kept::TOOL_FORMAT) else {
        return Ok(());
    };
    match options.tool_format.as_deref() {
        Some(asked) if asked != "auto" && asked != pinned => Err(Thrown::Plain(format!(
            "agent_loop: session '{}' uses tool format '{pinned}' and cannot change to '{asked}'",
            session.id()
        ))),
        _ => {
            Arc::make_mut(options).tool_format = Some(pinned);
            Ok(())
        }
    }
}

fn choose_format(
    runtime: &Runtime,
    options: &LoopOptions,
    call: &CallOptions,
    has_tools: bool,
    given: &Map<String, Value>,
) -> Result<Choice, Thrown> {
    let is_auto = options.tool_format.as_deref() == Some("auto");
    let capability = || runtime.desk.capability(&call.provider, &call.request.model);
    let from_catalog = || {
        let preferred = capability().preferred_tool_format;
        preferred.unwrap_or_else(|| runtime.desk.catalog_tool_format(call))
    };
    let fallback = match is_auto || runtime.bridge.is_some() {
        true => from_catalog(),
        false => "text".to_owned(),
    };
    let requested = options.tool_format.as_deref().filter(|_| !is_auto);
    // Where the mock answers nothing has to be possible, and there is nothing to report.
    if !has_tools || runtime.desk.is_mocked(&call.provider) {
        return Ok(Choice {
            format: requested.unwrap_or(&fallback).to_owned(),
            ..Choice::default()
        });
    }
    let reason = Options(given).given_text("tool_format_override_reason");
    let question = tool_format::Question {
        provider: &call.provider,
        model: Some(&*call.request.model).filter(|model| !model.is_empty()),
        requested,
        reason: reason.as_deref(),
        fallback: &fallback,
    };
    let choice = tool_format::choose(question, &capability());
    choice.map_err(|invalid| Thrown::Plain(invalid.to_string()))
}

fn mode_of(format: &str) -> Mode {
    match format {
        "native" => Mode::Native,
        "json" => Mode::Json,
        _ => Mode::Text,
    }
}

/// Tools go over the provider's channel, or into the prompt; never both.
pub(super) fn settle_channel(call: &mut CallOptions, mode: Mode, options: &LoopOptions) {
    match mode {
        Mode::Native => {
            let must_act = options.turn_policy.require_action_or_yield;
            if must_act && call.request.tool_choice.is_none() && !call.request.tools.is_empty() {
                call.request.tool_choice = Some(json!("required"));
            }
        }
        Mode::Text | Mode::Json => {
            call.request.tool_choice = None;
            call.native_tools = None;
            call.request.tool_search = None;
        }
    }
}

fn format_events(choice: &Choice, session_id: &str) -> Vec<AgentEvent> {
    let event = |kind: &str, body: &Option<Value>| {
        let mut body = body.clone()?;
        body["type"] = json!(kind);
        body["session_id"] = json!(session_id);
        serde_json::from_value(body).ok()
    };
    let overridden = event("tool_format_override", &choice.overridden);
    let gap = event("capability_gap", &choice.gap);
    [overridden, gap].into_iter().flatten().collect()
}

/// What holds inside the loop: what holds outside, what holds for its session, and what its
/// options add.
fn narrow(runtime: &Runtime, request: &LoopRequest, session: &Session) -> Result<Ambient, Thrown> {
    let given = Options(&request.options);
    let mut ambient = request.ambient.clone();
    let policy = ambient.policy.as_ref();
    // Loops that start loops come to an end also where nobody has said a word about policies.
    let limit = policy.and_then(|policy| policy.recursion_limit);
    let limit = limit.unwrap_or(RECURSION_LIMIT);
    if ambient.depth >= limit {
        let label = request.label.unwrap_or(LABEL);
        return Err(Thrown::Categorised(
            Category::ToolRejected,
            format!("{label} exceeds recursion ceiling: {limit}"),
        ));
    }
    ambient.depth += 1;
    let of_session = session.kept(kept::WORKSPACE_POLICY);
    let of_session = of_session
        .as_ref()
        .map(|policy| CapabilityPolicy::read_of_session("agent_loop: workspace_policy", policy));
    let own = given.given("policy");
    let own = own.map(|policy| CapabilityPolicy::read("agent_loop: policy", policy));
    for policy in [of_session.transpose()?, own.transpose()?] {
        ambient
            .narrow(policy.as_ref(), None)
            .map_err(Thrown::Plain)?;
    }
    let approval = given.given("approval_policy");
    let approval =
        approval.map(|policy| ApprovalPolicy::read("agent_loop: approval_policy", policy));
    ambient
        .narrow(None, approval.transpose()?.as_ref())
        .map_err(Thrown::Plain)?;
    if let Some(audit) = mutation::of_options(given) {
        let asking = runtime.bus.current_session_id();
        let audit = mutation::session(runtime, audit, &ambient, asking.as_deref());
        ambient.audit = Some(audit);
    }
    if let Some(permissions) = given.given("permissions") {
        let functions = request.functions.below("/permissions");
        let level = Permissions::read("permissions", permissions, &functions)?;
        ambient
            .permissions
            .extend(level.map(|level| level.of(session.id())));
    }
    Ok(ambient)
}
