//! The end of a loop: its status and its result.

use harn_llm::desk::Thrown;
use harn_llm::grammar::visible;
use serde_json::{Value, json};

use super::post_turn::distinct;
use super::{Delivered, Run, daemon};
use crate::host::Seam;
use crate::session::Change;

/// Ends a loop with a status and gives its result.
pub(super) async fn finish(run: &Run<'_>, status: String) -> Result<Value, Thrown> {
    let audited = take_late_messages(run);
    let status = settle_status(run, status);
    daemon::finish(run, &status).await?;
    run.session.record(Change::TranscriptStateSet {
        state: match &*status {
            "done" => "active".to_owned(),
            _ => "paused".to_owned(),
        },
    });
    run.session.record(Change::RunEnded {
        status: status.clone(),
    });
    let duration_ms = run.runtime.now_ms() - run.started_ms;
    let iterations = run.session.read(|state| state.run.total_iterations);
    run.trace(json!({
        "type": "loop_complete",
        "status": status,
        "iterations": iterations,
        "total_duration_ms": duration_ms,
    }));
    let last = run.session.read(|state| state.run.iteration + 1);
    let last = last.min(run.options.max_iterations);
    let delivered = Delivered {
        host: audited,
        ..Delivered::default()
    };
    run.runtime.bus.close_abandoned_calls(run.session.id());
    run.pass("loop_exit", last, delivered).await;
    Ok(result(run, &status, duration_ms))
}

/// Messages of the host that came too late for this loop.
fn take_late_messages(run: &Run<'_>) -> usize {
    let Some(bridge) = &run.runtime.bridge else {
        return 0;
    };
    let messages = bridge.take_messages(run.session.id(), Seam::LoopExit);
    let count = messages.len();
    for message in messages {
        run.session.record(Change::Deferred { message });
    }
    count
}

fn settle_status(run: &Run<'_>, status: String) -> String {
    if status != "done" {
        return status;
    }
    if run.options.daemon.is_some() {
        return "idle".to_owned();
    }
    let is_satisfied = run.session.read(|state| {
        let required = &run.options.require_successful_tools;
        required.are_satisfied(&state.run.successful)
    });
    match is_satisfied {
        true => status,
        false => "failed".to_owned(),
    }
}

fn result(run: &Run<'_>, status: &str, duration_ms: i64) -> Value {
    let trace = run.runtime.desk.trace_summary();
    let mut id = || run.runtime.new_id();
    let transcript = run.session.transcript(&mut id);
    let mut result = run.session.read(|state| {
        let loop_state = &state.run;
        let daemon_state = match (&run.options.daemon, loop_state.total_iterations) {
            (Some(_), _) => loop_state.daemon_state.clone(),
            (None, 0) => "done".to_owned(),
            (None, _) => "active".to_owned(),
        };
        json!({
            "status": status,
            "text": loop_state.total_text,
            "visible_text": visible::sanitize(&loop_state.last_text),
            "llm": {
                "iterations": loop_state.total_iterations,
                "duration_ms": duration_ms,
                "input_tokens": trace["total_input_tokens"],
                "output_tokens": trace["total_output_tokens"],
            },
            "tools": {
                "calls": loop_state.tools_used,
                "successful": distinct(&loop_state.successful),
                "rejected": distinct(&loop_state.rejected),
                "mode": run.call.tool_format,
            },
            "task_ledger": loop_state.ledger.to_value(),
            "ledger_done_rejections": loop_state.ledger_rejections,
            "deferred_user_messages": loop_state.deferred_user_messages,
            "daemon_state": daemon_state,
            "daemon_snapshot_path": daemon::snapshot_path(run),
        })
    });
    // Moved in, because they are large.
    result["transcript"] = transcript;
    result["trace"] = trace;
    result
}
