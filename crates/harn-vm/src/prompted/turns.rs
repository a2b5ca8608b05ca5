//! Runs a program that answers prompts, on a thread of its own, one turn after the other.
//!
//! ```text
//! TurnRunner ─► orders ─► the thread: load once, run the pipeline per turn ─► TurnListener
//!    └────────► interrupt ──────────────┘ between turns what was left running goes on
//! ```
//!
//! The program stays loaded from one turn to the next, with what it shares between its tasks,
//! its servers and its background work. A turn that is stopped takes the program with it: the
//! next one loads it again and goes on with the session where its journal ends.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use harn_agent::llm::catalog::ProjectTrust;
use harn_machine::{Failure, FaultKind, Stream, Value};

use super::program::AnsweringProgram;
use super::{MODE, PROJECT_TRUST, PROMPT, SESSION_ID};
use crate::driver::Outcome;
use crate::interrupt::Interrupt;
use crate::json::to_json;
use crate::program::{LoadedProgram, Program, RunOptions};
use crate::runtime_error;
use crate::world::Sink;

/// Parsing is recursive, and a thread has less room than the first one has.
const STACK_BYTES: usize = 16 << 20;

/// How long the program has to close what it has opened.
const PATIENCE: Duration = Duration::from_secs(2);

/// The variable that names a model.
const MODEL: &str = "HARN_LLM_MODEL";

/// Whom somebody talks to. Another partner is another program: it is loaded again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partner {
    /// The session that the conversation is kept in.
    pub session_id: String,
    /// The model, if somebody chose one.
    pub model: Option<String>,
    /// Variables of the environment, besides those that all programs find.
    pub variables: BTreeMap<String, String>,
}

/// What somebody wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// To whom.
    pub partner: Partner,
    /// What.
    pub prompt: String,
    /// The mode, if somebody chose one.
    pub mode: Option<String>,
}

/// How a turn has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEnd {
    /// Well. If the agent said nothing, the text that the program gave is the answer.
    Well(Option<String>),
    /// It was no turn of the agent; this is to be told.
    Told(String),
    /// It was stopped.
    Cancelled,
    /// It failed.
    Failed(TurnFailure),
}

/// Why a turn has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnFailure {
    /// What went wrong and where, for the person who wrote the program.
    pub report: String,
    /// What went wrong, in a line.
    pub message: String,
    /// Which kind of failure it is, where programs tell them apart.
    pub category: Option<String>,
    /// What the program threw, if it threw something.
    pub thrown: Option<serde_json::Value>,
}

impl TurnFailure {
    /// A failure of which no more is known.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            report: message.clone(),
            message,
            category: None,
            thrown: None,
        }
    }
}

/// Hears what becomes of turns, on the thread of the program.
pub trait TurnListener: Send + Sync {
    /// An order was done. For each there is one call, in their order.
    fn ended(&self, end: TurnEnd);

    /// The program wrote something.
    fn printed(&self, stream: Stream, text: &str);
}

/// What is to be done.
enum Order {
    Turn(Turn),
    Compact(Partner),
    Alone(Box<dyn FnOnce() + Send>),
    Stop,
}

/// Runs the program. All orders are done one after the other.
pub struct TurnRunner {
    inbox: Arc<Inbox>,
    /// Closed when the thread has ended.
    over: Mutex<Receiver<()>>,
}

#[derive(Default)]
struct Inbox {
    orders: Mutex<VecDeque<Order>>,
    rung: Condvar,
    /// Stops the program that is loaded.
    interrupt: Mutex<Interrupt>,
    /// Whether the turn that was ordered last is to stop, also if it has not begun.
    is_cancelled: AtomicBool,
}

impl TurnRunner {
    /// Starts the thread. `base` says how the program is run, but for the partner.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn start(
        program: AnsweringProgram,
        base: RunOptions,
        listener: Arc<dyn TurnListener>,
    ) -> std::io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let worker = Worker {
            program,
            base,
            listener,
            inbox: Arc::clone(&inbox),
        };
        let thread = thread::Builder::new().name("harn-turns".to_owned());
        let thread = thread.stack_size(STACK_BYTES);
        let (ends, over): (Sender<()>, _) = channel();
        thread.spawn(move || {
            worker.work();
            drop(ends);
        })?;
        let over = Mutex::new(over);
        Ok(Self { inbox, over })
    }

    /// Begins a turn.
    pub fn turn(&self, turn: Turn) {
        self.inbox.is_cancelled.store(false, Ordering::Release);
        self.inbox.put(Order::Turn(turn));
    }

    /// Makes the conversation of a session shorter.
    pub fn compact(&self, partner: Partner) {
        self.inbox.put(Order::Compact(partner));
    }

    /// Puts the program away and does something while it has no session open. The next turn
    /// loads it again. The listener is not told.
    pub fn alone(&self, work: impl FnOnce() + Send + 'static) {
        self.inbox.put(Order::Alone(Box::new(work)));
    }

    /// Stops what runs, or was ordered and is about to.
    pub fn cancel(&self) {
        self.inbox.is_cancelled.store(true, Ordering::Release);
        self.inbox.interrupt().raise();
    }

    /// Stops everything. The program closes what it has opened; one that does not stop in time
    /// is left to the end of the process. Says whether it did.
    pub fn stop(self) -> bool {
        self.stop_later();
        self.has_ended_within(PATIENCE)
    }

    /// The same without waiting.
    pub fn stop_later(&self) {
        self.inbox.put(Order::Stop);
        self.cancel();
    }

    /// Waits until the thread has ended, for as long as that.
    pub fn has_ended_within(&self, time: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(
            over.recv_timeout(time),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        )
    }
}

impl Inbox {
    fn put(&self, order: Order) {
        self.orders().push_back(order);
        self.rung.notify_all();
        self.interrupt().nudge();
    }

    fn orders(&self) -> MutexGuard<'_, VecDeque<Order>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self) -> MutexGuard<'_, Interrupt> {
        self.interrupt
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next order, when there is one.
    fn take(&self) -> Order {
        let mut orders = self.orders();
        loop {
            match orders.pop_front() {
                Some(order) => return order,
                None => {
                    let rung = self.rung.wait(orders);
                    orders = rung.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// The thread.
struct Worker {
    program: AnsweringProgram,
    base: RunOptions,
    listener: Arc<dyn TurnListener>,
    inbox: Arc<Inbox>,
}

/// A program that is loaded.
struct Loaded {
    partner: Partner,
    program: LoadedProgram,
    interrupt: Interrupt,
    has_run: bool,
}

impl Worker {
    fn work(self) {
        let mut loaded: Option<Loaded> = None;
        loop {
            if let Some(loaded) = &mut loaded {
                let is_wanted = || !self.inbox.orders().is_empty();
                loaded.program.rest_until(&is_wanted);
            }
            let order = self.inbox.take();
            if matches!(order, Order::Stop) {
                return;
            }
            let done = panic::catch_unwind(AssertUnwindSafe(|| self.do_it(order, &mut loaded)));
            let ended = done.unwrap_or_else(|_| {
                loaded = None;
                Some(TurnEnd::Failed(TurnFailure::new("the program has crashed")))
            });
            if let Some(ended) = ended {
                self.listener.ended(ended);
            }
        }
    }

    /// Does what is to be done, and gives what the listener is told.
    fn do_it(&self, order: Order, loaded: &mut Option<Loaded>) -> Option<TurnEnd> {
        match order {
            Order::Stop => None,
            Order::Turn(turn) => Some(self.turn(loaded, turn)),
            Order::Compact(partner) => {
                // It writes to the same journal, so nobody else may have it open.
                *loaded = None;
                Some(self.compact(partner))
            }
            Order::Alone(work) => {
                *loaded = None;
                work();
                None
            }
        }
    }

    fn turn(&self, loaded: &mut Option<Loaded>, turn: Turn) -> TurnEnd {
        let fits = |one: &Loaded| one.partner == turn.partner && !one.interrupt.is_raised();
        let mut current = match loaded.take().filter(fits) {
            Some(current) => current,
            None => match self.load(&self.program, turn.partner) {
                Ok(current) => current,
                Err(why) => return TurnEnd::Failed(TurnFailure::new(why)),
            },
        };
        let program = &mut current.program;
        program.set_parameter(PROMPT, &turn.prompt);
        program.set_parameter(MODE, turn.mode.as_deref().unwrap_or_default());
        program.set_parameter(SESSION_ID, &current.partner.session_id);
        let trust = match program.project_trust() {
            ProjectTrust::Trusted => "trusted",
            ProjectTrust::Untrusted => "untrusted",
        };
        program.set_parameter(PROJECT_TRUST, trust);
        let again = current.has_run.then(|| program.run_again()).flatten();
        let outcome = again.unwrap_or_else(|| program.run());
        current.has_run = true;
        let ended = ended(outcome);
        // What failed or was stopped may have left anything behind.
        if matches!(ended, TurnEnd::Well(_)) {
            *loaded = Some(current);
        }
        ended
    }

    fn compact(&self, partner: Partner) -> TurnEnd {
        let mut current = match self.load(&AnsweringProgram::compacting(), partner) {
            Ok(current) => current,
            Err(why) => return TurnEnd::Failed(TurnFailure::new(why)),
        };
        let program = &mut current.program;
        program.set_parameter(SESSION_ID, &current.partner.session_id);
        match ended(program.run()) {
            TurnEnd::Well(text) => TurnEnd::Told(text.unwrap_or_default()),
            other => other,
        }
    }

    fn load(&self, answering: &AnsweringProgram, partner: Partner) -> Result<Loaded, String> {
        let interrupt = Interrupt::default();
        *self.inbox.interrupt() = interrupt.clone();
        // Whoever cancelled before has raised another one.
        if self.inbox.is_cancelled.load(Ordering::Acquire) {
            interrupt.raise();
        }
        let mut options = self.base.clone();
        options.entry = answering.entry.clone();
        options.interrupt = interrupt.clone();
        options.world.agents.resumes = Some(partner.session_id.clone());
        let environment = &mut options.world.environment;
        environment.extend(partner.variables.clone());
        if let Some(model) = &partner.model {
            environment.insert(MODEL.to_owned(), model.clone());
        }
        let mut workspace = answering.workspace();
        let sink = Box::new(Printed(Arc::clone(&self.listener)));
        let program = Program::new(&mut workspace, answering.path()).load(&options, sink);
        Ok(Loaded {
            partner,
            program: program.map_err(|error| format!("compile error: {error}"))?,
            interrupt,
            has_run: false,
        })
    }
}

fn ended(outcome: Outcome) -> TurnEnd {
    match outcome {
        Outcome::Ended(Ok(Value::Text(text))) => TurnEnd::Well(Some(text.to_string())),
        Outcome::Ended(Ok(_)) => TurnEnd::Well(None),
        Outcome::Ended(Err(failure)) => TurnEnd::Failed(failed(&failure)),
        Outcome::Interrupted => TurnEnd::Cancelled,
        Outcome::TimedOut => TurnEnd::Failed(TurnFailure::new("the time of the program is over")),
    }
}

fn failed(failure: &Failure) -> TurnFailure {
    let (category, thrown) = match &failure.kind {
        FaultKind::Exit(status) => {
            return TurnFailure::new(format!("the program has called exit({status})"));
        }
        FaultKind::Thrown(value) => {
            let thrown = to_json(value);
            (thrown["category"].as_str().map(str::to_owned), Some(thrown))
        }
        FaultKind::Categorised { category, .. } => (Some(category.clone()), None),
        _ => (None, None),
    };
    TurnFailure {
        report: runtime_error(failure).to_string(),
        message: failure.text(),
        category,
        thrown,
    }
}

/// What the program prints is told to whoever listens.
struct Printed(Arc<dyn TurnListener>);

impl Sink for Printed {
    fn write(&mut self, stream: Stream, text: &str) {
        self.0.printed(stream, text);
    }

    fn flush(&mut self) {}
}
