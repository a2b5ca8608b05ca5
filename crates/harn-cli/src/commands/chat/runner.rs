//! Runs the program, on a thread of its own, one turn after the other.
//!
//! ```text
//! Runner ─► orders ─► the thread: load once, run the pipeline per turn ─► Message::Ended
//!    └────► interrupt ───────────────┘ between turns what was left running goes on
//! ```
//!
//! The program stays loaded from one turn to the next, with what it shares between its tasks,
//! its servers and its background work. A turn that is stopped takes the program with it: the next one loads it
//! again and goes on with the session where its journal ends.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use harn_vm::machine::{FaultKind, Stream, Value};
use harn_vm::{
    Interrupt, LoadedProgram, Outcome, PROMPT, Program, RunOptions, SESSION_ID, Sink, runtime_error,
};

use super::Message;
use super::agent::Agent;
use super::shared::Shared;
use super::view::Ended;

/// Parsing is recursive, and a thread has less room than the first one has.
const STACK_BYTES: usize = 16 << 20;

/// How long the program has to close what it has opened.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whom somebody talks to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partner {
    pub(super) session_id: String,
    /// The model, if somebody chose one.
    pub(super) model: Option<String>,
}

/// What is to be done.
enum Order {
    Turn { partner: Partner, prompt: String },
    Compact { partner: Partner },
    Stop,
}

/// Runs the program. All orders are done one after the other.
pub(super) struct Runner {
    inbox: Arc<Inbox>,
    /// Closed when the thread has ended.
    over: Receiver<()>,
}

#[derive(Default)]
struct Inbox {
    orders: Mutex<VecDeque<Order>>,
    rung: Condvar,
    /// Stops the program that is loaded.
    interrupt: Mutex<Interrupt>,
}

impl Runner {
    /// Starts the thread. `base` says how the program is run, but for the partner.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn start(
        agent: Agent,
        base: RunOptions,
        shared: Shared,
        messages: SyncSender<Message>,
    ) -> std::io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let worker = Worker {
            agent,
            base,
            shared,
            messages,
            inbox: Arc::clone(&inbox),
        };
        let thread = thread::Builder::new().name("harn-chat".to_owned());
        let thread = thread.stack_size(STACK_BYTES);
        let (ends, over): (Sender<()>, _) = channel();
        thread.spawn(move || {
            worker.work();
            drop(ends);
        })?;
        Ok(Self { inbox, over })
    }

    /// Begins a turn.
    pub(super) fn turn(&self, partner: Partner, prompt: String) {
        self.inbox.put(Order::Turn { partner, prompt });
    }

    /// Makes the conversation of a session shorter.
    pub(super) fn compact(&self, partner: Partner) {
        self.inbox.put(Order::Compact { partner });
    }

    /// Stops what runs.
    pub(super) fn cancel(&self) {
        self.inbox.interrupt().raise();
    }

    /// Stops everything. The program closes what it has opened; one that does not stop is left
    /// to the end of the process.
    pub(super) fn stop(self) {
        self.inbox.put(Order::Stop);
        self.cancel();
        let _it_had_its_time = self.over.recv_timeout(PATIENCE);
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
    agent: Agent,
    base: RunOptions,
    shared: Shared,
    messages: SyncSender<Message>,
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
            let done = panic::catch_unwind(AssertUnwindSafe(|| self.do_it(order, &mut loaded)));
            let ended = match done {
                Ok(Some(ended)) => ended,
                Ok(None) => return,
                Err(_) => {
                    loaded = None;
                    Ended::Failed("the program has crashed".to_owned())
                }
            };
            let _nobody_looks_any_more = self.messages.send(Message::Ended(ended));
        }
    }

    /// Does what is to be done; nothing comes of an order to stop.
    fn do_it(&self, order: Order, loaded: &mut Option<Loaded>) -> Option<Ended> {
        Some(match order {
            Order::Stop => return None,
            Order::Turn { partner, prompt } => self.turn(loaded, partner, &prompt),
            Order::Compact { partner } => {
                // It writes to the same journal, so nobody else may have it open.
                *loaded = None;
                self.compact(partner)
            }
        })
    }

    fn turn(&self, loaded: &mut Option<Loaded>, partner: Partner, prompt: &str) -> Ended {
        let fits = |one: &Loaded| one.partner == partner && !one.interrupt.is_raised();
        let mut current = match loaded.take().filter(fits) {
            Some(current) => current,
            None => match self.load(&self.agent, partner) {
                Ok(current) => current,
                Err(why) => return Ended::Failed(why),
            },
        };
        let program = &mut current.program;
        program.set_parameter(PROMPT, prompt);
        program.set_parameter(SESSION_ID, &current.partner.session_id);
        let again = current.has_run.then(|| program.run_again()).flatten();
        let outcome = again.unwrap_or_else(|| program.run());
        current.has_run = true;
        let ended = ended(outcome);
        // What failed or was stopped may have left anything behind.
        if matches!(ended, Ended::Well(_)) {
            *loaded = Some(current);
        }
        ended
    }

    fn compact(&self, partner: Partner) -> Ended {
        let mut current = match self.load(&Agent::compacting(), partner) {
            Ok(current) => current,
            Err(why) => return Ended::Failed(why),
        };
        let program = &mut current.program;
        program.set_parameter(SESSION_ID, &current.partner.session_id);
        match ended(program.run()) {
            Ended::Well(text) => Ended::Told(text.unwrap_or_default()),
            other => other,
        }
    }

    fn load(&self, agent: &Agent, partner: Partner) -> Result<Loaded, String> {
        let interrupt = Interrupt::default();
        *self.inbox.interrupt() = interrupt.clone();
        let mut options = self.base.clone();
        options.entry = agent.entry();
        options.interrupt = interrupt.clone();
        options.world.agents.resumes = Some(partner.session_id.clone());
        if let Some(model) = &partner.model {
            let variable = ("HARN_LLM_MODEL".to_owned(), model.clone());
            options.world.environment.extend([variable]);
        }
        let mut workspace = agent.workspace();
        let sink = Box::new(Printed(self.shared.clone()));
        let program = Program::new(&mut workspace, agent.path()).load(&options, sink);
        Ok(Loaded {
            partner,
            program: program.map_err(|error| format!("compile error: {error}"))?,
            interrupt,
            has_run: false,
        })
    }
}

fn ended(outcome: Outcome) -> Ended {
    match outcome {
        Outcome::Ended(Ok(Value::Text(text))) => Ended::Well(Some(text.to_string())),
        Outcome::Ended(Ok(_)) => Ended::Well(None),
        Outcome::Ended(Err(failure)) => match failure.kind {
            FaultKind::Exit(status) => {
                Ended::Failed(format!("the program has called exit({status})"))
            }
            _ => Ended::Failed(runtime_error(&failure).to_string()),
        },
        Outcome::Interrupted => Ended::Cancelled,
        Outcome::TimedOut => Ended::Failed("the time of the program is over".to_owned()),
    }
}

/// What the program prints is part of the conversation.
struct Printed(Shared);

impl Sink for Printed {
    fn write(&mut self, _stream: Stream, text: &str) {
        self.0.change(|state| state.view.printed(text));
    }

    fn flush(&mut self) {}
}
