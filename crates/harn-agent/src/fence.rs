//! What whoever runs a program lets it do, where the runtime reaches out on its behalf.
//!
//! Most of what a program does with files and processes it does through builtins, which are
//! checked below the machine. The tools that the runtime brings along, and the files that it
//! reads and writes because an option names them, come by here instead.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use harn_llm::Category;
use harn_llm::desk::Thrown;

/// Says what is allowed. Paths are absolute, or start where the process works.
pub trait Fence: Send + Sync {
    /// Whether something may be looked at.
    ///
    /// # Errors
    /// The rule that forbids it.
    fn read(&self, path: &Path) -> Result<(), String>;

    /// Whether something may be made, changed or removed.
    ///
    /// # Errors
    /// The rule that forbids it.
    fn write(&self, path: &Path) -> Result<(), String>;

    /// Whether a program may be run.
    ///
    /// # Errors
    /// The rule that forbids it.
    fn run(&self, program: &str) -> Result<(), String>;

    /// Whether something may be sent to a URL.
    ///
    /// # Errors
    /// The rule that forbids it.
    fn reach(&self, url: &str) -> Result<(), String>;
}

/// The fence of a runtime, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Fenced(pub(crate) Option<Arc<dyn Fence>>);

impl Fenced {
    pub(crate) fn read(&self, path: &Path) -> Result<(), String> {
        self.ask(|fence| fence.read(path))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        self.ask(|fence| fence.write(path))
    }

    pub(crate) fn run(&self, program: &str) -> Result<(), String> {
        self.ask(|fence| fence.run(program))
    }

    pub(crate) fn reach(&self, url: &str) -> Result<(), String> {
        self.ask(|fence| fence.reach(url))
    }

    fn ask(&self, check: impl Fn(&dyn Fence) -> Result<(), String>) -> Result<(), String> {
        self.0.as_deref().map_or(Ok(()), check)
    }
}

impl fmt::Debug for Fenced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.0.is_some() { "Fenced" } else { "open" };
        formatter.write_str(shown)
    }
}

/// What a program catches.
pub(crate) fn refused(reason: String) -> Thrown {
    Thrown::Categorised(Category::ToolRejected, reason)
}
