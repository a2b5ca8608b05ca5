//! A turn: from a prompt to why it has ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use harn_vm::agent::events::AgentEvent;
use harn_vm::agent::log::{EventLog, Topic};
use harn_vm::agent::session::{Change, JournalRecord, journal_topic};
use harn_vm::agent::{BoxFuture, Principal};
use harn_vm::machine::Stream;
use harn_vm::{Partner, Turn, TurnEnd, TurnFailure, TurnListener, TurnRunner};
use serde_json::{Map, Value, json};
use tokio::sync::{oneshot, watch};

use super::content::Prompt;
use super::outcome::Outcome;
use super::{Session, State, past};
use crate::error::Refusal;
use crate::peer::Peer;

/// How long a program has to end once its turn was cancelled. The client is answered within
/// two seconds; what is left of them is for telling it what happened.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);

/// How long a client that reads slowly keeps its own answer waiting once it has cancelled.
const TELLING: Duration = Duration::from_millis(300);

/// Categories of failures that may be over when the same is tried again.
const RETRYABLE: [&str; 6] = [
    "timeout",
    "rate_limit",
    "overloaded",
    "server_error",
    "transient_network",
    "stream_truncated",
];

/// Where in a journal the end of a loop stands: among so many of its last records.
const END_RECORDS: u64 = 16;

/// The variables that choose a model.
const PROVIDER: &str = "HARN_LLM_PROVIDER";
/// The variable that says how much it thinks.
const THINKING: &str = "HARN_LLM_THINKING";

/// A turn that runs.
pub(super) struct Running {
    /// Told how the turn has ended.
    ended: Option<oneshot::Sender<TurnEnd>>,
    /// Whether somebody wants it to stop.
    is_cancelled: watch::Sender<bool>,
    /// Whether it was answered.
    is_over: watch::Sender<bool>,
}

impl Running {
    fn new(ended: oneshot::Sender<TurnEnd>) -> Self {
        Self {
            ended: Some(ended),
            is_cancelled: watch::Sender::new(false),
            is_over: watch::Sender::new(false),
        }
    }

    /// Somebody wants it to stop. Says whether nobody did before.
    pub(super) fn cancel(&self) -> bool {
        !self.is_cancelled.send_replace(true)
    }

    /// Says when it is over.
    pub(super) fn over(&self) -> watch::Receiver<bool> {
        self.is_over.subscribe()
    }
}

impl Session {
    /// Begins a turn. What comes of it is the answer to the client.
    ///
    /// # Errors
    /// One is running already, or the session is closed.
    pub(crate) fn prompt(
        self: &Arc<Self>,
        prompt: &Prompt,
        from: &Arc<dyn Peer>,
        who: &Principal,
    ) -> Result<BoxFuture<'static, Result<Value, Refusal>>, Refusal> {
        let (ended, end) = oneshot::channel();
        let mut state = self.state();
        if state.is_closed {
            return Err(Refusal::unknown_session(&self.id));
        }
        if state.running.is_some() {
            let mut refused = self.control("session/prompt", "rejected", "running", who);
            if let AgentEvent::ControlOutcome { reason, .. } = &mut refused {
                *reason = Some("turn_running".to_owned());
            }
            self.bus.emit(&refused);
            let why = "a turn of this session is running";
            return Err(Refusal::bad_parameters(why).with(json!({"reason": "turn_running"})));
        }
        self.peers.prefer(from);
        self.forget_skills(&mut state);
        let runner = self.runner(&mut state)?;
        let running = Running::new(ended);
        let is_cancelled = running.is_cancelled.subscribe();
        state.running = Some(running);
        self.watch.begin();
        self.hear(prompt, from);
        runner.turn(self.turn(&state, prompt));
        let title = (!state.has_title)
            .then(|| past::first_line(&prompt.text))
            .flatten();
        state.has_title = true;
        drop(state);
        let (session, asker) = (Arc::clone(self), Arc::clone(from));
        Ok(Box::pin(async move {
            let (end, is_abandoned) = session.end_of(end, is_cancelled.clone()).await;
            let answer = session.conclude(end, is_abandoned).await;
            let is_cancelled = *is_cancelled.borrow();
            session.told(&asker, is_cancelled).await;
            if let Some(title) = title {
                session.tell_title(&title);
            }
            session.end_turn();
            answer
        }))
    }

    /// What somebody wrote is a part of the conversation. Whoever wrote it knows.
    fn hear(&self, prompt: &Prompt, from: &Arc<dyn Peer>) {
        let message_id = harn_vm::new_id();
        let followers = self.followers();
        let author = followers.iter().find(|one| Arc::ptr_eq(&one.peer, from));
        if let Some(author) = author {
            author.sends(&message_id);
        }
        drop(followers);
        self.bus.emit(&AgentEvent::UserMessage {
            session_id: self.id.clone(),
            message_id,
            content: prompt.blocks.clone(),
        });
    }

    /// What the program is asked.
    fn turn(&self, state: &State, prompt: &Prompt) -> Turn {
        let settings = &state.settings;
        let choices = &self.server.choices;
        let mut variables = BTreeMap::new();
        if let Some(model) = &settings.model {
            let provider = choices.provider_of(model);
            variables.extend(provider.map(|provider| (PROVIDER.to_owned(), provider)));
        }
        if let Some(level) = &settings.thought_level {
            variables.insert(THINKING.to_owned(), level.clone());
        }
        let mode = choices.mode(settings);
        Turn {
            partner: Partner {
                session_id: self.id.clone(),
                model: settings.model.clone(),
                variables,
            },
            prompt: self.commands.expand(prompt, &self.id),
            mode: mode.map(str::to_owned),
        }
    }

    /// Waits until the turn has ended, or has been cancelled for long enough. Says whether it
    /// was abandoned.
    async fn end_of(
        &self,
        end: oneshot::Receiver<TurnEnd>,
        mut is_cancelled: watch::Receiver<bool>,
    ) -> (TurnEnd, bool) {
        let out_of_patience = async {
            let is_wanted = is_cancelled.wait_for(|wanted| *wanted).await.is_ok();
            match is_wanted {
                true => tokio::time::sleep(PATIENCE).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            end = end => (end.unwrap_or_else(|_| crashed()), false),
            () = out_of_patience => {
                self.abandon();
                (TurnEnd::Cancelled, true)
            }
        }
    }

    /// A host that has other skills than before has them found by another program.
    fn forget_skills(&self, state: &mut State) {
        if self.host.has_other_skills()
            && let Some(runner) = state.runner.take()
        {
            runner.turns.stop_later();
        }
    }

    fn runner(self: &Arc<Self>, state: &mut State) -> Result<Arc<TurnRunner>, Refusal> {
        match state.runner.take() {
            Some(runner) if runner.tool_servers == state.tool_servers => {
                let turns = Arc::clone(&runner.turns);
                state.runner = Some(runner);
                return Ok(turns);
            }
            Some(outdated) => outdated.turns.stop_later(),
            None => {}
        }
        let program = self.server.options.program.clone();
        state.runners += 1;
        let number = state.runners;
        let listener = Arc::new(Listener {
            session: Arc::downgrade(self),
            number,
        });
        let keeper = self.keeper.lend();
        let options = self.run_options(state, Arc::clone(&keeper));
        let runner = TurnRunner::start(program, options, listener);
        let runner = runner.map_err(|error| {
            Refusal::overloaded(format!("there can be no thread for it: {error}"), 1000)
        })?;
        let turns = Arc::new(runner);
        state.runner = Some(super::Runner {
            number,
            turns: Arc::clone(&turns),
            keeper,
            tool_servers: state.tool_servers.clone(),
        });
        Ok(turns)
    }

    /// The program does not stop: it is left to itself and cannot write to the journal any
    /// more. The next turn has another.
    fn abandon(&self) {
        let runner = self.state().runner.take();
        if let Some(runner) = runner {
            runner.keeper.fence();
            runner.turns.stop_later();
            self.bus.abandon_runs(&self.id);
            tracing::warn!(target: "acp", session_id = self.id, "a cancelled turn was abandoned");
            let told = format!(
                "warning: a turn of {} ignores that it was cancelled\n",
                self.id
            );
            (self.server.options.printed)(&told);
        }
    }

    /// What the client is answered.
    async fn conclude(&self, end: TurnEnd, is_abandoned: bool) -> Result<Value, Refusal> {
        match end {
            TurnEnd::Well(text) => {
                let seen = self.watch.seen().clone();
                if let Some(text) = text.filter(|text| !seen.has_spoken && !text.trim().is_empty())
                {
                    self.say(text);
                }
                let status = self.status().await;
                Ok(seen.outcome(status.as_deref()).answer())
            }
            TurnEnd::Told(_) => Ok(Outcome::Completed.answer()),
            TurnEnd::Cancelled => {
                let mut answer = Outcome::Cancelled.answer();
                if is_abandoned {
                    answer["_meta"]["harn"]["abandoned"] = json!(true);
                }
                Ok(answer)
            }
            TurnEnd::Failed(failure) => {
                let provider = self.watch.seen().provider.clone();
                Err(failed(&failure, provider))
            }
        }
    }

    /// An agent that has said nothing itself says what its program gave.
    fn say(&self, content: String) {
        self.bus.emit(&AgentEvent::AgentMessageChunk {
            session_id: self.id.clone(),
            content,
        });
    }

    /// How the last loop says that it has ended; nothing if there was none.
    async fn status(&self) -> Option<String> {
        let log = &self.server.options.log;
        let topic = Topic::new(journal_topic(&self.id)).ok()?;
        self.server.keeper.sync().await.ok()?;
        let newest = log.latest(&topic).await.ok()??;
        let from = newest.checked_sub(END_RECORDS);
        let records = log
            .read_range(&topic, from, END_RECORDS as usize)
            .await
            .ok()?;
        let mut latest_first = records.into_iter().rev();
        latest_first.find_map(|(_, event)| {
            let record: JournalRecord = serde_json::from_value(event.payload).ok()?;
            match record.change {
                Change::RunEnded { status } => Some(status),
                _ => None,
            }
        })
    }

    fn tell_title(&self, title: &str) {
        let update = json!({"sessionUpdate": "session_info_update", "title": title});
        self.tell_all(&update, None);
    }

    /// Resolves when whoever asked was told everything that has happened. Nobody waits for
    /// the others: one that does not read must not be felt by those who do.
    async fn told(&self, asker: &Arc<dyn Peer>, is_cancelled: bool) {
        let Some(newest) = self.bus.newest_index(&self.id) else {
            return;
        };
        let telling = {
            let followers = self.followers();
            let follower = followers.iter().find(|one| Arc::ptr_eq(&one.peer, asker));
            follower.map(|one| one.reached(newest))
        };
        let Some(telling) = telling else {
            return;
        };
        match is_cancelled {
            true => drop(tokio::time::timeout(TELLING, telling).await),
            false => telling.await,
        }
    }

    /// The client is about to be answered.
    fn end_turn(&self) {
        let mut state = self.state();
        let running = state.running.take();
        self.keep_settings(&mut state);
        drop(state);
        if let Some(running) = running {
            running.is_over.send_replace(true);
        }
    }
}

fn crashed() -> TurnEnd {
    TurnEnd::Failed(TurnFailure::new("the program has crashed"))
}

/// A failure as the client is told. What a program threw may say anything, so only what we know
/// is passed on.
fn failed(failure: &TurnFailure, provider: Option<String>) -> Refusal {
    let mut data = Map::new();
    if let Some(category) = &failure.category {
        data.insert("category".to_owned(), json!(category));
        let is_retryable = RETRYABLE.contains(&&**category);
        data.insert("retryable".to_owned(), json!(is_retryable));
        data.extend(provider.map(|provider| ("provider".to_owned(), json!(provider))));
    }
    let thrown = failure.thrown.as_ref().and_then(Value::as_object);
    for key in ["provider", "model", "status", "retryable"] {
        let value = thrown.and_then(|thrown| thrown.get(key));
        if let Some(value) = value.filter(|value| !value.is_null()) {
            data.insert(key.to_owned(), value.clone());
        }
    }
    let message = thrown.and_then(|thrown| thrown.get("message")?.as_str());
    let refusal = Refusal::internal(message.unwrap_or(&failure.message));
    match data.is_empty() {
        true => refusal,
        false => refusal.with(Value::Object(data)),
    }
}

/// Hears how turns end, on the thread of the program.
struct Listener {
    session: Weak<Session>,
    /// Of the runner. One that was abandoned is not listened to.
    number: u64,
}

impl TurnListener for Listener {
    fn ended(&self, end: TurnEnd) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        let mut state = session.state();
        let is_ours = |runner: &super::Runner| runner.number == self.number;
        if !state.runner.as_ref().is_some_and(is_ours) {
            return;
        }
        let ended = state.running.as_mut().and_then(|one| one.ended.take());
        drop(state);
        if let Some(ended) = ended {
            let _nobody_waits_any_more = ended.send(end);
        }
    }

    fn printed(&self, _stream: Stream, text: &str) {
        if let Some(session) = self.session.upgrade() {
            (session.server.options.printed)(text);
        }
    }
}
