//! What becomes of a result.

use harn_events::{AgentEvent, ToolCallErrorCategory};
use harn_llm::desk::{Thrown, ToolExecution};
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::{CallResult, Turn};
use super::events::Ending;
use super::execute::Executed;
use super::gates::Started;
use super::tell_result;
use crate::microcompact::{self, compress};
use crate::own_tools;
use crate::plan;
use crate::session::{About, CallOutcome, Change};
use crate::shown::Shown;

/// Shortens a result, shows it to hooks, and tells and records what came of the call.
pub(super) async fn finish(
    run: &Run<'_>,
    turn: &mut Turn,
    started: Started,
    executed: Executed,
) -> Result<(), Thrown> {
    if started.skip.is_some() {
        return finish_skipped(run, turn, started).await;
    }
    let call = started.call().clone();
    let text = shorten(run, &call.name, executed.text).await;
    let hooks = run.runtime.hook_chain();
    let text = hooks
        .post_tool(
            &call.name,
            &call.arguments,
            text,
            &microcompact::microcompact,
        )
        .await?;
    let outcome = match (executed.is_rejected, is_error(&text)) {
        (true, _) => CallOutcome::Rejected,
        (false, true) => CallOutcome::Error,
        (false, false) => CallOutcome::Ok,
    };
    let failure = executed.failure.or_else(|| {
        (outcome == CallOutcome::Error).then(|| (text.clone(), ToolCallErrorCategory::ToolError))
    });
    let (error, category) = failure.unzip();
    let now = run.runtime.now_ms();
    run.tell_ending(
        &call,
        Ending {
            raw_output: Some(raw_output(&text, &call.model_id, &executed.shown)),
            error,
            category,
            duration_ms: Some(millis(now - started.began_ms)),
            execution_duration_ms: Some(millis(executed.took_ms)),
            executor: Some(started.backend.executor()),
        },
    )
    .await;
    if own_tools::is_plan_tool(&call.name) && outcome == CallOutcome::Ok {
        tell_plan(run, &call).await;
    }
    run.tell_audit(&call, executed.audit).await;
    let shown = run.detect_loop(&call.name, &call.arguments, &text);
    run.note_exit_code(&call.name, &text);
    run.runtime.desk.note_execution(ToolExecution {
        tool_name: call.name.clone(),
        tool_use_id: call.model_id.clone(),
        duration_ms: executed.took_ms,
        status: outcome.word(),
        iteration: turn.iteration,
    });
    conclude(run, turn, &call, outcome, category, &shown).await;
    Ok(())
}

/// What readers see of a result.
fn raw_output(text: &str, model_id: &str, shown: &[Shown]) -> Value {
    let mut output = json!({"text": text, "tool_use_id": model_id});
    if !shown.is_empty() {
        output[Shown::KEY] = json!(shown);
    }
    output
}

/// Records a result and tells it to the model.
async fn conclude(
    run: &Run<'_>,
    turn: &mut Turn,
    call: &super::Call,
    outcome: CallOutcome,
    category: Option<ToolCallErrorCategory>,
    text: &str,
) {
    turn.results.push(CallResult {
        name: call.name.clone(),
        outcome,
    });
    let about = About::Execution {
        tool_name: call.name.clone(),
        tool_use_id: call.model_id.clone(),
        rejected: outcome == CallOutcome::Rejected,
        error_category: category,
    };
    run.note_execution(text, about);
    run.session.record(Change::CallFinished {
        id: call.id.clone(),
        name: call.name.clone(),
        outcome,
        text: text.to_owned(),
    });
    tell_result(run, turn, call, text);
    // A finished call is never made again, also not after a crash: that it began is durable
    // already. Its result becomes so while the model is asked what to do with it.
    run.session.sync_soon();
}

/// A call that was not made because it has given the same result too often.
async fn finish_skipped(run: &Run<'_>, turn: &mut Turn, started: Started) -> Result<(), Thrown> {
    let Started { call, skip, .. } = started;
    let Some(skip) = skip else { return Ok(()) };
    let category = ToolCallErrorCategory::RejectedLoop;
    run.tell_ending(
        &call,
        Ending {
            raw_output: Some(skip.raw_output()),
            error: Some(skip.error()),
            category: Some(category),
            duration_ms: Some(millis(run.runtime.now_ms() - started.began_ms)),
            execution_duration_ms: None,
            executor: None,
        },
    )
    .await;
    run.intervene("skip", &call.name, skip.count);
    let outcome = CallOutcome::Error;
    conclude(run, turn, &call, outcome, Some(category), &skip.text).await;
    Ok(())
}

async fn shorten(run: &Run<'_>, tool: &str, text: String) -> String {
    let max = run.options.tool_output_max_chars;
    match text.len() > max {
        true => compress(tool, &text, max, run.options.compress.as_deref()).await,
        false => text,
    }
}

fn is_error(text: &str) -> bool {
    text.starts_with("Error:") || text.starts_with("ERROR:")
}

async fn tell_plan(run: &Run<'_>, call: &super::Call) {
    let artifact = plan::plan_artifact(&call.name, &call.arguments);
    let metadata = json!({
        "plan": artifact,
        "entries": plan::plan_entries(&artifact),
        "tool_name": call.name,
        "tool_use_id": call.model_id,
    });
    let rendered = plan::render_plan(&artifact);
    run.note("plan", "assistant", "public", &rendered, Some(metadata));
    run.emit(AgentEvent::Plan {
        session_id: run.id(),
        plan: artifact,
    })
    .await;
}

fn millis(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}

impl Run<'_> {
    /// Counts a result; gives what the model reads, which may be a warning.
    fn detect_loop(&self, tool: &str, arguments: &serde_json::Value, text: &str) -> String {
        let thresholds = self.options.loop_detection;
        let Some(seen) = thresholds.sees(tool, arguments, text) else {
            return text.to_owned();
        };
        let (key, result) = (seen.key.clone(), seen.result);
        self.session.record(Change::ResultSeen { key, result });
        let count = self
            .session
            .read(|state| state.run.loop_detector.count_of(&seen.key));
        match thresholds.told(tool, text, count) {
            Some(told) => {
                self.intervene("warn", tool, count);
                told
            }
            None => text.to_owned(),
        }
    }

    fn intervene(&self, stage: &str, tool: &str, count: u64) {
        self.trace(json!({
            "type": "loop_intervention",
            "tool_name": tool,
            "kind": stage,
            "count": count,
        }));
    }

    /// The status of a verification, by what the tool `run` says.
    fn note_exit_code(&self, tool: &str, text: &str) {
        if tool != "run" || !self.options.exit_when_verified {
            return;
        }
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let code = match () {
            () if says(&["exit_code=0", "Command succeeded", "success=true"]) => 0,
            () if says(&["Command failed", "success=false", "exit_code="]) => 1,
            () => return,
        };
        self.session.record(Change::ExitCodeSeen { code });
    }
}
