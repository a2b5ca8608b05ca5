//! Everything that can go wrong before the first event: options, policies, tools, the session.

use std::sync::Arc;

use harn_events::AgentEvent;
use harn_llm::Category;
use harn_llm::catalog::tool_format::{self, Choice};
use harn_llm::desk::{Question, Thrown};
use harn_llm::grammar::contract::Mode;
use harn_llm::options::CallOptions;
use harn_llm::options::value::Options;
use serde_json::{Map, Value, json};

use super::control::Controls;
use super::dispatch::load_skill;
use super::project::Projection;
use super::search::Searched;
use super::servers::RunServers;
use super::skills::RunSkills;
use super::{Experiment, Run, contract, stream};
use crate::callback::Functions;
use crate::compaction;
use crate::loop_options::{LoopOptions, call_options};
use crate::policy::{ApprovalPolicy, CapabilityPolicy, Permissions, RECURSION_LIMIT};
use crate::progress;
use crate::registry::ToolRegistry;
use crate::runtime::{Ambient, LoopRequest, Runtime};
use crate::session::{Session, kept};
use crate::skills::SkillOptions;
use crate::surface::{self, Severity, Surface};

/// What a loop calls itself in messages, unless it is somebody's own.
const LABEL: &str = "agent_loop";

/// Reads options and makes everything ready.
pub(super) async fn start(
    runtime: &Arc<Runtime>,
    mut request: LoopRequest,
) -> Result<Run<'_>, Thrown> {
    let label = request.label.unwrap_or(LABEL);
    let mut options = LoopOptions::parse(&request.options, &request.functions, label)?;
    request
        .tools
        .extend(progress::tool(runtime, &request.options)?);
    let controls = Controls::read(&request.options, &request.functions, options.max_iterations)?;
    let tools = request.registry(runtime);
    let mut call_options = call_options(&request.options, label)?;
    if !request.tools.is_empty() {
        call_options.insert("tools".to_owned(), tools.to_value());
    }
    let experiment = take_experiment(&mut call_options, &request.functions)?;
    let mut call = runtime.desk.prepare(&Question {
        prompt: request.prompt.clone(),
        system: request.system.clone(),
        options: call_options.clone(),
    })?;
    let warn = |text: &str| runtime.warn("agent.skill_match", text);
    let skills = SkillOptions::parse(&request.options, &request.functions, &warn);
    if !skills.registry.is_empty() {
        let style = runtime.desk.style(&call.provider);
        load_skill::offer(&mut call, style);
    }
    let (session, _is_named) = open_session(runtime, &options, &request).await?;
    let servers = RunServers::new(runtime, session.id(), &request.options, tools.clone())?;
    // Servers bring theirs later, and how calls are written is decided now.
    let has_tools = !call.request.tools.is_empty() || !servers.is_empty();
    hold_to_format(&session, &mut options)?;
    let choice = choose_format(runtime, &options, &call, has_tools, &request.options)?;
    let mode = mode_of(&choice.format);
    call.tool_format.clone_from(&choice.format);
    settle_channel(&mut call, mode, &options);
    let context = runtime.desk.context_window(&call.request.model);
    let compaction = compaction::Policy::parse(&request.options, &request.functions, context)?;
    let ambient = narrow(&request, &session)?;
    tools.check()?;
    check_surface(runtime, &request, &options, &tools, &ambient)?;
    warn_about_stops(runtime, &options, &call);
    let prompt_messages = std::mem::take(&mut call.request.messages);
    Ok(Run {
        started_ms: runtime.now_ms(),
        format_events: format_events(&choice, session.id()),
        system: call.request.system.take(),
        runtime,
        session,
        options,
        compaction,
        call,
        call_options,
        projection: projection(&request),
        experiment,
        tools,
        mode,
        has_tools,
        ambient,
        contract: contract::Cache::default(),
        skills: RunSkills::new(skills, runtime),
        search: Searched::default(),
        servers,
        controls,
        mailbox: request.mailbox,
        pause: request.pause,
        resumption: None,
        streamed: stream::StreamedCalls::default(),
        prompt_messages,
    })
}

/// The session to work on, and whether programs can name it.
async fn open_session(
    runtime: &Runtime,
    options: &LoopOptions,
    request: &LoopRequest,
) -> Result<(Arc<Session>, bool), Thrown> {
    if let Some(id) = &options.session_id {
        return Ok((runtime.open_session(id).await?, true));
    }
    // One that is given may have been there before, as in a run that is repeated.
    let given = Some(&request.unnamed_session_id).filter(|id| !id.is_empty());
    let made = || format!("agent_session_{}", runtime.new_id());
    match (&runtime.bridge, given) {
        (Some(_), given) => {
            let id = given.cloned().unwrap_or_else(made);
            let id = runtime.bus.current_session_id().unwrap_or(id);
            Ok((runtime.open_session(&id).await?, true))
        }
        (None, Some(id)) => Ok((runtime.sessions().open_unnamed(id), false)),
        (None, None) => Ok((runtime.sessions().open_new(&made()), false)),
    }
}

/// A session that was promised one format keeps it.
fn hold_to_format(session: &Session, options: &mut LoopOptions) -> Result<(), Thrown> {
    let Some(Value::String(pinned)) = session.kept(kept::TOOL_FORMAT) else {
        return Ok(());
    };
    match options.tool_format.as_deref() {
        Some(asked) if asked != "auto" && asked != pinned => Err(Thrown::Plain(format!(
            "agent_loop: session '{}' uses tool format '{pinned}' and cannot change to '{asked}'",
            session.id()
        ))),
        _ => {
            options.tool_format = Some(pinned);
            Ok(())
        }
    }
}

/// What the program wants the model to see of the conversation.
fn projection(request: &LoopRequest) -> Option<Projection> {
    let functions = request.functions.below_or_at("/transcript_projection");
    let policy = request.options.get("transcript_projection").cloned();
    let policy = policy.unwrap_or_default();
    let is_given = !policy.is_null() || !functions.is_empty();
    is_given.then_some(Projection { policy, functions })
}

/// An experiment is made with each call, not once with what the user says.
fn take_experiment(
    options: &mut Map<String, Value>,
    functions: &Functions,
) -> Result<Option<Experiment>, Thrown> {
    let given = options.remove("structural_experiment");
    let function = functions.at("/structural_experiment").or_else(|| {
        let transform = functions.at("/structural_experiment/transform");
        transform.or_else(|| functions.at("/structural_experiment/handler"))
    });
    Ok(match (function, given) {
        (Some(function), given) => {
            let given = given.filter(Value::is_object).unwrap_or_else(|| json!({}));
            Some(Experiment::Function(Arc::clone(function), given))
        }
        (None, Some(given)) if !given.is_null() => {
            // What is not understood is better told now than in the middle.
            let (mut system, mut messages) = (None, Vec::new());
            harn_llm::experiment::apply(&given, &mut system, &mut messages)
                .map_err(|invalid| Thrown::Plain(invalid.to_string()))?;
            Some(Experiment::Named(given))
        }
        _ => None,
    })
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
fn narrow(request: &LoopRequest, session: &Session) -> Result<Ambient, Thrown> {
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
    let policies = [
        ("agent_loop: workspace_policy", of_session.as_ref()),
        ("agent_loop: policy", given.given("policy")),
    ];
    for (label, policy) in policies {
        let policy = policy.map(|policy| CapabilityPolicy::read(label, policy));
        let policy = policy.transpose()?;
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
    if let Some(permissions) = given.given("permissions") {
        let functions = request.functions.below("/permissions");
        let level = Permissions::read("permissions", permissions, &functions)?;
        ambient
            .permissions
            .extend(level.map(|level| level.of(session.id())));
    }
    Ok(ambient)
}

/// Tools, prompts and policies must fit together.
fn check_surface(
    runtime: &Runtime,
    request: &LoopRequest,
    options: &LoopOptions,
    tools: &ToolRegistry,
    ambient: &Ambient,
) -> Result<(), Thrown> {
    let entries: Vec<Value> = tools.iter().map(|entry| entry.declared.clone()).collect();
    let policy = ambient.policy.as_ref().map(|policy| json!(policy));
    let approval = ambient.approval.as_ref().map(|policy| json!(policy));
    let prompts = [request.system.as_deref(), options.tool_examples.as_deref()];
    let is_searched = Options(&request.options).given("tool_search");
    let diagnostics = surface::validate(&Surface {
        tools: &entries,
        native_tools: &[],
        policy: policy.as_ref(),
        approval_policy: approval.as_ref(),
        prompts: prompts.into_iter().flatten().collect(),
        tool_search_active: is_searched.is_some_and(|search| *search != json!(false)),
    });
    for diagnostic in diagnostics {
        let text = format!("{}: {}", diagnostic.code, diagnostic.message);
        match diagnostic.severity {
            // What is not said about a tool is no mistake; it only limits what can be checked.
            Severity::Warning if diagnostic.code.contains("_MISSING_") => {
                tracing::info!(target: "tool_surface.validate", "{text}");
            }
            Severity::Warning => runtime.warn("tool_surface.validate", &text),
            Severity::Error => {
                return Err(Thrown::Runtime(format!(
                    "agent_loop tool surface validation failed: {text}"
                )));
            }
        }
    }
    Ok(())
}

fn warn_about_stops(runtime: &Runtime, options: &LoopOptions, call: &CallOptions) {
    let is_declared = |name: &String| call.request.tools.iter().any(|tool| tool.name == *name);
    let stops = options.stop_after_successful_tools.iter();
    let unknown: Vec<&str> = stops
        .filter(|name| !is_declared(name))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let text = format!(
            "name(s) not in declared tool schema: {} — will never trigger a stop unless declared \
             later",
            unknown.join(", ")
        );
        runtime.warn("agent.stop_after_successful_tools", &text);
    }
}
