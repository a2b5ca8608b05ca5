//! The task ledger: what was promised, and what has become of it.
//!
//! A model forgets parts of a long task. The ledger shows it the open ones before every call and
//! does not let it say "done" while one is unresolved. The model changes it with the tool
//! `ledger(...)`; its actions are in `action`.

mod action;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use harn_llm::options::value::{Options, display};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::frames;

/// How many observations the model is shown. The older ones stay in the ledger.
const OBSERVATIONS_SHOWN: usize = 5;

/// What was promised, and what has become of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskLedger {
    /// The task as it was given.
    pub root_task: String,
    /// The things that must be there in the end.
    pub deliverables: Vec<Deliverable>,
    /// Why it is done this way.
    pub rationale: String,
    /// What was noticed on the way, the oldest first.
    pub observations: Vec<String>,
}

/// One thing that must be there in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliverable {
    /// What the model calls it by.
    pub id: String,
    /// What it is.
    pub text: String,
    /// What has become of it.
    #[serde(default)]
    pub status: DeliverableStatus,
    /// Why it is blocked or was dropped, or what there is to say about it.
    #[serde(default)]
    pub note: Option<String>,
}

/// What has become of a deliverable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliverableStatus {
    /// It is still to do.
    #[default]
    Open,
    /// It is there.
    Done,
    /// It cannot go on now.
    Blocked,
    /// It is not wanted any more.
    Dropped,
}

impl TaskLedger {
    /// The ledger that the options of a loop ask for: `task_ledger` as it is, else one made of
    /// `root_task` and `deliverables`.
    pub fn from_options(options: &Map<String, Value>) -> Self {
        match options.get("task_ledger") {
            Some(Value::Object(ledger)) => Self::read(ledger),
            _ => Self::read(options),
        }
    }

    /// Reads what a program wrote, which may be less than a whole ledger.
    fn read(fields: &Map<String, Value>) -> Self {
        let fields = Options(fields);
        let items = match fields.given("deliverables") {
            Some(Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let numbered = items.iter().zip(1..);
        Self {
            root_task: fields.given_text("root_task").unwrap_or_default(),
            deliverables: numbered
                .filter_map(|(item, number)| Deliverable::read(item, number))
                .collect(),
            rationale: fields.given_text("rationale").unwrap_or_default(),
            observations: fields.texts("observations"),
        }
    }

    /// Whether there is nothing to show or to wait for.
    pub fn is_empty(&self) -> bool {
        self.deliverables.is_empty() && self.rationale.is_empty() && self.observations.is_empty()
    }

    /// Whether the model may not say yet that it is done.
    pub fn blocks_done(&self) -> bool {
        self.unresolved().next().is_some()
    }

    /// The ledger as the model sees it.
    pub fn render(&self) -> String {
        let mut out = String::new();
        if !self.root_task.is_empty() {
            out += &format!("root_task: {}\n", self.root_task);
        }
        if !self.deliverables.is_empty() {
            out += "deliverables:\n";
        }
        for deliverable in &self.deliverables {
            deliverable.push_to(&mut out);
            if let Some(note) = &deliverable.note {
                out += &format!(" — {note}");
            }
            out.push('\n');
        }
        if !self.rationale.is_empty() {
            out += &format!("rationale: {}\n", self.rationale);
        }
        let older = self.observations.len().saturating_sub(OBSERVATIONS_SHOWN);
        if !self.observations.is_empty() {
            out += "observations:\n";
        }
        for observation in &self.observations[older..] {
            out += &format!("  - {observation}\n");
        }
        let lines = frames::inside_elements(&out, &["task_ledger"]);
        format!("<task_ledger>\n{lines}</task_ledger>")
    }

    /// Does what the model asked for with `ledger({action, …})` and says in words what came of
    /// it.
    ///
    /// # Errors
    /// What is wrong with the arguments, for the model. The ledger is as it was.
    pub fn apply(&mut self, arguments: &Value) -> Result<String, String> {
        action::apply(self, arguments)
    }

    /// What a model is told that says it is done too early.
    pub fn gate_feedback(&self) -> String {
        let unresolved: Vec<_> = self.unresolved().collect();
        let mut out = format!(
            "`<done>` rejected: {} deliverable(s) are not yet resolved.\n",
            unresolved.len()
        );
        for deliverable in unresolved {
            deliverable.push_to(&mut out);
            out.push('\n');
        }
        out + "Finish each of them and mark it `done` with ledger(...), mark it `dropped` with a \
               `note` that says why it is not needed, or `add` what is missing. Do not signal \
               done again before every deliverable is done or dropped."
    }

    /// The ledger in the result of a loop.
    pub fn to_value(&self) -> Value {
        json!(self)
    }

    /// What stands between the model and its end.
    fn unresolved(&self) -> impl Iterator<Item = &Deliverable> {
        self.deliverables.iter().filter(|deliverable| {
            matches!(
                deliverable.status,
                DeliverableStatus::Open | DeliverableStatus::Blocked
            )
        })
    }
}

impl Deliverable {
    /// An open one.
    fn open(id: String, text: &str) -> Self {
        Self {
            id,
            text: text.trim().to_owned(),
            status: DeliverableStatus::Open,
            note: None,
        }
    }

    /// Reads one of a list, a text or a dict. A blank one is none.
    fn read(item: &Value, number: usize) -> Option<Self> {
        let Value::Object(fields) = item else {
            let text = display(item);
            let is_blank = item.is_null() || text.trim().is_empty();
            return (!is_blank).then(|| Self::open(numbered_id(number), &text));
        };
        let fields = Options(fields);
        let text = fields.given_text("text")?;
        if text.trim().is_empty() {
            return None;
        }
        let id = fields.given_text("id").filter(|id| !id.trim().is_empty());
        let status = fields.given_text("status");
        let status = status.and_then(|status| DeliverableStatus::parse(&status));
        Some(Self {
            status: status.unwrap_or_default(),
            note: fields.given_text("note").filter(|note| !note.is_empty()),
            ..Self::open(id.unwrap_or_else(|| numbered_id(number)), &text)
        })
    }

    /// Writes its line, without the end.
    fn push_to(&self, out: &mut String) {
        write!(
            out,
            "  [{}] ({}) {}",
            self.id,
            self.status.name(),
            self.text
        )
        .expect("a string takes all that is written to it");
    }
}

impl DeliverableStatus {
    /// The status of a name.
    fn parse(name: &str) -> Option<Self> {
        let all = [Self::Open, Self::Done, Self::Blocked, Self::Dropped];
        all.into_iter().find(|status| status.name() == name)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Dropped => "dropped",
        }
    }
}

/// The id of a deliverable that was given none.
fn numbered_id(number: usize) -> String {
    format!("deliverable-{number}")
}
