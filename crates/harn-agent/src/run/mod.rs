//! One loop, from its options to its result.
//!
//! ```text
//! prepare ─► start ─► ┌ begin ─► skills ─► preflight ─► model_call ─► reading ─► dispatch ─► post_turn ┐ ─► finalize
//!                     └───────────────────────────── continue ◄───────────────────────────────────────┘
//! ```
//!
//! Each phase is a file with a function from a [`Turn`] to a [`Turn`]. What outlives a turn is
//! in the session and changes through its journal alone, so that a loop can be taken up again,
//! replayed or forked wherever its journal says. A [`Run`] holds what never changes while the
//! loop runs.

mod archive;
mod begin;
mod compact;
mod contract;
mod control;
mod daemon;
mod dispatch;
mod durability;
mod finalize;
mod interrupted;
mod messages;
mod model_call;
mod overflow;
mod pause;
mod post_turn;
mod preflight;
mod prepare;
mod project;
mod reading;
mod resumption;
mod search;
mod servers;
mod skills;
mod start;
mod stream;
pub(crate) mod texts;
mod tool_changes;
mod turn;
mod unread;
mod whole_answer;
mod wrapup;

pub(crate) use compact::Model;
pub(crate) use messages::user_message_event;
pub use pause::Pause;
pub(crate) use prepare::{Prepared, prepare};

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::grammar::contract::Mode;
use harn_llm::options::CallOptions;
use serde_json::{Value, json};

use crate::compaction;
use crate::host::Seam;
use crate::loop_options::LoopOptions;
use crate::loop_result::LoopResult;
use crate::mailbox::Mailbox;
use crate::registry::ToolRegistry;
use crate::runtime::{Ambient, Runtime};
use crate::session::{About, Change, Note, Session, TranscriptEvent};
use crate::transcript::MessagesTokens;
use turn::{Flow, Turn};

/// Runs a loop to its end.
pub(crate) async fn run(
    runtime: &Arc<Runtime>,
    prepared: &Prepared,
    prompt: &str,
) -> Result<LoopResult, Thrown> {
    let sink = prepared.request.event_sink.clone();
    let mut run = start::start(runtime, prepared, prompt).await?;
    let bus = &runtime.bus;
    // In a box, because it is large and handed on twice before it is run.
    let inside = Box::pin(async move {
        let run = &mut run;
        let _session = run.runtime.bus.enter_session(run.session.id());
        let audit = run.ambient.audit.clone();
        let _audit = audit.map(|record| run.runtime.bus.enter_mutation_session(record));
        run.go_to_end().await
    });
    bus.scope_loop_sink(sink, inside).await
}

/// What never changes while a loop runs.
pub(crate) struct Run<'a> {
    runtime: &'a Arc<Runtime>,
    session: Arc<Session>,
    options: Arc<LoopOptions>,
    /// What is kept of the conversation when it becomes too long; `None`: everything.
    compaction: Option<Arc<compaction::Policy>>,
    /// What every model call starts from.
    call: CallOptions,
    /// The options it was read from, for calls that change some of them.
    call_options: Arc<serde_json::Map<String, Value>>,
    /// What the model sees of the conversation, if not all of it.
    projection: Option<Arc<project::Projection>>,
    /// An experiment with the prompt, if there is one.
    experiment: Option<Experiment>,
    system: Option<String>,
    tools: ToolRegistry,
    mode: Mode,
    has_tools: bool,
    /// What holds inside the loop.
    ambient: Ambient,
    started_ms: i64,
    contract: contract::Cache,
    skills: skills::RunSkills,
    search: search::Searched,
    /// The servers that lend it tools.
    servers: servers::RunServers,
    /// Events about the format of calls, to be told first.
    format_events: Vec<AgentEvent>,
    /// What watches over the loop.
    controls: Arc<control::Controls>,
    /// Messages for this loop alone.
    mailbox: Option<Arc<dyn Mailbox>>,
    /// The tool with which the model stops the loop, if it has it.
    resumption: Option<Arc<resumption::AwaitResumption>>,
    /// Lets somebody stop the loop between two turns.
    pause: Option<Arc<dyn Pause>>,
    /// The calls of this turn that were announced before their arguments were known.
    streamed: stream::StreamedCalls,
    /// What the user says now.
    prompt_messages: Vec<Value>,
    /// Whether every answer that was received would survive the death of this process.
    answers_secured: AtomicBool,
    /// What the model has seen of the conversation, and how much that is.
    told: Mutex<messages::ToldToModel>,
    messages_tokens: Mutex<MessagesTokens>,
    compaction_backoff: Mutex<compact::Backoff>,
}

/// An experiment with the prompt.
#[derive(Clone)]
enum Experiment {
    /// One of the built-in ones.
    Named(Value),
    /// A function of the program, with what is said of it.
    Function(Arc<dyn crate::Callback>, Value),
}

/// A session that a loop runs on is not taken away from it. However the loop ends, also when
/// it is dropped, its journal says that it has ended.
struct Busy(Arc<Runtime>, Arc<Session>);

impl Busy {
    /// # Errors
    /// Another loop runs on a session that the program has named. Both would write one
    /// conversation, and neither model could make sense of it.
    fn begin(run: &Run<'_>) -> Result<Self, Thrown> {
        let (runtime, session) = (run.runtime, &run.session);
        let mut sessions = runtime.sessions();
        if run.options.session_id.is_some() && sessions.is_running(session.id()) {
            return Err(Thrown::Runtime(format!(
                "agent_loop: session '{}' has a running loop",
                session.id()
            )));
        }
        sessions.begin_run(session.id());
        drop(sessions);
        runtime.enter(session.id(), &run.ambient);
        Ok(Self(Arc::clone(runtime), Arc::clone(session)))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Self(runtime, session) = self;
        if session.read(|state| state.run.status.is_empty()) {
            let status = "cancelled".to_owned();
            session.record(Change::RunEnded { status });
        }
        runtime.leave(session.id());
        runtime.sessions().end_run(session.id());
        settle_later(runtime, session.id());
    }
}

/// A loop that is dropped cannot wait until the closures of its session have seen how it ended,
/// so somebody else does. What waits there does not keep the runtime alive: at the end of a
/// program nobody comes for it.
fn settle_later(runtime: &Arc<Runtime>, session_id: &str) {
    if !runtime.bus.has_unseen(session_id) {
        return;
    }
    let session_id = session_id.to_owned();
    let settling = Arc::downgrade(runtime);
    let settled = runtime.spawn(Box::pin(async move {
        if let Some(runtime) = settling.upgrade() {
            runtime.settle_session(&session_id).await;
        }
    }));
    // Where nothing can run, the next loop of the session delivers it.
    drop(settled);
}

impl Run<'_> {
    async fn go_to_end(&mut self) -> Result<LoopResult, Thrown> {
        let session_id = self.id();
        let session_id = &*session_id;
        let _busy = Busy::begin(self)?;
        let guard = self.runtime.bus.begin_run(session_id);
        let result = match self.iterate().await {
            Ok(status) => finalize::finish(self, status).await,
            Err(thrown) => Err(thrown),
        };
        self.servers.close().await;
        match &result {
            Ok(_) => guard.finish("done"),
            Err(thrown) => {
                let status = "error".to_owned();
                self.session.record(Change::RunEnded { status });
                guard.finish(&skip_reason(thrown));
            }
        }
        self.runtime.bus.deliver_to_subscribers(session_id).await;
        self.session.barrier().await;
        result
    }

    /// Goes round until something ends the loop; gives its status.
    async fn iterate(&mut self) -> Result<String, Thrown> {
        servers::connect(self).await?;
        let is_resumed = begin::begin_run(self).await?;
        // A daemon was idle when it was saved, so there is nothing to ask the model yet.
        if is_resumed && self.mailbox.is_some() {
            let waited = daemon::wait(self).await?;
            if let Flow::Break(status) = waited.flow {
                return Ok(status);
            }
        }
        let mut iteration = 0;
        while iteration < self.limit() {
            if let Flow::Break(status) = self.iterate_once(iteration).await?
                && !self.has_more_to_hear(&status).await
            {
                return Ok(status);
            }
            iteration += 1;
        }
        match self.limit() {
            0 => Ok("done".to_owned()),
            _ => Ok(self.exhausted("max_iterations", None).await),
        }
    }

    /// Whether somebody has waited for the loop to be done with what it was about.
    async fn has_more_to_hear(&self, status: &str) -> bool {
        status == "done" && begin::deliver_host_messages(self, Seam::Completion).await > 0
    }

    /// Goes round once.
    async fn iterate_once(&mut self, iteration: usize) -> Result<Flow, Thrown> {
        pause::pass(self).await;
        let turn = begin::begin_iteration(self, Turn::new(iteration)).await;
        skills::renew(self).await?;
        let turn = skills::match_skills(self, turn).await?;
        servers::renew(self).await?;
        self.go_round(turn).await
    }

    /// Asks the model and does what it wants.
    async fn go_round(&self, turn: Turn) -> Result<Flow, Thrown> {
        let turn = preflight::prepare(self, turn).await?;
        if let Some(status) = control::before_call(self, &turn).await? {
            return Ok(Flow::Break(status));
        }
        let turn = preflight::show(self, turn).await?;
        if let Some(over) = self.runtime.desk.over_budget(turn.call()) {
            return self.over_budget(&turn, &over).await.map(Flow::Break);
        }
        let mut unanswered = Turn::new(turn.iteration);
        if self.has_breaker() {
            unanswered.call.clone_from(&turn.call);
        }
        let turn = match overflow::ask(self, turn).await {
            Ok(turn) => turn,
            Err(thrown) => match self.after_failure(&unanswered, &thrown).await {
                control::Failed::GoOn => return self.go_on_without(&unanswered).await,
                control::Failed::End(status) => return Ok(Flow::Break(status)),
                control::Failed::Throw => return Err(thrown),
            },
        };
        let turn = reading::read(self, turn).await?;
        if control::after_answer(self, &turn).await? {
            return self.go_on_without(&turn).await;
        }
        let refused_before = self.session.read(|state| state.run.rejected.len());
        let turn = dispatch::dispatch(self, turn).await?;
        let facts = control::Facts::of(self, &turn, refused_before);
        let flow = post_turn::conclude(self, turn).await?;
        self.account(&facts, flow).await
    }

    /// Goes on after a turn that becomes no history. It has taken time and may have cost
    /// something, so whoever looks after that looks at this turn too.
    async fn go_on_without(&self, turn: &Turn) -> Result<Flow, Thrown> {
        let facts = control::Facts::of_nothing(turn);
        self.account(&facts, Flow::Continue).await
    }

    /// Decides how the loop goes on, by what it has used up.
    async fn account(&self, facts: &control::Facts, flow: Flow) -> Result<Flow, Thrown> {
        let flow = control::after_turn(self, facts, flow).await?;
        Ok(match self.spent_tokens(&flow).await {
            Some(status) => Flow::Break(status),
            None => flow,
        })
    }

    /// A call would cost too much: it is not made.
    async fn over_budget(&self, turn: &Turn, over: &Thrown) -> Result<String, Thrown> {
        post_turn::close_without_dispatch(self, turn, "budget_exhausted").await;
        let spent = match over {
            Thrown::Dict(dict) => dict["session_cost_usd"].as_f64(),
            _ => None,
        };
        Ok(self.exhausted("total_cost", spent.or(Some(0.0))).await)
    }

    /// Whether the loop has used up its tokens. That wins over a normal end, which that of a
    /// daemon with nothing to wait for is too.
    async fn spent_tokens(&self, flow: &Flow) -> Option<String> {
        let budget = self.options.token_budget?;
        let is_normal = |status: &str| matches!(status, "done" | "idle");
        let is_terminal = matches!(flow, Flow::Break(status) if !is_normal(status));
        let spent = self
            .session
            .read(|state| state.run.tokens + state.run.controls.tokens);
        if is_terminal || spent < budget {
            return None;
        }
        Some(self.exhausted("tokens", None).await)
    }

    /// Says that a ceiling was reached, and lets the model have a last word about it.
    async fn exhausted(&self, kind: &str, cost_usd: Option<f64>) -> String {
        self.exhausted_after(kind, cost_usd, None).await
    }

    /// The same, where the time matters.
    async fn exhausted_after(
        &self,
        kind: &str,
        cost_usd: Option<f64>,
        wall_clock_ms: Option<u64>,
    ) -> String {
        self.emit(AgentEvent::BudgetExhausted {
            session_id: self.id(),
            max_iterations: self.limit(),
            kind: Some(kind.to_owned()),
            cost_usd,
            wall_clock_ms,
        })
        .await;
        wrapup::conclude(self, kind).await;
        "budget_exhausted".to_owned()
    }

    /// What the user wants.
    fn task(&self) -> String {
        let said = self.prompt_messages.iter().rev();
        let mut said = said.filter(|message| message["role"] == "user");
        let said = said.find_map(|message| message["content"].as_str());
        said.unwrap_or_default().to_owned()
    }

    fn id(&self) -> String {
        self.session.id().to_owned()
    }

    /// Tells readers what happened; what it gives waits for closures. Not an async function,
    /// whose future would hold the event and be handed around with it.
    fn emit(&self, event: AgentEvent) -> impl Future<Output = ()> {
        self.session.emit(&event);
        self.runtime.bus.deliver_to_subscribers(self.session.id())
    }

    /// Says that the loop has passed a seam.
    async fn pass(&self, kind: &str, iteration: usize, delivered: Delivered) {
        self.emit(AgentEvent::LoopCheckpoint {
            session_id: self.id(),
            iteration,
            kind: kind.to_owned(),
            delivered: delivered.host,
            inbox_delivered: delivered.inbox,
            dispatch_skipped: delivered.dispatch_skipped,
        })
        .await;
    }

    /// Adds a message to the conversation, and says so if it has an identity.
    async fn say(&self, message: Value) {
        let event = messages::user_message_event(self.session.id(), &message);
        self.session.record(Change::MessageAdded { message });
        if let Some(event) = event {
            self.emit(event).await;
        }
    }

    /// Adds feedback of the runtime to the conversation.
    fn tell(&self, kind: &str, content: &str) {
        let message = texts::feedback(kind, content);
        self.session.record(Change::MessageAdded { message });
    }

    /// Tells readers, and the log of calls, of feedback or of a repair.
    async fn report(&self, kind: &str, content: String) {
        let event = json!({"type": "feedback_injected", "kind": kind, "content": content});
        self.runtime.desk.log_event(&self.call, event);
        self.emit(AgentEvent::FeedbackInjected {
            session_id: self.id(),
            kind: kind.to_owned(),
            content,
        })
        .await;
    }

    /// Notes something in the transcript.
    fn note(
        &self,
        kind: &'static str,
        role: &'static str,
        visibility: &'static str,
        text: &str,
        metadata: Option<Value>,
    ) {
        self.note_about(kind, role, visibility, text, metadata.map(About::Other));
    }

    fn note_about(
        &self,
        kind: &'static str,
        role: &'static str,
        visibility: &'static str,
        text: &str,
        about: Option<About>,
    ) {
        let note = Note {
            id: self.runtime.new_id(),
            kind,
            role,
            visibility,
            text: text.to_owned(),
            about,
        };
        let event = TranscriptEvent::Noted(Box::new(note));
        self.session.record(Change::EventAdded { event });
    }

    /// Notes something in the trace of the program.
    fn trace(&self, event: Value) {
        self.runtime.desk.note(event);
    }

    /// What a function of the program is told about the session.
    fn session_payload(&self) -> Value {
        json!({"id": self.session.id()})
    }
}

/// What was delivered at a seam.
#[derive(Clone, Copy, Default)]
struct Delivered {
    host: usize,
    inbox: usize,
    dispatch_skipped: bool,
}

/// Why an iteration ended early, in a word.
fn skip_reason(thrown: &Thrown) -> String {
    match thrown {
        Thrown::Categorised(category, _) => category.word().to_owned(),
        Thrown::Dict(dict) => dict["category"].as_str().unwrap_or("error").to_owned(),
        Thrown::Plain(_) | Thrown::Runtime(_) => "error".to_owned(),
    }
}
