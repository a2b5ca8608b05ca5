//! What travels with a task: its session, its loop sink, its call depth.
//!
//! Explicit arguments are better, and the loop uses them. But events also start
//! in places that know nothing of the loop they serve: a builtin, a library, a
//! host callback. For those, a task has a context.
//!
//! ```text
//! scope(context, future)      poll: context on this thread's stack
//!     └─ guard installed      kept in the context, removed by identity
//!     └─ await                context off the stack; another task may run
//! ```
//!
//! Because a context is entered for each poll and left again after it, it follows
//! the future from thread to thread, and two tasks that take turns on one thread
//! never see each other's. Code that runs outside any scope uses a root context
//! of its thread, which disappears with its last guard.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use hashbrown::HashMap;

use crate::MutationSessionRecord;
use crate::lock::Recover;
use crate::sink::AgentEventSink;

/// The contexts of all threads that are inside one right now.
#[derive(Default)]
pub(crate) struct Ambient {
    threads: Mutex<HashMap<ThreadId, Vec<Arc<TaskContext>>>>,
    /// How many contexts are on a stack. Zero, the usual case, costs no lock.
    entered: AtomicUsize,
}

/// The ambient facts of one task.
#[derive(Default)]
pub(crate) struct TaskContext {
    /// The thread whose root this is; `None` for the context of a task.
    root_of: Option<ThreadId>,
    facts: Mutex<Vec<(FactId, Fact)>>,
    next_id: AtomicU64,
}

type FactId = u64;

/// The facts that an emission takes along.
#[derive(Default)]
pub(crate) struct EmissionFacts {
    pub(crate) loop_sink: Option<Arc<dyn AgentEventSink>>,
    pub(crate) frame_depth: Option<u32>,
    pub(crate) subscriber_depth: u32,
}

/// Something a guard states for as long as it lives.
#[derive(Clone)]
pub(crate) enum Fact {
    /// The running loop's own sink; `None` shadows an outer loop's.
    LoopSink(Option<Arc<dyn AgentEventSink>>),
    Session(Arc<str>),
    FrameDepth(u32),
    MutationSession(Arc<MutationSessionRecord>),
    /// How many subscribers deep this task is.
    SubscriberDepth(u32),
}

impl TaskContext {
    /// A context in which holds what holds in `parent` now. What is stated or taken
    /// back there later does not matter here: a task keeps the session it was
    /// started in.
    pub(crate) fn child_of(parent: Option<Arc<TaskContext>>) -> Arc<Self> {
        let child = Self::default();
        if let Some(parent) = parent {
            let inherited = [
                parent.find(&|fact| matches!(fact, Fact::LoopSink(_))),
                parent.find(&|fact| matches!(fact, Fact::Session(_))),
                parent.find(&|fact| matches!(fact, Fact::FrameDepth(_))),
                parent.find(&|fact| matches!(fact, Fact::MutationSession(_))),
                parent.find(&|fact| matches!(fact, Fact::SubscriberDepth(_))),
            ];
            for fact in inherited.into_iter().flatten() {
                child.state(fact);
            }
        }
        Arc::new(child)
    }

    pub(crate) fn state(&self, fact: Fact) -> FactId {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.facts.recover().push((id, fact));
        id
    }

    /// Takes a fact back; says whether any other is left.
    fn retract(&self, id: FactId) -> bool {
        let mut facts = self.facts.recover();
        let taken: Vec<_> = facts.extract_if(.., |(other, _)| *other == id).collect();
        let is_empty = facts.is_empty();
        // A sink may do anything when it is dropped, so not under the lock.
        drop(facts);
        drop(taken);
        is_empty
    }

    /// The innermost fact of a kind.
    fn find(&self, is_kind: &dyn Fn(&Fact) -> bool) -> Option<Fact> {
        let facts = self.facts.recover();
        let mut facts = facts.iter().rev().map(|(_, fact)| fact);
        facts.find(|fact| is_kind(fact)).cloned()
    }

    /// What an emission of this task takes along. Later facts are stronger than earlier ones.
    fn emission_facts(&self) -> EmissionFacts {
        let mut found = EmissionFacts::default();
        for (_, fact) in &*self.facts.recover() {
            match fact {
                Fact::LoopSink(sink) => found.loop_sink.clone_from(sink),
                Fact::FrameDepth(depth) => found.frame_depth = Some(*depth),
                Fact::SubscriberDepth(depth) => found.subscriber_depth = *depth,
                Fact::Session(_) | Fact::MutationSession(_) => {}
            }
        }
        found
    }

    fn has_loop_sink(&self) -> bool {
        let facts = self.facts.recover();
        let mut sinks = facts.iter().rev().filter_map(|(_, fact)| match fact {
            Fact::LoopSink(sink) => Some(sink.is_some()),
            _ => None,
        });
        sinks.next().unwrap_or(false)
    }

    pub(crate) fn session(&self) -> Option<Arc<str>> {
        match self.find(&|fact| matches!(fact, Fact::Session(_)))? {
            Fact::Session(session) => Some(session),
            _ => None,
        }
    }

    pub(crate) fn mutation_session(&self) -> Option<Arc<MutationSessionRecord>> {
        match self.find(&|fact| matches!(fact, Fact::MutationSession(_)))? {
            Fact::MutationSession(record) => Some(record),
            _ => None,
        }
    }
}

impl Ambient {
    /// The context of the task that runs on this thread right now.
    pub(crate) fn current(&self) -> Option<Arc<TaskContext>> {
        self.of_current(Arc::clone)
    }

    /// What an emission of the running task takes along.
    pub(crate) fn emission_facts(&self) -> EmissionFacts {
        let found = self.of_current(|task| task.emission_facts());
        found.unwrap_or_default()
    }

    /// Whether the running task has a sink of its own.
    pub(crate) fn has_loop_sink(&self) -> bool {
        self.of_current(|task| task.has_loop_sink())
            .unwrap_or(false)
    }

    /// Looks at the context of the task that runs on this thread right now.
    fn of_current<T>(&self, look: impl FnOnce(&Arc<TaskContext>) -> T) -> Option<T> {
        if self.entered.load(Ordering::Acquire) == 0 {
            return None;
        }
        let threads = self.threads.recover();
        threads.get(&thread::current().id())?.last().map(look)
    }

    fn enter(&self, context: Arc<TaskContext>) {
        self.threads
            .recover()
            .entry(thread::current().id())
            .or_default()
            .push(context);
        self.entered.fetch_add(1, Ordering::Release);
    }

    /// Takes `context` off the stack of `thread`, wherever it stands on it.
    fn leave(&self, thread: ThreadId, context: &Arc<TaskContext>) {
        let mut threads = self.threads.recover();
        let Some(stack) = threads.get_mut(&thread) else {
            return;
        };
        let position = stack.iter().rposition(|other| Arc::ptr_eq(other, context));
        let left = position.map(|at| stack.remove(at));
        if left.is_some() {
            self.entered.fetch_sub(1, Ordering::Release);
        }
        if stack.is_empty() {
            threads.remove(&thread);
        }
        drop(threads);
        drop(left);
    }

    /// States a fact for the current task until the guard is dropped.
    pub(crate) fn state(self: &Arc<Self>, fact: Fact) -> FactGuard {
        let context = self.current().unwrap_or_else(|| {
            let root_of = Some(thread::current().id());
            let root = Arc::new(TaskContext {
                root_of,
                ..TaskContext::default()
            });
            self.enter(Arc::clone(&root));
            root
        });
        let id = context.state(fact);
        FactGuard {
            ambient: Arc::downgrade(self),
            context,
            id,
        }
    }

    /// Runs `future` in `context`, on whichever thread it is polled.
    pub(crate) fn scope<F: Future>(
        self: &Arc<Self>,
        context: Arc<TaskContext>,
        future: F,
    ) -> Scoped<F> {
        Scoped {
            ambient: Arc::clone(self),
            context,
            future: Some(Box::pin(future)),
        }
    }
}

/// Retracts its own fact when dropped, whatever was stated since.
#[must_use = "the fact is retracted when the guard is dropped"]
pub(crate) struct FactGuard {
    ambient: Weak<Ambient>,
    context: Arc<TaskContext>,
    id: FactId,
}

impl Drop for FactGuard {
    fn drop(&mut self) {
        let is_empty = self.context.retract(self.id);
        if let (Some(thread), Some(ambient)) = (self.context.root_of, self.ambient.upgrade())
            && is_empty
        {
            ambient.leave(thread, &self.context);
        }
    }
}

/// A future that carries a context.
pub(crate) struct Scoped<F: Future> {
    ambient: Arc<Ambient>,
    context: Arc<TaskContext>,
    /// `None` only while it is being dropped.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Scoped<F> {
    /// Calls `work` inside the context; leaves it also when `work` panics.
    fn inside<T>(&mut self, work: impl FnOnce(&mut Option<Pin<Box<F>>>) -> T) -> T {
        struct Entered<'a>(&'a Ambient, &'a Arc<TaskContext>);
        impl Drop for Entered<'_> {
            fn drop(&mut self) {
                self.0.leave(thread::current().id(), self.1);
            }
        }
        self.ambient.enter(Arc::clone(&self.context));
        let _entered = Entered(&self.ambient, &self.context);
        work(&mut self.future)
    }
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.inside(|future| {
            future
                .as_mut()
                .expect("polled only while it exists")
                .as_mut()
                .poll(cx)
        })
    }
}

impl<F: Future> Drop for Scoped<F> {
    /// A cancelled task still cleans up, and says so, under its own context.
    fn drop(&mut self) {
        self.inside(|future| drop(future.take()));
    }
}
