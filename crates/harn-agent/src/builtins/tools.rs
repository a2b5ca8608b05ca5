//! Hooks of tool calls, the tools that come along, and plans.

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::Asked;
use crate::coding;
use crate::plan::{plan_artifact, plan_entries};
use crate::runtime::Runtime;
use crate::tool_hooks::RegisteredHook;

/// Answers; `None` if it is no question about tools.
pub(super) fn answer(runtime: &Runtime, asked: &Asked) -> Option<Result<Value, Thrown>> {
    Some(match &*asked.builtin {
        "register_tool_hook" => RegisteredHook::read(asked.argument(0)).map(|hook| {
            runtime.hooks().register(hook);
            Value::Null
        }),
        "clear_tool_hooks" => {
            runtime.hooks().clear_registered();
            Ok(Value::Null)
        }
        "coding_tools" => coding::offer(asked.argument(0), &runtime.folder),
        "plan_artifact" => Ok(plan_artifact("emit_plan", asked.argument(0))),
        "plan_entries" => Ok(plan_entries(asked.argument(0))),
        _ => return None,
    })
}
