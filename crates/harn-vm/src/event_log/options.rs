//! What whoever runs a program says about the event log.

use std::fmt;

use harn_agent::OpenLog;

/// What whoever runs a program says about the event log.
#[derive(Clone, Default)]
pub struct EventLogOptions {
    /// Opens the log of the project when a program first uses it; `None`, or if there is none:
    /// the program has a log in memory.
    pub open: Option<OpenLog>,
    /// Opens the log that keeps requests to people where a program has its own log in memory;
    /// `None`: they are gone when the program ends.
    pub keep: Option<OpenLog>,
    /// What the program is called, which tells its requests from those of others.
    pub program: String,
}

impl fmt::Debug for EventLogOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opens = self.open.is_some();
        let mut shown = formatter.debug_struct("EventLogOptions");
        shown.field("opens", &opens).finish()
    }
}
