//! The thread on which everything happens that talks to the server.
//!
//! Callers may live on any executor or on none. They hand over a future and wait for
//! what it returns; the runtime below is ours alone and ends with the log.

use std::future::Future;
use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::error::{NatsError, Result};

/// A running thread. Dropping it ends the thread, with everything that still runs on it.
pub(super) struct Runtime {
    handle: Handle,
    /// Dropped to stop the thread.
    running: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (running, stopped) = oneshot::channel::<()>();
        let work = move || {
            // The sender is never used, only dropped.
            let _closed = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name("harn-log-nats".to_owned());
        Ok(Self {
            handle,
            running: Some(running),
            thread: Some(thread.spawn(work)?),
        })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future there and waits for it here.
    ///
    /// # Cancel safety
    /// Dropping the returned future only stops waiting.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        match self.handle.spawn(work).await {
            Ok(outcome) => outcome,
            Err(_stopped) => Err(NatsError::Closed.into()),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.running.take());
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A task may hold the last reference to a log. Then this is the thread that
        // ends, and it cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            // It panics only if a task did, which that task's caller has been told.
            let _ended = thread.join();
        }
    }
}
