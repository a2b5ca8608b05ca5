use super::*;
use crate::wire::ModelTraits;
use crate::wire::conversation::{Part, Role};
use crate::{Effort, SearchVariant, Secret, ToolSearch};

fn target(provider: &str) -> Target {
    Target {
        provider: provider.to_owned(),
        url: "http://h/{model}/chat".to_owned(),
        headers: vec![("authorization".to_owned(), Secret::new("Bearer k"))],
        traits: ModelTraits::default(),
    }
}

fn question() -> Vec<Turn> {
    vec![Turn {
        role: Role::User,
        parts: vec![Part::Text("hi".to_owned())],
        kept: None,
    }]
}

fn request() -> Request {
    Request {
        model: "m".to_owned(),
        ..Request::default()
    }
}

/// What the body has beside what every body has.
#[track_caller]
fn check(request: &Request, target: &Target, expected: Value) {
    let mut body = body(request, target, &question());
    assert_eq!(body.remove("model"), Some(json!("m")));
    for key in ["messages", "max_tokens", "stream"] {
        assert!(body.remove(key).is_some(), "{key}");
    }
    assert_eq!(Value::Object(body), expected);
}

#[test]
fn a_body_has_what_it_must_and_no_more() {
    let body = body(&request(), &target("openai"), &question());
    let expected = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 16384,
        "stream": false,
    });
    assert_eq!(Value::Object(body), expected);
}

#[test]
fn the_system_prompt_is_first_and_the_prefill_last() {
    let request = Request {
        system: Some("be kind".to_owned()),
        prefill: Some("{".to_owned()),
        ..request()
    };
    let body = body(&request, &target("openai"), &question());
    let expected = json!([
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "{"},
    ]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn a_stream_asks_for_its_usage() {
    let request = Request {
        stream: true,
        ..request()
    };
    check(
        &request,
        &target("openai"),
        json!({"stream_options": {"include_usage": true}}),
    );
}

#[test]
fn models_that_want_another_name_for_the_cap_get_it() {
    let mut target = target("openai");
    target.traits.requires_completion_tokens = true;
    let body = body(&request(), &target, &question());
    assert_eq!(body["max_completion_tokens"], 16384);
    assert_eq!(body.get("max_tokens"), None);
}

#[test]
fn only_what_is_set_is_sent() {
    let sampling = Sampling {
        temperature: Some(0.5),
        top_k: Some(3),
        seed: Some(-1),
        stop: vec!["X".to_owned()],
        ..Sampling::default()
    };
    let request = Request {
        sampling,
        ..request()
    };
    let expected = json!({"temperature": 0.5, "seed": -1, "stop": ["X"]});
    check(&request, &target("openai"), expected.clone());
    let mut with_top_k = expected;
    with_top_k["top_k"] = json!(3);
    check(&request, &target("groq"), with_top_k);
}

#[test]
fn thinking_has_a_key_per_provider() {
    let enabled = |budget_tokens| Thinking::Enabled { budget_tokens };
    let effort = Thinking::Effort {
        level: Effort::High,
    };
    let template = json!({"chat_template_kwargs": {"enable_thinking": true}});
    let rows = [
        ("openai", Thinking::Disabled, json!({})),
        ("openai", enabled(None), json!({})),
        ("openai", effort, json!({"reasoning_effort": "high"})),
        ("openrouter", Thinking::Disabled, json!({})),
        (
            "openrouter",
            enabled(None),
            json!({"reasoning": {"enabled": true}}),
        ),
        (
            "openrouter",
            enabled(Some(512)),
            json!({"reasoning": {"max_tokens": 512}}),
        ),
        (
            "openrouter",
            effort,
            json!({"reasoning": {"effort": "high"}}),
        ),
        ("vllm", Thinking::Disabled, json!({})),
        ("vllm", enabled(Some(512)), template.clone()),
        ("together", Thinking::Adaptive, template),
    ];
    for (provider, thinking, expected) in rows {
        let request = Request {
            thinking,
            ..request()
        };
        check(&request, &target(provider), expected);
    }
}

#[test]
fn structured_output_is_a_response_format() {
    let rows = [
        (Output::JsonObject, json!({"type": "json_object"})),
        (
            Output::JsonSchema {
                schema: json!({"type": "object"}),
                strict: true,
            },
            json!({"type": "json_schema", "json_schema":
                {"name": "response", "schema": {"type": "object"}, "strict": true}}),
        ),
    ];
    for (output, expected) in rows {
        let request = Request {
            output,
            ..request()
        };
        check(
            &request,
            &target("openai"),
            json!({"response_format": expected}),
        );
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "d".to_owned(),
        parameters: json!({"type": "object"}),
        ..ToolSpec::default()
    }
}

#[test]
fn tools_are_functions_and_the_search_comes_first() {
    let mut late = tool("late");
    late.defer_loading = true;
    late.namespace = Some("z".to_owned());
    let mut strict = tool("strict");
    strict.strict = Some(true);
    strict.namespace = Some("a".to_owned());
    let request = Request {
        tools: vec![late.clone(), strict, late].into(),
        tool_search: Some(ToolSearch {
            variant: SearchVariant::Bm25,
        }),
        ..request()
    };
    let late = json!({"type": "function", "defer_loading": true, "namespace": "z",
        "function": {"name": "late", "description": "d", "parameters": {"type": "object"}}});
    let expected = json!({"tools": [
        {"type": "tool_search", "mode": "hosted", "namespaces": ["a", "z"]},
        late,
        {"type": "function", "namespace": "a", "function": {"name": "strict",
            "description": "d", "parameters": {"type": "object"}, "strict": true}},
        late,
    ]});
    check(&request, &target("openai"), expected);
}

#[test]
fn a_choice_is_a_word_or_a_function() {
    let rows = [
        (json!("auto"), json!("auto")),
        (json!("none"), json!("none")),
        (json!("required"), json!("required")),
        (
            json!("f"),
            json!({"type": "function", "function": {"name": "f"}}),
        ),
        (json!({"any": "thing"}), json!({"any": "thing"})),
    ];
    for (choice, expected) in rows {
        let mut request = Request {
            tool_choice: Some(choice),
            ..request()
        };
        // Without tools a choice would only be refused.
        check(&request, &target("openai"), json!({}));
        request.tools = vec![tool("f")].into();
        let body = body(&request, &target("openai"), &question());
        assert_eq!(body["tool_choice"], expected);
    }
}

#[test]
fn what_the_caller_adds_has_the_last_word() {
    let mut request = request();
    request.extra.insert("max_tokens".to_owned(), json!(1));
    request.extra.insert("mine".to_owned(), json!([]));
    let http = encode(&request, &target("openai"));
    assert_eq!(http.url, "http://h/m/chat");
    assert_eq!(http.headers[0].1.expose(), "Bearer k");
    assert_eq!(http.body["max_tokens"], 1);
    assert_eq!(http.body["mine"], json!([]));
}
