use serde_json::{Value, json};

use super::{encode, failure};
use crate::wire::{HttpRequest, ModelTraits, Target};
use crate::{
    Category, Effort, Output, Request, Sampling, SearchVariant, Secret, Thinking, ToolSearch,
    ToolSpec,
};

fn target(traits: ModelTraits) -> Target {
    Target {
        provider: "anthropic".to_owned(),
        url: "https://api.anthropic.com/v1/messages".to_owned(),
        headers: vec![("x-api-key".to_owned(), Secret::new("k"))],
        traits,
    }
}

fn ask(messages: Value) -> Request {
    Request {
        model: "claude-sonnet-4-5".to_owned(),
        messages: messages.as_array().cloned().unwrap_or_default().into(),
        ..Request::default()
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: json!({"type": "object", "properties": {"p": {"type": "string"}}}),
        ..ToolSpec::default()
    }
}

fn body(request: &Request) -> Value {
    encode(request, &target(ModelTraits::default())).body
}

#[track_caller]
fn check_messages(messages: Value, expected: Value) {
    assert_eq!(body(&ask(messages))["messages"], expected);
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}]})
}

#[test]
fn a_plain_question_says_no_more_than_it_must() {
    let mut request = ask(json!([{"role": "user", "content": "hi"}]));
    request.system = Some("be brief".to_owned());
    request.stream = true;
    let HttpRequest { url, headers, body } = encode(&request, &target(ModelTraits::default()));
    assert_eq!(url, "https://api.anthropic.com/v1/messages");
    assert_eq!(headers.len(), 1);
    assert_eq!(
        body,
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 16384,
            "stream": true,
            "system": "be brief",
            "messages": [said("user", "hi")],
        })
    );
}

#[test]
fn results_of_a_turn_stand_first_in_one_message() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
    check_messages(
        json!([
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "a.1", "function": {"name": "t", "arguments": "{}"}},
                {"id": "b", "function": {"name": "t", "arguments": ""}},
            ]},
            {"role": "tool", "tool_call_id": "a.1", "content": "r"},
            {"role": "user", "content": "and hurry"},
            {"role": "tool", "tool_call_id": "b", "content": "r"},
        ]),
        json!([
            {"role": "assistant", "content": [call("a_1"), call("b")]},
            {"role": "user", "content": [
                result("a_1"), result("b"), {"type": "text", "text": "and hurry"},
            ]},
        ]),
    );
}

#[test]
fn results_show_failures_and_pictures() {
    check_messages(
        json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": []},
            {"type": "tool_result", "tool_use_id": "b", "content": [
                {"type": "text", "text": "x"},
                {"type": "image", "base64": "AA", "media_type": "image/png"},
            ]},
        ]}]),
        json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": ""},
            {"type": "tool_result", "tool_use_id": "b", "content": [
                {"type": "text", "text": "x"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
            ]},
        ]}]),
    );
}

#[test]
fn kept_blocks_go_back_to_the_letter() {
    let blocks = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "a", "citations": null},
        {"type": "thinking", "thinking": "hm again", "signature": "s2"},
        {"type": "tool_use", "id": "t1", "name": "t", "input": {}, "caller": {"type": "direct"}},
    ]);
    let kept = |wire: &str| json!([{"role": "assistant", "content": "a", "kept": {"wire": wire, "blocks": blocks}}]);
    check_messages(
        kept("anthropic"),
        json!([{"role": "assistant", "content": blocks}]),
    );
    check_messages(kept("gemini"), json!([said("assistant", "a")]));
}

#[test]
fn thoughts_go_back_if_signed_and_before_text() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    check_messages(
        json!([{"role": "assistant", "content": [
            {"type": "text", "text": "a"}, thought, {"type": "thinking", "thinking": "unsigned"},
        ]}]),
        json!([{"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}]),
    );
}

#[test]
fn instructions_in_the_middle_are_said_by_the_user() {
    let mut request = ask(json!([
        {"role": "system", "content": "first"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": " "},
        {"role": "system", "content": "later"},
    ]));
    request.system = Some("top".to_owned());
    let body = body(&request);
    assert_eq!(body["system"], "top\n\nfirst");
    let blocks = json!([{"type": "text", "text": "hi"}, {"type": "text", "text": "later"}]);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": blocks}])
    );
}

#[test]
fn tools_carry_what_was_asked_for() {
    let mut request = ask(json!([]));
    let mut deferred = tool("later");
    deferred.defer_loading = true;
    deferred.strict = Some(true);
    request.tools = vec![tool("now"), deferred].into();
    request.stream = true;
    request.wants_partial_arguments = true;
    request.tool_search = Some(ToolSearch {
        variant: SearchVariant::Regex,
    });
    let schema = json!({"type": "object", "properties": {"p": {"type": "string"}}});
    assert_eq!(
        body(&request)["tools"],
        json!([
            {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
            {
                "name": "now", "description": "Does it.", "input_schema": schema,
                "eager_input_streaming": true,
            },
            {
                "name": "later", "description": "Does it.", "input_schema": schema,
                "eager_input_streaming": true, "strict": true, "defer_loading": true,
            },
        ])
    );
}

#[test]
fn tool_choice_is_understood_in_every_spelling() {
    let rows = [
        (json!("auto"), json!({"type": "auto"})),
        (json!("any"), json!({"type": "any"})),
        (json!("required"), json!({"type": "any"})),
        (json!("none"), json!({"type": "none"})),
        (json!("t"), json!({"type": "tool", "name": "t"})),
        (
            json!({"type": "auto", "disable_parallel_tool_use": true}),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
        ),
        (
            json!({"type": "function", "function": {"name": "t"}}),
            json!({"type": "tool", "name": "t"}),
        ),
    ];
    for (choice, expected) in rows {
        let mut request = ask(json!([]));
        request.tool_choice = Some(choice);
        assert_eq!(
            body(&request).get("tool_choice"),
            None,
            "there are no tools"
        );
        request.tools = vec![tool("t")].into();
        assert_eq!(body(&request)["tool_choice"], expected);
    }
}

#[test]
fn structured_output_is_a_forced_tool() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let mut request = ask(json!([]));
    request.output = Output::JsonSchema {
        schema: schema.clone(),
        strict: true,
    };
    let forced = body(&request);
    assert_eq!(forced["tools"][0]["name"], "json_response");
    assert_eq!(forced["tools"][0]["input_schema"], schema);
    assert_eq!(
        forced["tool_choice"],
        json!({"type": "tool", "name": "json_response"})
    );
    request.tools = vec![tool("t")].into();
    assert_eq!(body(&request)["tool_choice"], json!({"type": "any"}));
    request.thinking = Thinking::Adaptive;
    assert_eq!(body(&request)["tool_choice"], json!({"type": "auto"}));
    request.output = Output::JsonObject;
    assert_eq!(
        body(&request)["tools"][1]["input_schema"],
        json!({"type": "object"})
    );
}

#[test]
fn thinking_and_sampling_fit_the_model() {
    let older = ModelTraits::default();
    let newer = ModelTraits {
        adaptive_only: true,
        ..older
    };
    let enabled = |budget_tokens| Thinking::Enabled { budget_tokens };
    let effort = |level| Thinking::Effort { level };
    let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    let adaptive = json!({"thinking": {"type": "adaptive"}});
    let sampled = json!({"temperature": 0.5, "top_p": 0.75, "top_k": 3});
    let rows = [
        (older, Thinking::Disabled, 16384, sampled),
        (older, enabled(None), 16384, budget(10000)),
        (older, enabled(None), 4096, budget(3072)),
        (older, enabled(Some(5000)), 4096, budget(5000)),
        (older, effort(Effort::Low), 16384, budget(2048)),
        (older, effort(Effort::High), 16384, budget(12288)),
        (older, Thinking::Adaptive, 16384, adaptive.clone()),
        (newer, Thinking::Disabled, 16384, json!({})),
        (newer, enabled(Some(5000)), 16384, adaptive),
        (
            newer,
            effort(Effort::Medium),
            16384,
            json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}}),
        ),
    ];
    for (traits, thinking, max_tokens, expected) in rows {
        let mut request = ask(json!([]));
        request.thinking = thinking;
        request.sampling = Sampling {
            max_tokens,
            temperature: Some(0.5),
            top_p: Some(0.75),
            top_k: Some(3),
            stop: vec!["END".to_owned()],
            ..Sampling::default()
        };
        let mut body = encode(&request, &target(traits)).body;
        let fields = body.as_object_mut().unwrap();
        assert_eq!(fields["stop_sequences"], json!(["END"]));
        let always = [
            "model",
            "max_tokens",
            "stream",
            "messages",
            "stop_sequences",
        ];
        fields.retain(|name, _| !always.contains(&name.as_str()));
        assert_eq!(body, expected, "{thinking:?}");
    }
}

#[test]
fn an_answer_is_begun_only_where_models_allow_it() {
    let mut request = ask(json!([{"role": "user", "content": "hi"}]));
    request.prefill = Some("Sure: ".to_owned());
    let accepting = target(ModelTraits {
        accepts_prefill: true,
        ..ModelTraits::default()
    });
    let plain = json!([said("user", "hi")]);
    let begun = json!([said("user", "hi"), said("assistant", "Sure:")]);
    assert_eq!(encode(&request, &accepting).body["messages"], begun);
    assert_eq!(body(&request)["messages"], plain);
    request.thinking = Thinking::Adaptive;
    assert_eq!(encode(&request, &accepting).body["messages"], plain);
}

#[test]
fn four_places_are_marked_for_the_cache() {
    let mark = json!({"type": "ephemeral"});
    let mut request = ask(json!([
        {"role": "user", "content": "1"}, {"role": "assistant", "content": "a"},
        {"role": "user", "content": "2"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": ["3", "4"]},
    ]));
    let mut deferred = tool("later");
    deferred.defer_loading = true;
    request.tools = vec![tool("now"), deferred].into();
    request.system = Some("s".to_owned());
    assert!(!body(&request).to_string().contains("cache_control"));
    request.cache = true;
    let body = body(&request);
    let marked = [
        "/tools/0",
        "/system/0",
        "/messages/2/content/0",
        "/messages/4/content/1",
    ];
    for place in marked {
        assert_eq!(
            body.pointer(place).unwrap()["cache_control"],
            mark,
            "{place}"
        );
    }
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}

#[test]
fn betas_are_named_once() {
    let betas = |request: &Request, traits, known: Option<&str>| {
        let mut target = target(traits);
        let known = known.map(|known| ("Anthropic-Beta".to_owned(), Secret::new(known)));
        target.headers.extend(known);
        let headers = encode(request, &target).headers;
        let mut values = headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("anthropic-beta"));
        let value = values.next().map(|(_, value)| value.expose().to_owned());
        assert_eq!(values.next(), None);
        value
    };
    let plain = ModelTraits::default();
    let interleaving = ModelTraits {
        interleaved_thinking: true,
        ..plain
    };
    let mut request = ask(json!([]));
    assert_eq!(betas(&request, interleaving, None), None);
    request.thinking = Thinking::Adaptive;
    let expected = Some("interleaved-thinking-2025-05-14".to_owned());
    assert_eq!(betas(&request, interleaving, None), expected);
    assert_eq!(betas(&request, plain, None), None);
    request.interleaved_thinking = true;
    request.beta_features = vec!["files-1".to_owned(), "a-1".to_owned()];
    let expected = Some("a-1,files-1,interleaved-thinking-2025-05-14".to_owned());
    assert_eq!(betas(&request, plain, Some("a-1")), expected);
}

#[test]
fn extras_have_the_last_word() {
    let mut request = ask(json!([]));
    let extra = json!({"max_tokens": 5, "service_tier": "auto"});
    request.extra = extra.as_object().unwrap().clone();
    let body = body(&request);
    assert_eq!(body["max_tokens"], 5);
    assert_eq!(body["service_tier"], "auto");
}

#[test]
fn failures_have_their_category() {
    let rows = [
        ("overloaded_error", Category::Overloaded),
        ("rate_limit_error", Category::RateLimit),
        ("authentication_error", Category::Auth),
        ("permission_error", Category::Auth),
        ("not_found_error", Category::NotFound),
        ("api_error", Category::ServerError),
        ("timeout_error", Category::Timeout),
        ("invalid_request_error", Category::Generic),
        ("new_error", Category::Generic),
    ];
    for (kind, category) in rows {
        let error = failure::read(&json!({"error": {"type": kind, "message": "M"}}));
        assert_eq!(error.category, category);
        assert_eq!(error.message, format!("{kind}: M"));
    }
}
