//! Transcripts and their compaction.

use std::sync::Arc;

use harn_llm::desk::{Question, Thrown};
use harn_llm::options::CallOptions;
use serde_json::{Map, Value};

use super::Asked;
use crate::compaction::{Mode, transcript_auto_compact, transcript_compact, transcript_summarize};
use crate::run::Model;
use crate::runtime::Runtime;
use crate::transcript::{self, projection};

/// Answers; `None` if it is no question about transcripts.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    let new_id = || runtime.new_id();
    Some(match &*asked.builtin {
        "transcript_compact" => compact(runtime, asked).await,
        "transcript_auto_compact" => {
            let call = model_call(runtime, asked.argument(1), "compact_strategy");
            let model = match call {
                Ok(call) => Model::new(runtime, &call),
                Err(thrown) => return Some(Err(thrown)),
            };
            let functions = asked.functions.below("/1");
            let (messages, options) = (asked.argument(0), asked.argument(1));
            transcript_auto_compact(messages, options, &functions, &model).await
        }
        "transcript_summarize" => {
            let call = prepare(runtime, asked.argument(1));
            let model = match call {
                Ok(call) => Model::new(runtime, &call),
                Err(thrown) => return Some(Err(thrown)),
            };
            let (transcript, options) = (asked.argument(0), asked.argument(1));
            transcript_summarize(transcript, options, &model, &new_id).await
        }
        "transcript_project" => {
            let functions = asked.functions.below_or_at("/1");
            projection::project(asked.argument(0), asked.argument(1), &functions, &new_id).await
        }
        builtin => {
            let mut new_id = new_id;
            return transcript::answer(builtin, &asked.arguments, &mut new_id);
        }
    })
}

async fn compact(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let call = model_call(runtime, asked.argument(1), "strategy")?;
    let model = Model::new(runtime, &call);
    let new_id = || runtime.new_id();
    let functions = asked.functions.below("/1");
    let (transcript, options) = (asked.argument(0), (asked.argument(1), &functions));
    let compacted = transcript_compact(transcript, options, &model, &new_id).await?;
    if let Some((done, asset_id)) = &compacted.done {
        let session_id = transcript["id"].as_str().unwrap_or_default();
        let event = done.agent_event(session_id, Mode::Manual, "manual", Some(asset_id.clone()));
        runtime.bus.emit_and_await(&event).await;
    }
    Ok(compacted.transcript)
}

/// Whom to ask for a summary. Strategies that ask nobody need nobody who could be asked.
fn model_call(runtime: &Runtime, options: &Value, key: &str) -> Result<CallOptions, Thrown> {
    let strategy = options.get(key).or_else(|| options.get("compact_strategy"));
    match strategy.and_then(Value::as_str) {
        Some("llm") => prepare(runtime, options),
        _ => Ok(CallOptions::default()),
    }
}

fn prepare(runtime: &Runtime, options: &Value) -> Result<CallOptions, Thrown> {
    let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
    runtime.desk.prepare(&Question {
        prompt: String::new(),
        system: None,
        options,
        replies: None,
    })
}
