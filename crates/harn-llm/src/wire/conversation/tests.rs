use serde_json::json;

use super::*;

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn call(id: &str, name: &str, arguments: Value) -> Part {
    Part::Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

fn result(id: &str, name: Option<&str>, content: Vec<Part>) -> Part {
    Part::Result {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        content,
        is_error: false,
    }
}

fn turn(role: Role, parts: Vec<Part>) -> Turn {
    Turn {
        role,
        parts,
        kept: None,
    }
}

#[track_caller]
fn check(messages: Value, expected: Vec<Turn>) {
    let messages = messages.as_array().unwrap();
    assert_eq!(read(messages), expected);
}

#[test]
fn messages_are_read_in_every_shape() {
    use Role::{Assistant, System, User};
    let rows = [
        (
            json!({"role": "user", "content": "hi"}),
            turn(User, vec![text("hi")]),
        ),
        (
            json!({"role": "stranger", "content": "hi"}),
            turn(User, vec![text("hi")]),
        ),
        (json!("hi"), turn(User, vec![text("hi")])),
        (
            json!({"role": "developer", "content": "be brief"}),
            turn(System, vec![text("be brief")]),
        ),
        (
            json!({"role": "assistant", "content": null}),
            turn(Assistant, vec![]),
        ),
        (
            json!({"role": "assistant", "content": [
                "a", {"type": "output_text", "text": "b"}, {"type": "text", "text": ""}, {"type": "wheel"},
                {"type": "tool_search_query", "id": "s", "query": {}},
            ]}),
            turn(
                Assistant,
                vec![text("a"), text("b"), Part::Other(json!({"type": "wheel"}))],
            ),
        ),
        (
            json!({"role": "assistant", "reasoning_content": "hm", "content": "a"}),
            turn(
                Assistant,
                vec![
                    Part::Thought {
                        text: "hm".to_owned(),
                        signature: None,
                    },
                    text("a"),
                ],
            ),
        ),
        (
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}),
            turn(
                Assistant,
                vec![Part::Thought {
                    text: "hm".to_owned(),
                    signature: Some("s".to_owned()),
                }],
            ),
        ),
    ];
    for (message, expected) in rows {
        check(json!([message]), vec![expected]);
    }
}

#[test]
fn calls_and_results_of_all_families_are_read_alike() {
    let openai = json!([
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"p\":1}"}},
            {"id": "b", "type": "function", "function": {"name": "list", "arguments": ""}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "y"},
    ]);
    let anthropic = json!([
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}},
            {"type": "tool_use", "id": "b", "name": "list", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "x"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "y"}]},
        ]},
    ]);
    let own = json!([
        {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "tool_call", "name": "read", "arguments": {"p": 1}},
            {"id": "b", "type": "tool_call", "name": "list", "arguments": {}},
        ]},
        {"role": "tool_result", "tool_use_id": "a", "content": "x"},
        {"role": "tool_result", "tool_use_id": "b", "content": "y"},
    ]);
    for messages in [openai, anthropic, own] {
        check(
            messages,
            vec![
                turn(
                    Role::Assistant,
                    vec![
                        call("a", "read", json!({"p": 1})),
                        call("b", "list", json!({})),
                    ],
                ),
                turn(
                    Role::User,
                    vec![
                        result("a", Some("read"), vec![text("x")]),
                        result("b", Some("list"), vec![text("y")]),
                    ],
                ),
            ],
        );
    }
}

#[test]
fn results_without_ids_follow_their_calls_by_name_and_order() {
    let calls = json!({"role": "assistant", "tool_calls": [
        {"function": {"name": "read", "arguments": {"n": 1}}},
        {"function": {"name": "list", "arguments": {}}},
        {"function": {"name": "read", "arguments": {"n": 2}}},
    ]});
    check(
        json!([
            calls,
            {"role": "tool", "tool_name": "list", "content": "l"},
            {"role": "tool", "tool_name": "read", "content": "1"},
            {"role": "tool", "content": "2"},
        ]),
        vec![
            turn(
                Role::Assistant,
                vec![
                    call("call_0", "read", json!({"n": 1})),
                    call("call_1", "list", json!({})),
                    call("call_2", "read", json!({"n": 2})),
                ],
            ),
            turn(
                Role::User,
                vec![
                    result("call_1", Some("list"), vec![text("l")]),
                    result("call_0", Some("read"), vec![text("1")]),
                    result("call_2", Some("read"), vec![text("2")]),
                ],
            ),
        ],
    );
}

#[test]
fn an_id_used_again_becomes_another_one() {
    let asks = json!({"role": "assistant", "tool_calls": [{"id": "call_0", "name": "t", "arguments": {}}]});
    let answers = json!({"role": "tool", "tool_call_id": "call_0", "content": "r"});
    let exchange = |id: &str| {
        [
            turn(Role::Assistant, vec![call(id, "t", json!({}))]),
            turn(Role::User, vec![result(id, Some("t"), vec![text("r")])]),
        ]
    };
    check(
        json!([asks, answers, asks, answers]),
        [exchange("call_0"), exchange("call_0_1")].concat(),
    );
}

#[test]
fn a_result_nobody_asked_for_keeps_its_id() {
    check(
        json!([{"role": "tool", "tool_call_id": "z", "content": "r", "is_error": true}]),
        vec![turn(
            Role::User,
            vec![Part::Result {
                id: "z".to_owned(),
                name: None,
                content: vec![text("r")],
                is_error: true,
            }],
        )],
    );
}

#[test]
fn pictures_are_read_in_every_shape() {
    let url = Source::Url("https://x/y.png".to_owned());
    let base64 = |media_type: &str, data: &str| Source::Base64 {
        data: data.to_owned(),
        media_type: media_type.to_owned(),
    };
    let rows = [
        (
            json!({"type": "image", "url": "https://x/y.png", "detail": "low"}),
            url.clone(),
            Some("low"),
        ),
        (
            json!({"type": "image", "file_uri": "https://x/y.png"}),
            url.clone(),
            None,
        ),
        (
            json!({"type": "image", "base64": "AA", "media_type": "image/gif"}),
            base64("image/gif", "AA"),
            None,
        ),
        (
            json!({"type": "image", "data": "AA", "mime_type": "image/gif"}),
            base64("image/gif", "AA"),
            None,
        ),
        (
            json!({"type": "image", "data": "/9j/AA"}),
            base64("image/jpeg", "/9j/AA"),
            None,
        ),
        (
            json!({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}),
            url.clone(),
            None,
        ),
        (
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}),
            base64("image/png", "AA"),
            None,
        ),
        (
            json!({"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "high"}}),
            url.clone(),
            Some("high"),
        ),
        (
            json!({"type": "input_image", "image_url": "https://x/y.png"}),
            url,
            None,
        ),
        (
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}),
            base64("image/png", "AA"),
            None,
        ),
    ];
    for (block, source, detail) in rows {
        let detail = detail.map(str::to_owned);
        check(
            json!([{"role": "user", "content": [block]}]),
            vec![turn(Role::User, vec![Part::Image { source, detail }])],
        );
    }
    let stored = json!({"type": "image", "source": {"type": "file", "file_id": "f"}});
    check(
        json!([{"role": "user", "content": [stored]}]),
        vec![turn(Role::User, vec![Part::Other(stored)])],
    );
}

#[test]
fn what_a_provider_must_get_back_is_read() {
    let kept = json!({"wire": "anthropic", "blocks": [{"type": "text", "text": "a"}]});
    let turns = read(&[
        json!({"role": "assistant", "content": "a", "kept": kept}),
        json!({"role": "user", "content": "a", "kept": kept}),
        json!({"role": "assistant", "content": "a", "kept": {"wire": "anthropic", "blocks": []}}),
    ]);
    let expected = Kept {
        wire: "anthropic".to_owned(),
        blocks: vec![json!({"type": "text", "text": "a"})],
    };
    assert_eq!(turns[0].kept, Some(expected));
    assert_eq!(turns[1].kept, None);
    assert_eq!(turns[2].kept, None, "nothing stands for nothing");
}

#[test]
fn two_calls_with_one_id_are_two_calls() {
    let entry = json!({"id": "a", "function": {"name": "t", "arguments": "{}"}});
    let said = |text_of: &str| json!({"role": "tool", "tool_call_id": "a", "content": text_of});
    let messages = json!([
        {"role": "assistant", "content": "", "tool_calls": [entry, entry]},
        said("one"),
        said("two"),
    ]);
    let turns = read(messages.as_array().unwrap());
    let calls = turns[0].parts.iter().filter_map(|part| match part {
        Part::Call { id, .. } => Some(id.as_str()),
        _ => None,
    });
    let results = turns[1].parts.iter().filter_map(|part| match part {
        Part::Result { id, .. } => Some(id.as_str()),
        _ => None,
    });
    let calls: Vec<&str> = calls.collect();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0], calls[1]);
    assert_eq!(results.collect::<Vec<_>>(), calls);
}
