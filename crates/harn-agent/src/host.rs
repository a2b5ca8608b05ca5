//! What the runtime can ask of whoever embeds it: an editor, a service, a test.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::callback::BoxFuture;
use crate::coding::{Terminals, TextFiles};
use crate::principal::Principal;

/// A host that lends the runtime its user, its tools and its messages.
pub trait HostBridge: Send + Sync {
    /// Asks the host something, such as `session/request_permission` or `builtin_call`, and
    /// waits for the answer.
    ///
    /// # Cancel safety
    /// Dropping the future takes the question back.
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>>;

    /// Tells the host something it need not answer.
    fn notify(&self, method: &str, parameters: Value);

    /// The messages of the user that may be delivered at that point, in order. They are the
    /// loop's from then on.
    fn take_messages(&self, session_id: &str, seam: Seam) -> Vec<String>;

    /// The same for a host whose messages outlive the process. `was_said` knows the ids of
    /// those that the session has heard already, perhaps in an earlier process; they are not
    /// given again.
    fn take_inputs(
        &self,
        session_id: &str,
        seam: Seam,
        was_said: &dyn Fn(&str) -> bool,
    ) -> Vec<HostInput> {
        let _nothing_has_an_id = was_said;
        let messages = self.take_messages(session_id, seam).into_iter();
        messages.map(HostInput::plain).collect()
    }

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

    /// The skills that the host lends: `{id, name, description, …}` each. May wait for it, so
    /// only the thread of a program asks.
    fn skills(&self) -> Vec<Value> {
        Vec::new()
    }

    /// How often the host has said that its skills are not what they were. A loop that sees
    /// another number at a seam asks for them again, with the request `skills/list`.
    fn skills_version(&self) -> u64 {
        0
    }

    /// Whether the host runs tools and operations of its own. One that does not is asked for
    /// permission at most.
    fn lends_tools(&self) -> bool {
        true
    }

    /// The text files of the workspace as the host sees them, unsaved changes included; `None`:
    /// the disk is all there is.
    fn text_files(&self) -> Option<Arc<dyn TextFiles>> {
        None
    }

    /// Where the host runs commands; `None`: nowhere.
    fn terminals(&self) -> Option<Arc<dyn Terminals>> {
        None
    }

    /// The folders that tools on files are kept in, whatever a program grants; `None`: those
    /// that the program grants.
    fn roots(&self) -> Option<Vec<PathBuf>> {
        None
    }
}

/// A message of the user, from outside of the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct HostInput {
    /// What the model reads: a text, or a list of blocks.
    pub content: Value,
    /// What tells it from all others, also after a restart; `None`: it does not outlive the
    /// process.
    pub id: Option<String>,
    /// When it was to take effect, in the words of whoever sent it.
    pub mode: Option<&'static str>,
    /// Who has sent it.
    pub actor: Option<Principal>,
}

impl HostInput {
    /// A text without an identity.
    pub fn plain(text: String) -> Self {
        Self {
            content: Value::String(text),
            id: None,
            mode: None,
            actor: None,
        }
    }
}

/// Why a host did not answer as it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It may, and does not want to.
    #[error("{0}")]
    Refused(String),
    /// It does not know what was asked for.
    #[error("{0}")]
    Lacking(String),
    /// It took too long.
    #[error("{0}")]
    TimedOut(String),
    /// Anything else.
    #[error("{message}{}", told(*.code))]
    Failed {
        /// Its number for what happened, if it has one.
        code: Option<i64>,
        /// What happened.
        message: String,
    },
}

fn told(code: Option<i64>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

impl From<String> for HostError {
    fn from(message: String) -> Self {
        Self::Failed {
            code: None,
            message,
        }
    }
}

impl From<&str> for HostError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
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
    /// The loop would end now, and goes on if there is something to say.
    Completion,
    /// The loop is over: what was not delivered so far.
    LoopExit,
}

impl Seam {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::IterationStart => "iteration_start",
            Self::PreToolDispatch => "pre_tool_dispatch",
            Self::PostToolDispatch => "post_tool_dispatch",
            Self::IterationEnd => "iteration_end",
            Self::Idle => "daemon_idle",
            Self::Completion => "completion",
            Self::LoopExit => "loop_exit",
        }
    }
}
