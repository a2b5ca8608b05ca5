//! The log that is active where nobody passes one.
//!
//! Explicit arguments are better. But programs also write to a log from places that
//! know nothing of it: a builtin, a library, a host callback. For those there is one
//! active log: that of the task, else that of the thread, else that of the process.
//! A task's log follows it from thread to thread.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use crate::any::AnyEventLog;
use crate::config::{EventLogConfig, open_event_log, process_environment};
use crate::log::{EventLogDescription, Result};
use crate::memory::MemoryEventLog;

/// The one process-wide set of active logs.
static ACTIVE: LazyLock<ActiveEventLogs> = LazyLock::new(ActiveEventLogs::default);

/// Which log is active where.
#[derive(Default)]
pub struct ActiveEventLogs {
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    process: Slot,
    threads: HashMap<ThreadId, Slot>,
    /// The tasks that run on a thread right now, innermost last.
    tasks: HashMap<ThreadId, Vec<Arc<AnyEventLog>>>,
}

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    /// To be opened when somebody wants it.
    Lazy(PathBuf),
    Open(Arc<AnyEventLog>),
}

impl ActiveEventLogs {
    /// Makes a log the one of the process.
    pub fn install(&self, log: Arc<AnyEventLog>) {
        let replaced = std::mem::replace(&mut self.lock().process, Slot::Open(log));
        drop(replaced); // Closing a log waits for its threads; not under the lock.
    }

    /// Makes the log that is configured for a base directory the one of the process
    /// once somebody wants it, unless there is one.
    pub fn install_lazy(&self, base_dir: &Path) {
        let mut slots = self.lock();
        if let Slot::Empty = slots.process {
            slots.process = Slot::Lazy(base_dir.to_owned());
        }
    }

    /// Makes a log the one of this thread.
    pub fn install_for_current_thread(&self, log: Arc<AnyEventLog>) {
        let replaced = self
            .lock()
            .threads
            .insert(thread::current().id(), Slot::Open(log));
        drop(replaced);
    }

    /// The log that is active here. A lazy one that cannot be opened stays closed, and
    /// the next call tries again.
    pub fn active(&self) -> Option<Arc<AnyEventLog>> {
        let mut slots = self.lock();
        let thread = thread::current().id();
        if let Some(log) = slots.tasks.get(&thread).and_then(|tasks| tasks.last()) {
            return Some(Arc::clone(log));
        }
        if let Some(Slot::Open(log)) = slots.threads.get(&thread) {
            return Some(Arc::clone(log));
        }
        let base_dir = match &slots.process {
            Slot::Empty => return None,
            Slot::Open(log) => return Some(Arc::clone(log)),
            Slot::Lazy(base_dir) => base_dir,
        };
        let config = EventLogConfig::for_base_dir(base_dir);
        let log = config.and_then(|config| open_event_log(&config)).ok()?;
        slots.process = Slot::Open(Arc::clone(&log));
        Some(log)
    }

    /// No log is active on this thread or in the process any more.
    pub fn reset(&self) {
        let mut slots = self.lock();
        let process = std::mem::take(&mut slots.process);
        let thread = slots.threads.remove(&thread::current().id());
        drop(slots);
        drop((process, thread));
    }

    /// Runs a future with a log of its own.
    pub fn scope<F: Future>(&self, log: Arc<AnyEventLog>, future: F) -> WithEventLog<'_, F> {
        WithEventLog {
            active: self,
            log,
            future: Box::pin(future),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future with a log of its own.
pub struct WithEventLog<'a, F> {
    active: &'a ActiveEventLogs,
    log: Arc<AnyEventLog>,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for WithEventLog<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = Entered::new(self.active, &self.log);
        self.future.as_mut().poll(cx)
    }
}

/// A task that runs on this thread.
struct Entered<'a> {
    active: &'a ActiveEventLogs,
    thread: ThreadId,
}

impl<'a> Entered<'a> {
    fn new(active: &'a ActiveEventLogs, log: &Arc<AnyEventLog>) -> Self {
        let thread = thread::current().id();
        let mut slots = active.lock();
        slots.tasks.entry(thread).or_default().push(Arc::clone(log));
        Self { active, thread }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut slots = self.active.lock();
        let Some(tasks) = slots.tasks.get_mut(&self.thread) else {
            return;
        };
        let left = tasks.pop();
        if tasks.is_empty() {
            slots.tasks.remove(&self.thread);
        }
        drop(slots);
        drop(left);
    }
}

/// Opens the log configured for a base directory and makes it the active one.
///
/// # Errors
/// The configuration makes no sense, or the log cannot be opened.
pub fn install_default_for_base_dir(base_dir: &Path) -> Result<Arc<AnyEventLog>> {
    let log = open_event_log(&EventLogConfig::for_base_dir(base_dir)?)?;
    ACTIVE.install(Arc::clone(&log));
    Ok(log)
}

/// Opens the log below a state root and makes it the active one.
///
/// # Errors
/// As for [`install_default_for_base_dir`].
pub fn install_default_at_state_root(state_root: &Path) -> Result<Arc<AnyEventLog>> {
    let base_dir = state_root.parent().unwrap_or(state_root);
    let config = EventLogConfig::at_state_root_in(state_root, base_dir, &process_environment)?;
    let log = open_event_log(&config)?;
    ACTIVE.install(Arc::clone(&log));
    Ok(log)
}

/// Makes the log configured for a base directory the active one once somebody wants
/// it. Never replaces one that is active.
pub fn install_lazy_default_for_base_dir(base_dir: &Path) {
    ACTIVE.install_lazy(base_dir);
}

/// Makes a new log in memory the active one on this thread.
pub fn install_memory_for_current_thread(queue_depth: usize) -> Arc<AnyEventLog> {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(queue_depth)));
    ACTIVE.install_for_current_thread(Arc::clone(&log));
    log
}

/// Makes a log the active one of the process.
pub fn install_active_event_log(log: Arc<AnyEventLog>) -> Arc<AnyEventLog> {
    ACTIVE.install(Arc::clone(&log));
    log
}

/// Runs a future with a log of its own, wherever it runs.
pub fn with_active_event_log<F: Future>(
    log: Arc<AnyEventLog>,
    future: F,
) -> WithEventLog<'static, F> {
    ACTIVE.scope(log, future)
}

/// The log that is active here.
pub fn active_event_log() -> Option<Arc<AnyEventLog>> {
    ACTIVE.active()
}

/// No log is active on this thread or in the process any more.
pub fn reset_active_event_log() {
    ACTIVE.reset();
}

/// What the log of a base directory would be, without opening it.
///
/// # Errors
/// The configuration makes no sense.
pub fn describe_for_base_dir(base_dir: &Path) -> Result<EventLogDescription> {
    Ok(EventLogConfig::for_base_dir(base_dir)?.describe())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::block_on;

    fn log() -> Arc<AnyEventLog> {
        Arc::new(AnyEventLog::Memory(MemoryEventLog::new(1)))
    }

    fn is(active: Option<Arc<AnyEventLog>>, log: &Arc<AnyEventLog>) -> bool {
        active.is_some_and(|active| Arc::ptr_eq(&active, log))
    }

    #[test]
    fn a_task_comes_before_its_thread_and_that_before_the_process() {
        let logs = ActiveEventLogs::default();
        assert!(logs.active().is_none());
        let (process, thread, task) = (log(), log(), log());
        logs.install(Arc::clone(&process));
        assert!(is(logs.active(), &process));
        logs.install_for_current_thread(Arc::clone(&thread));
        assert!(is(logs.active(), &thread));
        block_on(logs.scope(Arc::clone(&task), async {
            assert!(is(logs.active(), &task));
        }));
        assert!(is(logs.active(), &thread));
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(is(logs.active(), &process)));
        });
        logs.reset();
        assert!(logs.active().is_none());
        assert_eq!(Arc::strong_count(&process), 1, "nothing is kept");
        assert_eq!(Arc::strong_count(&thread), 1, "nothing is kept");
    }

    #[test]
    fn a_lazy_log_never_replaces_one_that_is_active() {
        let logs = ActiveEventLogs::default();
        let first = log();
        logs.install(Arc::clone(&first));
        logs.install_lazy(Path::new("/nowhere"));
        assert!(is(logs.active(), &first));
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_lazy_log_is_opened_once_when_it_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let logs = ActiveEventLogs::default();
        logs.install_lazy(folder.path());
        assert!(!folder.path().join(".harn").exists());
        let opened = logs.active().unwrap();
        assert!(is(logs.active(), &opened));
    }

    #[test]
    fn a_task_keeps_its_log_when_it_moves_and_takes_turns() {
        let logs = ActiveEventLogs::default();
        let (left, right) = (log(), log());
        let mut polls = [&left, &right].map(|log| {
            let mut turn = 0;
            let logs = &logs;
            let expected = Arc::clone(log);
            let task = std::future::poll_fn(move |_| {
                assert!(is(logs.active(), &expected));
                turn += 1;
                if turn == 3 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            });
            Box::pin(logs.scope(Arc::clone(log), task))
        });
        for turn in 1..=3 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for poll in &mut polls {
                        let mut cx = Context::from_waker(std::task::Waker::noop());
                        assert_eq!(poll.as_mut().poll(&mut cx).is_ready(), turn == 3);
                    }
                });
            });
        }
        assert!(logs.active().is_none());
    }
}
