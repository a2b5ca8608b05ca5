//! Everything about a loop that can be read and checked before anybody says anything: options,
//! tools, and whom to ask.

use std::path::Path;
use std::sync::Arc;

use harn_llm::desk::{Question, Thrown};
use harn_llm::options::CallOptions;
use harn_llm::options::value::Options;
use harn_options::AGENT_LOOP;
use serde_json::{Map, Value, json};

use super::Experiment;
use super::control::Controls;
use super::dispatch::load_skill;
use super::project::Projection;
use super::resumption::{self, AwaitResumption};
use crate::callback::Functions;
use crate::compaction;
use crate::fence::refused;
use crate::known_options;
use crate::loop_options::{LoopOptions, call_options};
use crate::progress;
use crate::registry::ToolRegistry;
use crate::runtime::{Ambient, LoopRequest, Runtime};
use crate::skills::SkillOptions;
use crate::surface::{self, Severity, Surface};

/// What a loop calls itself in messages, unless it is somebody's own.
pub(super) const LABEL: &str = "agent_loop";

/// What was read of a request. Loops share it; none of them changes it.
pub(crate) struct Prepared {
    pub(super) request: LoopRequest,
    pub(super) options: Arc<LoopOptions>,
    pub(super) controls: Arc<Controls>,
    pub(super) tools: ToolRegistry,
    /// What every model call starts from, without messages.
    pub(super) call: CallOptions,
    /// The options it was read from.
    pub(super) call_options: Arc<Map<String, Value>>,
    /// The messages to begin with, where that is more than what the user says.
    pub(super) given_messages: Option<Vec<Value>>,
    pub(super) experiment: Option<Experiment>,
    pub(super) skills: SkillOptions,
    pub(super) compaction: Option<Arc<compaction::Policy>>,
    pub(super) projection: Option<Arc<Projection>>,
    pub(super) resumption: Option<Arc<AwaitResumption>>,
    /// Whether tools and prompts fit together. With policies that depends on the session.
    pub(super) is_surface_checked: bool,
}

/// Reads a request.
pub(crate) fn prepare(
    runtime: &Arc<Runtime>,
    mut request: LoopRequest,
) -> Result<Prepared, Thrown> {
    let label = request.label.unwrap_or(LABEL);
    let given = (&request.options, &request.functions);
    known_options::refuse(runtime, label, &AGENT_LOOP, given.0, given.1)?;
    let resumption = resumption::tool(&request.options);
    let resumption_tool = resumption.clone().map(|tool| tool as _);
    request.tools.extend(resumption_tool);
    let options = LoopOptions::parse(&request.options, &request.functions, label)?;
    let progress_tool = progress::tool(runtime, &request.options)?;
    request.tools.extend(progress_tool);
    let controls = Controls::read(&request.options, &request.functions, options.max_iterations)?;
    let tools = request.registry(runtime);
    let mut call_options = call_options(&request.options, label)?;
    if !request.tools.is_empty() {
        call_options.insert("tools".to_owned(), tools.to_value());
    }
    let experiment = take_experiment(&mut call_options, &request.functions)?;
    let question = Question {
        prompt: request.prompt.clone(),
        system: request.system.clone(),
        options: call_options,
        replies: None,
    };
    let mut call = runtime.desk.prepare(&question)?;
    call.transcript = transcript_folder(runtime, &request)?;
    let warn = |text: &str| runtime.warn("agent.skill_match", text);
    let skills = SkillOptions::parse(&request.options, &request.functions, &warn);
    if !skills.registry.is_empty() {
        let style = runtime.desk.style(&call.provider);
        load_skill::offer(&mut call, style);
    }
    let context = runtime.desk.context_window(&call.request.model);
    let compaction = compaction::Policy::parse(&request.options, &request.functions, context)?;
    tools.check()?;
    let is_surface_checked = !has_policies(&request);
    if is_surface_checked {
        check_surface(runtime, &request, &options, &tools, &request.ambient)?;
    }
    warn_about_stops(runtime, &options, &call);
    Ok(Prepared {
        options: Arc::new(options),
        controls: Arc::new(controls),
        tools,
        given_messages: given_messages(&mut call, &question.options),
        call,
        call_options: Arc::new(question.options),
        experiment,
        skills,
        compaction: compaction.map(Arc::new),
        projection: projection(&request).map(Arc::new),
        resumption,
        is_surface_checked,
        request,
    })
}

/// The folder in which the calls of the loop are written down, if it has one of its own.
fn transcript_folder(
    runtime: &Runtime,
    request: &LoopRequest,
) -> Result<Option<Arc<Path>>, Thrown> {
    let given = Options(&request.options).given_text("llm_transcript_dir");
    let Some(given) = given.filter(|folder| !folder.trim().is_empty()) else {
        return Ok(None);
    };
    let folder: Arc<Path> = runtime.folder.join(given).into();
    runtime.fence.write(&folder).map_err(refused)?;
    let opened = runtime.desk.open_transcript(&folder);
    opened.map_err(|error| Thrown::Runtime(format!("agent_loop: llm_transcript_dir {error}")))?;
    Ok(Some(folder))
}

impl Prepared {
    /// Whether it can be run more than once. What the model waits for belongs to one loop, and an
    /// experiment of the operator's was made with one prompt.
    pub(crate) fn is_lasting(&self) -> bool {
        self.resumption.is_none() && self.call.structural_experiment.is_none()
    }

    /// The request it was read from, about another prompt.
    pub(crate) fn request_for(&self, prompt: &str) -> LoopRequest {
        let mut request = self.request.clone();
        request.prompt = prompt.to_owned();
        request
    }
}

/// Whether anything limits what tools may do, apart from the session.
fn has_policies(request: &LoopRequest) -> bool {
    let Ambient {
        policy, approval, ..
    } = &request.ambient;
    let given = Options(&request.options);
    policy.is_some()
        || approval.is_some()
        || given.given("policy").is_some()
        || given.given("approval_policy").is_some()
}

/// Takes the messages out of a call: those that were given, or what an experiment made of the
/// prompt.
fn given_messages(call: &mut CallOptions, options: &Map<String, Value>) -> Option<Vec<Value>> {
    let messages = std::mem::take(&mut call.request.messages).to_vec();
    let is_given = options.get("messages").is_some_and(Value::is_array);
    (is_given || call.structural_experiment.is_some()).then_some(messages)
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

/// Tools, prompts and policies must fit together.
pub(super) fn check_surface(
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
        permissions: Options(&request.options).given("permissions"),
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
