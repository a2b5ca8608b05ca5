//! Asks a model for a verdict.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use harn_llm::desk::Question;
use harn_llm::options::ReplyListener;
use serde_json::{Map, Value, json};

use super::super::{Run, model_call};
use crate::session::StoredReply;

/// What a model is asked.
pub(super) struct Case<'a> {
    pub(super) system: String,
    pub(super) prompt: String,
    pub(super) schema: Value,
    /// Options of the judge: `provider`, `model`, …
    pub(super) config: &'a Map<String, Value>,
    /// How long it may take.
    pub(super) timeout_ms: Option<u64>,
}

/// The options that a judge may have of its own.
const OWN_OPTIONS: &[&str] = &[
    "provider",
    "model",
    "temperature",
    "max_tokens",
    "llm_retries",
    "schema_retries",
];

/// Asks; gives what the model said, or why it could not be asked. What that costs counts.
pub(super) async fn ask(run: &Run<'_>, case: Case<'_>) -> Result<Value, String> {
    let mut options = Map::new();
    options.insert("provider".to_owned(), json!(run.call.provider));
    options.insert("model".to_owned(), json!(run.call.request.model));
    options.insert("schema_retries".to_owned(), json!(1));
    for key in OWN_OPTIONS {
        if let Some(value) = case.config.get(*key).filter(|value| !value.is_null()) {
            options.insert((*key).to_owned(), value.clone());
        }
    }
    let question = Question {
        prompt: case.prompt,
        system: Some(case.system),
        options,
        replies: Some(listener(run)),
    };
    run.secure_answers().await;
    let desk = &run.runtime.desk;
    // In a box: few loops have a judge, and every turn would carry the room for one.
    run.answers_secured.store(false, Ordering::Relaxed);
    let asking = Box::pin(desk.call_structured_result(&question, &case.schema));
    let mut answer = match case.timeout_ms {
        None => asking.await,
        Some(timeout_ms) => tokio::select! {
            biased;
            answer = asking => answer,
            () = run.runtime.sleep(Duration::from_millis(timeout_ms)) => {
                return Err(format!("no answer within {timeout_ms} ms"));
            }
        },
    };
    let tokens = |key: &str| answer["usage"][key].as_u64().unwrap_or(0);
    let tokens = tokens("input_tokens") + tokens("output_tokens");
    run.set_controls(|state| state.tokens += tokens);
    match answer["ok"] == true {
        true => Ok(answer["data"].take()),
        false => Err(answer["error"].as_str().unwrap_or_default().to_owned()),
    }
}

/// Writes down each answer, those that the judge is asked to correct included.
fn listener(run: &Run<'_>) -> ReplyListener {
    let session = Arc::clone(&run.session);
    ReplyListener::new(move |reply, provider, model| {
        model_call::hear(&session, "judge", StoredReply::of(reply, provider, model));
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use harn_options::{COMPLETION_JUDGE, MODEL_CALL, SCOPE_CLASSIFIER, TURN_END_CONDITION};

    use super::OWN_OPTIONS;

    /// What a judge may be told that is for its model reaches the model.
    #[test]
    fn every_option_of_a_judge_that_its_model_call_has_is_handed_on() {
        let handed_on: BTreeSet<&str> = OWN_OPTIONS.iter().copied().collect();
        for table in [&COMPLETION_JUDGE, &TURN_END_CONDITION, &SCOPE_CLASSIFIER] {
            let is_of_calls = |name: &&str| MODEL_CALL.keys.iter().any(|key| key.name == *name);
            let names = table.keys.iter().map(|key| key.name).filter(is_of_calls);
            assert_eq!(names.collect::<BTreeSet<_>>(), handed_on, "{}", table.name);
        }
    }
}
