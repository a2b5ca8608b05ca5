//! What `sub_agent_run` is asked for, and the child loop that comes of it.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display};
use harn_llm::transcript::runtime_event;
use serde_json::{Map, Value, json};

use super::child::{self, Child};
use super::envelope::{self, Wanted};
use super::requested::parse_policy;
use crate::callback::Functions;
use crate::loop_options::LoopOptions;
use crate::loop_result::LoopResult;
use crate::policy::{CapabilityPolicy, check_pattern};
use crate::runtime::{Ambient, LoopRequest, Runtime};
use crate::session::{Change, Session};

/// What errors and children call themselves.
pub(crate) const LABEL: &str = "sub_agent_run";

/// The name of a child that has none.
const NAME: &str = "sub-agent";

/// Options that are about the child and not about its loop, or that do not hold for children:
/// they are not compacted, do not wait for events and have no ledger.
const NOT_FOR_LOOPS: [&str; 17] = [
    "name",
    "system",
    "allowed_tools",
    "returns",
    "background",
    "carry",
    "execution",
    "audit",
    "compaction",
    "daemon",
    "persist_path",
    "resume_path",
    "wake_interval_ms",
    "watch_paths",
    "task_ledger",
    "root_task",
    "deliverables",
];

/// A child, as it was asked for.
#[derive(Clone)]
pub(crate) struct SubAgent {
    pub(crate) name: String,
    pub(crate) system: Option<String>,
    /// The options of its loop, without a session.
    pub(crate) options: Map<String, Value>,
    pub(crate) functions: Functions,
    /// The tools it was allowed by name, if it was.
    allowed_tools: Option<Vec<String>>,
    pub(crate) wanted: Wanted,
}

impl SubAgent {
    /// Reads the options of a child; the paths of the functions start there.
    ///
    /// # Errors
    /// What is thrown at the program, before anything is done.
    pub(crate) fn read(given: &Value, functions: Functions) -> Result<Self, Thrown> {
        let empty = Map::new();
        let given = match given {
            Value::Null => &empty,
            Value::Object(given) => given,
            _ => return fail("options must be a dict"),
        };
        let options = Options(given);
        let allowed_tools = read_allowed(options.given("allowed_tools"))?;
        if let Some(tools) = options.given("tools")
            && tools["_type"] != "tool_registry"
        {
            return fail("tools must be a tool registry");
        }
        if let Some(policy) = options.given("policy")
            && let Err(error) = parse_policy(policy)
        {
            return fail(&format!("policy parse error: {error}"));
        }
        let mut kept = given.clone();
        kept.retain(|key, _| !NOT_FOR_LOOPS.contains(&key.as_str()));
        kept.insert("auto_compact".to_owned(), json!(false));
        if options.given("tool_format").is_none() {
            kept.insert("tool_format".to_owned(), json!("text"));
        }
        LoopOptions::parse(&kept, &functions, LABEL)?;
        Ok(Self {
            name: options
                .given_text("name")
                .unwrap_or_else(|| NAME.to_owned()),
            system: options.given_text("system"),
            wanted: Wanted::read(options),
            options: kept,
            functions,
            allowed_tools,
        })
    }

    /// The session that the options name.
    pub(crate) fn session_id(&self) -> Option<String> {
        let id = Options(&self.options).given_text("session_id");
        id.filter(|id| !id.is_empty())
    }

    /// Runs the child to its end. What goes wrong in it is told in the envelope.
    pub(crate) async fn run(
        &self,
        runtime: &Arc<Runtime>,
        task: &str,
        child: &Child,
        ambient: Ambient,
    ) -> Value {
        let parent = child.parent.as_deref();
        note_start(runtime, parent, self, task, child);
        let outcome = self.run_loop(runtime, task, child, ambient).await;
        let session = &child.session;
        let envelope = envelope::put_together(runtime, session, child.seen, &self.wanted, outcome);
        note_result(runtime, parent, self, child, &envelope);
        envelope
    }

    async fn run_loop(
        &self,
        runtime: &Arc<Runtime>,
        task: &str,
        child: &Child,
        ambient: Ambient,
    ) -> Result<LoopResult, Thrown> {
        let mut options = self.options.clone();
        options.insert("session_id".to_owned(), json!(child.session.id()));
        if let Some(policy) = self.policy()? {
            options.insert("policy".to_owned(), json!(policy));
        }
        let request = LoopRequest {
            prompt: task.to_owned(),
            system: self.system.clone(),
            options,
            functions: self.functions.clone(),
            label: Some(LABEL),
            pause: child.pause.clone(),
            ambient,
            ..LoopRequest::default()
        };
        // A loop can start a loop that starts a loop: its future has no size of its own.
        Box::pin(runtime.run(request)).await
    }

    /// What the child may do at most: what was said, and the tools that were named.
    ///
    /// # Errors
    /// The two contradict each other.
    pub(crate) fn policy(&self) -> Result<Option<CapabilityPolicy>, Thrown> {
        let given = Options(&self.options).given("policy");
        let given = given.map(|policy| CapabilityPolicy::read("policy", policy));
        let given = given.transpose()?;
        let Some(tools) = self.allowed_tools.clone() else {
            return Ok(given);
        };
        let named = CapabilityPolicy {
            tools,
            ..CapabilityPolicy::default()
        };
        let Some(given) = given else {
            return Ok(Some(named));
        };
        let both = CapabilityPolicy::intersect(&given, &named);
        both.map(Some).map_err(Thrown::Plain)
    }
}

/// The task of a child.
///
/// # Errors
/// There is none.
pub(crate) fn read_task(value: &Value) -> Result<String, Thrown> {
    let task = match value {
        Value::Null => String::new(),
        value => display(value),
    };
    match task.trim().is_empty() {
        true => fail("task is required"),
        false => Ok(task),
    }
}

fn fail<T>(problem: &str) -> Result<T, Thrown> {
    Err(Thrown::Runtime(format!("{LABEL}: {problem}")))
}

fn read_allowed(value: Option<&Value>) -> Result<Option<Vec<String>>, Thrown> {
    let Some(value) = value else {
        return Ok(None);
    };
    let names = value.as_array().and_then(|names| {
        let texts = names.iter().map(|name| name.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    });
    match names {
        Some(names) => {
            let place = format!("{LABEL}.allowed_tools");
            for name in &names {
                check_pattern(&place, name)?;
            }
            Ok(Some(names))
        }
        None => Err(Thrown::Runtime(format!(
            "{LABEL}.allowed_tools: expected a list of strings"
        ))),
    }
}

fn note_start(
    runtime: &Runtime,
    parent: Option<&Session>,
    agent: &SubAgent,
    task: &str,
    child: &Child,
) {
    let metadata = json!({
        "name": agent.name,
        "child_session_id": child.session.id(),
        "task": task,
    });
    note(runtime, parent, "sub_agent_start", task, metadata);
}

fn note_result(
    runtime: &Runtime,
    parent: Option<&Session>,
    agent: &SubAgent,
    child: &Child,
    envelope: &Value,
) {
    let summary = envelope["summary"].as_str().unwrap_or_default();
    let metadata = json!({
        "name": agent.name,
        "child_session_id": child.session.id(),
        "ok": envelope["ok"],
        "summary": summary,
        "evidence_added": envelope["evidence_added"],
        "budget_exceeded": envelope["budget_exceeded"],
        "error": envelope["error"],
    });
    note(runtime, parent, "sub_agent_result", summary, metadata);
}

fn note(runtime: &Runtime, parent: Option<&Session>, kind: &str, text: &str, metadata: Value) {
    if let Some(parent) = parent {
        let mut new_id = || runtime.new_id();
        let metadata = Some(metadata);
        let event = runtime_event(kind, "system", "internal", text, metadata, &mut new_id);
        parent.record(Change::EventAdded {
            event: event.into(),
        });
    }
}

/// Answers `sub_agent_run` where nobody wants it in the background.
pub(crate) async fn run_and_wait(
    runtime: &Arc<Runtime>,
    task: &str,
    agent: &SubAgent,
    asked: child::Asking<'_>,
) -> Result<Value, Thrown> {
    let id = agent.session_id().unwrap_or_else(|| asked.new_id(runtime));
    let child = Child::open(runtime, asked.session_id, &id).await;
    let child = child.map_err(|error| error.told_by("sub_agent_run"))?;
    let ambient = runtime.ambient_in(asked.session_id);
    Ok(agent.run(runtime, task, &child, ambient).await)
}
