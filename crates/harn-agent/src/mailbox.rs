//! Messages for one loop, besides those of the host.

use harn_llm::desk::Thrown;
use serde_json::Value;

use crate::callback::BoxFuture;
use crate::host::Seam;

/// Where a loop finds messages that are for it alone. A loop in daemon mode sleeps until there
/// is something in it.
pub trait Mailbox: Send + Sync {
    /// What may be delivered at that point. It is the loop's from then on.
    fn take(&self, seam: Seam) -> Vec<Mail>;

    /// Whether the loop was asked to go on; asking takes the wish away.
    fn take_resume(&self) -> bool;

    /// Waits until there is something to take.
    ///
    /// # Cancel safety
    /// Nothing is taken by waiting.
    fn arrival(&self) -> BoxFuture<'_, ()>;

    /// The state of the loop was saved.
    fn saved(&self, snapshot: &Value);

    /// The loop has nothing to do.
    ///
    /// # Errors
    /// Whoever fills the mailbox cannot go on, and so the loop should not.
    fn idle(&self) -> Result<(), Thrown>;

    /// The loop has something to do.
    fn awake(&self);
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// What the model reads.
    pub text: String,
    /// What the transcript knows about it besides.
    pub metadata: Option<Value>,
}
