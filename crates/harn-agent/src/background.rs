//! Work that goes on while nobody waits for it, such as daemons.
//!
//! A loop is a future, and a future only goes on while somebody polls it. Whoever embeds the
//! runtime knows where that can happen: an interpreter polls on the thread of its program, a
//! service on its executor.

use harn_llm::desk::Thrown;

use crate::callback::BoxFuture;
use crate::runtime::Runtime;

/// Where work goes on by itself.
pub trait Spawn: Send + Sync {
    /// Begins something and returns at once. It is dropped when the program ends.
    fn spawn(&self, work: BoxFuture<'static, ()>);
}

impl Runtime {
    /// Begins something that nobody waits for: where the embedder said, else on the executor
    /// that runs this.
    ///
    /// # Errors
    /// There is neither.
    pub(crate) fn spawn(&self, work: BoxFuture<'static, ()>) -> Result<(), Thrown> {
        if let Some(spawner) = &self.spawner {
            spawner.spawn(work);
            return Ok(());
        }
        let executor = tokio::runtime::Handle::try_current();
        let executor = executor.map_err(|_| {
            Thrown::Runtime("nothing here can run an agent in the background".to_owned())
        })?;
        executor.spawn(work);
        Ok(())
    }
}
