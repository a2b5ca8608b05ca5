//! What the runtime asks of servers, and what servers ask of the runtime.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ServerConfig, ServerError};
use crate::callback::BoxFuture;

/// Makes connections to servers. There is one for a process or for each program.
pub trait ToolServers: Send + Sync {
    /// A server as it is described. Nothing is started before it is used; dropping what this
    /// gives ends what was started.
    fn server(&self, config: ServerConfig, client: Arc<dyn ServerClient>) -> Arc<dyn ToolServer>;

    /// What a server says about itself without being connected to: a document at a URL or in a
    /// file.
    fn card<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Value, ServerError>>;
}

/// One server, connected or not. A server that has ended is started again by its next use.
pub trait ToolServer: Send + Sync {
    /// What it is called here.
    fn name(&self) -> &str;

    /// What it is, whatever it is called: its command with arguments, or its origin with path.
    fn identity(&self) -> String {
        self.name().to_owned()
    }

    /// Whether it is connected right now.
    fn is_connected(&self) -> bool;

    /// Connects, unless it is connected.
    fn connect(&self) -> BoxFuture<'_, Result<ServerFacts, ServerError>>;

    /// Everything of a kind, from all pages, as the server describes it.
    fn list(&self, what: Listed) -> BoxFuture<'_, Result<Arc<Vec<Value>>, ServerError>>;

    /// Goes up whenever the server says that one of its lists has changed, or when it was
    /// started again.
    fn catalogue_version(&self) -> u64;

    /// Calls a tool and waits for what comes of it. Dropping the future tells the server that
    /// nobody waits any more.
    fn call(&self, call: ServerCall) -> BoxFuture<'_, Result<CallResult, ServerError>>;

    /// The contents of a resource.
    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Value>, ServerError>>;

    /// A prompt: `{description?, messages}`.
    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, ServerError>>;

    /// What could stand for an argument of a prompt or a template: `{values, total?, hasMore?}`.
    /// `reference` is `{type: "ref/prompt", name}` or `{type: "ref/resource", uri}`.
    fn complete<'a>(
        &'a self,
        reference: Value,
        argument: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Result<Value, ServerError>>;

    /// Ends the connection in good order; calls in flight fail. Nothing connects again.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Templates of resources.
    ResourceTemplates,
    /// Prompts.
    Prompts,
}

/// A call of a tool.
#[derive(Clone)]
pub struct ServerCall {
    /// The tool, as the server calls it.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The session that calls.
    pub session_id: Option<String>,
    /// Where rounds and tasks are written down.
    pub journal: Option<Arc<dyn CallJournal>>,
    /// A task that an earlier process has begun with this call: it is waited for, and nothing
    /// is called again.
    pub task_id: Option<String>,
    /// The trace that the call is a part of, as W3C `traceparent`.
    pub traceparent: Option<String>,
}

impl ServerCall {
    /// A call that nobody journals.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            session_id: None,
            journal: None,
            task_id: None,
            traceparent: None,
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallResult {
    /// The blocks of content, as the server gave them.
    pub content: Vec<Value>,
    /// The result as data, if there is one. It fits the schema that the tool declares.
    pub structured: Option<Value>,
    /// Whether the tool says that it has failed.
    pub is_error: bool,
}

impl CallResult {
    /// The texts among the content, joined by newlines.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter(|block| block["type"] == "text");
        let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }
}

/// Writes down what a call that was begun depends on, before anybody acts on it.
pub trait CallJournal: Send + Sync {
    /// The server asks something before it goes on: `{input_requests, request_state?}`.
    /// Returns when that would survive a crash.
    fn input_required(&self, round: Value) -> BoxFuture<'_, ()>;

    /// What is answered: `{input_responses}`. Returns when that would survive a crash.
    fn input_given(&self, round: Value) -> BoxFuture<'_, ()>;

    /// The call has become a task of that id. Returns when that would survive a crash.
    fn task_begun<'a>(&'a self, task_id: &'a str) -> BoxFuture<'a, ()>;
}

/// What a server has said about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerFacts {
    /// Which of the two ways of talking was found.
    pub generation: Generation,
    /// The version that both speak.
    pub protocol_version: String,
    /// Its name and version, if it gave them: `{name, version, …}`.
    pub server_info: Option<Value>,
    /// What it can do.
    pub capabilities: Value,
    /// What it tells models about its use. Text of a peer: it is never a rule.
    pub instructions: Option<String>,
}

/// The two ways of talking with servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// A handshake, then requests in both directions.
    Handshake,
    /// Every request stands alone.
    Modern,
}

impl Generation {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Modern => "modern",
        }
    }
}

/// What a server asks of us and is told about us.
pub trait ServerClient: Send + Sync {
    /// What the server may ask for. What is not here is not announced to it.
    fn capabilities(&self) -> Capabilities;

    /// The server said something; told before anything is done about it.
    fn notice(&self, notice: ServerNotice);

    /// A list of the server has changed, which was noticed before.
    fn catalogue_changed(&self, session_id: Option<&str>);

    /// The server wants to know who asks.
    fn auth_required(&self, resource: &str, scope: Option<&str>, session_id: Option<&str>);

    /// The server asks something. It is answered with the result of the request.
    ///
    /// # Errors
    /// Why it is not answered, for the server.
    fn answer<'a>(
        &'a self,
        request: ServerRequest,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>>;

    /// What an operator should know about the server.
    fn warn(&self, text: &str);

    /// The server says nothing more: what was only counted is told now.
    fn ended(&self) {}
}

/// What a server may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Somebody can fill in a form.
    pub forms: bool,
    /// Somebody can open a URL.
    pub urls: bool,
    /// A model may be asked for it.
    pub sampling: bool,
    /// It may know the folders we work in.
    pub roots: bool,
}

/// Something that a server has said.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerNotice {
    /// The method.
    pub method: String,
    /// Whether it wants an answer.
    pub is_request: bool,
    /// The parameters.
    pub params: Value,
    /// The session that it is about, if that is known.
    pub session_id: Option<String>,
}

/// Something that a server asks.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerRequest {
    /// Somebody should answer: the parameters of `elicitation/create`.
    Elicit(Value),
    /// A model should answer: the parameters of `sampling/createMessage`.
    Sample(Value),
    /// Which folders do we work in?
    Roots,
}
