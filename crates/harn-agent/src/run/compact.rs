//! Shortens the conversation of a loop when it has become too long.

use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

use harn_llm::desk::{Desk, Thrown};
use harn_llm::options::CallOptions;
use harn_llm::transcript::runtime_event;
use harn_llm::{Output, Request};
use serde_json::json;

use super::{Run, overflow, texts};
use crate::callback::BoxFuture;
use crate::compaction::{self, Compacted, Mode, Strategy, Summarizer, Template};
use crate::fence::{Fenced, refused};
use crate::real_path::read_text;
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
    match size(run, system) >= policy.threshold_tokens {
        true => at_threshold(run, policy, system, Mode::Preflight).await,
        false => Ok(()),
    }
}

/// After a turn with calls, and when a daemon begins to wait, beyond the threshold.
pub(super) async fn after_turn(run: &Run<'_>) -> Result<(), Thrown> {
    let Some(policy) = &run.compaction else {
        return Ok(());
    };
    let system = run.system_prompt();
    match size(run, system.as_deref()) > policy.threshold_tokens {
        true => at_threshold(run, policy, system.as_deref(), Mode::Auto).await,
        false => Ok(()),
    }
}

/// Compacts at the threshold, unless that was of no use and little has been said since.
async fn at_threshold(
    run: &Run<'_>,
    policy: &compaction::Policy,
    system: Option<&str>,
    mode: Mode,
) -> Result<(), Thrown> {
    if !backoff(run).allows(size(run, system)) {
        return Ok(());
    }
    if compact(run, policy, (mode, THRESHOLD)).await? == 0 {
        return Ok(());
    }
    let left = size(run, system);
    let put_off = backoff(run).note(left, policy.threshold_tokens);
    if let Some(until) = put_off {
        tell_put_off(run, mode, left, until);
    }
    Ok(())
}

fn backoff<'a>(run: &'a Run<'_>) -> MutexGuard<'a, Backoff> {
    let backoff = run.compaction_backoff.lock();
    backoff.unwrap_or_else(PoisonError::into_inner)
}

/// Notes in the transcript why a conversation that is too long is left as it is.
fn tell_put_off(run: &Run<'_>, mode: Mode, left: u64, until: u64) {
    let text = format!(
        "Compaction put off until {until} tokens: {left} were left, which is not below the threshold"
    );
    let metadata = json!({
        "mode": mode.name(),
        "put_off": true,
        "estimated_tokens_after": left,
        "next_at_tokens": until,
    });
    let mut id = || run.runtime.new_id();
    let event = runtime_event(
        "compaction_put_off",
        "system",
        "internal",
        &text,
        Some(metadata),
        &mut id,
    );
    run.session.record(Change::EventAdded {
        event: event.into(),
    });
}

/// When a conversation is compacted again that is still too long after it was. What is kept at
/// its end can be longer than the threshold alone, and then a model would be asked for a summary
/// at every seam, each time of the summary before.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// From which size on, in tokens; 0: from the threshold on.
    from_tokens: u64,
    /// How often in a row it was of no use.
    failures: u32,
}

impl Backoff {
    /// How often the growth is doubled that is waited for.
    const DOUBLINGS_MAX: u32 = 3;

    fn allows(&self, tokens: u64) -> bool {
        tokens >= self.from_tokens
    }

    /// So many tokens are left. If that is still too much, gives at which size it is tried again.
    fn note(&mut self, left: u64, threshold: u64) -> Option<u64> {
        if left < threshold {
            *self = Self::default();
            return None;
        }
        let growth = (threshold / 4).max(1) << self.failures.min(Self::DOUBLINGS_MAX);
        self.failures += 1;
        self.from_tokens = left.saturating_add(growth);
        Some(self.from_tokens)
    }
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
            let text = read_text(&place)?;
            let path = std::path::absolute(&place)?;
            Ok(Template { path, text })
        };
        read().map_err(|error: std::io::Error| {
            Thrown::Runtime(format!("summarize_prompt '{path}': {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;

    #[test]
    fn what_compacting_has_not_made_short_is_left_until_it_has_grown() {
        let mut backoff = Backoff::default();
        assert!(backoff.allows(1000));
        assert_eq!(backoff.note(1200, 1000), Some(1450));
        assert!(!backoff.allows(1449) && backoff.allows(1450));
        assert_eq!(backoff.note(1460, 1000), Some(1960));
        assert_eq!(backoff.note(900, 1000), None);
        assert!(backoff.allows(1000));
    }
}
