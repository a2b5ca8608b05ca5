//! Performs the effects of the kind `host`: operations and tools that the host lends.
//!
//! ```text
//! host_call ─► what does the host lend? ─► journal: asked ─► host ─► journal: answered
//! ```
//!
//! What is asked and what is answered are records of the event log, so that a run can be
//! explained without its host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use harn_agent::events::{Completeness, RedactionPolicy};
use harn_agent::llm::Category;
use harn_agent::llm::desk::Thrown;
use harn_agent::log::{AnyEventLog, EventLog, LogError, LogEvent, Topic};
use harn_agent::{HostBridge, HostError};
use harn_machine::Answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::people::Work;

/// Where calls of the host are kept.
pub(crate) const TOPIC: &str = "host.calls";

/// The operations of a host, by capability.
type Capabilities = BTreeMap<String, Vec<String>>;

/// Performs the effects of the kind `host`.
pub(crate) struct HostPort {
    bridge: Option<Arc<dyn HostBridge>>,
    /// What the host lends, once it was asked.
    known: Arc<Mutex<Option<Capabilities>>>,
}

/// What a program asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Asked {
    /// Whether there is a host that lends anything.
    Attached,
    /// The operations that are known.
    Known,
    /// To learn the operations.
    Capabilities,
    /// An operation.
    Call {
        name: String,
        #[serde(default)]
        args: Value,
        session: Option<String>,
    },
    /// A tool.
    Tool {
        name: String,
        #[serde(default)]
        args: Value,
        session: Option<String>,
    },
    /// A function that the program calls and nobody else has defined.
    Builtin {
        name: String,
        #[serde(default)]
        args: Vec<Value>,
        session: Option<String>,
    },
    /// The tools there are.
    Tools,
}

impl HostPort {
    pub(crate) fn new(bridge: Option<Arc<dyn HostBridge>>) -> Self {
        Self {
            bridge,
            known: Arc::default(),
        }
    }

    fn lending(&self) -> Option<Arc<dyn HostBridge>> {
        let bridge = self.bridge.as_ref();
        bridge.filter(|bridge| bridge.lends_tools()).cloned()
    }

    /// Answers at once.
    pub(crate) fn perform(&self, payload: &str) -> Answer {
        match serde_json::from_str(payload) {
            Ok(Asked::Attached) => Answer::Truth(self.lending().is_some()),
            Ok(Asked::Known) => {
                let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                let pairs = known.iter().flatten().flat_map(|(capability, operations)| {
                    let pair = |operation: &String| (capability.clone(), operation.clone());
                    operations.iter().map(pair)
                });
                Answer::Pairs(pairs.collect())
            }
            _ => Answer::Text(None),
        }
    }

    /// Begins what takes time. `log` keeps what is asked and answered.
    pub(crate) fn begin(&self, payload: &str, log: Arc<AnyEventLog>) -> Work {
        let asked = serde_json::from_str(payload);
        let (bridge, known) = (self.lending(), Arc::clone(&self.known));
        Box::pin(async move {
            let asked = asked.map_err(|error| Thrown::Runtime(error.to_string()))?;
            let Some(bridge) = bridge else {
                return Ok(json!({"lacks": true}));
            };
            let desk = Desk { bridge, known, log };
            match asked {
                Asked::Capabilities => {
                    desk.capabilities().await;
                    Ok(json!({}))
                }
                Asked::Call {
                    name,
                    args,
                    session,
                } => desk.call(&name, args, session).await,
                Asked::Tool {
                    name,
                    args,
                    session,
                } => desk.tool(&name, args, session).await,
                Asked::Builtin {
                    name,
                    args,
                    session,
                } => desk.builtin(&name, args, session).await,
                Asked::Tools => desk.tools().await,
                Asked::Attached | Asked::Known => {
                    Err(Thrown::Runtime("this is answered at once".to_owned()))
                }
            }
        })
    }
}

/// A host, and where what it says is kept.
struct Desk {
    bridge: Arc<dyn HostBridge>,
    known: Arc<Mutex<Option<Capabilities>>>,
    log: Arc<AnyEventLog>,
}

impl Desk {
    /// What the host lends. A host that cannot tell lends nothing, and is asked again next time.
    async fn capabilities(&self) -> Capabilities {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known() {
            return known.clone();
        }
        match self.bridge.request("host/capabilities", json!({})).await {
            Ok(answer) => {
                let lent = read_capabilities(&answer);
                *known() = Some(lent.clone());
                lent
            }
            Err(HostError::Lacking(_)) => {
                *known() = Some(Capabilities::new());
                Capabilities::new()
            }
            Err(error) => {
                tracing::warn!("the host does not tell what it lends: {error}");
                Capabilities::new()
            }
        }
    }

    async fn call(&self, name: &str, args: Value, session: Option<String>) -> Outcome {
        let lends = self.capabilities().await;
        let is_lent = name.split_once('.').is_some_and(|(capability, operation)| {
            let operations = lends.get(capability).into_iter().flatten();
            operations.into_iter().any(|one| one == operation)
        });
        if !is_lent {
            return Ok(json!({"lacks": true}));
        }
        let parameters = json!({"name": name, "args": args});
        let answer = self.ask("host/call", name, parameters, session).await;
        match answer {
            Err(HostError::Lacking(_)) => Ok(json!({"lacks": true})),
            answer => told(&format!("host_call {name}"), answer),
        }
    }

    async fn tool(&self, name: &str, args: Value, session: Option<String>) -> Outcome {
        let parameters = json!({"name": name, "args": [args]});
        let answer = self.ask("builtin_call", name, parameters, session).await;
        told(&format!("host_tool_call: {name}"), answer)
    }

    async fn builtin(&self, name: &str, args: Vec<Value>, session: Option<String>) -> Outcome {
        let parameters = json!({"name": name, "args": args});
        match self.ask("builtin_call", name, parameters, session).await {
            Err(HostError::Lacking(_)) => Ok(json!({"lacks": true})),
            answer => told(name, answer),
        }
    }

    async fn tools(&self) -> Outcome {
        match self.bridge.request("host/tools/list", json!({})).await {
            Ok(listed) => {
                let tools = descriptors(&listed).map_err(Thrown::Plain)?;
                Ok(json!({"value": tools}))
            }
            Err(HostError::Lacking(_)) => Ok(json!({"value": []})),
            answer => told("host_tool_list", answer),
        }
    }

    /// Asks the host, and keeps what was asked and what was answered. What cannot be kept is
    /// not asked: it would have happened without a trace.
    async fn ask(
        &self,
        method: &str,
        name: &str,
        mut parameters: Value,
        session: Option<String>,
    ) -> Result<Value, HostError> {
        let id = crate::models::new_id();
        if let Some(session) = &session {
            parameters["sessionId"] = json!(session);
        }
        let asked = json!({
            "call_id": id, "method": method, "name": name, "args": parameters["args"],
            "session_id": session,
        });
        let kept = self.keep("host.call_requested", asked).await;
        kept.map_err(|error| format!("the call cannot be kept: {error}"))?;
        let answer = self.bridge.request(method, parameters).await;
        let answered = match &answer {
            Ok(value) => json!({"call_id": id, "value": value}),
            Err(error) => json!({"call_id": id, "error": error.to_string()}),
        };
        if let Err(error) = self.keep("host.call_answered", answered).await {
            tracing::warn!("an answer of the host is not kept: {error}");
        }
        answer
    }

    async fn keep(&self, kind: &str, mut payload: Value) -> Result<(), LogError> {
        RedactionPolicy::new().redact_value(&mut payload, Completeness::Whole);
        let topic = Topic::new(TOPIC)?;
        self.log
            .append(&topic, LogEvent::new(kind, payload))
            .await?;
        Ok(())
    }
}

type Outcome = Result<Value, Thrown>;

/// What a program gets of an answer.
fn told(what: &str, answer: Result<Value, HostError>) -> Outcome {
    match answer {
        Ok(value) => Ok(json!({"value": value})),
        Err(HostError::Refused(reason)) => Err(Thrown::Categorised(
            Category::ToolRejected,
            format!("{what}: {reason}"),
        )),
        Err(HostError::TimedOut(reason)) => Err(Thrown::Categorised(Category::Timeout, reason)),
        Err(error) => Err(Thrown::Plain(format!("{what}: {error}"))),
    }
}

/// `{capability: [operation, …]}`; what is no such thing is left out.
fn read_capabilities(answer: &Value) -> Capabilities {
    let capabilities = answer.as_object().into_iter().flatten();
    let capabilities = capabilities.map(|(name, operations)| {
        let operations = match operations {
            Value::Array(names) => names.clone(),
            other => other["ops"].as_array().cloned().unwrap_or_default(),
        };
        let names = operations.iter().filter_map(Value::as_str);
        (name.clone(), names.map(str::to_owned).collect())
    });
    capabilities.collect()
}

/// The tools of a host, each with the same fields, whatever they are called there.
fn descriptors(listed: &Value) -> Result<Vec<Value>, String> {
    let tools = listed.as_array().or_else(|| listed["tools"].as_array());
    let tools = tools.ok_or("host_tool_list: the host's answer is no list of tools")?;
    tools.iter().map(descriptor).collect()
}

fn descriptor(tool: &Value) -> Result<Value, String> {
    let nothing = Map::new();
    let fields = tool.as_object().unwrap_or(&nothing);
    let first = |names: [&str; 3]| {
        let mut values = names.into_iter().filter_map(|name| fields.get(name));
        values.find(|value| !value.is_null()).cloned()
    };
    let name = fields.get("name").and_then(Value::as_str);
    let name = name
        .filter(|name| !name.is_empty())
        .ok_or("host_tool_list: a tool of the host has no name")?;
    let description = first(["description", "short_description", ""]);
    let schema = first(["schema", "parameters", "input_schema"]);
    Ok(json!({
        "name": name,
        "description": description.unwrap_or(json!("")),
        "schema": schema.filter(Value::is_object),
        "deprecated": fields.get("deprecated") == Some(&json!(true)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_have_the_same_fields() {
        let list = json!([
            {"name": "a", "short_description": "does a", "input_schema": {"type": "object"}},
            {"name": "b", "description": "does b", "parameters": [], "deprecated": true},
        ]);
        let expected = json!([
            {"name": "a", "description": "does a", "schema": {"type": "object"}, "deprecated": false},
            {"name": "b", "description": "does b", "schema": null, "deprecated": true},
        ]);
        for listed in [list.clone(), json!({"tools": list})] {
            assert_eq!(descriptors(&listed).map(Value::Array), Ok(expected.clone()));
        }
        // One without a name spoils them all.
        let nameless = json!([{"name": "a"}, {"description": "?"}]);
        let text = "host_tool_list: a tool of the host has no name";
        assert_eq!(descriptors(&nameless), Err(text.to_owned()));
        assert!(descriptors(&json!({})).is_err());
    }

    #[test]
    fn capabilities_are_lists_of_operations() {
        let answer = json!({"git": ["log", 1], "db": {"ops": ["query"]}, "none": 3});
        let expected = [
            ("db", vec!["query"]),
            ("git", vec!["log"]),
            ("none", vec![]),
        ];
        let read = read_capabilities(&answer);
        let read: Vec<_> = read
            .iter()
            .map(|(name, operations)| (&**name, operations.iter().map(|one| &**one).collect()))
            .collect::<Vec<(&str, Vec<&str>)>>();
        assert_eq!(read, expected);
    }
}
