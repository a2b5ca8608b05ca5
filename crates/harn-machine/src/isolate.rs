//! A program that runs.
//!
//! ```text
//! let (outside, inbox) = inbox();              effects keep `outside`
//! let mut isolate = Isolate::new(registry, effects, inbox, limits);
//! isolate.load(&mut workspace, path, &Entry::Default)?;
//! loop {
//!     match isolate.step() {
//!         Step::Done(result) => break result,
//!         Step::SliceSpent => …            look at other things, go on
//!         Step::Awaiting { until } => isolate.wait(time_until(until)),
//!     }
//! }
//! ```

use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use harn_check::Imported;
use harn_check::modules::Workspace;
use hashbrown::HashMap;

use crate::budget::{Brake, Budget};
use crate::closure::Closure;
use crate::code::{Function, Source};
use crate::compile::{Interner, PREDEFINED};
use crate::context::LibraryState;
use crate::effects::Effects;
use crate::exports::{Export, Exports};
use crate::fault::{Failure, Fault};
use crate::fiber::{Facts, Fiber};
use crate::handle::ClosureHandle;
use crate::inbox::{Inbox, Message};
use crate::load::{self, Action, Entry, LoadError, Offer};
use crate::machine::Machine;
use crate::methods::Methods;
use crate::registry::{BuiltinId, Registry};
use crate::run::{self, Stop};
use crate::scheduler::Scheduler;
use crate::session::Session;
use crate::sync::FiberId;
use crate::value::{Dict, Value};

/// So many fibers run in one step at most. Those that hand over to each other before their
/// slices are spent could otherwise go on for ever, and nobody outside could stop them.
const HANDOVERS_MAX: usize = 256;

/// What a program may use.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// How much memory its values may take, in bytes.
    pub memory: Option<usize>,
}

/// How far a program has come.
#[derive(Debug)]
pub enum Step {
    /// It has ended: with the value of its entry, or with an error that nobody caught.
    Done(Result<Value, Failure>),
    /// It could go on at once.
    SliceSpent,
    /// It waits for an effect to complete, or for a time.
    Awaiting {
        /// The time, by the clock that only goes forward.
        until: Option<i64>,
    },
}

/// A program that runs, with everything that belongs to it. It stays on one thread.
pub struct Isolate {
    machine: Machine,
    root: FiberId,
    actions: VecDeque<Action>,
    inbox: Inbox,
    /// What was typed at a prompt.
    session: Session,
    /// What was run last as the entry.
    entry: Option<Rc<Closure>>,
    /// Whether the program itself has ended; calls from outside may still come.
    is_over: bool,
    /// What the program has come to.
    result: Option<Result<Value, Failure>>,
}

impl Isolate {
    /// An isolate with nothing to run.
    pub fn new(
        registry: Rc<Registry>,
        effects: Box<dyn Effects>,
        inbox: Inbox,
        limits: &Limits,
    ) -> Self {
        let mut scheduler = Scheduler::new(Budget::new(limits.memory));
        let root = scheduler.new_fiber();
        let mut machine = Machine {
            globals: vec![Value::Absent; PREDEFINED.len()],
            registry,
            methods: Methods::default(),
            scheduler,
            effects,
            library: LibraryState::default(),
            exports: Exports::default(),
            library_functions: HashMap::new(),
            names: Vec::new(),
            entry_module: None,
            interner: Interner::default(),
            covered: None,
            is_traced: false,
        };
        predefine(&mut machine);
        Self {
            machine,
            root,
            actions: VecDeque::new(),
            inbox,
            session: Session::default(),
            entry: None,
            is_over: false,
            result: None,
        }
    }

    /// What is predefined as `argv`.
    pub fn set_arguments(&mut self, arguments: impl IntoIterator<Item = String>) {
        let arguments: Value = arguments.into_iter().map(Value::from).collect();
        self.set_predefined("argv", arguments);
    }

    /// What is predefined as `skills`: a registry of the skills that were discovered.
    pub fn set_skills(&mut self, registry: Value) {
        self.set_predefined("skills", registry);
    }

    /// What is predefined as `mcp`: the servers of the project, by name.
    pub fn set_servers(&mut self, clients: Value) {
        self.set_predefined("mcp", clients);
    }

    /// Binds a parameter of the pipeline that is the entry of the loaded program, as hosts do.
    /// Gives whether the file knows the name at all.
    pub fn bind_parameter(&mut self, name: &str, value: Value) -> bool {
        let names = self.machine.entry_module.map(|at| at as usize);
        let names = names.and_then(|at| self.machine.names.get(at));
        let Some(global) = names.and_then(|names| names.get(name)) else {
            return false;
        };
        self.machine.globals[*global as usize] = value;
        true
    }

    fn set_predefined(&mut self, name: &str, value: Value) {
        let at = PREDEFINED.iter().position(|one| *one == name);
        if let Some(at) = at {
            self.machine.globals[at] = value;
        }
    }

    /// Compiles a file and everything it imports. It runs with [`Self::step`].
    pub fn load(
        &mut self,
        workspace: &mut Workspace,
        path: &Path,
        entry: &Entry,
    ) -> Result<(), LoadError> {
        self.load_offering(workspace, path, entry, &[])
    }

    /// The same, with functions that are let out before the program runs. Whoever performs
    /// effects gets them ([`Effects::offered`]).
    pub fn load_offering(
        &mut self,
        workspace: &mut Workspace,
        path: &Path,
        entry: &Entry,
        offers: &[Offer],
    ) -> Result<(), LoadError> {
        let actions = load::load(&mut self.machine, workspace, path, entry, offers)?;
        self.actions.extend(actions);
        self.is_over = false;
        Ok(())
    }

    /// The files that are loaded and have not run yet, as functions, in the order in which
    /// they run.
    pub fn loaded(&self) -> impl Iterator<Item = &Function> {
        self.actions.iter().filter_map(|action| match action {
            Action::Run(closure) => Some(&*closure.function),
            _ => None,
        })
    }

    /// Compiles something that is typed at a prompt, after what was typed before. It runs with
    /// [`Self::step`], and its value is that of its last statement.
    pub fn load_typed(&mut self, workspace: &mut Workspace, path: &Path) -> Result<(), LoadError> {
        self.actions.clear();
        let actions = self.session.load(&mut self.machine, workspace, path)?;
        self.actions.extend(actions);
        self.is_over = false;
        Ok(())
    }

    /// The names that were typed so far.
    pub fn typed_names(&self) -> impl Iterator<Item = &str> {
        self.session.names()
    }

    /// What something that is typed now finds, besides what it imports itself.
    pub fn typed_so_far(&self, own: &Imported) -> Imported {
        self.session.imported(own)
    }

    /// Runs the pipeline of a program that has ended once more, with the files as they are.
    /// Gives whether there is one.
    pub fn enter_again(&mut self) -> bool {
        let Some(entry) = self.entry.clone() else {
            return false;
        };
        self.is_over = false;
        self.start_root(entry);
        true
    }

    /// What ends the program from outside, also while a builtin works.
    pub fn set_brake(&mut self, brake: Option<Rc<dyn Brake>>) {
        self.machine.scheduler.budget.set_brake(brake);
    }

    /// Counts how often the lines run of the files that are loaded from now on.
    pub fn count_lines(&mut self) {
        self.machine.covered.get_or_insert_default();
    }

    /// The files whose lines were counted.
    pub fn covered(&self) -> impl Iterator<Item = &Source> {
        self.machine
            .covered
            .iter()
            .flatten()
            .map(|source| &**source)
    }

    /// Goes on until the program has ended, waits, or has used its turn.
    pub fn step(&mut self) -> Step {
        for _ in 0..HANDOVERS_MAX {
            if let Some(result) = self.result.take() {
                self.is_over = true;
                return Step::Done(result);
            }
            self.take_all();
            if let Err(failure) = self.act() {
                return Step::Done(Err(failure));
            }
            if self.machine.scheduler.has_timers() {
                let now = self.machine.elapsed();
                self.machine.scheduler.wake_due(now);
            }
            let Some(mut fiber) = self.machine.scheduler.next_ready() else {
                // Whoever was resumed may have called at once.
                if let Some(message) = self.inbox.try_receive() {
                    self.take(message);
                    return Step::SliceSpent;
                }
                match self.await_something() {
                    Some(step) => return step,
                    None => continue,
                }
            };
            let stop = run::run(&mut self.machine, &mut fiber);
            for waiting in fiber.woken.drain(..) {
                self.machine.scheduler.wake(waiting);
            }
            match stop {
                Stop::Done(result) => self.done(fiber, result),
                Stop::Spent => {
                    self.machine.scheduler.add_ready(fiber);
                    return Step::SliceSpent;
                }
                Stop::Waits(until) => self.machine.scheduler.park(fiber, until),
            }
        }
        Step::SliceSpent
    }

    /// Waits until something arrives from outside or the time is over.
    pub fn wait(&mut self, time: Option<Duration>) {
        self.machine.effects.idle();
        if let Some(message) = self.inbox.receive(time) {
            self.take(message);
        }
    }

    /// A handle of a function, to call it from any thread.
    pub fn handle(&mut self, closure: &Rc<Closure>) -> ClosureHandle {
        let number = self.machine.exports.add(Export::of_program(closure));
        self.inbox.outside().claim(number)
    }

    /// How many functions can be called from outside.
    pub fn exported(&self) -> usize {
        self.machine.exports.len()
    }

    /// Takes what has arrived. Whoever wants to be called again comes last and once, so that
    /// one who always does cannot keep the program from running.
    fn take_all(&mut self) {
        let mut woken = Vec::new();
        while let Some(message) = self.inbox.try_receive() {
            match message {
                Message::Woken(waker) => woken.push(waker),
                message => self.take(message),
            }
        }
        for waker in woken {
            self.take(Message::Woken(waker));
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Completed(id, answer) => self.machine.scheduler.complete(id, answer),
            Message::Woken(waker) => self.machine.effects.resume(waker.take()),
            Message::Called(call) => self.machine.begin_call(call),
            Message::Stopped(fiber) => self.machine.stop_call(fiber),
            Message::Released(number) => self.machine.exports.release(number),
            Message::Nudged => {}
        }
    }

    /// The world outside, as it was given.
    pub fn effects(&mut self) -> &mut dyn Effects {
        &mut *self.machine.effects
    }

    /// What is to be done when nothing of the program runs: the next file, the entry.
    fn act(&mut self) -> Result<(), Failure> {
        while !self.is_over && !self.machine.scheduler.is_known(self.root) {
            match self.actions.pop_front() {
                Some(Action::Run(closure)) => self.start_root(closure),
                Some(Action::Bind(bindings)) => load::bind(&mut self.machine, &bindings),
                Some(Action::Offer(global, tag)) => self.offer(global, &tag),
                Some(Action::Fail(failure)) => return Err(failure),
                Some(Action::Enter) | None => {
                    self.result = Some(Ok(Value::Nil));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Lets a function out, if it is one.
    fn offer(&mut self, global: u32, tag: &str) {
        if let Value::Closure(closure) = &self.machine.globals[global as usize] {
            let export = Export::of_program(closure);
            let number = self.machine.exports.add(export);
            self.machine.effects.offered(tag, number);
        }
    }

    fn start_root(&mut self, closure: Rc<Closure>) {
        let mut fiber = Box::new(Fiber::new(self.root, Rc::new(Facts::of_root())));
        fiber.strand.is_root = true;
        run::prepare(&mut fiber, closure, Vec::new());
        self.machine.scheduler.add_ready(fiber);
    }

    /// A fiber has ended. What the file of the entry gives is run next.
    fn done(&mut self, fiber: Box<Fiber>, result: Result<Value, Failure>) {
        let ends_program = matches!(&result, Err(failure) if !failure.is_catchable());
        if fiber.strand.id != self.root {
            match (ends_program, result) {
                (true, result) => self.result = Some(result),
                (false, result) => self.machine.scheduler.finish(*fiber, result),
            }
            return;
        }
        match result {
            Err(failure) => self.result = Some(Err(failure)),
            Ok(value) if self.actions.is_empty() => self.result = Some(Ok(value)),
            Ok(Value::Closure(closure)) if matches!(self.actions.front(), Some(Action::Enter)) => {
                self.actions.pop_front();
                self.entry = Some(closure.clone());
                self.start_root(closure);
            }
            Ok(value) if matches!(self.actions.front(), Some(Action::Enter)) => {
                self.actions.pop_front();
                self.result = Some(Ok(value));
            }
            Ok(_) => {}
        }
    }

    /// Nobody can run. `None` if that has changed.
    fn await_something(&mut self) -> Option<Step> {
        let until = self.machine.scheduler.next_time();
        let can_be_woken = self.machine.scheduler.has_effects() || self.exported() > 0;
        if until.is_some() || can_be_woken {
            return Some(Step::Awaiting { until });
        }
        if self.is_over {
            return Some(Step::Awaiting { until: None });
        }
        if self.result.is_some() || !self.machine.scheduler.is_known(self.root) {
            return None;
        }
        let message = "every task waits for another: nothing can go on";
        Some(Step::Done(Err(Fault::runtime(message))))
    }
}

/// What every program starts with.
fn predefine(machine: &mut Machine) {
    let mut namespaces: HashMap<&str, Dict> = HashMap::new();
    for builtin in harn_check::builtins::all() {
        if let Some((namespace, member)) = builtin.name.split_once('.')
            && let Some(id) = BuiltinId::find(builtin.name)
        {
            let members = namespaces.entry(namespace).or_default();
            members.insert(machine.interner.text(member), Value::Builtin(id));
        }
    }
    for (at, name) in PREDEFINED.iter().enumerate() {
        machine.globals[at] = match *name {
            "argv" => Value::list(Vec::new()),
            "skills" => Value::dict([
                ("_type", "skill_registry".into()),
                ("skills", Value::list(Vec::new())),
            ]),
            "pi" => Value::Float(std::f64::consts::PI),
            "e" => Value::Float(std::f64::consts::E),
            namespace => Value::Dict(namespaces.remove(namespace).unwrap_or_default()),
        };
    }
}
