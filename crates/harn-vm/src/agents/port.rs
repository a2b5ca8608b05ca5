//! Performs the effects of the kind `agent`.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use harn_agent::llm::desk::{Desk, Thrown};
use harn_agent::tool_hooks::{Hook, ManifestHook};
use harn_agent::{Asked, Fence, Functions, Runtime, RuntimeOptions, WorkerPlaces};
use harn_machine::{Answer, EffectId, Outside};
use serde_json::{Value, json};

use super::background::Background;
use super::closure::ProgramClosure;
use super::options::AgentOptions;
use crate::models::{TokioHandle, encode};
use crate::policy::{AgentFence, Policy};

/// Performs the effects of the kind `agent`. Nothing is made before the first one.
pub(crate) struct AgentPort {
    options: AgentOptions,
    folder: PathBuf,
    environment: BTreeMap<String, String>,
    policy: Policy,
    outside: Outside,
    runtime: Option<Arc<Runtime>>,
    /// What was begun and has no answer yet.
    tasks: HashMap<EffectId, Task>,
    /// What goes on while no effect waits for it.
    background: Background,
    /// The hooks of the project, until their functions are there.
    awaited: Vec<Option<ManifestHook>>,
    /// Those whose functions are there.
    hooks: Vec<Arc<dyn Hook>>,
}

struct Task {
    future: Pin<Box<dyn Future<Output = Result<Value, Thrown>> + Send>>,
    waker: Waker,
}

impl AgentPort {
    pub(crate) fn new(
        options: AgentOptions,
        environment: BTreeMap<String, String>,
        outside: Outside,
        policy: Policy,
    ) -> Self {
        Self {
            options,
            folder: PathBuf::new(),
            environment,
            policy,
            background: Background::new(&outside),
            outside,
            runtime: None,
            tasks: HashMap::new(),
            awaited: Vec::new(),
            hooks: Vec::new(),
        }
    }

    /// Relative paths start there.
    pub(crate) fn set_folder(&mut self, folder: PathBuf) {
        self.folder = folder;
    }

    /// The hooks of the project. Their functions are offered when their files have run.
    pub(crate) fn await_hooks(&mut self, hooks: Vec<ManifestHook>) {
        self.awaited = hooks.into_iter().map(Some).collect();
    }

    /// The function of a hook is there.
    pub(crate) fn offered(&mut self, tag: &str, number: u64) {
        let handle = self.outside.claim(number);
        let hook = tag
            .parse()
            .ok()
            .and_then(|at: usize| self.awaited.get_mut(at)?.take());
        if let Some(hook) = hook {
            let function = Arc::new(ProgramClosure::new(handle, None, false));
            self.hooks.push(hook.bind(function));
        }
    }

    /// Answers at once.
    pub(crate) fn perform(&mut self, payload: &str) -> Answer {
        let asked: Value = serde_json::from_str(payload).unwrap_or_default();
        let outcome = match asked["builtin"].as_str() {
            Some("__new_session_id") => Ok(json!(self.new_session_id())),
            Some("__new_id") => Ok(json!(self.new_id())),
            Some("__session_now") => Ok(self.session_now(&asked["arguments"])),
            Some("__worker_surroundings") => Ok(self.surroundings(&asked["arguments"])),
            Some("__check_builtin") => self.check_builtin(&asked["arguments"]),
            _ => Err(Thrown::Runtime(
                "this takes time and must be begun".to_owned(),
            )),
        };
        Answer::Text(Some(encode(outcome)))
    }

    fn new_session_id(&self) -> String {
        format!("agent_session_{}", self.new_id())
    }

    fn new_id(&self) -> String {
        let id = self.runtime.as_ref().map(|runtime| runtime.new_id());
        id.unwrap_or_else(crate::models::new_id)
    }

    /// The session that a worker works in now.
    fn session_now(&self, arguments: &Value) -> Value {
        let known = arguments[0].as_str().unwrap_or_default();
        let now = self.runtime.as_ref();
        json!(now.map_or_else(|| known.to_owned(), |runtime| runtime.session_now(known)))
    }

    /// Where the functions of a worker run.
    fn surroundings(&self, arguments: &Value) -> Value {
        let worker = arguments[0].as_str().unwrap_or_default();
        let places = places(&json!({"worktrees": arguments[2]}));
        harn_agent::worker_surroundings(&places, worker, &arguments[1])
    }

    /// Whether a builtin may be called inside the loop of a session, and the folders that it
    /// may work in.
    fn check_builtin(&self, arguments: &Value) -> Result<Value, Thrown> {
        let text = |at: usize| arguments[at].as_str().unwrap_or_default();
        let Some(runtime) = &self.runtime else {
            return Ok(Value::Null);
        };
        runtime.check_builtin(text(0), text(1), arguments[2].as_str())?;
        let ambient = runtime.ambient_in(Some(text(0)));
        Ok(json!(ambient.workspace_roots()))
    }

    /// Begins what takes time.
    pub(crate) fn begin(
        &mut self,
        id: EffectId,
        payload: &str,
        desk: Result<Arc<Desk>, Thrown>,
        tokio: &TokioHandle,
    ) {
        let (asked, functions, places) = self.read(payload);
        let runtime = match desk {
            Ok(desk) => self.runtime(desk),
            Err(thrown) => return self.complete(id, Err(thrown)),
        };
        if let Some(places) = places {
            runtime.set_worker_places(places);
        }
        let asked = Asked { functions, ..asked };
        let future = Box::pin(async move { runtime.answer(asked).await });
        let waker = self.outside.waker(id);
        self.tasks.insert(id, Task { future, waker });
        self.resume(id, tokio);
    }

    /// Goes on with something that was begun.
    pub(crate) fn resume(&mut self, id: EffectId, tokio: &TokioHandle) {
        if self.background.resume(id, tokio) {
            return;
        }
        // It may have been given up, or belong to somebody else.
        let Some(mut task) = self.tasks.remove(&id) else {
            return;
        };
        let _entered = tokio.enter();
        let mut context = Context::from_waker(&task.waker);
        match task.future.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => self.complete(id, outcome),
            Poll::Pending => {
                self.tasks.insert(id, task);
            }
        }
    }

    /// Gives something up.
    pub(crate) fn cancel(&mut self, id: EffectId, tokio: &TokioHandle) {
        let _entered = tokio.enter();
        drop(self.tasks.remove(&id));
    }

    fn complete(&self, id: EffectId, outcome: Result<Value, Thrown>) {
        let answer = Answer::Text(Some(encode(outcome)));
        self.outside.complete(id, answer);
    }

    fn runtime(&mut self, desk: Arc<Desk>) -> Arc<Runtime> {
        let (options, folder, hooks) = (&self.options, &self.folder, &self.hooks);
        let environment = &self.environment;
        let policy = &self.policy;
        let spawner = self.background.spawner();
        let runtime = self.runtime.get_or_insert_with(|| {
            Runtime::new(
                desk,
                RuntimeOptions {
                    log: options
                        .keeps_sessions
                        .then(harn_agent::active_event_log)
                        .flatten(),
                    open_log: options.open_log.clone(),
                    storage: options.storage.clone().map(|storage| storage as _),
                    observer: options.observer.clone(),
                    bridge: options.bridge.clone(),
                    folder: folder.clone(),
                    hooks: hooks.clone(),
                    environment: environment.clone(),
                    fence: fence(policy, environment),
                    spawner: Some(spawner),
                    ..RuntimeOptions::default()
                },
            )
        });
        Arc::clone(runtime)
    }

    /// Reads what a builtin asks. Every closure in it is claimed, whatever becomes of it.
    fn read(&self, payload: &str) -> (Asked, Functions, Option<WorkerPlaces>) {
        let mut payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let mut functions = Functions::default();
        for closure in payload["closures"].as_array().into_iter().flatten() {
            let path = closure[0].as_str().unwrap_or_default();
            let handle = self.outside.claim(closure[1].as_u64().unwrap_or_default());
            let spread = serde_json::from_value(closure[2].clone()).unwrap_or_default();
            let is_shown = path.ends_with("/handler");
            let function = ProgramClosure::new(handle, spread, is_shown);
            functions.insert(path, Arc::new(function));
        }
        let text = |key: &str| payload[key].as_str().map(str::to_owned);
        let asked = Asked {
            builtin: text("builtin").unwrap_or_default(),
            session_id: text("session"),
            unnamed_session_id: text("unnamed").unwrap_or_default(),
            worker_id: text("worker").unwrap_or_default(),
            arguments: match payload["arguments"].take() {
                Value::Array(arguments) => arguments,
                _ => Vec::new(),
            },
            ..Asked::default()
        };
        let places = payload.get("places").map(places);
        (asked, functions, places)
    }
}

/// Where workers are kept and work, as a builtin says.
fn places(given: &Value) -> WorkerPlaces {
    let path = |key: &str| PathBuf::from(given[key].as_str().unwrap_or_default());
    WorkerPlaces {
        state: path("state"),
        worktrees: path("worktrees"),
    }
}

/// What the runtime may do for a program, unless that is everything.
fn fence(policy: &Policy, environment: &BTreeMap<String, String>) -> Option<Arc<dyn Fence>> {
    let fence = || AgentFence {
        policy: policy.clone(),
        path: environment.get("PATH").cloned(),
    };
    (!policy.is_permissive()).then(|| Arc::new(fence()) as _)
}
