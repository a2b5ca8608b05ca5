//! The thread that waits for the network: providers, servers, web sockets.

use std::future::Future;
use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, EnterGuard, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// One thread that waits for everybody a program has asked. When it is dropped, whatever is
/// still waited for is given up and its connection closed.
pub(super) struct Runtime {
    handle: Handle,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread left, or no way to wait.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("harn-network".to_owned());
        let thread = thread.spawn(move || {
            let _it_ends_when_nobody_can_end_it = runtime.block_on(ended);
            // Lookups of names cannot be stopped, and nobody should wait for them.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            handle,
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Begins something. It can be given up through the handle.
    pub(super) fn begin(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(work).abort_handle()
    }
}

/// Where futures find the clock and the network of that thread while they are polled elsewhere.
#[derive(Clone, Default)]
pub(crate) struct TokioHandle(Option<Handle>);

impl TokioHandle {
    /// Until what this gives is dropped.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.0.as_ref().map(Handle::enter)
    }

    /// Begins something on that thread; `None` if it was never started.
    pub(crate) fn spawn(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let handle = self.0.as_ref()?;
        Some(handle.spawn(work).abort_handle())
    }
}

impl Runtime {
    /// For those who poll futures elsewhere.
    pub(super) fn tokio(&self) -> TokioHandle {
        TokioHandle(Some(self.handle.clone()))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _it_has_reported_its_panic = thread.join();
        }
    }
}
