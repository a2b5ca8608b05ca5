//! What is in the log at the moments that count: nothing is done that the log does not know of.

use std::sync::{Arc, Mutex};

use harn_agent::llm::{desk::Desk, scenario::Scenario};
use harn_agent::log::{AnyEventLog, MemoryEventLog};
use harn_agent::session::{Change, session_records};
use harn_agent::{FunctionTool, LoopRequest, Runtime, RuntimeOptions};
use serde_json::json;

const SESSION: &str = "s";

const SCRIPT: &str = r#"
[[turn]]
call = [{ tool = "send", arguments = { text = "hi" } }]
[[turn]]
text = "Sent."
"#;

#[tokio::test]
async fn a_call_is_in_the_log_before_it_touches_the_world_and_everything_at_the_end() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(1024)));
    let known = Arc::new(Mutex::new(Vec::new()));
    let (watched, noted) = (Arc::clone(&log), Arc::clone(&known));
    let parameters = json!({"text": "string"});
    // It says nothing of what it does, so it may do anything.
    let send = FunctionTool::new("send", "Sends a text.", parameters, move |_| {
        let (log, known) = (Arc::clone(&watched), Arc::clone(&noted));
        Box::pin(async move {
            let records = session_records(&*log, SESSION).await;
            *known.lock().unwrap() = records.unwrap();
            Ok("sent".to_owned())
        })
    });
    let desk = Desk::staged(Scenario::parse("barriers", SCRIPT).unwrap());
    let options = RuntimeOptions {
        log: Some(Arc::clone(&log)),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(desk), options);
    let request = LoopRequest::new("Send it.").tool(send);
    let request = request.option("session_id", SESSION);
    let result = runtime.run(request).await.unwrap();
    assert_eq!(result.status, "done");

    let during = std::mem::take(&mut *known.lock().unwrap());
    let is_begun =
        |change: &Change| matches!(change, Change::CallStarted { name, .. } if name == "send");
    let is_answer = |change: &Change| matches!(change, Change::Answered { .. });
    assert!(
        during.iter().any(|record| is_answer(&record.change)),
        "{during:?}"
    );
    assert!(
        during.iter().any(|record| is_begun(&record.change)),
        "{during:?}"
    );

    let after = session_records(&*log, SESSION).await.unwrap();
    let is_over = |change: &Change| matches!(change, Change::RunEnded { .. });
    assert!(
        after.iter().any(|record| is_over(&record.change)),
        "{after:?}"
    );
}
