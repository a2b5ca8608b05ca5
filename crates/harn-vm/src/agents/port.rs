//! Performs the effects of the kind `agent`.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use harn_agent::llm::desk::{Desk, Thrown};
use harn_agent::session::kept::WORKSPACE_POLICY;
use harn_agent::tool_hooks::{Hook, ManifestHook};
use harn_agent::{Ambient, Asked, Fence, Functions, Runtime, RuntimeOptions, WorkerPlaces};
use harn_machine::{Answer, EffectId, Outside};
use harn_stdlib::Sought;
use serde_json::{Value, json};

use super::background::Background;
use super::closure::ProgramClosure;
use super::command_rules::PolicyRules;
use super::options::AgentOptions;
use super::searches::{Search, Searches};
use crate::files::Files;
use crate::models::{TokioHandle, encode, read_payload};
use crate::policy::{AgentFence, Policy};
use crate::skills::Skills;

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
    /// What is looked for while the program goes on.
    searches: Searches,
    /// The hooks of the project, until their functions are there.
    awaited: Vec<Option<ManifestHook>>,
    /// The skills of the program.
    skills: Skills,
    /// Those whose functions are there.
    hooks: Vec<Arc<dyn Hook>>,
}

/// What is on its way.
type Answering = Pin<Box<dyn Future<Output = Result<Value, Thrown>> + Send>>;

struct Task {
    future: Answering,
    waker: Waker,
    if_given_up: IfGivenUp,
}

/// What becomes of something when nobody waits for it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfGivenUp {
    /// It stops.
    Stops,
    /// It goes on to its end.
    GoesOn,
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
            searches: Searches::default(),
            awaited: Vec::new(),
            skills: Skills::default(),
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

    /// The skills of the program. They may be discovered later.
    pub(crate) fn set_skills(&mut self, skills: Skills) {
        self.skills = skills;
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

    /// Begins something that a session hears of later, and answers with its handle.
    pub(crate) fn begin_search(
        &mut self,
        payload: &str,
        desk: Result<Arc<Desk>, Thrown>,
        files: &Files,
    ) -> Answer {
        let Ok(desk) = desk else {
            return Answer::Text(None);
        };
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let text = |key: &str| payload[key].as_str();
        let depth_max = payload["depth_max"].as_u64();
        let sought = Sought {
            top: PathBuf::from(text("top").unwrap_or_default()),
            pattern: text("pattern").map(str::to_owned),
            depth_max: depth_max.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX)),
            follows_links: payload["follows_links"] == true,
        };
        let operation = self.runtime(desk).begin_operation(
            text("session"),
            text("operation").unwrap_or_default(),
            text("descriptor").unwrap_or_default(),
        );
        let said = |key: &str| {
            let said = operation.handle()[key].as_str();
            said.unwrap_or_default().to_owned()
        };
        let handle = (said("handle_id"), said("started_at"));
        // What nobody will hear of need not be looked for.
        if !operation.is_cancelled() {
            self.searches.begin(Search {
                operation,
                sought,
                files: files.clone(),
            });
        }
        Answer::Pairs(vec![handle])
    }

    /// Answers at once.
    pub(crate) fn perform(&mut self, payload: &str) -> Answer {
        let asked: Value = serde_json::from_str(payload).unwrap_or_default();
        let outcome = match asked["builtin"].as_str() {
            Some("__new_session_id") => Ok(json!(self.new_session_id())),
            Some("__has_policy") => Ok(json!(self.has_policy(&asked["arguments"]))),
            Some("__daemon_session") => self.session_of_daemon(&asked["arguments"]),
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

    /// Whether a session has a policy of its own.
    fn has_policy(&self, arguments: &Value) -> bool {
        let id = arguments[0].as_str().unwrap_or_default();
        let session = self
            .runtime
            .as_ref()
            .and_then(|runtime| runtime.session(id));
        session.is_some_and(|session| session.kept(WORKSPACE_POLICY).is_some())
    }

    /// The session of the daemon in a folder, if that may be looked at.
    fn session_of_daemon(&self, arguments: &Value) -> Result<Value, Thrown> {
        let root = self.folder.join(arguments[0].as_str().unwrap_or_default());
        let fence = fence(&self.policy, &self.environment);
        let may_read = |path: &PathBuf| fence.as_ref().is_none_or(|fence| fence.read(path).is_ok());
        let may_read = may_read(&root.join("daemon.meta.json"));
        Ok(json!(
            may_read.then(|| harn_agent::session_of_daemon(&root))
        ))
    }

    /// Whether a builtin may be called inside the loop of a session.
    fn check_builtin(&self, arguments: &Value) -> Result<Value, Thrown> {
        let text = |at: usize| arguments[at].as_str().unwrap_or_default();
        let Some(runtime) = &self.runtime else {
            return Ok(Value::Null);
        };
        runtime.check_builtin(text(0), text(1), arguments[2].as_str())?;
        Ok(Value::Null)
    }

    /// What holds inside the loop of a session.
    pub(crate) fn ambient(&self, session: &str) -> Ambient {
        let runtime = self.runtime.as_ref();
        runtime.map_or_else(Ambient::default, |runtime| {
            runtime.ambient_in(Some(session))
        })
    }

    /// Begins what takes time.
    pub(crate) fn begin(
        &mut self,
        id: EffectId,
        payload: &str,
        desk: Result<Arc<Desk>, Thrown>,
        tokio: &TokioHandle,
    ) {
        let (asked, functions, places) = match self.read(payload) {
            Ok(read) => read,
            Err(thrown) => return self.complete(id, Err(thrown)),
        };
        let runtime = match desk {
            Ok(desk) => self.runtime(desk),
            Err(thrown) => return self.complete(id, Err(thrown)),
        };
        if let Some(places) = places {
            runtime.set_worker_places(places);
        }
        let asked = Asked { functions, ..asked };
        let future = Box::pin(async move { runtime.answer(asked).await });
        self.run(id, future, IfGivenUp::Stops, tokio);
    }

    /// Runs something to its end, between the steps of the program.
    pub(crate) fn run(
        &mut self,
        id: EffectId,
        future: Answering,
        if_given_up: IfGivenUp,
        tokio: &TokioHandle,
    ) {
        let task = Task {
            future,
            waker: self.outside.waker(id),
            if_given_up,
        };
        self.tasks.insert(id, task);
        self.resume(id, tokio);
    }

    /// What all sessions share, if there was one.
    pub(crate) fn known_runtime(&self) -> Option<Arc<Runtime>> {
        self.runtime.clone()
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
        let stops = |task: &Task| task.if_given_up == IfGivenUp::Stops;
        if self.tasks.get(&id).is_some_and(stops) {
            let _entered = tokio.enter();
            drop(self.tasks.remove(&id));
        }
    }

    fn complete(&self, id: EffectId, outcome: Result<Value, Thrown>) {
        let answer = Answer::Text(Some(encode(outcome)));
        self.outside.complete(id, answer);
    }

    fn runtime(&mut self, desk: Arc<Desk>) -> Arc<Runtime> {
        let (options, folder, hooks) = (&self.options, &self.folder, &self.hooks);
        let environment = &self.environment;
        let (policy, skills) = (&self.policy, &self.skills);
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
                    keeper: options.keeper.clone(),
                    proofs: options.proofs.clone(),
                    storage: options.storage.clone().map(|storage| storage as _),
                    observer: options.observer.clone(),
                    bridge: options.bridge.clone(),
                    resumes: options.resumes.clone(),
                    asks_as: options.asks_as.clone(),
                    tool_servers: options.tool_servers.clone(),
                    servers: options.servers.clone(),
                    tool_pins: options.tool_pins.clone(),
                    folder: folder.clone(),
                    hooks: hooks.clone(),
                    environment: environment.clone(),
                    fence: fence(policy, environment),
                    sources: options.sources.clone(),
                    command_rules: Some(Arc::new(PolicyRules)),
                    skills: skills.setup(environment),
                    spawner: Some(spawner),
                    bus: options.bus.clone(),
                    ..RuntimeOptions::default()
                },
            )
        });
        Arc::clone(runtime)
    }

    /// Reads what a builtin asks. Every closure in it is claimed, whatever becomes of it.
    fn read(&self, payload: &str) -> Result<(Asked, Functions, Option<WorkerPlaces>), Thrown> {
        let mut payload = read_payload(payload)?;
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
        let depth = payload["subscriber_depth"].as_u64().unwrap_or_default();
        let asked = Asked {
            builtin: text("builtin").unwrap_or_default(),
            session_id: text("session"),
            unnamed_session_id: text("unnamed").unwrap_or_default(),
            worker_id: text("worker").unwrap_or_default(),
            now_ms: payload["now"].as_i64(),
            subscriber_depth: depth.try_into().unwrap_or(u32::MAX),
            arguments: match payload["arguments"].take() {
                Value::Array(arguments) => arguments,
                _ => Vec::new(),
            },
            ..Asked::default()
        };
        let places = payload.get("places").map(places);
        Ok((asked, functions, places))
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
