//! What a person says.

use harn_machine::Value;
use sha2::{Digest, Sha256};

use crate::encoding::hex;
use crate::people::field;

/// Who is meant if a response does not say who it is from.
const NOBODY: &str = "unknown";

/// What a person says.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) answer: Value,
    pub(super) approved: bool,
    pub(super) accepted: bool,
    pub(super) reviewer: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) responded_at: String,
    signature: Option<String>,
}

impl Response {
    /// The response that a dict describes. Without a time it was given now.
    pub(super) fn read(fields: &Value, now: &str) -> Self {
        let text = |name: &str| field(fields, name).map(|value| value.to_text().to_string());
        let holds = |name: &str| field(fields, name).is_some_and(Value::is_truthy);
        Self {
            answer: field(fields, "answer").cloned().unwrap_or_default(),
            approved: holds("approved"),
            accepted: holds("accepted"),
            reviewer: text("reviewer"),
            reason: text("reason"),
            responded_at: text("responded_at").unwrap_or_else(|| now.to_owned()),
            signature: text("signature"),
        }
    }

    /// Who has said it.
    pub(super) fn reviewer_name(&self) -> String {
        self.reviewer.clone().unwrap_or_else(|| NOBODY.to_owned())
    }

    /// Who has approved, when, and what proves it.
    pub(super) fn signed(&self, request_id: &str) -> Value {
        let reviewer = self.reviewer_name();
        let signed_at = &self.responded_at;
        let signature = self.signature.clone().unwrap_or_else(|| {
            let reason = self.reason.as_deref().unwrap_or_default();
            signature(request_id, &reviewer, signed_at, reason)
        });
        Value::dict([
            ("reviewer", reviewer.into()),
            ("signed_at", signed_at.as_str().into()),
            ("signature", signature.into()),
        ])
    }
}

/// What stands for a signature: anybody can compute it from what was approved.
fn signature(request_id: &str, reviewer: &str, signed_at: &str, reason: &str) -> String {
    let text = format!(
        "harn-hitl-approval-v1\nrequest_id:{request_id}\nreviewer:{reviewer}\n\
         signed_at:{signed_at}\napproved:true\nreason:{reason}\n"
    );
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256:{}", hex::encode(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_digest_of_what_was_approved() {
        // printf 'harn-hitl-approval-v1\nrequest_id:r\n…' | sha256sum
        assert_eq!(
            signature("r", "ada", "2026-01-01T00:00:00Z", "fine"),
            "sha256:3478482aa483c766531ca86256a198e58450fdda86f3688ee6b6b36aa9c510c5"
        );
    }
}
