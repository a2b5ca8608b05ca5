//! What a model sees of a transcript.
//!
//! The transcript stays as it is. A policy decides for each message whether the model sees it,
//! sees something else in its place, or sees nothing. Two rules stand above every policy: a call
//! and its result go together, and what a provider has signed is never touched. A projection
//! that would touch it shows the model everything.

mod custom;
mod garbage;
mod pairs;
mod policy;
mod prefix;
mod repair;
mod signed;
#[cfg(test)]
mod tests;
mod view;

use harn_llm::desk::Thrown;
use harn_llm::options::value::Options;
use harn_llm::sorted_json;
use harn_llm::transcript::{NewId, runtime_event};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use self::policy::Policy;
use self::view::View;
use super::{Call, NewSharedId, is_transcript, messages, messages_tokens, summary};
use crate::callback::Functions;

/// `transcript_project(t, policy)`, with any policy. The functions are those of the policy,
/// which may also be a function itself.
pub async fn project(
    transcript: &Value,
    policy: &Value,
    functions: &Functions,
    new_id: &NewSharedId<'_>,
) -> Result<Value, Thrown> {
    let meant = checked(transcript, policy, functions)?;
    let view = match meant {
        Policy::Custom => custom::view(messages(transcript), functions).await?,
        _ => built_in(meant, transcript, policy),
    };
    Ok(result(meant, transcript, view, &mut || new_id()))
}

/// The same without functions; `None` if the policy needs one.
pub(super) fn answer(call: Call<'_>, new_id: &mut NewId<'_>) -> Option<Result<Value, Thrown>> {
    let (transcript, policy) = (call.argument(0), call.argument(1));
    match checked(transcript, policy, &Functions::default()) {
        Err(thrown) => Some(Err(thrown)),
        Ok(Policy::Custom) => None,
        Ok(meant) => {
            let view = built_in(meant, transcript, policy);
            Some(Ok(result(meant, transcript, view, new_id)))
        }
    }
}

/// The policy that is meant, for what is a transcript.
fn checked(transcript: &Value, policy: &Value, functions: &Functions) -> Result<Policy, Thrown> {
    if !is_transcript(transcript) {
        return Err(Thrown::Plain(
            "transcript_project: argument must be a transcript".to_owned(),
        ));
    }
    Policy::meant(policy, functions)
}

/// What a policy of ours leaves; `options` is the policy as the program wrote it.
fn built_in(policy: Policy, transcript: &Value, options: &Value) -> View {
    let empty = Map::new();
    let options = Options(options.as_object().unwrap_or(&empty));
    let messages = messages(transcript);
    match policy {
        Policy::Raw | Policy::Custom => View::of(messages, Vec::new()),
        Policy::CleanToolRepair => repair::clean(messages),
        Policy::SquashFailedCalls => repair::squash(messages),
        Policy::SummaryPrefix => prefix::summarised(messages, summary(transcript), options),
        Policy::ReachabilityGc => garbage::collect(messages, options),
    }
}

fn result(policy: Policy, transcript: &Value, view: View, new_id: &mut NewId<'_>) -> Value {
    let before = messages(transcript);
    let is_blocked = view.touches_signed;
    let view = match is_blocked {
        true => View::of(before, Vec::new()),
        false => view,
    };
    let reclaimed = messages_tokens(before).saturating_sub(messages_tokens(&view.messages));
    let mut result = json!({
        "policy": policy.name(),
        "kept_count": view.kept,
        "dropped_count": view.dropped,
        "redacted_count": view.redacted,
        "reclaimed_tokens": reclaimed,
        "prefix_hash": hash(&view.messages),
        "provider_safety_blocked": is_blocked,
    });
    let is_effective = view.messages != before;
    let event = is_effective.then(|| event(policy, &result, new_id));
    result["event"] = json!(event);
    result["messages"] = Value::Array(view.messages);
    result
}

/// What a transcript keeps of a projection.
fn event(policy: Policy, numbers: &Value, new_id: &mut NewId<'_>) -> Value {
    runtime_event(
        "transcript.projection",
        "system",
        "internal",
        &format!("Transcript projected via {}", policy.name()),
        Some(numbers.clone()),
        new_id,
    )
}

fn hash(messages: &[Value]) -> String {
    let text = sorted_json(&Value::Array(messages.to_vec()));
    let digest = Sha256::digest(text);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
