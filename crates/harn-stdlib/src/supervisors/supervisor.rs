//! What has happened at a supervisor and what is planned.

use std::collections::VecDeque;
use std::rc::Rc;

use harn_machine::value::{Dict, Text};
use harn_machine::{Task, Value, Waiters};

use super::policy::{History, Mode};
use super::spec::{ChildSpec, Spec, Strategy};

/// How many of the last events are kept. A child that fails at once and for ever would
/// otherwise fill the memory.
const EVENTS_MAX: usize = 10_000;

/// Children and what has happened to them.
pub(super) struct Supervisor {
    pub(super) id: Text,
    pub(super) name: Text,
    pub(super) strategy: Strategy,
    pub(super) shutdown_ms: i64,
    pub(super) status: Status,
    pub(super) children: Vec<Child>,
    pub(super) metrics: Metrics,
    pub(super) events: VecDeque<Event>,
    events_seen: i64,
    /// The task that started it.
    pub(super) parent: Text,
    /// The values of that task.
    pub(super) values: Dict,
    /// Who waits for something to happen.
    pub(super) changed: Waiters,
}

/// How a supervisor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    /// All children are done.
    Completed,
    /// Children were asked to stop.
    Draining,
    Stopped,
    Escalated,
}

impl Status {
    /// Whether nothing more will happen by itself.
    pub(super) fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Draining)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Draining => "draining",
            Self::Stopped => "stopped",
            Self::Escalated => "escalated",
        }
    }
}

/// A task that is supervised.
pub(super) struct Child {
    pub(super) spec: ChildSpec,
    pub(super) status: ChildStatus,
    pub(super) history: History,
    pub(super) last_error: Option<String>,
    pub(super) wait: Option<WaitReason>,
    /// When it is started again, by the clock that only goes forward and by that of people.
    pub(super) due: Option<Due>,
    pub(super) task: Option<Rc<Task>>,
    /// How often it was started.
    pub(super) attempts: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) elapsed: i64,
    pub(super) time: i64,
}

/// How a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildStatus {
    Pending,
    Running,
    Draining,
    Waiting,
    Failed,
    Stopped,
    Suppressed,
    CircuitOpen,
}

impl ChildStatus {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Suppressed => "suppressed",
            Self::CircuitOpen => "circuit_open",
        }
    }

    /// Whether it will not run again by itself.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Failed | Self::Stopped | Self::Suppressed)
    }
}

/// What a child waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitReason {
    Backoff,
    Propagation,
    CircuitOpen,
    Capped,
    Shutdown,
}

impl WaitReason {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Backoff => "restart_backoff",
            Self::Propagation => "propagation_restart",
            Self::CircuitOpen => "circuit_open",
            Self::Capped => "restart_cap_exceeded",
            Self::Shutdown => "shutdown",
        }
    }
}

/// How often things have happened.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) started: i64,
    pub(super) stopped: i64,
    pub(super) failed: i64,
    pub(super) restarted: i64,
    pub(super) suppressed: i64,
    pub(super) escalated: i64,
}

/// Something that has happened.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) number: i64,
    pub(super) time: i64,
    pub(super) child: Option<Text>,
    pub(super) kind: &'static str,
    pub(super) message: Option<String>,
}

impl Supervisor {
    pub(super) fn new(id: Text, spec: Spec, parent: Text, values: Dict) -> Self {
        Self {
            name: spec.name.unwrap_or_else(|| id.clone()),
            id,
            strategy: spec.strategy,
            shutdown_ms: spec.shutdown_ms,
            status: Status::Running,
            children: spec.children.into_iter().map(Child::new).collect(),
            metrics: Metrics::default(),
            events: VecDeque::new(),
            events_seen: 0,
            parent,
            values,
            changed: Waiters::default(),
        }
    }

    /// How programs name it.
    pub(super) fn handle(&self) -> Value {
        Value::dict([
            ("_type", "supervisor".into()),
            ("id", self.id.clone().into()),
            ("name", self.name.clone().into()),
        ])
    }

    /// The tasks that run.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Rc<Task>> {
        self.children.iter().filter_map(|child| child.task.as_ref())
    }

    /// When the next child is started again.
    pub(super) fn next_due(&self) -> Option<i64> {
        let due = self.children.iter().filter_map(|child| child.due);
        due.map(|due| due.elapsed).min()
    }

    /// Something has happened, to a child or to all of it.
    pub(super) fn note(
        &mut self,
        time: i64,
        child: Option<usize>,
        kind: &'static str,
        message: Option<String>,
    ) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        let number = self.events_seen;
        self.events_seen += 1;
        let child = child.map(|at| self.children[at].spec.name.clone());
        self.events.push_back(Event {
            number,
            time,
            child,
            kind,
            message,
        });
    }

    /// Which other children are started again when one is.
    pub(super) fn followers(&self, failed: usize) -> Vec<usize> {
        let first = match self.strategy {
            Strategy::OneForOne | Strategy::Escalate => return Vec::new(),
            Strategy::OneForAll => 0,
            Strategy::RestForOne => failed + 1,
        };
        let all = first..self.children.len();
        all.filter(|at| *at != failed && self.children[*at].follows())
            .collect()
    }
}

impl Child {
    fn new(spec: ChildSpec) -> Self {
        Self {
            spec,
            status: ChildStatus::Pending,
            history: History::default(),
            last_error: None,
            wait: None,
            due: None,
            task: None,
            attempts: 0,
        }
    }

    /// Whether it is started again with others: its policy may be against it, and who waits
    /// to be started need not be told.
    fn follows(&self) -> bool {
        let can = matches!(
            self.status,
            ChildStatus::Running | ChildStatus::Stopped | ChildStatus::Failed
        );
        can && self.spec.policy.mode != Mode::Never
    }
}
