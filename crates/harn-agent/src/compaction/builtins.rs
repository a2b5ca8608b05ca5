//! The builtins that compact what a program holds in its hands.

use harn_llm::desk::Thrown;
use harn_llm::options::value::Options;
use serde_json::{Map, Value, json};

use super::engine::{Compacted, Summarizer, compact};
use super::options::ManualOptions;
use super::policy::Policy;
use super::prompt;
use super::report::Mode;
use crate::callback::Functions;
use crate::transcript::{
    NewSharedId, add_asset, asset, is_transcript, messages, messages_tokens, push_event, rebuild,
    summary, with_more_summary,
};

/// What `transcript_compact` gives, and what there is to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptCompaction {
    /// The result of the builtin.
    pub transcript: Value,
    /// What was done, and the id of the asset that has the transcript of before. `None`: the
    /// transcript is the same, and nobody is told anything.
    pub done: Option<(Compacted, String)>,
}

/// `transcript_compact(t, opts?)`.
pub async fn transcript_compact(
    transcript: &Value,
    (opts, functions): (&Value, &Functions),
    summarizer: &dyn Summarizer,
    new_id: &NewSharedId<'_>,
) -> Result<TranscriptCompaction, Thrown> {
    if !is_transcript(transcript) {
        return Err(Thrown::Plain(
            "transcript_compact: first argument must be a transcript".to_owned(),
        ));
    }
    let options = ManualOptions::parse(opts, functions)?;
    let unchanged = TranscriptCompaction {
        transcript: transcript.clone(),
        done: None,
    };
    let messages = messages(transcript);
    let is_small = |target| messages_tokens(messages) <= target;
    if options.target_tokens.is_some_and(is_small) {
        return Ok(unchanged);
    }
    match compact(&options.policy, messages, summarizer).await? {
        None => Ok(unchanged),
        Some(compacted) => Ok(written_down(transcript, &options, compacted, new_id)),
    }
}

/// The transcript after a compaction, with the one of before inside it.
fn written_down(
    original: &Value,
    options: &ManualOptions,
    compacted: Compacted,
    new_id: &NewSharedId<'_>,
) -> TranscriptCompaction {
    let mut new_id = || new_id();
    let snapshot_id = format!("compaction-source-{}", new_id());
    let mut metadata = compacted.metadata(Mode::Manual);
    metadata["snapshot_asset_id"] = json!(snapshot_id);
    let snapshot = json!({
        "id": snapshot_id,
        "kind": "compaction_source_transcript",
        "title": "Pre-compaction transcript",
        "data": original,
        "metadata": metadata,
    });
    let mut transcript = rebuild(original, compacted.messages.clone(), &mut new_id);
    add_asset(&mut transcript, asset(&snapshot, &mut new_id));
    let text = format!("Transcript compacted via {}", compacted.strategy);
    let event = compacted.event_saying(&text, metadata, &mut new_id);
    push_event(&mut transcript, event);
    let made = || with_more_summary(summary(original), &compacted.summary);
    transcript["summary"] = json!(options.summary.clone().unwrap_or_else(made));
    TranscriptCompaction {
        transcript,
        done: Some((compacted, snapshot_id)),
    }
}

/// `transcript_auto_compact(messages, opts?)`. The functions are those of `opts`.
pub async fn transcript_auto_compact(
    messages: &Value,
    opts: &Value,
    functions: &Functions,
    summarizer: &dyn Summarizer,
) -> Result<Value, Thrown> {
    let Value::Array(messages) = messages else {
        return Err(Thrown::Plain(
            "transcript_auto_compact: first argument must be a message list".to_owned(),
        ));
    };
    let policy = Policy::for_messages(opts, functions)?;
    let compacted = compact(&policy, messages, summarizer).await?;
    Ok(compacted.map_or_else(|| json!(messages), |compacted| json!(compacted.messages)))
}

/// How many messages `transcript_summarize` keeps, if nobody says.
const SUMMARIZE_KEEP_LAST: u64 = 6;

/// `transcript_summarize(t, opts?)`.
pub async fn transcript_summarize(
    transcript: &Value,
    opts: &Value,
    summarizer: &dyn Summarizer,
    new_id: &NewSharedId<'_>,
) -> Result<Value, Thrown> {
    if !is_transcript(transcript) {
        return Err(Thrown::Plain(
            "transcript_summarize: argument must be a transcript".to_owned(),
        ));
    }
    let empty = Map::new();
    let options = Options(opts.as_object().unwrap_or(&empty));
    let question = options.given_text("prompt");
    let question = question.as_deref().unwrap_or(prompt::SUMMARIZE);
    let messages = messages(transcript);
    let conversation = prompt::conversation(messages);
    let request = format!("{question}\n\nConversation:\n{conversation}");
    let answer = summarizer.summarize(request).await?;
    let keep_last = options.count("keep_last").unwrap_or(SUMMARIZE_KEEP_LAST);
    let keep_last = usize::try_from(keep_last).unwrap_or(usize::MAX);
    let archived = messages.len().saturating_sub(keep_last);
    let mut result = rebuild(transcript, messages[archived..].to_vec(), &mut || new_id());
    result["summary"] = json!(answer);
    result["archived_messages"] = json!(archived);
    Ok(result)
}
