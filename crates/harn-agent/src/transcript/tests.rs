use serde_json::json;

use super::*;

/// Ids that count.
fn counting() -> impl FnMut() -> String {
    let mut count = 0;
    move || {
        count += 1;
        format!("id-{count}")
    }
}

#[track_caller]
fn gives(builtin: &str, arguments: Value) -> Value {
    let arguments = arguments.as_array().expect("arguments are a list");
    let result = answer(builtin, arguments, &mut counting());
    result.expect("it is a builtin").expect("it succeeds")
}

#[track_caller]
fn fails(builtin: &str, arguments: Value, expected: &str) {
    let arguments = arguments.as_array().expect("arguments are a list");
    let result = answer(builtin, arguments, &mut counting());
    let error = result.expect("it is a builtin").expect_err("it fails");
    assert_eq!(error, Thrown::Plain(expected.to_owned()), "{builtin}");
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn of(messages: Value) -> Value {
    gives("transcript_from_messages", json!([messages]))
}

#[test]
fn a_transcript_starts_empty() {
    assert_eq!(gives("conversation", json!([])), json!([]));
    let expected = json!({
        "_type": "transcript", "version": 2, "id": "id-1",
        "messages": [], "events": [], "assets": [],
    });
    assert_eq!(gives("transcript", json!([])), expected);
    assert_eq!(gives("transcript", json!([null])), expected);
    let made = gives("transcript", json!([{"a": 1}]));
    assert_eq!(made["metadata"], json!({"a": 1}));
}

#[test]
fn messages_become_a_transcript() {
    let transcript = of(json!([user("hi"), assistant("yes")]));
    assert_eq!(
        transcript["messages"],
        json!([user("hi"), assistant("yes")])
    );
    assert_eq!(transcript["id"], "id-1");
    assert_eq!(transcript["events"][1]["text"], "yes");
    assert_eq!(transcript["events"][1]["role"], "assistant");
    assert!(transcript.get("state").is_none() && transcript.get("summary").is_none());
    let again = of(transcript.clone());
    assert_eq!(again["messages"], transcript["messages"]);
    let mistake = "transcript_from_messages: argument must be a message list or transcript";
    for argument in [json!([]), json!([{}]), json!(["text"]), json!([null])] {
        fails("transcript_from_messages", argument, mistake);
    }
}

#[test]
fn parts_of_a_transcript_can_be_read() {
    let mut transcript = of(json!([user("hi")]));
    let arguments = json!([transcript]);
    assert_eq!(
        gives("transcript_messages", arguments.clone()),
        json!([user("hi")])
    );
    assert_eq!(
        gives("transcript_events", arguments.clone()),
        transcript["events"]
    );
    assert_eq!(gives("transcript_assets", arguments.clone()), json!([]));
    assert_eq!(gives("transcript_id", arguments.clone()), json!("id-1"));
    assert_eq!(gives("transcript_summary", arguments), Value::Null);
    transcript["summary"] = json!("short");
    assert_eq!(
        gives("transcript_summary", json!([transcript])),
        json!("short")
    );
}

#[test]
fn only_transcripts_will_do() {
    for builtin in [
        "transcript_messages",
        "transcript_assets",
        "transcript_events",
        "transcript_summary",
        "transcript_id",
        "transcript_add_asset",
        "transcript_render_visible",
        "transcript_render_full",
        "transcript_export",
        "transcript_fork",
        "transcript_archive",
        "transcript_abandon",
        "transcript_resume",
        "transcript_events_by_kind",
    ] {
        let expected = format!("{builtin}: argument must be a transcript");
        for arguments in [
            json!([]),
            json!([[]]),
            json!([{"messages": []}]),
            json!(["t"]),
        ] {
            fails(builtin, arguments, &expected);
        }
    }
    assert_eq!(answer("llm_call", &[], &mut String::new), None);
    assert_eq!(answer("transcript_compact", &[], &mut String::new), None);
}

#[test]
fn assets_are_normalised_and_replaced() {
    let transcript = of(json!([]));
    let one = gives(
        "transcript_add_asset",
        json!([transcript, {"id": "a", "kind": "image"}]),
    );
    let two = gives("transcript_add_asset", json!([one, "path.txt"]));
    let three = gives(
        "transcript_add_asset",
        json!([two, {"id": "a", "visibility": "public", "data": 1}]),
    );
    let expected = json!([
        {
            "_type": "transcript_asset", "id": "id-1", "kind": "blob", "visibility": "internal",
            "storage": {"path": "path.txt"},
        },
        {"_type": "transcript_asset", "id": "a", "kind": "blob", "visibility": "public", "data": 1},
    ]);
    assert_eq!(three["assets"], expected);
    let mistake = "transcript_add_asset: missing asset";
    fails("transcript_add_asset", json!([transcript]), mistake);
    fails("transcript_add_asset", json!([transcript, null]), mistake);
}

#[test]
fn a_transcript_can_be_shown() {
    let messages = json!([
        user("hi"),
        assistant(""),
        {"role": "tool_result", "tool_use_id": "1", "content": "ok"},
        assistant("bye"),
    ]);
    let transcript = of(messages);
    assert_eq!(
        gives("transcript_render_visible", json!([transcript])),
        "user: hi\nassistant: bye"
    );
    assert_eq!(
        gives("transcript_render_full", json!([transcript])),
        "[public] user: hi\n[public] assistant: \n[internal] tool_result: ok\n[public] assistant: bye"
    );
    let empty = json!([of(json!([]))]);
    assert_eq!(gives("transcript_render_visible", empty.clone()), "");
    assert_eq!(gives("transcript_render_full", empty), "");
}

#[test]
fn a_transcript_can_be_written_and_read() {
    let transcript = of(json!([]));
    let text = gives("transcript_export", json!([transcript]));
    let expected = "{\n  \"_type\": \"transcript\",\n  \"assets\": [],\n  \"events\": [],\n  \"id\": \"id-1\",\n  \"messages\": [],\n  \"version\": 2\n}";
    assert_eq!(text, expected);
    assert_eq!(gives("transcript_import", json!([text])), transcript);
    fails(
        "transcript_import",
        json!(["{"]),
        "transcript_import: EOF while parsing an object at line 1 column 1",
    );
    fails(
        "transcript_import",
        json!(["[]"]),
        "transcript_import: argument must be a transcript",
    );
}

#[test]
fn a_fork_keeps_what_it_is_told_to() {
    let mut transcript = of(json!([user("hi")]));
    transcript["summary"] = json!("short");
    transcript["events"]
        .as_array_mut()
        .expect("events are a list")
        .insert(0, json!({"kind": "plan"}));
    let fork = gives("transcript_fork", json!([transcript]));
    assert_eq!(fork["id"], transcript["id"]);
    assert_eq!(fork["state"], "forked");
    assert_eq!(fork["summary"], "short");
    assert_eq!(fork["messages"], transcript["messages"]);
    let kinds: Vec<&Value> = events(&fork).iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["message", "plan", "transcript_fork"]);
    let event = &fork["events"][2];
    assert_eq!(event["text"], "transcript forked");
    assert_eq!(
        (&event["role"], &event["visibility"]),
        (&json!("system"), &json!("internal"))
    );
    let options = json!({"retain_messages": false, "retain_summary": false});
    let bare = gives("transcript_fork", json!([transcript, options]));
    assert_eq!(bare["messages"], json!([]));
    assert!(bare.get("summary").is_none());
    let kinds: Vec<&Value> = events(&bare).iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["plan", "transcript_fork"]);
}

#[test]
fn states_change_with_an_event() {
    let rows = [
        ("transcript_archive", "archived", "transcript archived"),
        ("transcript_abandon", "abandoned", "transcript abandoned"),
        ("transcript_resume", "active", "transcript resumed"),
    ];
    let transcript = of(json!([user("hi")]));
    for (builtin, state, text) in rows {
        let moved = gives(builtin, json!([transcript]));
        assert_eq!(moved["state"], state);
        assert_eq!(moved["events"][0], transcript["events"][0]);
        assert_eq!(moved["events"][1]["kind"], builtin);
        assert_eq!(moved["events"][1]["text"], text);
    }
    let reset = gives("transcript_reset", json!([{"metadata": {"a": 1}}]));
    assert_eq!(reset["state"], "active");
    assert_eq!(reset["metadata"], json!({"a": 1}));
    assert_eq!(reset["events"][0]["kind"], "transcript_reset");
    assert_eq!(reset["events"][0]["text"], "transcript reset");
    assert!(
        gives("transcript_reset", json!([]))
            .get("metadata")
            .is_none()
    );
}

#[test]
fn what_is_in_a_transcript_is_counted() {
    let stats = json!({
        "messages": [
            user("a"), assistant(""), {"role": "assistant", "tool_calls": [1, 2]},
            {"role": "tool"}, {"role": "tool_result"}, {"role": "system"}, "odd",
        ],
        "events": [{"visibility": "visible"}, {"visibility": "public"}],
    });
    let expected = json!({
        "message_count": 7, "user_facing_message_count": 3, "tool_result_message_count": 2,
        "tool_call_count": 2, "assistant_message_count": 2, "user_message_count": 1,
        "visible_event_count": 1,
    });
    assert_eq!(gives("transcript_stats", json!([stats])), expected);
    for odd in [
        json!([]),
        json!([null]),
        json!([7]),
        json!([[1]]),
        json!([{}]),
    ] {
        let stats = gives("transcript_stats", odd);
        let mut counts = stats.as_object().expect("it is a dict").values();
        assert!(counts.all(|count| count == 0));
    }
}

#[test]
fn events_are_found_by_kind() {
    let transcript = gives("transcript_archive", json!([of(json!([user("a")]))]));
    let found = gives("transcript_events_by_kind", json!([transcript, "message"]));
    assert_eq!(found, json!([transcript["events"][0]]));
    let found = gives("transcript_events_by_kind", json!([transcript, "plan"]));
    assert_eq!(found, json!([]));
    assert_eq!(
        gives("transcript_events_by_kind", json!([transcript])),
        json!([])
    );
}

#[test]
fn tokens_are_a_quarter_of_the_bytes_of_all_texts() {
    let messages = json!([user("abc"), user("défg"), {"role": "user", "content": ["x"]}, {}]);
    assert_eq!(gives("estimate_tokens", json!([messages])), 2);
    assert_eq!(gives("estimate_tokens", json!([[user("abc")]])), 0);
    assert_eq!(gives("estimate_tokens", json!([])), 0);
    assert_eq!(gives("estimate_tokens", json!(["text"])), 0);
}

#[test]
fn text_is_microcompacted() {
    let text = "x".repeat(20_001);
    let shortened = gives("microcompact", json!([text]));
    let shortened = shortened.as_str().expect("it is a text");
    assert!(shortened.contains("\n\n[... 1 characters snipped ...]\n\n"));
    assert_eq!(gives("microcompact", json!([text, 30_000])), text);
    assert_eq!(gives("microcompact", json!([text, -5])), text);
    assert_eq!(gives("microcompact", json!([])), "");
}

#[test]
fn messages_are_added_to_lists_and_transcripts() {
    let result = json!({"role": "tool_result", "tool_use_id": "t", "content": "ok"});
    let rows = [
        (
            "add_message",
            json!(["critic", "no"]),
            json!({"role": "critic", "content": "no"}),
        ),
        ("add_user", json!(["a"]), user("a")),
        ("add_assistant", json!(["b"]), assistant("b")),
        (
            "add_system",
            json!(["c"]),
            json!({"role": "system", "content": "c"}),
        ),
        ("add_tool_result", json!(["t", "ok"]), result),
        (
            "add_user",
            json!([[{"type": "image"}]]),
            json!({"role": "user", "content": [{"type": "image"}]}),
        ),
        (
            "add_user",
            json!([]),
            json!({"role": "user", "content": null}),
        ),
    ];
    let archived = gives("transcript_archive", json!([of(json!([user("0")]))]));
    for (builtin, rest, message) in rows {
        let with = |first: Value| {
            let mut arguments = vec![first];
            arguments.extend(rest.as_array().expect("a list").clone());
            Value::Array(arguments)
        };
        let list = gives(builtin, with(json!([user("0")])));
        assert_eq!(list, json!([user("0"), message]));
        let transcript = gives(builtin, with(archived.clone()));
        assert_eq!(transcript["messages"], list);
        assert_eq!(transcript["id"], archived["id"]);
        let kinds: Vec<&Value> = events(&transcript)
            .iter()
            .map(|event| &event["kind"])
            .collect();
        let kind = match builtin {
            "add_tool_result" => "tool_result",
            _ => "message",
        };
        assert_eq!(kinds, ["message", kind, "transcript_archive"]);
        let mistake = format!("{builtin}: first argument must be a message list or transcript");
        fails(builtin, with(json!({"messages": []})), &mistake);
        fails(builtin, with(json!(null)), &mistake);
    }
}

#[test]
fn sessions_cut_and_copy_transcripts() {
    let messages = json!([user("1"), assistant("2"), user("3")]);
    let mut transcript = of(messages);
    let new_id = &mut counting();
    let trimmed = trimmed(&gives("transcript_archive", json!([transcript])), 2, new_id);
    assert_eq!(trimmed["messages"], json!([assistant("2"), user("3")]));
    assert_eq!(events(&trimmed).len(), 2);
    assert_eq!(
        super::trimmed(&transcript, 9, new_id)["messages"],
        transcript["messages"]
    );
    let injected = injected(&transcript, assistant("4"), new_id);
    assert_eq!(injected["messages"][3], assistant("4"));
    assert_eq!(events(&injected).len(), 4);
    transcript["metadata"] = json!({"a": 1});
    let fork = forked(&transcript, "parent", "child");
    assert_eq!(fork["id"], "child");
    assert_eq!(
        fork["metadata"],
        json!({"a": 1, "parent_session_id": "parent"})
    );
    assert_eq!(fork["events"], transcript["events"]);
    let fork = forked_at(&transcript, 1, "parent", "child", new_id);
    assert_eq!(fork["messages"], json!([user("1")]));
    assert_eq!(events(&fork).len(), 1);
}

#[test]
fn a_fork_knows_where_it_branched_off() {
    let kinds = [
        "message",
        "plan",
        "tool_result",
        "compaction",
        "message",
        "plan",
    ];
    let events: Vec<Value> = kinds.iter().map(|kind| json!({"kind": kind})).collect();
    let transcript = json!({"_type": "transcript", "events": events});
    let rows = [(0, 0), (1, 1), (2, 3), (3, 5), (4, 6), (9, 6)];
    for (keep_first, expected) in rows {
        assert_eq!(branched_at_event_index(&transcript, keep_first), expected);
    }
}

#[test]
fn summaries_grow_without_repeating_themselves() {
    let rows = [
        (None, "a", "a"),
        (Some(" "), "a", "a"),
        (Some("a"), "a", "a"),
        (Some("a"), "b", "a\n\nb"),
        (Some("a\n\nb"), "b", "a\n\nb"),
        (Some("a"), "", "a"),
    ];
    for (earlier, more, expected) in rows {
        assert_eq!(with_more_summary(earlier, more), expected);
    }
}
