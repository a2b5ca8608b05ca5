//! The end of a loop: its status and its result.

use harn_llm::desk::{LoopComplete, Thrown};
use serde_json::Value;

use super::{Delivered, Run, daemon};
use crate::host::Seam;
use crate::loop_result::{Ending, LoopResult};
use crate::session::Change;

/// Ends a loop with a status and gives its result.
pub(super) async fn finish(run: &Run<'_>, status: String) -> Result<LoopResult, Thrown> {
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
    run.runtime.desk.note_completion(LoopComplete {
        status: status.clone(),
        iterations,
        total_duration_ms: duration_ms,
    });
    let last = run.session.read(|state| state.run.iteration + 1);
    let last = last.min(run.limit());
    let delivered = Delivered {
        host: audited,
        ..Delivered::default()
    };
    run.runtime.bus.close_abandoned_calls(run.session.id());
    run.pass("loop_exit", last, delivered).await;
    let ending = Ending {
        status,
        duration_ms,
        tool_format: run.call.tool_format.clone(),
        is_daemon: run.options.daemon.is_some(),
        daemon_snapshot_path: daemon::snapshot_path(run),
        told: run.controls.told(
            &run.session.read(|state| state.run.controls.clone()),
            run.limit(),
        ),
    };
    Ok(LoopResult::of(run.runtime, &run.session, ending))
}

/// Messages of the host that came too late for this loop.
fn take_late_messages(run: &Run<'_>) -> usize {
    let Some(bridge) = &run.runtime.bridge else {
        return 0;
    };
    let was_said = |id: &str| run.session.read(|state| state.heard.contains(id));
    let inputs = bridge.take_inputs(run.session.id(), Seam::LoopExit, &was_said);
    let count = inputs.len();
    for input in inputs {
        let message = match input.content {
            Value::String(text) => text,
            blocks => blocks.to_string(),
        };
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
