//! Starting a worker.

use std::sync::Arc;

use harn_events::{MutationSessionRecord, WorkerEvent, WorkerLifecycle};
use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, truthy};
use serde_json::{Map, Value, json};

use super::carried;
use super::carry::Carry;
use super::child::Asking;
use super::cycle;
use super::execution;
use super::job::Job;
use super::requested::{self, fail, intersected, read_policy, read_tools, text_of};
use super::snapshot;
use super::stage::Stage;
use super::status::Status;
use super::sub_agent::SubAgent;
use super::table::{Inner, Slot};
use super::transition::Transition;
use super::worker::Worker;
use crate::callback::Functions;
use crate::moment::rfc3339;
use crate::mutation;
use crate::policy::CapabilityPolicy;
use crate::runtime::{Ambient, Runtime};

/// The name of a worker that has none.
const NAME: &str = "worker";

/// A worker, as it was asked for.
pub(crate) struct Start {
    task: String,
    name: String,
    job: Job,
    /// Everything that was asked for; functions are null.
    config: Value,
    request: Value,
    carry: Carry,
    /// What it may do at most, as far as somebody said.
    policy: Option<CapabilityPolicy>,
    execution: Value,
    audit: Value,
    artifacts: Vec<Value>,
}

impl Start {
    /// Reads the config of `spawn_agent`. The paths of the functions start there. Says also
    /// whether to wait for the worker.
    ///
    /// # Errors
    /// What no worker can be made of.
    pub(crate) fn of_config(
        config: Option<&Value>,
        functions: Functions,
    ) -> Result<(Self, bool), Thrown> {
        let config = match config {
            None | Some(Value::Null) => return fail("missing config"),
            Some(Value::Object(config)) => config,
            Some(_) => return fail("config must be a dict"),
        };
        let Some(task) = text_of(config, "task") else {
            return fail("config.task is required");
        };
        let given = Options(config);
        if given.given("graph").is_some() && given.given("node").is_none() {
            return fail("workflows are not available in this build");
        }
        let stage = Stage::read(config.clone(), functions)?;
        let policy = read_policy(given.given("policy"))?;
        let tools = read_tools(given.given("tools"))?;
        let carry = Carry::read(given.given("carry"))?;
        let asked = intersected(policy, tools)?;
        let system = text_of(config, "system").or_else(|| stage.system());
        let start = Self {
            name: text_of(config, "name").unwrap_or_else(|| NAME.to_owned()),
            request: requested::request(&task, system.as_deref(), config),
            policy: intersected(asked, carry.policy.clone())?,
            carry,
            execution: given.given("execution").cloned().unwrap_or_default(),
            audit: given.given("audit").cloned().unwrap_or_default(),
            artifacts: stage.given_artifacts(),
            config: Value::Object(config.clone()),
            job: Job::Stage(Box::new(stage)),
            task,
        };
        Ok((start, given.given("wait").is_some_and(truthy)))
    }

    /// A child in the background.
    ///
    /// # Errors
    /// What no worker can be made of.
    pub(crate) fn of_sub_agent(
        task: String,
        agent: SubAgent,
        options: &Map<String, Value>,
    ) -> Result<Self, Thrown> {
        let given = Options(options);
        let carry = Carry::read(given.given("carry"))?;
        Ok(Self {
            name: agent.name.clone(),
            request: requested::request(&task, agent.system.as_deref(), options),
            policy: carry.policy.clone(),
            carry,
            execution: given.given("execution").cloned().unwrap_or_default(),
            audit: given.given("audit").cloned().unwrap_or_default(),
            artifacts: Vec::new(),
            config: json!({"task": task, "options": options}),
            job: Job::SubAgent(Box::new(agent)),
            task,
        })
    }

    /// Starts the worker and gives it.
    ///
    /// # Errors
    /// It asks for more than there is where it is started, or has nowhere to work.
    pub(crate) async fn begin(
        self,
        runtime: &Arc<Runtime>,
        asking: Asking<'_>,
        worker_id: &str,
    ) -> Result<Arc<Slot>, Thrown> {
        let id = match worker_id {
            "" => format!("worker_{}", runtime.new_id()),
            id => id.to_owned(),
        };
        if runtime.workers.get(&id).is_some() {
            return fail(&format!("there is a worker {id} already"));
        }
        let mut ambient = runtime.ambient_in(asking.session_id);
        narrow(&mut ambient, self.policy.as_ref())?;
        let audit = audit(runtime, &self.audit, &ambient, asking.session_id, &id);
        ambient.audit = Some(audit.clone());
        let parent_worker_id = ambient.worker_id.replace(id.clone());
        let session_id = match &self.job {
            Job::SubAgent(agent) => {
                let named = agent.session_id();
                named.unwrap_or_else(|| asking.new_id(runtime))
            }
            Job::Stage(stage) => format!("worker_session_{id}_{}", stage.node_id()),
        };
        let execution = execution::prepare(runtime, &id, &self.execution)?;
        let now = rfc3339(runtime.now_ms());
        let worker = Worker {
            name: self.name,
            history: vec![self.task.clone()],
            task: self.task,
            mode: self.job.mode(),
            status: Status::Running,
            created_at: now.clone(),
            started_at: Some(now),
            finished_at: None,
            awaiting_started_at: None,
            request: self.request,
            result: Value::Null,
            error: None,
            artifacts: self.artifacts,
            transcript: Value::Null,
            parent_worker_id,
            parent_stage_id: None,
            child_run_id: None,
            child_run_path: None,
            execution,
            snapshot_path: snapshot::path(runtime, &id),
            audit,
            parent_session_id: asking.session_id.map(str::to_owned),
            config: with_inherited(self.config, &ambient, (asking.session_id, &session_id)),
            carry: self.carry,
            policy: ambient.policy.clone(),
            suspension: Value::Null,
            told: WorkerLifecycle::default(),
            session_id,
            id,
        };
        snapshot::keep(runtime, &worker).map_err(Thrown::Runtime)?;
        spawned(runtime, worker, self.job, ambient).await
    }
}

/// A worker that is ready is told of, and begins.
async fn spawned(
    runtime: &Arc<Runtime>,
    worker: Worker,
    job: Job,
    ambient: Ambient,
) -> Result<Arc<Slot>, Thrown> {
    let hearing = worker.hearing_session();
    let hearing = hearing.and_then(|id| runtime.sessions().get_also_unnamed(id));
    let asking = worker.parent_session_id.clone();
    let (id, session_id) = (worker.id.clone(), worker.session_id.clone());
    // What the parent has said by now is what the child is to know.
    let opened = carried::open_first(runtime, asking.as_deref(), &session_id, &job).await;
    let opened = opened.map_err(|error| error.told_by("spawn_agent"))?;
    let slot = Slot::new(worker, job, ambient, hearing.as_ref());
    slot.adjust(|inner| inner.opened = Some(opened));
    runtime.workers.add(Arc::clone(&slot));
    let transition = Transition {
        event: WorkerEvent::WorkerSpawned,
        guard: |inner: &Inner| inner.worker.status == Status::Running,
        change: |_: &mut Worker| {},
    };
    // Somebody who heard of it may have closed it already.
    if transition.make(runtime, &slot, |_| {}).await
        && slot.read(|inner| inner.worker.status == Status::Running)
        && let Err(thrown) = cycle::start(runtime, &slot, None)
    {
        runtime.workers.remove(&id);
        return Err(thrown);
    }
    Ok(slot)
}

/// Lowers what holds by what a worker asks for, which must not be more.
///
/// # Errors
/// It is.
pub(crate) fn narrow(
    ambient: &mut Ambient,
    asked: Option<&CapabilityPolicy>,
) -> Result<(), Thrown> {
    match ambient.narrow(asked, None) {
        Ok(()) => Ok(()),
        Err(error) => fail(&error),
    }
}

/// Who is held to account for what a worker changes.
fn audit(
    runtime: &Runtime,
    given: &Value,
    ambient: &Ambient,
    asking: Option<&str>,
    worker_id: &str,
) -> MutationSessionRecord {
    let mut given: MutationSessionRecord =
        serde_json::from_value(given.clone()).unwrap_or_default();
    given.worker_id = Some(worker_id.to_owned());
    let kind = given.execution_kind.get_or_insert_default();
    if kind.is_empty() {
        *kind = "worker".to_owned();
    }
    mutation::session(runtime, given, ambient, asking)
}

/// The config with what the worker inherits, for a process that does not know its parent.
fn with_inherited(
    mut config: Value,
    ambient: &Ambient,
    (parent_session_id, session_id): (Option<&str>, &str),
) -> Value {
    let permissions = ambient.permissions.iter();
    let permissions: Vec<Value> = permissions.map(|level| level.to_value()).collect();
    config["inherited"] = json!({
        "permissions": permissions,
        "outer": ambient.outer,
        "depth": ambient.depth,
        "session_id": session_id,
        "parent_session_id": parent_session_id,
    });
    config
}
