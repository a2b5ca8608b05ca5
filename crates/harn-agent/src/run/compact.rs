//! Shortens the conversation of a loop when it has become too long.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use harn_llm::desk::{Desk, Thrown};
use harn_llm::options::CallOptions;
use harn_llm::{Output, Request};
use serde_json::json;

use super::{Run, overflow, texts};
use crate::callback::BoxFuture;
use crate::compaction::{self, Compacted, Mode, Strategy, Summarizer, Template};
use crate::fence::{Fenced, refused};
use crate::runtime::Runtime;
use crate::session::{Change, StoredReply};

/// Bytes that make a token, by estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// Why a conversation is compacted that has become long.
const THRESHOLD: &str = "threshold";

/// Before a model is asked, at the threshold.
pub(super) async fn before_call(run: &Run<'_>, system: Option<&str>) -> Result<(), Thrown> {
    let Some(policy) = &run.compaction else {
        return Ok(());
    };
    if size(run, system) >= policy.threshold_tokens {
        compact(run, policy, (Mode::Preflight, THRESHOLD)).await?;
    }
    Ok(())
}

/// After a turn with calls, and when a daemon begins to wait, beyond the threshold.
pub(super) async fn after_turn(run: &Run<'_>) -> Result<(), Thrown> {
    let Some(policy) = &run.compaction else {
        return Ok(());
    };
    if size(run, run.system_prompt().as_deref()) > policy.threshold_tokens {
        compact(run, policy, (Mode::Auto, THRESHOLD)).await?;
    }
    Ok(())
}

/// After a model was given more than it can read; gives how many messages were archived. What
/// was kept the time before was still too much, so each attempt keeps half of that.
pub(super) async fn after_overflow(run: &Run<'_>, attempt: u32) -> Result<usize, Thrown> {
    let Some(policy) = &run.compaction else {
        return Ok(0);
    };
    let mut policy = compaction::Policy::clone(policy);
    policy.keep_last >>= attempt - 1;
    let why = (Mode::Host, "context_overflow");
    match compact(run, &policy, why).await {
        // Whoever sums up reads nearly as much as the model was given.
        Err(thrown) if overflow::is_overflow(&thrown) => {
            policy.strategy = Strategy::Truncate;
            policy.hard_limit_strategy = Strategy::Truncate;
            compact(run, &policy, why).await
        }
        outcome => outcome,
    }
}

fn size(run: &Run<'_>, system: Option<&str>) -> u64 {
    let messages = run.session.read(|state| state.messages.clone());
    let mut tokens = run
        .messages_tokens
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    tokens.of(&messages) + system.map_or(0, |system| system.len() as u64 / BYTES_PER_TOKEN)
}

/// Compacts, and tells who does that and why; gives how many messages were archived.
async fn compact(
    run: &Run<'_>,
    policy: &compaction::Policy,
    (mode, reason): (Mode, &str),
) -> Result<usize, Thrown> {
    let messages = run.session.read(|state| state.messages.to_vec());
    let summarizer = Model::of(run);
    let Some(compacted) = compaction::compact(policy, &messages, &summarizer).await? else {
        return Ok(0);
    };
    write_down(run, &compacted, mode);
    let event = compacted.agent_event(run.session.id(), mode, reason, None);
    run.emit(event).await;
    run.session.barrier().await;
    Ok(compacted.reported_archived)
}

fn write_down(run: &Run<'_>, compacted: &Compacted, mode: Mode) {
    let (keep_first, split) = (compacted.keep_first, compacted.split);
    let replaced = run.session.read(|state| {
        let origins = state.origins.get(keep_first..split).unwrap_or_default();
        let first = origins.first().map_or(0, |(first, _)| *first);
        let last = origins.last().map_or(first, |(_, last)| *last);
        (first, last)
    });
    let message = texts::user(compacted.summary.clone());
    run.session.record(Change::Compacted {
        keep_first,
        split,
        replaced,
        message,
    });
    run.session.record(Change::SummaryAdded {
        more: compacted.summary.clone(),
    });
    let mut id = || run.runtime.new_id();
    let event = compacted.transcript_event(mode, &mut id);
    run.session.record(Change::EventAdded {
        event: event.into(),
    });
    let mut traced = compacted.metadata(mode);
    traced["type"] = json!("context_compaction");
    run.trace(traced);
}

/// Summarises with the model of the loop.
pub(crate) struct Model<'a> {
    desk: &'a Arc<Desk>,
    /// The loop that it is asked for, if it is asked for one.
    run: Option<&'a Run<'a>>,
    call: CallOptions,
    folder: &'a Path,
    fence: &'a Fenced,
}

impl<'a> Model<'a> {
    fn of(run: &'a Run<'_>) -> Self {
        Self {
            run: Some(run),
            ..Self::new(run.runtime, &run.call)
        }
    }

    /// Summarises with whom a call asks.
    pub(crate) fn new(runtime: &'a Runtime, call: &CallOptions) -> Self {
        let request = Request {
            model: call.request.model.clone(),
            sampling: call.request.sampling.clone(),
            stream: call.request.stream,
            extra: call.request.extra.clone(),
            output: Output::Text,
            ..Request::default()
        };
        let call = CallOptions {
            request,
            native_tools: None,
            search: None,
            structured: Default::default(),
            structural_experiment: None,
            ..call.clone()
        };
        Self {
            desk: &runtime.desk,
            run: None,
            call,
            folder: &runtime.folder,
            fence: &runtime.fence,
        }
    }
}

impl Summarizer for Model<'_> {
    fn summarize(&self, prompt: String) -> BoxFuture<'_, Result<String, Thrown>> {
        Box::pin(async move {
            let mut call = self.call.clone();
            call.request.messages = vec![texts::user(prompt)].into();
            if let Some(run) = self.run {
                run.secure_answers().await;
            }
            let answer = self.desk.turn(&call, &mut |_| {}).await?;
            if let Some(run) = self.run {
                let (provider, model) = (&answer.provider, &answer.model);
                run.hear("summary", StoredReply::of(&answer.reply, provider, model));
            }
            Ok(answer.reply.text)
        })
    }

    fn template(&self, path: &str) -> Result<Template, Thrown> {
        let place = self.folder.join(path);
        self.fence.read(&place).map_err(refused)?;
        let read = || {
            let text = std::fs::read_to_string(&place)?;
            let path = std::path::absolute(&place)?;
            Ok(Template { path, text })
        };
        read().map_err(|error: std::io::Error| {
            Thrown::Runtime(format!("summarize_prompt '{path}': {error}"))
        })
    }
}
