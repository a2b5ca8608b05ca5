//! What the runtime can ask of whoever embeds it: an editor, a service, a test.

use serde_json::Value;

use crate::callback::BoxFuture;

/// A host that lends the runtime its user, its tools and its messages.
pub trait HostBridge: Send + Sync {
    /// Asks the host something, such as `session/request_permission` or `builtin_call`, and
    /// waits for the answer.
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, String>>;

    /// Tells the host something it need not answer.
    fn notify(&self, method: &str, parameters: Value);

    /// The messages of the user that may be delivered at that point, in order. They are the
    /// loop's from then on.
    fn take_messages(&self, session_id: &str, seam: Seam) -> Vec<String>;

    /// What a person has said to a request that the host was told of, once they have: a dict
    /// with `answer`, `approved` or `accepted`, and `reviewer` and `reason` where they are
    /// known. Hosts that ask nobody never know.
    fn person_answers<'a>(&'a self, request_id: &'a str) -> BoxFuture<'a, Value> {
        let _nobody_is_asked = request_id;
        Box::pin(std::future::pending())
    }

    /// Whether the host has asked a waiting loop to go on; asking takes the wish away.
    fn take_resume(&self, session_id: &str) -> bool;

    /// Which questions of tool servers somebody can answer. They are asked with the request
    /// `elicitation/create`, whose answer is `{action, content?}`.
    fn elicits(&self, _session_id: Option<&str>) -> Elicits {
        Elicits::default()
    }

    /// A loop of a session begins with these tools, each with what the model reads about it.
    fn see_tools(&self, _session_id: &str, _tools: &[(String, String)]) {}
}

/// The questions of tool servers that somebody can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elicits {
    /// Forms to fill in.
    pub forms: bool,
    /// Pages to open, for what is secret.
    pub urls: bool,
}

/// A point of the loop where messages of the host are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    /// An iteration begins.
    IterationStart,
    /// Calls are about to be made.
    PreToolDispatch,
    /// Calls were made.
    PostToolDispatch,
    /// A turn without calls is over.
    IterationEnd,
    /// A daemon is about to wait, or has waited.
    Idle,
    /// The loop is over: what was not delivered so far.
    LoopExit,
}
