//! What a piece of work touches, and how.

use serde::{Deserialize, Serialize};

use super::string_enum::string_enum;

/// What an effect touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectKind {
    /// Stdio.
    Stdio,
    /// Fs.
    Fs,
    /// Net.
    Net,
    /// Env.
    Env,
    /// Clock.
    Clock,
    /// Random.
    Random,
    /// Process.
    Process,
    /// Secret.
    Secret,
    /// Observability.
    Observability,
    /// Channel.
    Channel,
    /// State.
    State,
    /// Host.
    Host,
    /// Authority.
    Authority,
    /// Spawn.
    Spawn,
    /// Llm.
    Llm {
        /// Provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Tool.
    Tool {
        /// Name.
        name: String,
    },
    /// Hostcall.
    Hostcall {
        /// Name.
        name: String,
    },
    /// Persona.
    Persona {
        /// Id.
        id: String,
    },
}

string_enum! {
    /// How an effect touches it.
    pub enum EffectScope {
        /// Read.
        Read = "read",
        /// Write.
        Write = "write",
        /// Mutate.
        Mutate = "mutate",
        /// Observe.
        Observe = "observe",
    }
}

/// One typed effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// Nested tagged object.
    pub kind: EffectKind,
    /// How it is touched.
    pub scope: EffectScope,
    /// Absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}
