//! One handoff, in the one form it has.

use std::collections::HashSet;

use harn_events::{HandoffArtifact, HandoffDeadlineCheckbackRecord, HandoffReceiptLinkRecord};
use harn_llm::options::value::display;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::artifacts::Making;

/// Work that goes to somebody else. Every field is always written, but for those that few
/// handoffs have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handoff {
    /// Always `handoff_artifact`.
    #[serde(rename = "_type")]
    type_name: &'static str,
    /// Nobody else has it.
    pub id: String,
    /// The run it was made in.
    pub parent_run_id: Option<String>,
    /// Who hands over.
    pub source_persona: String,
    /// Who takes over.
    #[serde(rename = "target_persona_or_human")]
    pub target: Target,
    /// What is to be done.
    pub task: String,
    /// Why somebody else should do it.
    pub reason: String,
    /// What it rests on.
    pub evidence_refs: Vec<Evidence>,
    /// What was worked on.
    pub files_or_entities_touched: Vec<String>,
    /// What nobody knows yet.
    pub open_questions: Vec<String>,
    /// What has to happen before.
    pub blocked_on: Vec<String>,
    /// What the receiver will need.
    pub requested_capabilities: Vec<String>,
    /// What the receiver may cause.
    pub allowed_side_effects: Vec<String>,
    /// What may still be spent.
    pub budget_remaining: Option<Budget>,
    /// By when.
    pub deadline_checkback: Option<HandoffDeadlineCheckbackRecord>,
    /// How sure the sender is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Where it is written down that it happened.
    pub receipt_links: Vec<HandoffReceiptLinkRecord>,
    /// When it was made.
    pub created_at: String,
    /// Whatever else is known.
    pub metadata: Map<String, Value>,
    /// What the receiver may do at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_override: Option<Value>,
    /// Reminders that travel along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_propagation: Option<Value>,
    /// What the receiver should expect to touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<Value>,
}

/// Who takes over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// `persona`, `human`, `a2a` or `worker`.
    pub kind: &'static str,
    /// How programs know them.
    pub id: Option<String>,
    /// How people know them.
    pub label: Option<String>,
    /// Where they are.
    pub uri: Option<String>,
}

/// Something that a handoff rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The artifact that holds it.
    pub artifact_id: Option<String>,
    /// What it is.
    pub kind: Option<String>,
    /// What people call it.
    pub label: Option<String>,
    /// Its file.
    pub path: Option<String>,
    /// Where it is.
    pub uri: Option<String>,
    /// Whatever else is known.
    pub metadata: Map<String, Value>,
}

/// What may still be spent. Amounts are kept as they were given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Tokens of models.
    pub tokens: Value,
    /// Calls of tools.
    pub tool_calls: Value,
    /// US dollars.
    pub dollars: Value,
}

impl Handoff {
    /// The handoff that a payload is or holds: the payload itself, the data of an artifact of
    /// this kind, or what an agent left in its state. `None` if it lacks what a handoff needs.
    pub fn read(payload: &Value, making: &Making<'_>) -> Option<Self> {
        let given = Given(held(payload).as_object()?);
        Some(Self {
            type_name: "handoff_artifact",
            id: given
                .name("id")
                .unwrap_or_else(|| format!("handoff_{}", (making.new_id)())),
            parent_run_id: given.text("parent_run_id"),
            source_persona: given.name("source_persona")?,
            target: Target::read(given.value("target_persona_or_human"))?,
            task: given.name("task")?,
            reason: given.name("reason")?,
            evidence_refs: given.records("evidence_refs", Evidence::read),
            files_or_entities_touched: given.texts("files_or_entities_touched"),
            open_questions: given.texts("open_questions"),
            blocked_on: given.texts("blocked_on"),
            requested_capabilities: given.texts("requested_capabilities"),
            allowed_side_effects: given.texts("allowed_side_effects"),
            budget_remaining: given.record("budget_remaining").map(|budget| Budget {
                tokens: budget.value("tokens").clone(),
                tool_calls: budget.value("tool_calls").clone(),
                dollars: budget.value("dollars").clone(),
            }),
            deadline_checkback: given.record("deadline_checkback").map(|time| {
                HandoffDeadlineCheckbackRecord {
                    deadline: time.text("deadline"),
                    checkback_at: time.text("checkback_at"),
                }
            }),
            confidence: given
                .value("confidence")
                .as_f64()
                .map(|confidence| confidence.clamp(0.0, 1.0)),
            receipt_links: given.records("receipt_links", read_receipt),
            created_at: given
                .name("created_at")
                .unwrap_or_else(|| making.now.to_owned()),
            metadata: given.object("metadata"),
            policy_override: given.some("policy_override"),
            reminder_propagation: given.some("reminder_propagation"),
            effects: given.some("effects"),
        })
    }

    /// The handoff as programs hold it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts, numbers and JSON can be written")
    }

    /// The handoff as events carry it.
    pub fn to_event(&self) -> HandoffArtifact {
        let mut json = self.to_json();
        let typed = |json: Value| serde_json::from_value(json).ok();
        if let Some(handoff) = typed(json.clone()) {
            return of_kind(handoff);
        }
        // What the program has put into the optional parts is its own; the rest is ours.
        for key in ["reminder_propagation", "effects", "budget_remaining"] {
            json[key] = match key {
                "budget_remaining" => Value::Null,
                _ => json!([]),
            };
        }
        of_kind(typed(json).unwrap_or_default())
    }
}

fn of_kind(mut handoff: HandoffArtifact) -> HandoffArtifact {
    if handoff.kind.is_empty() {
        "handoff".clone_into(&mut handoff.kind);
    }
    handoff
}

/// Where in a payload the handoff is.
fn held(payload: &Value) -> &Value {
    if payload["_type"] == "agent_state_handoff" {
        return match &payload["handoff"] {
            Value::Null => &payload["summary"],
            handoff => handoff,
        };
    }
    match payload["kind"] == "handoff" && payload["data"].is_object() {
        true => &payload["data"],
        false => payload,
    }
}

impl Target {
    /// Who is meant; `None` if nobody is named. A text is a name.
    fn read(target: &Value) -> Option<Self> {
        let named = json!({"label": target});
        let target = if target.is_string() { &named } else { target };
        let given = Given(target.as_object()?);
        let target = Self {
            kind: match given.text("kind").as_deref() {
                Some("human") => "human",
                Some("a2a" | "external_a2a") => "a2a",
                Some("worker" | "queue") => "worker",
                _ => "persona",
            },
            id: given.text("id"),
            label: given.text("label"),
            uri: given.text("uri"),
        };
        (!target.name().is_empty()).then_some(target)
    }

    /// What they are called: the label, else the id, else the address.
    pub fn name(&self) -> &str {
        let names = [&self.label, &self.id, &self.uri];
        let mut names = names.into_iter().flatten();
        names
            .find(|name| !name.trim().is_empty())
            .map_or("", String::as_str)
    }
}

impl Evidence {
    fn read(given: &Given<'_>) -> Self {
        Self {
            artifact_id: given.text("artifact_id"),
            kind: given.text("kind"),
            label: given.text("label"),
            path: given.text("path"),
            uri: given.text("uri"),
            metadata: given.object("metadata"),
        }
    }
}

/// A receipt is one of a run unless it says something else.
fn read_receipt(given: &Given<'_>) -> HandoffReceiptLinkRecord {
    HandoffReceiptLinkRecord {
        kind: given
            .name("kind")
            .unwrap_or_else(|| "run_receipt".to_owned()),
        label: given.text("label"),
        run_id: given.text("run_id"),
        artifact_id: given.text("artifact_id"),
        path: given.text("path"),
        href: given.text("href"),
    }
}

/// The fields of a dict.
struct Given<'a>(&'a Map<String, Value>);

impl<'a> Given<'a> {
    fn value(&self, key: &str) -> &'a Value {
        self.0.get(key).unwrap_or(&Value::Null)
    }

    /// A value that is there.
    fn some(&self, key: &str) -> Option<Value> {
        let is_empty = |value: &Value| value.is_null() || *value == json!([]);
        Some(self.value(key).clone()).filter(|value| !is_empty(value))
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.value(key) {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(display(other)),
        }
    }

    /// A text that says something.
    fn name(&self, key: &str) -> Option<String> {
        let text = self.value(key).as_str()?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    fn object(&self, key: &str) -> Map<String, Value> {
        self.value(key).as_object().cloned().unwrap_or_default()
    }

    fn record(&self, key: &str) -> Option<Given<'a>> {
        self.value(key).as_object().map(Given)
    }

    /// The records of a list; what is no dict is left out.
    fn records<T>(&self, key: &str, read: impl Fn(&Given<'a>) -> T) -> Vec<T> {
        let items = self.value(key).as_array().into_iter().flatten();
        let items = items.filter_map(|item| item.as_object().map(Given));
        items.map(|item| read(&item)).collect()
    }

    /// Texts without blanks around them, none of them empty or twice.
    fn texts(&self, key: &str) -> Vec<String> {
        let items = self.value(key).as_array().into_iter().flatten();
        let mut known = HashSet::new();
        let texts = items.filter(|item| !item.is_null()).map(|item| {
            let text = match item {
                Value::String(text) => text.clone(),
                other => display(other),
            };
            text.trim().to_owned()
        });
        texts
            .filter(|text| !text.is_empty() && known.insert(text.clone()))
            .collect()
    }
}
