//! Notes for a model that come through the functions of the process.

use std::sync::Arc;

use harn_agent::events::{default_bus, push_pending_feedback_global};
use harn_agent::llm::{desk::Desk, scenario::Scenario};
use harn_agent::{FunctionTool, LoopRequest, Runtime, RuntimeOptions};
use serde_json::json;

const SCRIPT: &str = r#"
[[turn]]
call = [{ tool = "build", arguments = {} }]
[[turn]]
text = "It is built."
"#;

/// A tool of an embedder answers at once, and the embedder tells later what came of it.
#[tokio::test]
async fn an_embedder_reports_through_the_bus_of_the_process() {
    let build = FunctionTool::new("build", "Builds.", json!({}), |_| {
        Box::pin(async {
            let report = json!({"handle_id": "hso-1-1", "status": "completed", "result": "ok"});
            push_pending_feedback_global("outside", "tool_result", &report.to_string());
            push_pending_feedback_global("somebody else", "tool_result", "{}");
            Ok(json!({"handle_id": "hso-1-1", "status": "running"}).to_string())
        })
    });
    let desk = Desk::staged(Scenario::parse("build", SCRIPT).unwrap());
    let options = RuntimeOptions {
        bus: Some(default_bus().clone()),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(desk), options);
    let request = LoopRequest::new("Build it.").tool(build);
    let request = request.option("session_id", "outside");
    let result = runtime.run(request).await.unwrap();
    assert_eq!(result.status, "done");
    let told = result.session().read(|state| {
        let told = state.messages.iter();
        let told = told.filter_map(|message| message["content"].as_str());
        let told = told.filter(|text| text.contains("kind=\"tool_result\""));
        told.map(str::to_owned).collect::<Vec<String>>()
    });
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("\"status\":\"completed\""), "{}", told[0]);
}
