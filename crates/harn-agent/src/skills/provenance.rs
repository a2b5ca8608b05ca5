//! Who signed a skill, and whether that is enough.

use harn_llm::options::value::{display, truthy};
use serde_json::{Value, json};

use super::entry::Skill;

/// Who signed a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Whether there is a signature that is about this text.
    pub signed: bool,
    /// Whether the signer is known and the signature is right.
    pub trusted: bool,
    /// The key of the signer, in short.
    pub signer_fingerprint: Option<String>,
    /// What is wrong with the signature.
    pub error: Option<String>,
}

/// Why a skill that must be signed is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// Nobody signed it.
    Unsigned(String),
    /// Somebody signed it who is not trusted.
    Untrusted(String),
}

impl SignatureError {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unsigned(_) => "UnsignedSkillError",
            Self::Untrusted(_) => "UntrustedSignerError",
        }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        match self {
            Self::Unsigned(message) | Self::Untrusted(message) => message,
        }
    }
}

impl Provenance {
    /// Reads what an entry says about it. What is not said is not so.
    pub fn read(value: &Value) -> Self {
        let text = |key: &str| match &value[key] {
            Value::Null => None,
            value => Some(display(value)),
        };
        Self {
            signed: truthy(&value["signed"]),
            trusted: truthy(&value["trusted"]),
            signer_fingerprint: text("signer_fingerprint"),
            error: text("error"),
        }
    }

    /// As an entry says it.
    pub fn to_value(&self) -> Value {
        let mut value = json!({"signed": self.signed, "trusted": self.trusted});
        if let Some(fingerprint) = &self.signer_fingerprint {
            value["signer_fingerprint"] = json!(fingerprint);
        }
        if let Some(error) = &self.error {
            value["error"] = json!(error);
        }
        value
    }
}

impl Skill {
    /// Whether it may be used as far as signatures go. `is_asked` says that somebody asks for
    /// one whatever the skill says.
    ///
    /// # Errors
    /// It must be signed and is not, or not by somebody who is trusted.
    pub fn check_signature(&self, is_asked: bool) -> Result<(), SignatureError> {
        let is_needed = is_asked || self.require_signature || !self.trusted_signers.is_empty();
        let Provenance {
            signed,
            trusted,
            signer_fingerprint,
            error,
        } = &self.provenance;
        if !is_needed || (*signed && *trusted) {
            return Ok(());
        }
        let told = |otherwise: String| error.clone().unwrap_or(otherwise);
        let id = self.id();
        Err(match signed {
            false => {
                SignatureError::Unsigned(told(format!("skill '{id}' is missing a valid signature")))
            }
            true => {
                let signer = signer_fingerprint.as_deref().unwrap_or("unknown");
                SignatureError::Untrusted(told(format!(
                    "skill '{id}' was signed by untrusted signer {signer}"
                )))
            }
        })
    }
}
