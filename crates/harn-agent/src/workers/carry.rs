//! What the next cycle of a worker keeps of the last one.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display, truthy};
use serde_json::{Map, Value, json};

use super::requested::{intersected, read_policy, read_tools};
use crate::policy::CapabilityPolicy;

/// What the next cycle of a worker keeps of the last one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Carry {
    /// Whether artifacts are kept.
    pub(crate) keeps_artifacts: bool,
    pub(crate) transcript: TranscriptMode,
    /// Which artifacts are kept; null: all.
    pub(crate) context_policy: Value,
    pub(crate) resume_workflow: bool,
    /// Whether the worker is kept in a file.
    pub(crate) persist_state: bool,
    /// Whether the worker waits after a cycle instead of ending.
    pub(crate) retriggerable: bool,
    /// What the worker may do at most, as it was asked for.
    pub(crate) policy: Option<CapabilityPolicy>,
}

/// What becomes of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TranscriptMode {
    /// The next cycle goes on with it.
    Inherit,
    /// The next cycle goes on with a copy.
    Fork,
    /// The next cycle begins with none.
    Reset,
    /// It is made shorter after each cycle.
    Compact,
}

impl TranscriptMode {
    fn word(self) -> &'static str {
        match self {
            Self::Inherit => "inherit",
            Self::Fork => "fork",
            Self::Reset => "reset",
            Self::Compact => "compact",
        }
    }

    fn read(value: Option<&Value>) -> Result<Self, Thrown> {
        let word = match value {
            None => return Ok(Self::Inherit),
            Some(Value::Object(fields)) => match fields.get("mode") {
                None | Some(Value::Null) => return Ok(Self::Inherit),
                Some(mode) => display(mode),
            },
            Some(mode) => display(mode),
        };
        match &*word {
            "inherit" => Ok(Self::Inherit),
            "fork" => Ok(Self::Fork),
            "reset" => Ok(Self::Reset),
            "compact" => Ok(Self::Compact),
            other => Err(Thrown::Runtime(format!(
                "spawn_agent: carry.transcript_mode must be one of inherit, fork, reset, compact; \
                 got `{other}`"
            ))),
        }
    }
}

impl Carry {
    /// Reads the key `carry` of a config.
    ///
    /// # Errors
    /// A mode nobody knows, or a policy that is none.
    pub(crate) fn read(carry: Option<&Value>) -> Result<Self, Thrown> {
        let empty = Map::new();
        let fields = carry.and_then(Value::as_object).unwrap_or(&empty);
        let given = Options(fields);
        let either = |a: &str, b: &str| given.given(a).or_else(|| given.given(b));
        let is_on = |key: &str, usual: bool| given.given(key).map_or(usual, truthy);
        let artifacts = either("artifact_mode", "artifacts");
        let described = artifacts.filter(|mode| mode.is_object());
        let policy = read_policy(given.given("policy"))?;
        let tools = read_tools(given.given("tools"))?;
        Ok(Self {
            keeps_artifacts: artifacts.and_then(Value::as_str) != Some("none"),
            transcript: TranscriptMode::read(either("transcript_mode", "transcript"))?,
            context_policy: given
                .given("context_policy")
                .or(described)
                .cloned()
                .unwrap_or_default(),
            resume_workflow: is_on("resume_workflow", true),
            persist_state: is_on("persist_state", true),
            retriggerable: is_on("retriggerable", false),
            policy: intersected(policy, tools)?,
        })
    }

    /// As snapshots have it. `policy` is the one that is in force, which also tells a later
    /// process what the worker must not do.
    pub(crate) fn to_value(&self, policy: Option<&CapabilityPolicy>) -> Value {
        json!({
            "artifact_mode": if self.keeps_artifacts { "inherit" } else { "none" },
            "transcript_mode": self.transcript.word(),
            "context_policy": self.context_policy,
            "resume_workflow": self.resume_workflow,
            "persist_state": self.persist_state,
            "retriggerable": self.retriggerable,
            "policy": policy,
        })
    }
}
