//! What a daemon is made of: what a program asks for, or what a file has kept.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display};
use harn_options::DAEMON;
use serde_json::{Map, Value, json};

use super::queue::CAPACITY_DEFAULT;
use super::runtime_error;
use crate::builtins::Asked;
use crate::callback::Functions;
use crate::known_options;
use crate::policy::{ApprovalPolicy, CapabilityPolicy};
use crate::runtime::{Ambient, Runtime};

/// What a daemon is made of.
pub(super) struct Config {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) prompt: String,
    pub(super) system: Option<String>,
    pub(super) session_id: String,
    pub(super) capacity: usize,
    /// Its folder, as the program wrote it.
    pub(super) root: String,
    /// The options of its loop.
    pub(super) options: Map<String, Value>,
    pub(super) functions: Functions,
    /// What holds where it was started, and therefore in it.
    pub(super) ambient: Ambient,
}

/// The keys that are for the daemon and not for its loop.
const OWN_KEYS: &[&str] = &[
    "task",
    "prompt",
    "persist_path",
    "state_dir",
    "name",
    "system",
    "session_id",
    "event_queue_capacity",
    "queue_capacity",
    "options",
];

impl Config {
    /// Reads what `daemon_spawn` is given.
    ///
    /// # Errors
    /// It is no dict, or says too little.
    pub(super) fn read(runtime: &Runtime, asked: &Asked) -> Result<Self, Thrown> {
        let Value::Object(config) = asked.argument(0) else {
            return runtime_error("daemon_spawn: expected a config dict");
        };
        let functions = asked.functions.below("/0");
        known_options::refuse(runtime, "daemon_spawn", &DAEMON, config, &functions)?;
        let given = Options(config);
        let first = |keys: [&str; 2]| {
            let mut texts = keys.into_iter().filter_map(|key| given.given_text(key));
            texts.find(|text| !text.is_empty())
        };
        let Some(prompt) = first(["task", "prompt"]) else {
            return runtime_error("daemon_spawn: config must include `task` or `prompt`");
        };
        let Some(root) = first(["persist_path", "state_dir"]) else {
            return runtime_error(
                "daemon_spawn: config must include `persist_path` or `state_dir`",
            );
        };
        let (mut options, functions) = loop_options(config, &asked.functions);
        let mut also = |key: &str| {
            let nested = options.remove(key).filter(|value| !value.is_null());
            let nested = nested.map(|value| display(&value));
            given
                .given_text(key)
                .or(nested)
                .filter(|text| !text.is_empty())
        };
        let (system, session_id) = (also("system"), also("session_id"));
        let id = format!("daemon_{}", runtime.new_id());
        let ambient = runtime.ambient_in(asked.session_id.as_deref());
        Ok(Self {
            name: given.given_text("name").unwrap_or_else(|| id.clone()),
            session_id: session_id.unwrap_or_else(|| match &*asked.unnamed_session_id {
                "" => format!("daemon_session_{}", runtime.new_id()),
                id => id.to_owned(),
            }),
            capacity: capacity(config)?,
            options: narrowed(options, &ambient)?,
            id,
            prompt,
            system,
            root,
            functions,
            ambient,
        })
    }

    /// Reads what `daemon_resume` finds. Functions do not survive in files: a daemon that this
    /// process has run still has them, any other finds the handlers of its tools in the registry
    /// that is bound.
    ///
    /// # Errors
    /// A handler is missing.
    pub(super) fn restore(
        runtime: &Runtime,
        asked: &Asked,
        root: &str,
        meta: &Value,
    ) -> Result<Self, Thrown> {
        let text = |key: &str| meta[key].as_str().map(str::to_owned);
        let id = text("id").unwrap_or_else(|| format!("daemon_{}", runtime.new_id()));
        let options = meta["options"].as_object().cloned().unwrap_or_default();
        let known = runtime.daemons.with_id(&id);
        let functions = match &known {
            Some(daemon) => daemon.config().functions.clone(),
            None => bound_handlers(&options, asked)?,
        };
        let mut ambient = runtime.ambient_in(asked.session_id.as_deref());
        if let Some(daemon) = &known {
            let permissions = &daemon.config().ambient.permissions;
            ambient.permissions.extend(permissions.iter().cloned());
        }
        let capacity = meta["event_queue_capacity"].as_u64();
        Ok(Self {
            name: text("name").unwrap_or_else(|| id.clone()),
            prompt: text("prompt").unwrap_or_default(),
            system: text("system"),
            session_id: text("session_id")
                .unwrap_or_else(|| format!("daemon_session_{}", runtime.new_id())),
            capacity: capacity
                .and_then(|capacity| usize::try_from(capacity).ok())
                .filter(|capacity| *capacity > 0)
                .unwrap_or(CAPACITY_DEFAULT),
            options: narrowed(options, &ambient)?,
            root: root.to_owned(),
            id,
            functions,
            ambient,
        })
    }
}

/// The options of the loop: `options`, and over them what stands beside the daemon's own keys.
fn loop_options(
    config: &Map<String, Value>,
    functions: &Functions,
) -> (Map<String, Value>, Functions) {
    let nested = config.get("options").and_then(Value::as_object);
    let mut options = nested.cloned().unwrap_or_default();
    let inline = config.iter();
    let inline = inline.filter(|(key, _)| !OWN_KEYS.contains(&&***key));
    options.extend(inline.map(|(key, value)| (key.clone(), value.clone())));
    let mut all = functions.below("/0/options");
    all.extend(functions.below("/0"));
    (options, all)
}

fn capacity(config: &Map<String, Value>) -> Result<usize, Thrown> {
    let keys = ["event_queue_capacity", "queue_capacity"];
    let given = keys.into_iter().find_map(|key| {
        let value = config.get(key).filter(|value| !value.is_null())?;
        Some((key, value))
    });
    let Some((key, value)) = given else {
        return Ok(CAPACITY_DEFAULT);
    };
    let capacity = value.as_u64().and_then(|value| usize::try_from(value).ok());
    match capacity {
        Some(capacity) if capacity > 0 => Ok(capacity),
        _ => runtime_error(format!(
            "daemon_spawn: `{key}` must be a positive integer; got {}",
            display(value)
        )),
    }
}

/// The options with the ceiling of where the daemon is started written into them, so that it
/// holds as well when the daemon is taken up by somebody else.
fn narrowed(
    mut options: Map<String, Value>,
    ambient: &Ambient,
) -> Result<Map<String, Value>, Thrown> {
    let given = |options: &Map<String, Value>, key: &str| {
        options.get(key).filter(|value| !value.is_null()).cloned()
    };
    if let Some(outer) = &ambient.policy {
        let policy = match given(&options, "policy") {
            Some(policy) => {
                let inner = CapabilityPolicy::read("agent_loop: policy", &policy)?;
                CapabilityPolicy::intersect(outer, &inner).map_err(Thrown::Plain)?
            }
            None => outer.clone(),
        };
        options.insert("policy".to_owned(), json!(policy));
    }
    if let Some(outer) = &ambient.approval {
        let policy = match given(&options, "approval_policy") {
            Some(policy) => {
                let inner = ApprovalPolicy::read("agent_loop: approval_policy", &policy)?;
                ApprovalPolicy::intersect(outer, &inner)
            }
            None => outer.clone(),
        };
        options.insert("approval_policy".to_owned(), json!(policy));
    }
    Ok(options)
}

/// The handlers of a daemon's tools, found by name among those that are bound.
fn bound_handlers(options: &Map<String, Value>, asked: &Asked) -> Result<Functions, Thrown> {
    let bound = asked.argument(1);
    let names = entries(Some(bound));
    let mut functions = Functions::default();
    let mut missing = Vec::new();
    for (at, entry) in entries(options.get("tools")) {
        // A function is null where it was written down.
        let had_handler = entry.get("handler").is_some_and(Value::is_null);
        let name = entry["name"].as_str().unwrap_or_default();
        if !had_handler || name.is_empty() {
            continue;
        }
        let same = names.iter().find(|(_, other)| other["name"] == name);
        let handler = same.and_then(|(place, _)| {
            let place = format!("/1{place}/handler");
            asked.functions.at(&place)
        });
        match handler {
            Some(handler) => functions.insert(format!("/tools{at}/handler"), handler.clone()),
            None => missing.push(format!("'{name}'")),
        }
    }
    match missing.is_empty() {
        true => Ok(functions),
        false => runtime_error(format!(
            "daemon_resume: the daemon has tools whose handlers this process does not have: {}; \
             bind a registry that has them with tool_bind before",
            missing.join(", ")
        )),
    }
}

/// The entries of a registry or of a list of tools, each with the path to it.
fn entries(tools: Option<&Value>) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = match tools {
        Some(Value::Array(list)) => vec![(String::new(), list)],
        Some(Value::Object(registry)) => match registry.get("tools") {
            Some(Value::Array(list)) => vec![("/tools".to_owned(), list)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    while let Some((path, list)) = open.pop() {
        for (at, entry) in list.iter().enumerate() {
            match &entry["tools"] {
                Value::Array(inner) if entry["_type"] == "tool_registry" => {
                    open.push((format!("{path}/{at}/tools"), inner));
                }
                _ => found.push((format!("{path}/{at}"), entry)),
            }
        }
    }
    found
}
