//! What whoever runs a program says about the event log.

use std::fmt;

use harn_agent::OpenLog;

/// What whoever runs a program says about the event log.
#[derive(Clone, Default)]
pub struct EventLogOptions {
    /// Opens the log of the project when a program first uses it; `None`, or if there is none:
    /// the program has a log in memory.
    pub open: Option<OpenLog>,
}

impl fmt::Debug for EventLogOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opens = self.open.is_some();
        let mut shown = formatter.debug_struct("EventLogOptions");
        shown.field("opens", &opens).finish()
    }
}
