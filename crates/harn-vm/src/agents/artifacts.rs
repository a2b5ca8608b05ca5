//! The builtins about artifacts and handoffs. Their records carry a time, which is that of the
//! program: it may have set its clock.

use std::task::Poll;

use harn_machine::{Context, Failure, Registry, Request, Value, Waiting};
use serde_json::json;

use super::builtins::{answered, current, subscriber_depth};
use super::{KIND, convert};

macro_rules! timed {
    ($($name:literal),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            ask(context, $name, arguments, waiting)
        })),*]
    };
}

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(timed![
        "artifact",
        "artifact_apply_intent",
        "artifact_command_result",
        "artifact_context",
        "artifact_derive",
        "artifact_diff",
        "artifact_diff_review",
        "artifact_editor_selection",
        "artifact_emit",
        "artifact_git_diff",
        "artifact_patch_proposal",
        "artifact_review_decision",
        "artifact_select",
        "artifact_test_result",
        "artifact_verification_bundle",
        "artifact_verification_result",
        "artifact_workspace_file",
        "artifact_workspace_snapshot",
        "handoff",
        "handoff_context",
        "select_artifacts_adaptive",
    ]);
}

fn ask(
    context: &mut Context<'_>,
    builtin: &str,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let now = harn_stdlib::now_ms(context);
    let session = current(context);
    let (json, closures) = convert::arguments(context, arguments);
    let payload = json!({
        "builtin": builtin,
        "arguments": json,
        "closures": closures,
        "session": session,
        "now": now,
        "subscriber_depth": subscriber_depth(context),
    });
    let request = Request::Other {
        kind: KIND,
        payload: payload.to_string(),
    };
    answered(context, waiting, Some(request))
}
