//! A turn: from a prompt to why it has ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use harn_vm::agent::BoxFuture;
use harn_vm::machine::Stream;
use harn_vm::{Partner, Turn, TurnEnd, TurnFailure, TurnListener, TurnRunner};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::content::Prompt;
use super::{Session, State};
use crate::error::Refusal;

/// How long a program has to end once its turn was cancelled. The client is answered within
/// two seconds; the rest is for the answer.
const PATIENCE: Duration = Duration::from_millis(1700);

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

    pub(super) fn cancel(&self) {
        self.is_cancelled.send_replace(true);
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
    /// One is running already.
    pub(crate) fn prompt(
        self: &Arc<Self>,
        prompt: Prompt,
    ) -> Result<BoxFuture<'static, Result<Value, Refusal>>, Refusal> {
        let (ended, end) = oneshot::channel();
        let running = Running::new(ended);
        let mut is_cancelled = running.is_cancelled.subscribe();
        let mut state = self.state();
        if state.running.is_some() {
            let why = "a turn of this session is running";
            return Err(Refusal::bad_parameters(why).with(json!({"reason": "turn_running"})));
        }
        let runner = self.runner(&mut state)?;
        state.running = Some(running);
        runner.turn(Turn {
            partner: Partner {
                session_id: self.id.clone(),
                ..Partner::default()
            },
            prompt: prompt.text,
            ..Turn::default()
        });
        drop(state);
        let session = Arc::clone(self);
        Ok(Box::pin(async move {
            let cancelled = async {
                let is_wanted = is_cancelled.wait_for(|wanted| *wanted).await.is_ok();
                match is_wanted {
                    true => tokio::time::sleep(PATIENCE).await,
                    false => std::future::pending().await,
                }
            };
            let end = tokio::select! {
                end = end => end.unwrap_or_else(|_| crashed()),
                () = cancelled => {
                    session.abandon();
                    TurnEnd::Cancelled
                }
            };
            let answer = answer(end);
            session.end_turn();
            answer
        }))
    }

    fn runner(self: &Arc<Self>, state: &mut State) -> Result<Arc<TurnRunner>, Refusal> {
        if let Some(runner) = &state.runner {
            return Ok(Arc::clone(runner));
        }
        let program = self.server.options.program.clone();
        let listener = Arc::new(Listener(Arc::downgrade(self)));
        let runner = TurnRunner::start(program, self.run_options(), listener);
        let runner = runner.map_err(|error| {
            Refusal::overloaded(format!("there can be no thread for it: {error}"), 1000)
        })?;
        let runner = Arc::new(runner);
        state.runner = Some(Arc::clone(&runner));
        Ok(runner)
    }

    /// The program does not stop: it is left to itself, and the next turn has another.
    fn abandon(&self) {
        if let Some(runner) = self.state().runner.take() {
            runner.stop_later();
        }
    }

    /// The client is about to be answered.
    fn end_turn(&self) {
        let running = self.state().running.take();
        if let Some(running) = running {
            running.is_over.send_replace(true);
        }
    }
}

fn crashed() -> TurnEnd {
    TurnEnd::Failed(TurnFailure::new("the program has crashed"))
}

/// What the client is answered.
fn answer(end: TurnEnd) -> Result<Value, Refusal> {
    match end {
        TurnEnd::Well(_) | TurnEnd::Told(_) => Ok(json!({"stopReason": "end_turn"})),
        TurnEnd::Cancelled => Ok(json!({"stopReason": "cancelled"})),
        TurnEnd::Failed(failure) => Err(Refusal::internal(failure.message)),
    }
}

/// Hears how turns end, on the thread of the program.
struct Listener(Weak<Session>);

impl TurnListener for Listener {
    fn ended(&self, end: TurnEnd) {
        let Some(session) = self.0.upgrade() else {
            return;
        };
        let ended = session
            .state()
            .running
            .as_mut()
            .and_then(|one| one.ended.take());
        if let Some(ended) = ended {
            let _nobody_waits_any_more = ended.send(end);
        }
    }

    fn printed(&self, _stream: Stream, text: &str) {
        if let Some(session) = self.0.upgrade() {
            (session.server.options.printed)(text);
        }
    }
}
