use proptest::prelude::*;

use super::*;

/// Feeds `frames` and the end of the stream.
fn decode(frames: &[&str]) -> (Vec<StreamEvent>, Result<(), Error>) {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let fed = frames
        .iter()
        .try_for_each(|data| decoder.frame(Frame { event: "", data }, &mut events));
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    (events, outcome)
}

fn whole(body: &Value) -> (Vec<StreamEvent>, Result<(), Error>) {
    let mut events = Vec::new();
    let outcome = Decoder::default().whole(body, &mut events);
    (events, outcome)
}

#[track_caller]
fn check_stop(finish: &str, delta: Value, expected: StopReason) {
    let chunk = json!({"choices": [{"delta": delta, "finish_reason": finish}]});
    let (events, outcome) = decode(&[&chunk.to_string()]);
    assert_eq!(outcome, Ok(()));
    let word = Some(finish.to_owned());
    let stop = Stop {
        reason: expected,
        word,
    };
    assert_eq!(events.last(), Some(&StreamEvent::End { stop }));
}

#[test]
fn finish_reasons_are_told_in_our_words() {
    let calls = json!({"tool_calls": [{"id": "a", "function": {"name": "f"}}]});
    check_stop("stop", json!({"content": "x"}), StopReason::End);
    check_stop("stop", calls.clone(), StopReason::ToolUse);
    check_stop("stop", json!({"refusal": "no"}), StopReason::Refusal);
    check_stop("tool_calls", calls.clone(), StopReason::ToolUse);
    check_stop("function_call", calls.clone(), StopReason::ToolUse);
    check_stop("length", json!({"content": "x"}), StopReason::Length);
    check_stop("content_filter", calls, StopReason::ContentFilter);
    check_stop("something new", json!({}), StopReason::Error);
}

#[test]
fn a_frame_that_is_no_json_ends_the_stream() {
    let (_, outcome) = decode(&["{\"choices\": [{\"delta\": {\"content\": \"a"]);
    assert_eq!(outcome.unwrap_err().category, Category::ServerError);
}

#[test]
fn what_comes_after_the_end_is_ignored() {
    let last = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let (events, outcome) = decode(&[last, "[DONE]", last, "nonsense"]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(events.len(), 3, "start, text, end");
}

#[test]
fn a_call_that_begins_after_the_reason_to_end_and_breaks_off_is_none() {
    let last = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}});
    let half = json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string();
    let (events, outcome) = decode(&[last, &half]);
    assert_eq!(outcome.unwrap_err().category, Category::StreamTruncated);
    let ended = |event: &StreamEvent| matches!(event, StreamEvent::ToolCallEnd { .. });
    assert!(!events.iter().any(ended), "{events:?}");
}

#[test]
fn a_finish_reason_counts_once_and_an_empty_one_not_at_all() {
    let chunk = |finish: &str| {
        json!({"choices": [{"delta": {"content": "a"}, "finish_reason": finish}]}).to_string()
    };
    let (events, _) = decode(&[&chunk(""), &chunk("length"), &chunk("stop")]);
    let word = Some("length".to_owned());
    let reason = StopReason::Length;
    let stop = Stop { reason, word };
    assert_eq!(events.last(), Some(&StreamEvent::End { stop }));
}

#[test]
fn errors_come_in_several_shapes() {
    let rows = [
        (
            json!({"error": {"message": "slow", "type": "rate_limit_error"}}),
            Category::RateLimit,
        ),
        (
            json!({"error": "it broke", "choices": []}),
            Category::Generic,
        ),
        (
            json!({"object": "error", "message": "no", "type": "NotFoundError", "code": 404}),
            Category::NotFound,
        ),
        (
            json!({"choices": [{"error": {"code": 429, "message": "slow"}}]}),
            Category::RateLimit,
        ),
    ];
    for (value, category) in rows {
        let (_, streamed) = decode(&[&value.to_string()]);
        let (_, in_one_piece) = whole(&value);
        assert_eq!(streamed.unwrap_err().category, category, "{value}");
        assert_eq!(in_one_piece.unwrap_err().category, category, "{value}");
    }
    let (_, outcome) = decode(&[r#"{"error": null}"#]);
    assert_eq!(outcome.unwrap_err().category, Category::StreamTruncated);
}

#[test]
fn usage_may_be_in_three_places() {
    let counts = json!({"prompt_tokens": 3, "completion_tokens": 4});
    let chunks = [
        json!({"usage": counts}),
        json!({"x_groq": {"usage": counts}}),
        json!({"choices": [{"usage": counts}]}),
    ];
    for chunk in chunks {
        let (events, _) = decode(&[&chunk.to_string()]);
        let found = events.iter().find_map(|event| match event {
            StreamEvent::Usage { usage } => Some((usage.input, usage.output)),
            _ => None,
        });
        assert_eq!(found, Some((3, 4)), "{chunk}");
    }
}

#[test]
fn an_empty_answer_that_cost_nothing_is_fine() {
    let chunk = r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}],
                    "usage":{"prompt_tokens":1,"completion_tokens":0}}"#;
    assert_eq!(decode(&[chunk, "[DONE]"]).1, Ok(()));
}

#[test]
fn a_whole_answer_needs_a_choice_and_no_reason() {
    let (_, outcome) = whole(&json!({"choices": []}));
    assert_eq!(
        outcome.unwrap_err().message,
        "the provider's answer has no `choices`"
    );
    let (events, outcome) = whole(&json!({"choices": [{"message": {"content": "a"}}]}));
    assert_eq!(outcome, Ok(()));
    let reason = StopReason::End;
    let stop = Stop { reason, word: None };
    assert_eq!(events.last(), Some(&StreamEvent::End { stop }));
}

/// What [`decode`] gives, with every chunk on the long way.
fn decode_the_long_way(frames: &[&str]) -> (Vec<StreamEvent>, Result<(), Error>) {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let fed = frames
        .iter()
        .try_for_each(|data| decoder.chunk(&frames::json(data)?, &mut events));
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    (events, outcome)
}

/// An object of one of each of those members, as far as they are anything.
fn object(
    members: Vec<Vec<&'static str>>,
    inner: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let members: Vec<_> = members.into_iter().map(proptest::sample::select).collect();
    (members, inner).prop_map(|(mut members, inner)| {
        members.push(&inner);
        members.retain(|member| !member.is_empty());
        format!("{{{}}}", members.join(","))
    })
}

/// Chunks that are nearly right, with keys missing, odd or there twice.
fn any_chunk() -> impl Strategy<Value = String> {
    let content = vec![
        r#""content":"a""#,
        r#""content":"b c""#,
        r#""content":"d\n\"\u00e4\"""#,
        r#""content":"""#,
        r#""content":null"#,
        r#""content":["a"]"#,
        "",
    ];
    let delta = object(
        vec![
            vec!["", r#""role":"assistant""#, r#""role":7"#],
            content.clone(),
            vec!["", "", r#""odd":1"#, r#""odd":null"#, r#""tool_calls":[]"#],
            vec!["", "", "", r#""reasoning":"x""#, r#""refusal":"y""#],
        ],
        prop_oneof![9 => Just(""), 1 => proptest::sample::select(content)].prop_map(str::to_owned),
    );
    let choice = object(
        vec![
            vec!["", r#""index":0"#, r#""index":null"#, r#""index":0.0"#],
            vec![
                "",
                "",
                r#""finish_reason":null"#,
                r#""finish_reason":"stop""#,
            ],
            vec!["", "", r#""logprobs":[{"a":-1.5e3}]"#, r#""usage":{}"#],
            vec![
                "",
                "",
                "",
                r#""message":{}"#,
                r#""delta":null"#,
                r#""error":{}"#,
            ],
        ],
        delta.prop_map(|delta| format!(r#""delta":{delta}"#)),
    );
    object(
        vec![
            vec!["", r#""id":"i""#, r#""id":5"#, r#""id":"""#],
            vec!["", r#""object":"o""#, r#""object":null"#],
            vec!["", r#""model":"m""#, r#""model":"m","model":"n""#],
            vec!["", "", "", r#""choices":[]"#, r#""error":null"#],
            vec![
                "",
                r#""usage":null"#,
                r#""usage":5"#,
                r#""usage":{"completion_tokens":3,"x":[12345678901234567890123,-1,{}]}"#,
            ],
        ],
        choice.prop_map(|choice| format!(r#""choices":[{choice}]"#)),
    )
}

proptest! {
    #[test]
    fn short_ways_lead_where_the_long_one_does(
        chunks in proptest::collection::vec((any_chunk(), 1_usize..3), 1..5),
    ) {
        let chunks = chunks.iter().flat_map(|(chunk, times)| vec![chunk.as_str(); *times]);
        let chunks: Vec<&str> = chunks.collect();
        prop_assert_eq!(decode(&chunks), decode_the_long_way(&chunks));
    }
}
