//! `agent_loop` and `agent_turn`.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::Asked;
use crate::runtime::{LoopRequest, Runtime};

/// Answers; gives the question back if it is none about loops.
pub(super) async fn answer(
    runtime: &Arc<Runtime>,
    asked: Asked,
) -> Result<Result<Value, Thrown>, Asked> {
    match &*asked.builtin {
        "agent_loop" => {
            let request = request(runtime, asked, Some(1), 2);
            let result = runtime.run(request).await;
            Ok(result.map(|result| result.to_value()))
        }
        "agent_turn" => Ok(turn(runtime, asked).await),
        _ => Err(asked),
    }
}

fn request(runtime: &Runtime, asked: Asked, system: Option<usize>, options: usize) -> LoopRequest {
    let text = |at: usize| match asked.argument(at) {
        Value::Null => None,
        value => Some(display(value)),
    };
    let mut given = asked.dict(options);
    let own_system = given
        .remove("system")
        .filter(|system| !system.is_null())
        .map(|system| display(&system));
    LoopRequest {
        prompt: display(asked.argument(0)),
        system: system.and_then(text).or(own_system),
        functions: asked.functions.below(&format!("/{options}")),
        options: given,
        unnamed_session_id: asked.unnamed_session_id,
        ambient: runtime.ambient_in(asked.session_id.as_deref()),
        ..LoopRequest::default()
    }
}

/// A loop that tells about its turns as well.
async fn turn(runtime: &Arc<Runtime>, asked: Asked) -> Result<Value, Thrown> {
    let result = runtime.run(request(runtime, asked, None, 1)).await?;
    let mut result = result.to_value();
    result["iterations"] = result["llm"]["iterations"].clone();
    if result.get("judge_decisions").is_none() {
        result["judge_decisions"] = json!([]);
    }
    Ok(result)
}
