//! Strategies, limits and reports.

use std::sync::Arc;

use super::*;

#[test]
fn the_summary_stands_where_the_messages_were() {
    let mut policy = with(Strategy::Truncate, 2);
    policy.keep_first = 1;
    let messages = turns(6);
    let result = compacted(&policy, &messages, &NoModel);
    let summary = "[auto-compacted 3 older messages via truncate strategy]\n[assistant] m1\n[user] m2\n[assistant] m3";
    let expected = Compacted {
        messages: vec![
            messages[0].clone(),
            message("user", summary),
            messages[4].clone(),
            messages[5].clone(),
        ],
        summary: summary.to_owned(),
        keep_first: 1,
        split: 4,
        keep_last: 2,
        archived: 3,
        reported_archived: 3,
        strategy: "truncate".to_owned(),
        engine_strategy: "truncate",
        tokens_before: 3,
        tokens_after: (6 + summary.len() as u64) / 4,
    };
    assert_eq!(result, expected);
}

#[test]
fn truncation_shows_fifteen_messages_cut() {
    let mut messages = turns(20);
    messages[0] = message("user", &"é".repeat(300));
    messages[1] = json!({"role": "assistant", "content": ["no text"]});
    messages[2] = message("user", "");
    let summary = summary_of(&with(Strategy::Truncate, 0), &messages, &NoModel);
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(
        lines[0],
        "[auto-compacted 20 older messages via truncate strategy]"
    );
    let cut = format!("[user] {}... [truncated from 600 chars]", "é".repeat(250));
    assert_eq!(lines[1], cut);
    assert_eq!(lines[2], "[assistant] m3");
    assert_eq!(lines[15], "[user] m16");
    assert_eq!(lines[16], "... and 5 more");
    assert_eq!(lines.len(), 17);
}

#[test]
fn a_model_sums_up() {
    let model = Model::saying("  short \n");
    let summary = summary_of(&with(Strategy::Llm, 2), &turns(4), &model);
    assert_eq!(summary, "[auto-compacted 2 older messages]\nshort");
    let asked = model.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains("summary"));
    assert!(asked[0].contains("\nArchived message count: 2\n"));
    assert!(asked[0].ends_with("\nConversation:\nUSER: m0\nASSISTANT: m1"));
}

#[test]
fn a_template_asks_the_model() {
    let model = Model::saying("short");
    let mut policy = with(Strategy::Llm, 2);
    policy.summarize_prompt = Some("sum.md".to_owned());
    summary_of(&policy, &turns(4), &model);
    let asked = "2:\nUSER: m0\nASSISTANT: m1";
    assert_eq!(model.asked(), [asked]);
    let show = |arguments: Vec<Value>| Ok(json!(json!(arguments).to_string()));
    policy.render = Some(Arc::new(show));
    summary_of(&policy, &turns(4), &model);
    let variables = r#"{"formatted_messages":"USER: m0\nASSISTANT: m1","archived_count":2}"#;
    assert_eq!(model.asked()[1], format!(r#"["sum.md",{variables}]"#));
}

#[test]
fn an_empty_answer_falls_back_to_the_messages() {
    let summary = summary_of(&with(Strategy::Llm, 2), &turns(4), &Model::saying(" \n"));
    assert_eq!(
        summary,
        "[auto-compact fallback: LLM summarizer returned empty; 2 older messages abbreviated to ~500 chars each]\n[user] m0\n[assistant] m1"
    );
}

#[test]
fn without_a_model_nothing_is_summed_up() {
    let error = block_on(compact(&with(Strategy::Llm, 2), &turns(4), &NoModel));
    let expected = "LLM transcript compaction requires active LLM call options";
    assert_eq!(error, Err(Thrown::Runtime(expected.to_owned())));
}

fn custom(answer: Value) -> Policy {
    let mut policy = with(Strategy::Custom, 2);
    policy.custom = Custom::Function(Arc::new(move |arguments: Vec<Value>| {
        assert_eq!(arguments, [json!(turns(2))]);
        Ok(answer.clone())
    }));
    policy
}

#[test]
fn a_program_sums_up_itself() {
    let own = |text: &str| format!("[auto-compacted 2 older messages]\n{text}");
    let fallback =
        "[auto-compacted 2 older messages via truncate strategy]\n[user] m0\n[assistant] m1";
    let rows = [
        (json!("mine"), own("mine")),
        (json!({"summary": "s", "text": "t"}), own("s")),
        (json!({"text": "t"}), own("t")),
        (json!({"other": 1}), own("{\n  \"other\": 1\n}")),
        (json!(7), own("7")),
        (json!(null), fallback.to_owned()),
        (json!(" "), fallback.to_owned()),
        (json!({"summary": ""}), fallback.to_owned()),
    ];
    for (answer, expected) in rows {
        let summary = summary_of(&custom(answer.clone()), &turns(4), &NoModel);
        assert_eq!(summary, expected, "{answer}");
    }
}

#[test]
fn a_missing_function_is_missed_when_it_is_needed() {
    let mut policy = with(Strategy::Custom, 2);
    let run = |policy: &Policy, count: usize| block_on(compact(policy, &turns(count), &NoModel));
    let runtime = |text: &str| Err(Thrown::Runtime(text.to_owned()));
    assert_eq!(run(&policy, 2), Ok(None));
    let expected = "compact_callback is required when compact_strategy is 'custom'";
    assert_eq!(run(&policy, 4), runtime(expected));
    policy.custom = Custom::NotAFunction;
    let expected = "compact_callback must be a closure when compact_strategy is 'custom'";
    assert_eq!(run(&policy, 4), runtime(expected));
    policy.custom = Custom::Function(Arc::new(|_: Vec<Value>| Err(Thrown::Dict(json!({"a": 1})))));
    assert_eq!(run(&policy, 4), Err(Thrown::Dict(json!({"a": 1}))));
}

/// A long assistant, a short tool, long tools with few and with many lines, an empty message.
fn observations() -> Vec<Value> {
    let first = "é".repeat(70);
    vec![
        message("assistant", &"a".repeat(600)),
        message("tool", "short"),
        message("tool", &format!("{}\n2\n3", "b".repeat(600))),
        message("user", &format!("{first}\n2\n3\n{}", "4".repeat(500))),
        message("tool", ""),
        json!({"content": "no role"}),
    ]
}

#[test]
fn long_observations_are_masked() {
    let summary = summary_of(
        &with(Strategy::ObservationMask, 0),
        &observations(),
        &NoModel,
    );
    // 140 bytes, four lines with three newlines, and 500 + 2 bytes.
    let expected = [
        "[auto-compacted 6 older messages via observation masking]".to_owned(),
        format!("[assistant] {}", "a".repeat(600)),
        "[tool] short".to_owned(),
        format!("[tool] {}\n2\n3", "b".repeat(600)),
        format!("[user] {}... [4 lines, 645 chars masked]", "é".repeat(60)),
        "[user] no role".to_owned(),
    ];
    assert_eq!(summary, expected.join("\n"));
}

#[test]
fn a_program_may_mask_itself() {
    let mut policy = with(Strategy::ObservationMask, 0);
    let masked = |policy: &Policy| summary_of(policy, &observations(), &NoModel);
    policy.mask = Some(Arc::new(|arguments: Vec<Value>| {
        assert_eq!(arguments, [json!(observations())]);
        Ok(json!(["A", "B", "C", null]))
    }));
    let summary = masked(&policy);
    let lines: Vec<&str> = summary.lines().collect();
    // Only long observations ask; the assistant and short texts stay.
    assert!(lines[1].starts_with("[assistant] aaa"));
    assert_eq!(lines[2], "[tool] short");
    assert_eq!(lines[3], "C");
    assert!(lines[4].ends_with("chars masked]"));
    policy.mask = Some(Arc::new(|_: Vec<Value>| Ok(json!("odd"))));
    let usual = masked(&with(Strategy::ObservationMask, 0));
    assert_eq!(masked(&policy), usual);
}

#[test]
fn a_summary_that_does_not_fit_is_summed_up_again() {
    let mut policy = with(Strategy::Llm, 2);
    policy.name = "hybrid".to_owned();
    policy.hard_limit_strategy = Strategy::Truncate;
    let long: &'static str = "0123456789".repeat(100).leak();
    policy.hard_limit_tokens = Some(200);
    let result = compacted(&policy, &turns(4), &Model::saying(long));
    let first_tier = format!("[auto-compacted 2 older messages]\n{long}");
    let expected = format!(
        "[auto-compacted 2 older messages via truncate strategy]\n[user] {}... [truncated from {} chars]",
        &first_tier[..500],
        first_tier.len()
    );
    assert_eq!(result.summary, expected);
    assert_eq!(result.archived, 2);
    assert_eq!(
        (result.strategy.as_str(), result.engine_strategy),
        ("hybrid", "llm")
    );
    // 34 + 1000 bytes of summary and 4 of messages make 259 tokens, which just fits.
    policy.hard_limit_tokens = Some(259);
    assert_eq!(first_tier.len(), 1034);
    let result = compacted(&policy, &turns(4), &Model::saying(long));
    assert_eq!(result.summary, first_tier);
}

#[test]
fn compactions_are_reported() {
    let mut policy = with(Strategy::Truncate, 2);
    policy.name = "hybrid".to_owned();
    let result = compacted(&policy, &turns(4), &NoModel);
    let event = result.transcript_event(Mode::Preflight, &mut || "e".to_owned());
    let text = "Transcript compacted before agent LLM call";
    let expected = json!({
        "id": "e", "kind": "compaction", "role": "system", "visibility": "internal", "text": text,
        "blocks": [{"type": "text", "text": text, "visibility": "internal"}],
        "metadata": {
            "mode": "preflight", "strategy": "hybrid", "engine_strategy": "truncate",
            "archived_messages": 2, "estimated_tokens_before": 2,
            "estimated_tokens_after": result.tokens_after, "keep_first": 0, "keep_last": 2,
        },
    });
    assert_eq!(event, expected);
    let event = result.transcript_event(Mode::Auto, &mut || "e".to_owned());
    assert_eq!(event["text"], "Transcript compacted during agent loop");
    assert_eq!(event["metadata"]["mode"], "auto");
    let live = result.agent_event("s", Mode::Auto, "threshold", None);
    let live = serde_json::to_value(live).expect("it can be written");
    assert_eq!(live["type"], "transcript_compacted");
    assert_eq!(live["reason"], "threshold");
    assert_eq!(live["archived_messages"], 2);
    assert_eq!(live["snapshot_asset_id"], Value::Null);
}

#[test]
fn compactions_may_move_between_threads() {
    fn check(_: impl Send) {}
    let (policy, messages) = (with(Strategy::Llm, 2), turns(4));
    let (transcript, functions) = (json!({}), crate::Functions::default());
    let new_id = || String::new();
    check(compact(&policy, &messages, &NoModel));
    check(transcript_compact(
        &transcript,
        (&Value::Null, &functions),
        &NoModel,
        &new_id,
    ));
    check(transcript_summarize(
        &transcript,
        &Value::Null,
        &NoModel,
        &new_id,
    ));
    check(crate::transcript::projection::project(
        &transcript,
        &Value::Null,
        &functions,
        &new_id,
    ));
    check(crate::microcompact::compress("read", "", 1, None));
}
