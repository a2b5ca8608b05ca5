//! Children and workers, as programs see them.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display, truthy};
use harn_llm::sorted_json;
use harn_options::{SUB_AGENT, WORKER};
use serde_json::Value;

use super::Asked;
use crate::known_options;
use crate::runtime::Runtime;
use crate::workers::{self, Asking, AtHand, Slot, Start, Status, SubAgent, WorkerPlaces};

/// Answers; `None` if it is no question about workers.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    Some(match &*asked.builtin {
        "sub_agent_run" => sub_agent_run(runtime, asked).await,
        "spawn_agent" => spawn_agent(runtime, asked).await,
        "send_input" => send_input(runtime, asked).await,
        "worker_trigger" => worker_trigger(runtime, asked).await,
        "wait_agent" => wait_agent(runtime, asked).await,
        "close_agent" => close_agent(runtime, asked).await,
        "resume_agent" => resume_agent(runtime, asked).await,
        "suspend_agent" => suspend_agent(runtime, asked),
        "list_agents" => Ok(list_agents(runtime)),
        _ => return None,
    })
}

fn fail<T>(problem: impl Into<String>) -> Result<T, Thrown> {
    Err(Thrown::Runtime(problem.into()))
}

fn asking(asked: &Asked) -> Asking<'_> {
    Asking {
        session_id: asked.session_id.as_deref(),
        unnamed: &asked.unnamed_session_id,
    }
}

/// `sub_agent_run(task, options?)`
async fn sub_agent_run(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let task = workers::read_task(asked.argument(0))?;
    let (options, functions) = (asked.dict(1), asked.functions.below("/1"));
    known_options::refuse(runtime, "sub_agent_run", &SUB_AGENT, &options, &functions)?;
    let agent = SubAgent::read(asked.argument(1), functions)?;
    if !Options(&options).given("background").is_some_and(truthy) {
        return workers::run_and_wait(runtime, &task, &agent, asking(asked)).await;
    }
    let start = Start::of_sub_agent(task, agent, &options)?;
    let slot = start
        .begin(runtime, asking(asked), &asked.worker_id)
        .await?;
    Ok(slot.summary())
}

/// `spawn_agent(config)`
async fn spawn_agent(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let (config, functions) = (asked.dict(0), asked.functions.below("/0"));
    known_options::refuse(runtime, "spawn_agent", &WORKER, &config, &functions)?;
    let (start, waits) = Start::of_config(asked.arguments.first(), functions)?;
    let slot = start
        .begin(runtime, asking(asked), &asked.worker_id)
        .await?;
    match waits {
        true => workers::wait(runtime, &slot, asked.session_id.as_deref()).await,
        false => Ok(slot.summary()),
    }
}

/// `send_input(handle, task)`
async fn send_input(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    if asked.argument(0).is_null() || asked.argument(1).is_null() {
        return fail("send_input: requires worker handle and task text");
    }
    let slot = find(runtime, asked.argument(0))?;
    let task = display(asked.argument(1));
    if task.trim().is_empty() {
        return fail("send_input: task text must not be empty");
    }
    workers::send(runtime, &slot, &task).await?;
    Ok(slot.summary())
}

/// `worker_trigger(handle, payload)`
async fn worker_trigger(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    if asked.argument(0).is_null() || asked.argument(1).is_null() {
        return fail("worker_trigger: requires worker handle and payload");
    }
    let slot = find(runtime, asked.argument(0))?;
    let task = match asked.argument(1) {
        Value::String(text) => text.clone(),
        payload => sorted_json(payload),
    };
    if task.trim().is_empty() {
        return fail("worker_trigger: payload must not be empty");
    }
    workers::trigger(runtime, &slot, asked.argument(1), &task).await?;
    Ok(slot.summary())
}

/// `wait_agent(handle | list)`
async fn wait_agent(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let session_id = asked.session_id.as_deref();
    match asked.argument(0) {
        Value::Null => fail("wait_agent: missing worker handle"),
        Value::Array(handles) => {
            let slots = handles.iter().map(|handle| find(runtime, handle));
            let slots: Vec<Arc<Slot>> = slots.collect::<Result<_, _>>()?;
            let mut summaries = Vec::with_capacity(slots.len());
            for slot in slots {
                summaries.push(workers::wait(runtime, &slot, session_id).await?);
            }
            Ok(Value::Array(summaries))
        }
        handle => {
            let slot = find(runtime, handle)?;
            workers::wait(runtime, &slot, session_id).await
        }
    }
}

/// `close_agent(handle)`
async fn close_agent(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    if asked.argument(0).is_null() {
        return fail("close_agent: missing worker handle");
    }
    let slot = find(runtime, asked.argument(0))?;
    // Whoever closes may be a part of what is closed and end with it; the closing goes on.
    let (here, closing) = (Arc::clone(runtime), Arc::clone(&slot));
    let (sender, closed) = tokio::sync::oneshot::channel();
    runtime.spawn(Box::pin(async move {
        let summary = workers::close(&here, &closing).await;
        let _nobody_waits_for_it = sender.send(summary);
    }))?;
    Ok(closed.await.unwrap_or_else(|_| slot.summary()))
}

/// `list_agents()`
fn list_agents(runtime: &Runtime) -> Value {
    let all = runtime.workers.all().into_iter();
    all.map(|slot| slot.summary()).collect()
}

/// `resume_agent(id | path | handle, input?)`: a worker that pauses goes on; another one is
/// loaded from its file, unless it is here. The third argument are the tools at hand.
async fn resume_agent(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let handle = asked.argument(0);
    if handle.is_null() || handle.as_str().is_some_and(str::is_empty) {
        return fail("resume_agent: missing worker id or snapshot path");
    }
    let id = handle_id(handle)?;
    let known = runtime.workers.get(id);
    let is_loaded = known.is_none();
    let slot = match known {
        Some(slot) => slot,
        None => {
            let named = handle["snapshot_path"].as_str();
            let named = named.filter(|path| !path.is_empty()).unwrap_or(id);
            let functions = asked.functions.below("/2");
            let at_hand = AtHand {
                tools: asked.argument(2),
                functions: &functions,
            };
            workers::load(runtime, named, asked.session_id.as_deref(), at_hand).await?
        }
    };
    let input = match asked.argument(1) {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(sorted_json(other)),
    };
    let is_asked = input.is_some();
    let status = slot.read(|inner| inner.worker.status);
    // One that pauses in its file goes on pausing until somebody has something to say to it.
    let is_meant = status == Status::Suspended && (is_asked || !is_loaded);
    let is_resumed = is_meant && workers::resume(runtime, &slot, input).await?;
    if is_asked && !is_resumed {
        let status = slot.read(|inner| inner.worker.status.word());
        return fail(format!(
            "HARN-SUS-003: worker {id} is not suspended (status={status})"
        ));
    }
    Ok(slot.summary())
}

/// `suspend_agent(handle, reason?)`: the worker pauses before its next turn.
fn suspend_agent(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    if asked.argument(0).is_null() {
        return fail("suspend_agent: missing worker handle");
    }
    let id = handle_id(asked.argument(0))?;
    let Some(slot) = runtime.workers.get(id) else {
        return fail(format!("HARN-SUS-001: unknown worker: {id}"));
    };
    let status = slot.read(|inner| inner.worker.status);
    match status {
        Status::Running => slot.gate.want(asked.argument(1).clone()),
        Status::Suspended => {}
        other => {
            let status = other.word();
            return fail(format!(
                "HARN-SUS-002: worker {id} is not running (status={status})"
            ));
        }
    }
    Ok(slot.summary())
}

/// The worker of a handle.
fn find(runtime: &Runtime, handle: &Value) -> Result<Arc<Slot>, Thrown> {
    let id = handle_id(handle)?;
    match runtime.workers.get(id) {
        Some(slot) => Ok(slot),
        None => fail(format!("unknown worker: {id}")),
    }
}

fn handle_id(handle: &Value) -> Result<&str, Thrown> {
    match handle {
        Value::String(id) => Ok(id),
        Value::Object(fields) => match fields.get("id").and_then(Value::as_str) {
            Some(id) => Ok(id),
            None => fail("agent handle dict is missing an id field"),
        },
        _ => fail("expected agent handle or worker id"),
    }
}

/// Where the code of a worker runs, as far as its options say: `{cwd, env}`.
pub fn worker_surroundings(places: &WorkerPlaces, worker_id: &str, execution: &Value) -> Value {
    match execution {
        Value::Object(_) => workers::surroundings(places, worker_id, execution),
        _ => Value::Null,
    }
}

impl Runtime {
    /// Says where workers are kept and work, for those that begin from now on.
    pub fn set_worker_places(&self, places: WorkerPlaces) {
        self.workers.set_places(places);
    }

    /// The session that a worker works in, where only the one it began in is known.
    pub fn session_now(&self, id: &str) -> String {
        self.workers.session_now(id)
    }
}
