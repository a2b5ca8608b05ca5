//! Supervisors: tasks that are started together and again when they fail.
//!
//! ```text
//!  supervisor_start ─► spec ─► Supervisor ◄─ settle ◄─┬─ a task of its own, whenever a child
//!                                  │                  │  ends or is due to start again
//!                                  ▼                  └─ whoever asks how things are
//!                     children: tasks with a policy
//! ```
//!
//! `policy` knows when a child is started again, `supervisor` what has happened and what is
//! planned, `settle` carries plans out. `stop` ends it all, `describe` tells about it.

mod describe;
mod policy;
mod settle;
mod spec;
mod stop;
mod supervisor;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::task::Poll;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Holds, Registry, Value, Waiting, argument};

use supervisor::Supervisor;

pub(crate) use describe::states;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("supervisors", include_str!("../../harn/supervisors.harn"));
    registry.harn("supervisors", &[("supervisor_start", "supervisor_start")]);
    registry.plain(&[
        ("__supervisor_start", start),
        ("supervisor_state", describe::state),
        ("supervisor_metrics", describe::metrics),
        ("supervisor_events", describe::events),
    ]);
    registry.waiting(&[
        ("__supervisor_watch", watch),
        ("supervisor_stop", stop::stop),
    ]);
}

/// The supervisors of a run, in the order in which they were started.
#[derive(Default)]
struct Supervisors {
    all: Vec<SharedSupervisor>,
    by_id: HashMap<Text, SharedSupervisor>,
    /// How many got a number for a name.
    numbered: u64,
}

impl Holds for Supervisors {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for supervisor in &self.all {
            let supervisor = supervisor.borrow();
            each(&Value::Dict(supervisor.values.clone()));
            for child in &supervisor.children {
                each(&Value::Closure(child.spec.task.clone()));
                each(&child.spec.lease);
            }
        }
    }
}

type SharedSupervisor = Rc<RefCell<Supervisor>>;

impl Supervisors {
    /// An id for a supervisor that was given none.
    fn new_id(&mut self) -> Text {
        loop {
            self.numbered += 1;
            let id = Text::from(format!("supervisor_{}", self.numbered));
            if !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }
}

/// `__supervisor_start(arguments, watch)`: what `supervisor_start` was called with, and the
/// function that its task runs.
fn start(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let spec = match argument(arguments, 0) {
        Value::List(given) => given.first().cloned().unwrap_or_default(),
        _ => Value::Nil,
    };
    let (id, spec) = spec::read(&spec)?;
    let supervisors = context.holding::<Supervisors>();
    let id = id.unwrap_or_else(|| supervisors.new_id());
    if supervisors.by_id.contains_key(&id) {
        let message = format!("supervisor_start: supervisor '{id}' already exists");
        return Err(Fault::runtime(message));
    }
    let strand = context.strand();
    let (task, values) = (strand.facts.id.clone(), strand.values.clone());
    let supervisor = Supervisor::new(id.clone(), spec, task, values);
    let handle = supervisor.handle();
    let supervisor = SharedSupervisor::new(supervisor.into());
    let supervisors = context.holding::<Supervisors>();
    supervisors.all.push(supervisor.clone());
    supervisors.by_id.insert(id, supervisor.clone());
    settle::begin(context, &supervisor, argument(arguments, 1));
    Ok(handle)
}

/// `__supervisor_watch(id)`: waits until nothing is left to be supervised.
fn watch(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let supervisor = find("supervisor_start", context, argument(arguments, 0))?;
    settle::settle(context, &supervisor);
    let supervisor = supervisor.borrow();
    if supervisor.status.is_final() {
        return Ok(Poll::Ready(Value::Nil));
    }
    wait(context, &supervisor, waiting);
    waiting.until = supervisor.next_due();
    Ok(Poll::Pending)
}

/// Waits for the next thing that happens to a supervisor.
fn wait(context: &mut Context<'_>, supervisor: &Supervisor, waiting: &mut Waiting) {
    for task in supervisor.tasks() {
        waiting.on(&task.waiters, context);
    }
    waiting.on(&supervisor.changed, context);
}

/// The supervisor of a handle or an id.
fn find(
    builtin: &str,
    context: &mut Context<'_>,
    value: &Value,
) -> Result<SharedSupervisor, Failure> {
    let id = match value {
        Value::Dict(handle) => handle.get("id").unwrap_or(&Value::Nil),
        id => id,
    };
    let Value::Text(id) = id else {
        let message = format!("{builtin}: supervisor handle or id is required");
        return Err(Fault::runtime(message));
    };
    let found = context.holding::<Supervisors>().by_id.get(id);
    let message = || format!("{builtin}: unknown supervisor '{id}'");
    found.cloned().ok_or_else(|| Fault::runtime(message()))
}
