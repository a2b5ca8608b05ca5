//! What programs call.

use std::sync::Arc;

use super::*;
use crate::callback::Functions;
use crate::transcript::{answer, events, messages};

fn transcript(messages: Vec<Value>) -> Value {
    let arguments = [json!(messages)];
    let made = answer("transcript_from_messages", &arguments, &mut || {
        "t".to_owned()
    });
    made.expect("it is a builtin").expect("it is a list")
}

fn manual(transcript: &Value, opts: Value) -> Result<TranscriptCompaction, Thrown> {
    let model = Model::saying("short");
    let options = (&opts, &crate::Functions::default());
    block_on(transcript_compact(transcript, options, &model, &|| {
        "n".to_owned()
    }))
}

#[test]
fn a_compacted_transcript_keeps_the_one_of_before() {
    let mut original = transcript(turns(6));
    original["summary"] = json!("earlier");
    let result = manual(&original, json!({"strategy": "llm", "keep_last": 2}));
    let result = result.expect("it succeeds");
    let compacted = &result.transcript;
    let summary = "[auto-compacted 4 older messages]\nshort";
    let mut expected = vec![message("user", summary)];
    expected.extend_from_slice(&turns(6)[4..]);
    assert_eq!(compacted["messages"], json!(expected));
    assert_eq!(compacted["summary"], format!("earlier\n\n{summary}"));
    assert_eq!(compacted["id"], original["id"]);
    let asset = &compacted["assets"][0];
    assert_eq!(asset["_type"], "transcript_asset");
    assert_eq!(asset["id"], "compaction-source-n");
    assert_eq!(asset["kind"], "compaction_source_transcript");
    assert_eq!(asset["title"], "Pre-compaction transcript");
    assert_eq!(asset["data"], original);
    let all = events(compacted);
    assert_eq!(all.len(), 4);
    assert_eq!(all[3]["kind"], "compaction");
    assert_eq!(all[3]["text"], "Transcript compacted via llm");
    let metadata = &all[3]["metadata"];
    assert_eq!(metadata["mode"], "manual");
    assert_eq!(metadata["snapshot_asset_id"], "compaction-source-n");
    assert_eq!(metadata["archived_messages"], 4);
    assert_eq!(asset["metadata"], *metadata);
    let (done, snapshot) = result.done.expect("it was compacted");
    assert_eq!(
        (done.archived, snapshot.as_str()),
        (4, "compaction-source-n")
    );
}

#[test]
fn a_given_summary_is_stored_but_not_inserted() {
    let original = transcript(turns(4));
    let opts = json!({"compact_strategy": "truncate", "keep_last": 2, "summary": "mine"});
    let result = manual(&original, opts).expect("it succeeds").transcript;
    assert_eq!(result["summary"], "mine");
    let inserted = result["messages"][0]["content"].as_str();
    assert!(inserted.is_some_and(|text| text.starts_with("[auto-compacted 2 older")));
}

#[test]
fn a_short_transcript_stays_the_same() {
    let original = transcript(turns(14));
    // 10 texts of two bytes and 4 of three make 8 tokens.
    for opts in [
        json!(null),
        json!({"keep_last": 14}),
        json!({"keep_last": 1, "target_tokens": 8}),
    ] {
        let result = manual(&original, opts.clone()).expect("it succeeds");
        let is_default = opts.is_null();
        assert_eq!(result.done.is_some(), is_default, "{opts}");
        assert_eq!(result.transcript == original, !is_default, "{opts}");
    }
    let result = manual(&original, json!({"keep_last": 1, "target_tokens": 7}));
    assert!(result.expect("it succeeds").done.is_some());
}

#[test]
fn mistakes_of_transcript_compact_are_named() {
    let original = transcript(turns(4));
    let rows = [
        (
            json!({"strategy": "custom"}),
            "strategy 'custom' is not supported; use 'llm', 'truncate', or 'observation_mask'",
        ),
        (json!({"keep_last": -1}), "keep_last must be >= 0"),
        (json!({"target_tokens": -1}), "target_tokens must be >= 0"),
        (
            json!({"summarize_prompt": "p"}),
            "summarize_prompt is only supported with strategy 'llm'",
        ),
    ];
    for (opts, expected) in rows {
        let expected = Thrown::Plain(format!("transcript_compact: {expected}"));
        assert_eq!(manual(&original, opts), Err(expected));
    }
    let expected = "transcript_compact: first argument must be a transcript";
    let result = manual(&json!([]), json!({}));
    assert_eq!(result, Err(Thrown::Plain(expected.to_owned())));
    let unknown = "unknown compact_strategy 'x' (expected 'llm', 'truncate', 'custom', or 'observation_mask')";
    let result = manual(&original, json!({"strategy": "x"}));
    assert_eq!(result, Err(Thrown::Runtime(unknown.to_owned())));
}

#[test]
fn a_list_of_messages_is_compacted() {
    let run = |messages: Value, opts: Value, functions: &Functions| {
        block_on(transcript_auto_compact(
            &messages, &opts, functions, &NoModel,
        ))
    };
    let none = Functions::default();
    let result = run(json!(turns(14)), json!(null), &none).expect("it succeeds");
    let expected =
        "[auto-compacted 2 older messages via observation masking]\n[user] m0\n[assistant] m1";
    assert_eq!(result[0], message("user", expected));
    assert_eq!(result.as_array().map(Vec::len), Some(13));
    let few = json!(turns(12));
    assert_eq!(run(few.clone(), json!({}), &none), Ok(few));
    let mut own = Functions::default();
    own.insert(
        "/compact_callback",
        Arc::new(|_: Vec<Value>| Ok(json!("mine"))),
    );
    let opts = json!({"compact_callback": null, "keep_last": 2});
    let result = run(json!(turns(4)), opts, &own).expect("it succeeds");
    assert_eq!(
        result[0]["content"],
        "[auto-compacted 2 older messages]\nmine"
    );
    let opts = json!({"compact_callback": 7, "keep_last": 2});
    let expected = "compact_callback must be a closure when compact_strategy is 'custom'";
    let result = run(json!(turns(4)), opts, &none);
    assert_eq!(result, Err(Thrown::Runtime(expected.to_owned())));
    let expected = "transcript_auto_compact: first argument must be a message list";
    let result = run(json!({}), json!({}), &none);
    assert_eq!(result, Err(Thrown::Plain(expected.to_owned())));
}

#[test]
fn a_transcript_is_summarized() {
    let model = Model::saying("answer");
    let run = |opts: Value| {
        let original = transcript(turns(8));
        let new_id = || "n".to_owned();
        block_on(transcript_summarize(&original, &opts, &model, &new_id)).expect("it succeeds")
    };
    let result = run(json!(null));
    assert_eq!(result["summary"], "answer");
    assert_eq!(result["archived_messages"], 2);
    assert_eq!(messages(&result), &turns(8)[2..]);
    assert_eq!(events(&result).len(), 6);
    let result = run(json!({"keep_last": 1, "prompt": "Short!"}));
    assert_eq!(result["archived_messages"], 7);
    let asked = model.asked();
    let conversation = "\n\nConversation:\nUSER: m0\nASSISTANT: m1\nUSER: m2\nASSISTANT: m3\nUSER: m4\nASSISTANT: m5\nUSER: m6\nASSISTANT: m7";
    assert!(asked[0].ends_with(conversation));
    assert_eq!(asked[1], format!("Short!{conversation}"));
    let error = block_on(transcript_summarize(
        &json!(1),
        &json!({}),
        &NoModel,
        &String::new,
    ));
    let expected = "transcript_summarize: argument must be a transcript";
    assert_eq!(error, Err(Thrown::Plain(expected.to_owned())));
}

#[test]
fn sessions_compact_with_their_own_options() {
    let none = Functions::default();
    let policy = Policy::for_session(&json!(null), &none).expect("nil is fine");
    assert_eq!(
        (policy.keep_last, policy.strategy),
        (12, Strategy::ObservationMask)
    );
    let opts = json!({
        "keep_last": 3, "token_threshold": 5, "tool_output_max_chars": 6, "hard_limit_tokens": 7,
        "compact_strategy": "truncate", "hard_limit_strategy": "truncate",
    });
    let policy = Policy::for_session(&opts, &none).expect("all of these are known");
    assert_eq!((policy.keep_last, policy.threshold_tokens), (3, 5));
    assert_eq!(
        (policy.tool_output_max_chars, policy.hard_limit_tokens),
        (6, Some(7))
    );
    assert_eq!(policy.name, "truncate");
    let mut own = Functions::default();
    own.insert(
        "/custom_compactor",
        Arc::new(|_: Vec<Value>| Ok(json!("mine"))),
    );
    let opts = json!({"custom_compactor": null});
    let policy = Policy::for_session(&opts, &own).expect("it is a closure");
    assert_eq!(policy.strategy, Strategy::Custom);
}

#[test]
fn mistakes_of_agent_session_compact_are_named() {
    let rows = [
        (json!(7), "`opts` must be a dict or nil"),
        (json!({"keep_last": -1}), "`keep_last` must be >= 0"),
        (
            json!({"custom_compactor": "x"}),
            "`custom_compactor` must be a closure",
        ),
        (
            json!({"mask_callback": 1}),
            "`mask_callback` must be a closure",
        ),
        (
            json!({"compress_callback": {}}),
            "`compress_callback` must be a closure",
        ),
        (
            json!({"keep": 1}),
            "unknown option key 'keep' (expected one of: keep_last, token_threshold, tool_output_max_chars, compact_strategy, hard_limit_tokens, hard_limit_strategy, custom_compactor, mask_callback, compress_callback)",
        ),
    ];
    for (opts, expected) in rows {
        let error = Policy::for_session(&opts, &Functions::default()).expect_err("a mistake");
        assert_eq!(
            error,
            Thrown::Plain(format!("agent_session_compact: {expected}"))
        );
    }
}
