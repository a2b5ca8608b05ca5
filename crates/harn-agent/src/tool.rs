//! What a tool is: something a model may ask for by name.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use harn_events::ToolAnnotations;
use harn_llm::Category;
use serde_json::{Value, json};

use crate::callback::BoxFuture;
use crate::shown::Showing;

/// Something a model may ask for by name.
pub trait Tool: Send + Sync {
    /// What the model is told about it, and what the runtime may know of it.
    fn declaration(&self) -> Cow<'_, Declaration>;

    /// Does what was asked and says in words what came of it.
    ///
    /// The future may be dropped at any point: a person cancelled, or the time is over.
    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>>;

    /// Whether a call with an argument that is not declared is refused before any rule is asked.
    /// Tools of programs are left to read what they like.
    fn takes_declared_only(&self) -> bool {
        false
    }

    /// Why a person has to agree to a call each time, whatever else allows it.
    fn caution(&self, call: ToolCall<'_>) -> Option<Caution> {
        let _nothing_is_special_about = call;
        None
    }

    /// A person has agreed to a call for which there was a [`caution`](Self::caution). A tool
    /// that gives one does nothing about such a call before it is told so.
    fn allow(&self, call: ToolCall<'_>, agreed: &Caution) {
        let _nothing_was_asked_about = (call, agreed);
    }

    /// The same for a tool that has more to show than its text: a change of a file, content of
    /// a server.
    fn call_showing<'a>(
        &'a self,
        call: ToolCall<'a>,
        showing: &'a Showing,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        let _nothing_else_is_shown = showing;
        self.call(call)
    }
}

/// What is told about a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its parameters by name, each a type's name or a schema with `type`, `description`,
    /// `required: false`, `default`, …
    pub parameters: Value,
    /// What it does to the world. `None`: nobody said, so it may do anything.
    pub annotations: Option<ToolAnnotations>,
}

/// Why a person has to agree to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// What it would do, as part of a sentence: `writes 'harn.toml', which Harn acts upon`.
    pub reason: String,
    /// The file it is about, without links. The agreement is about this file and no other.
    pub path: PathBuf,
}

/// One call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The id that events of the call carry.
    pub id: &'a str,
    /// The session it is made in.
    pub session_id: &'a str,
    /// The tool that is called.
    pub name: &'a str,
    /// The arguments; an object.
    pub arguments: &'a Value,
}

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The tool ran and failed; the model reads the text and may try something else.
    #[error("{0}")]
    Failed(String),
    /// It may not be done; the model is told not to try again.
    #[error("{0}")]
    Rejected(String),
    /// What runs the tool could not be reached. The call may be repeated.
    #[error("{message}")]
    Backend {
        /// What kind of failure it is.
        category: Category,
        /// What to say about it.
        message: String,
    },
}

/// A tool that is a Rust function.
pub struct FunctionTool<F> {
    declaration: Declaration,
    function: F,
}

impl<F> FunctionTool<F>
where
    F: for<'a> Fn(&'a Value) -> BoxFuture<'a, Result<String, ToolError>> + Send + Sync,
{
    /// A tool with parameters as a program declares them: `json!({"path": "string"})`.
    pub fn new(name: &str, description: &str, parameters: Value, function: F) -> Arc<Self> {
        Arc::new(Self {
            declaration: Declaration {
                name: name.to_owned(),
                description: description.to_owned(),
                parameters,
                annotations: None,
            },
            function,
        })
    }
}

impl<F> Tool for FunctionTool<F>
where
    F: for<'a> Fn(&'a Value) -> BoxFuture<'a, Result<String, ToolError>> + Send + Sync,
{
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        (self.function)(call.arguments)
    }
}

impl Declaration {
    /// The entry of a registry, as programs see it.
    pub fn entry(&self) -> Value {
        let mut entry = json!({
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "executor": "harn",
        });
        if let Some(annotations) = &self.annotations {
            entry["annotations"] = json!(annotations);
        }
        entry
    }
}
