//! Makes conversations shorter.

use harn_llm::desk::Thrown;
use serde_json::json;

use super::{contents, said, snapshot, texts};
use crate::testing::function;

#[test]
fn old_messages_become_one() {
    let program = said("s", &["q1", "q2", "q3"]);
    let watch = program.watch("s");
    let left = program.get("agent_session_compact", json!(["s", {"keep_last": 1}]));
    assert_eq!(left, 2);
    let summary = "[auto-compacted 2 older messages via observation masking]\n[user] q1\n[user] q2";
    assert_eq!(texts(&program, "s"), [summary, "q3"]);
    let snapshot = snapshot(&program, "s");
    assert_eq!(
        contents(&snapshot["events"], "kind"),
        ["message", "message", "compaction"]
    );
    assert_eq!(snapshot["events"][2]["metadata"]["mode"], "manual");
    let events = watch.take();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "transcript_compacted");
    assert_eq!(events[0]["mode"], "manual");
    assert_eq!(events[0]["archived_messages"], 2);
    let session = program.runtime.session("s").unwrap();
    assert_eq!(
        session.read(|state| state.recorded.len()),
        3,
        "nothing is lost"
    );
}

#[test]
fn twelve_messages_stay_if_nobody_says_how_many() {
    let numbers: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let program = said("s", &numbers);
    let watch = program.watch("s");
    for arguments in [json!(["s"]), json!(["s", null]), json!(["s", {}])] {
        assert_eq!(program.get("agent_session_compact", arguments), 12);
    }
    assert!(watch.take().is_empty(), "nothing happened");
    for text in ["x", "y"] {
        let message = json!({"role": "user", "content": text});
        program.get("agent_session_inject", json!(["s", message]));
    }
    assert_eq!(program.get("agent_session_compact", json!(["s"])), 13);
}

#[test]
fn a_closure_writes_the_summary() {
    let program = said("s", &["a", "b", "c"]);
    let functions = function("/1/custom_compactor", |arguments| {
        let count = arguments[0].as_array().unwrap().len();
        Ok(json!(format!("{count} in short")))
    });
    let options = json!({"keep_last": 1, "custom_compactor": null});
    let left = program.ask(
        "agent_session_compact",
        json!(["s", options]),
        None,
        functions,
    );
    assert_eq!(left, Ok(json!(2)));
    assert_eq!(
        texts(&program, "s")[0],
        "[auto-compacted 2 older messages]\n2 in short"
    );
}

#[test]
fn options_that_are_not_understood_are_refused() {
    let program = said("s", &["a", "b", "c"]);
    let refusal = program.refusal("agent_session_compact", json!(["s", {"keep": 3}]));
    assert_eq!(
        refusal,
        "agent_session_compact: unknown option key 'keep' (expected one of: keep_last, \
         token_threshold, tool_output_max_chars, compact_strategy, hard_limit_tokens, \
         hard_limit_strategy, custom_compactor, mask_callback, compress_callback)"
    );
    let refusal = program.refusal("agent_session_compact", json!(["s", {"keep_last": -1}]));
    assert_eq!(refusal, "agent_session_compact: `keep_last` must be >= 0");
    let options = json!({"keep_last": 1, "compact_strategy": "llm"});
    let thrown = program.call("agent_session_compact", json!(["s", options]));
    let text = "LLM transcript compaction requires active LLM call options";
    assert_eq!(thrown, Err(Thrown::Runtime(text.to_owned())));
    assert_eq!(texts(&program, "s"), ["a", "b", "c"]);
}
