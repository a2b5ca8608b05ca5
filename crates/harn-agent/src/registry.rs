//! The tools of a loop, by name, and who runs each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_events::{ToolAnnotations, ToolExecutor, ToolKind};
use harn_llm::Category;
use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, truthy};
use serde_json::Value;

use crate::callback::Functions;
use crate::coding::Workshop;
use crate::command_gate::CommandGate;
use crate::fence::Fenced;
use crate::host::HostBridge;
use crate::policy::read_annotations;
use crate::protected_paths::ProtectedPaths;
use crate::tool::{Tool, ToolCall, ToolError};
use crate::{BoxFuture, Callback, own_tools};

/// The tools of a loop. Copies share what they have in common.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Arc<Tools>,
}

#[derive(Clone, Default)]
struct Tools {
    entries: Vec<Entry>,
    by_name: BTreeMap<String, usize>,
}

/// A tool of a loop.
#[derive(Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// As it was declared: `{name, description, parameters, …}`, without its handler.
    pub declared: Value,
    /// Who runs it.
    pub backend: Backend,
    /// What it does to the world, as far as somebody said.
    pub annotations: Option<ToolAnnotations>,
}

/// Who runs a tool.
#[derive(Clone)]
pub enum Backend {
    /// The runtime itself.
    Own,
    /// A function here.
    Here(Arc<dyn Tool>),
    /// The host.
    Host,
    /// An MCP server.
    Mcp {
        /// Which.
        server: String,
        /// What the server calls the tool, if that is something else.
        tool: Option<String>,
        /// A function here, where there is no client.
        handler: Option<Arc<dyn Tool>>,
    },
    /// The provider, who has run it already.
    Provider,
    /// Nobody; what is wrong with it.
    Nobody(String),
}

impl Backend {
    /// Nobody has such a tool.
    pub(crate) fn unavailable(name: &str) -> Self {
        Self::Nobody(format!(
            "Tool '{name}' is not available in the current environment. Use only the tools listed \
             in the tool-calling contract."
        ))
    }

    /// How events name it.
    pub fn executor(&self) -> ToolExecutor {
        match self {
            Self::Own | Self::Here(_) | Self::Nobody(_) => ToolExecutor::HarnBuiltin,
            Self::Host => ToolExecutor::HostBridge,
            Self::Mcp { server, .. } => ToolExecutor::McpServer {
                server_name: server.clone(),
            },
            Self::Provider => ToolExecutor::ProviderNative,
        }
    }
}

impl ToolRegistry {
    /// The tools of Rust.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut registry = Self::default();
        for tool in tools {
            registry.add(tool);
        }
        registry
    }

    /// Adds a tool of Rust; one of the same name goes.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let declaration = tool.declaration();
        let entry = Entry {
            name: declaration.name.clone(),
            declared: declaration.entry(),
            annotations: declaration.annotations.clone(),
            backend: Backend::Here(Arc::clone(&tool)),
        };
        drop(declaration);
        self.push(entry);
    }

    /// Adds an entry; one of the same name goes.
    pub(crate) fn push(&mut self, entry: Entry) {
        let tools = Arc::make_mut(&mut self.tools);
        match tools.by_name.get(&entry.name) {
            Some(at) => tools.entries[*at] = entry,
            None => {
                let at = tools.entries.len();
                tools.by_name.insert(entry.name.clone(), at);
                tools.entries.push(entry);
            }
        }
    }

    /// Reads the option `tools`: a registry, or a list of entries and registries.
    pub fn parse(tools: Option<&Value>, functions: &Functions) -> Self {
        let mut registry = Self::default();
        match tools {
            Some(Value::Array(entries)) => registry.read_list(entries, "/tools", functions),
            Some(Value::Object(fields)) => {
                if let Some(Value::Array(entries)) = fields.get("tools") {
                    registry.read_list(entries, "/tools/tools", functions);
                }
            }
            _ => {}
        }
        registry
    }

    fn read_list(&mut self, entries: &[Value], path: &str, functions: &Functions) {
        for (at, entry) in entries.iter().enumerate() {
            let path = format!("{path}/{at}");
            match &entry["tools"] {
                Value::Array(inner) if entry["_type"] == "tool_registry" => {
                    self.read_list(inner, &format!("{path}/tools"), functions);
                }
                _ => {
                    let handler = functions.at(&format!("{path}/handler")).cloned();
                    self.push(read_entry(entry, handler));
                }
            }
        }
    }

    /// Gives the entries that `coding_tools` made their tools. Commands find what is harmless
    /// of the environment.
    pub(crate) fn equip(
        &mut self,
        environment: &BTreeMap<String, String>,
        (fence, gate): (&Fenced, Option<CommandGate>),
        host: Option<&dyn HostBridge>,
        protected: &ProtectedPaths,
    ) {
        let workshop = Workshop::new(environment, fence).lent_by(host).gated(gate);
        let mut workshop = workshop.protecting(protected.clone());
        let bodiless = Arc::make_mut(&mut self.tools).entries.iter_mut();
        let bodiless = bodiless.filter(|entry| matches!(entry.backend, Backend::Nobody(_)));
        for entry in bodiless {
            entry.backend = match workshop.tool(&entry.declared) {
                Some(Ok(tool)) => Backend::Here(tool),
                Some(Err(problem)) => Backend::Nobody(problem),
                None => continue,
            };
        }
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let at = self.tools.by_name.get(name)?;
        Some(&self.tools.entries[*at])
    }

    /// All tools, in the order they were declared.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.tools.entries.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.entries.is_empty()
    }

    /// Fails if a tool has nobody who could run it.
    ///
    /// # Errors
    /// Which tool, and what to do about it.
    pub fn check(&self) -> Result<(), Thrown> {
        for entry in &self.tools.entries {
            if let Backend::Nobody(problem) = &entry.backend {
                return Err(Thrown::Runtime(problem.clone()));
            }
        }
        Ok(())
    }

    /// The registry as a program sees it.
    pub fn to_value(&self) -> Value {
        let tools: Vec<&Value> = self.iter().map(|entry| &entry.declared).collect();
        serde_json::json!({"_type": "tool_registry", "tools": tools})
    }
}

impl Entry {
    /// What kind of tool it is, where that is known.
    pub fn kind(&self) -> Option<ToolKind> {
        self.annotations
            .as_ref()
            .map(|annotations| annotations.kind)
    }

    /// Whether a line about it is enough for the model.
    pub fn is_compact(&self) -> bool {
        truthy(&self.declared["compact"])
    }

    /// The parameters it cannot do without.
    pub fn required(&self) -> Vec<String> {
        let mut required: Vec<String> = match &self.declared["parameters"] {
            Value::Object(parameters) if is_schema(&self.declared["parameters"]) => {
                let listed = parameters.get("required").and_then(Value::as_array);
                listed.into_iter().flatten().map(display).collect()
            }
            Value::Object(parameters) => {
                let needed = parameters.iter().filter(|(_, schema)| {
                    schema.get("required").is_none_or(truthy) && schema.get("default").is_none()
                });
                needed.map(|(name, _)| name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let annotated = self.annotations.iter();
        for name in annotated.flat_map(|annotations| &annotations.arg_schema.required) {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
        required
    }
}

/// Whether parameters are one schema instead of one schema each.
fn is_schema(parameters: &Value) -> bool {
    parameters["type"] == "object" && parameters["properties"].is_object()
}

fn read_entry(entry: &Value, handler: Option<Arc<dyn Callback>>) -> Entry {
    let text = |key: &str| entry[key].as_str().map(str::to_owned);
    let name = text("name").unwrap_or_default();
    let handler = handler.map(|function| {
        Arc::new(HandlerTool {
            entry: entry.clone(),
            function,
        }) as Arc<dyn Tool>
    });
    let server = text("mcp_server").or_else(|| text("_mcp_server"));
    let executor = text("executor");
    let backend = match executor.as_deref() {
        Some("harn" | "harn_builtin") | None if own_tools::is_own_tool(&name) => Backend::Own,
        Some("harn" | "harn_builtin") => match handler {
            Some(handler) => Backend::Here(handler),
            None => Backend::Nobody(format!(
                "agent_loop: tool '{name}' declares executor: \"harn\" but has no callable \
                 `handler`. Attach the handler fn or change the executor."
            )),
        },
        Some("host_bridge") => Backend::Host,
        Some("provider_native") => Backend::Provider,
        Some("mcp_server") => Backend::Mcp {
            server: server.unwrap_or_default(),
            tool: text("_mcp_tool"),
            handler,
        },
        Some(other) => Backend::Nobody(format!(
            "agent_loop: tool '{name}' declares unknown executor \"{other}\". Expected one of: \
             \"harn\", \"host_bridge\", \"mcp_server\", \"provider_native\"."
        )),
        None => match (handler, server) {
            (handler, Some(server)) => Backend::Mcp {
                server,
                tool: text("_mcp_tool"),
                handler,
            },
            (Some(handler), None) => Backend::Here(handler),
            (None, None) => Backend::Nobody(format!(
                "agent_loop: tool '{name}' has no executable backend — no `handler`, no \
                 `executor` and no `mcp_server`. Attach a `handler` fn, or declare executor: \
                 \"host_bridge\", \"mcp_server\" or \"provider_native\". Running it would surface \
                 as `[builtin_call] unhandled: {name}` at the first model call."
            )),
        },
    };
    Entry {
        annotations: read_annotations(&entry["annotations"]),
        declared: entry.clone(),
        backend,
        name,
    }
}

/// A tool that is a function of a program.
struct HandlerTool {
    entry: Value,
    function: Arc<dyn Callback>,
}

impl Tool for HandlerTool {
    fn declaration(&self) -> std::borrow::Cow<'_, crate::Declaration> {
        let text = |key: &str| self.entry[key].as_str().unwrap_or_default().to_owned();
        std::borrow::Cow::Owned(crate::Declaration {
            name: text("name"),
            description: text("description"),
            parameters: self.entry["parameters"].clone(),
            annotations: read_annotations(&self.entry["annotations"]),
        })
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let result = self.function.call(vec![call.arguments.clone()]).await;
            match result {
                Ok(Value::String(text)) => Ok(text),
                Ok(value) => Ok(display(&value)),
                Err(thrown) if is_rejection(&thrown) => Err(ToolError::Rejected(told(&thrown))),
                Err(thrown) => Err(ToolError::Failed(caught(&thrown))),
            }
        })
    }
}

/// What was thrown, as a program that caught it would show it.
fn caught(thrown: &Thrown) -> String {
    match thrown {
        Thrown::Runtime(text) => format!("Runtime error: {text}"),
        thrown => told(thrown),
    }
}

/// What was thrown, in words.
pub(crate) fn told(thrown: &Thrown) -> String {
    match thrown {
        Thrown::Plain(text) | Thrown::Runtime(text) | Thrown::Categorised(_, text) => text.clone(),
        Thrown::Dict(dict) => match (&dict["category"], &dict["message"]) {
            (Value::String(_), Value::String(message)) => message.clone(),
            _ => display(dict),
        },
    }
}

/// Whether a function says that something may not be done.
fn is_rejection(thrown: &Thrown) -> bool {
    match thrown {
        Thrown::Categorised(category, _) => *category == Category::ToolRejected,
        Thrown::Dict(dict) => dict["category"] == Category::ToolRejected.word(),
        Thrown::Plain(_) | Thrown::Runtime(_) => false,
    }
}
