use super::*;

#[track_caller]
fn check_stop(reason: Value, has_calls: bool, expected: StopReason) {
    let mut line = json!({"message": {"content": "a"}, "done": true, "done_reason": reason});
    if has_calls {
        line["message"]["tool_calls"] = json!([{"function": {"name": "f", "arguments": {}}}]);
    }
    let mut events = Vec::new();
    let outcome = Decoder::default().whole(&line, &mut events);
    assert_eq!(outcome, Ok(()));
    let word = reason.as_str().map(str::to_owned);
    let stop = Stop {
        reason: expected,
        word,
    };
    assert_eq!(events.last(), Some(&StreamEvent::End { stop }));
}

#[test]
fn reasons_are_told_in_our_words() {
    check_stop(json!("stop"), false, StopReason::End);
    check_stop(json!("stop"), true, StopReason::ToolUse);
    check_stop(json!("length"), false, StopReason::Length);
    check_stop(json!("unload"), false, StopReason::End);
    check_stop(json!("melted"), false, StopReason::Error);
    // Old servers give none.
    check_stop(Value::Null, false, StopReason::End);
}

#[test]
fn an_error_may_be_an_object() {
    let line = json!({"error": {"code": 503, "message": "busy"}});
    let error = Decoder::default().whole(&line, &mut Vec::new());
    assert_eq!(error.unwrap_err().category, Category::Overloaded);
}

#[test]
fn an_answer_in_one_piece_that_is_not_done_is_cut_off() {
    let line = json!({"message": {"content": "a"}, "done": false});
    let error = Decoder::default().whole(&line, &mut Vec::new());
    assert_eq!(error.unwrap_err().category, Category::StreamTruncated);
}
