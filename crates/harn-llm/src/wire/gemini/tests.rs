use std::time::Duration;

use serde_json::{Value, json};

use super::{encode, failure, schema};
use crate::wire::Target;
use crate::{Category, Effort, Output, Request, Sampling, Secret, Thinking, ToolSpec};

fn target(provider: &str) -> Target {
    Target {
        provider: provider.to_owned(),
        url: "https://example.org/v1beta/models".to_owned(),
        headers: vec![("x-goog-api-key".to_owned(), Secret::new("k"))],
        ..Target::default()
    }
}

fn ask(model: &str, messages: Value) -> Request {
    Request {
        model: model.to_owned(),
        messages: messages.as_array().cloned().unwrap_or_default().into(),
        ..Request::default()
    }
}

fn body(request: &Request) -> Value {
    encode(request, &target("gemini")).body
}

#[track_caller]
fn check_contents(messages: Value, expected: Value) {
    let request = ask("gemini-2.5-pro", messages);
    assert_eq!(body(&request)["contents"], expected);
}

#[test]
fn the_url_names_model_and_method() {
    let rows = [
        ("m", true, "m:streamGenerateContent?alt=sse"),
        ("m", false, "m:generateContent"),
        ("models/m", false, "m:generateContent"),
    ];
    for (model, stream, expected) in rows {
        let mut request = ask(model, json!([]));
        request.stream = stream;
        let sent = encode(&request, &target("gemini"));
        assert_eq!(
            sent.url,
            format!("https://example.org/v1beta/models/{expected}")
        );
        assert_eq!(sent.headers.len(), 1);
    }
}

#[test]
fn a_question_has_its_instructions_and_its_settings() {
    let mut request = ask(
        "gemini-2.0-flash",
        json!([{"role": "system", "content": "more"}, {"role": "user", "content": "hi"}]),
    );
    request.system = Some("be brief".to_owned());
    request.sampling = Sampling {
        max_tokens: 9,
        temperature: Some(0.5),
        top_p: Some(0.25),
        top_k: Some(3),
        seed: Some(4),
        frequency_penalty: Some(1.5),
        presence_penalty: Some(2.5),
        stop: vec!["END".to_owned()],
    };
    let extra = json!({"generationConfig": {"candidateCount": 1}, "labels": {"a": "b"}});
    request.extra = extra.as_object().unwrap().clone();
    assert_eq!(
        body(&request),
        json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "systemInstruction": {"parts": [{"text": "be brief\n\nmore"}]},
            "generationConfig": {
                "maxOutputTokens": 9, "temperature": 0.5, "topP": 0.25, "topK": 3, "seed": 4,
                "frequencyPenalty": 1.5, "presencePenalty": 2.5, "stopSequences": ["END"],
                "candidateCount": 1,
            },
            "labels": {"a": "b"},
        })
    );
}

#[test]
fn calls_and_results_go_without_ids_the_provider_never_gave() {
    check_contents(
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "ok", "tool_calls": [
                {"id": "call_0", "name": "read", "arguments": {"p": 1}},
                {"id": "call_1", "name": "look", "arguments": {}},
            ]},
            {"role": "tool", "tool_call_id": "call_0", "content": "x", "is_error": true},
            {"role": "tool", "tool_call_id": "call_1", "content": [
                {"type": "text", "text": "y"},
                {"type": "image", "base64": "AA", "media_type": "image/png"},
            ]},
            {"role": "user", "content": "hurry"},
        ]),
        json!([
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [
                {"text": "ok"},
                {"functionCall": {"name": "read", "args": {"p": 1}}},
                {"functionCall": {"name": "look", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read", "response": {"error": "x"}}},
                {"functionResponse": {"name": "look", "response": {"output": "y"}}},
                {"inlineData": {"mimeType": "image/png", "data": "AA"}},
                {"text": "hurry"},
            ]},
        ]),
    );
}

#[test]
fn kept_parts_go_back_with_their_signatures_and_ids() {
    let parts = json!([
        {"text": "hm", "thought": true},
        {"functionCall": {"id": "f1", "name": "t", "args": {}}, "thoughtSignature": "s"},
    ]);
    check_contents(
        json!([
            {
                "role": "assistant", "tool_calls": [{"id": "f1", "name": "t", "arguments": {}}],
                "kept": {"wire": "gemini", "blocks": parts},
            },
            {"role": "tool", "tool_call_id": "f1", "content": "r"},
        ]),
        json!([
            {"role": "model", "parts": parts},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "f1", "name": "t", "response": {"output": "r"}}},
            ]},
        ]),
    );
}

#[test]
fn calls_of_other_models_get_a_stand_in_signature_where_one_is_demanded() {
    let messages =
        json!([{"role": "assistant", "tool_calls": [{"id": "a", "name": "t", "arguments": {}}]}]);
    let part = |model: &str| body(&ask(model, messages.clone()))["contents"][0]["parts"][0].clone();
    let call = json!({"name": "t", "args": {}});
    assert_eq!(part("gemini-2.5-pro"), json!({"functionCall": call}));
    assert_eq!(
        part("gemini-3-pro-preview"),
        json!({"functionCall": call, "thoughtSignature": "skip_thought_signature_validator"})
    );
}

#[test]
fn pictures_are_sent_or_pointed_to() {
    check_contents(
        json!([{"role": "user", "content": [
            {"type": "image", "url": "https://x/y.JPG?z=1"},
            {"type": "image", "url": "gs://x/y"},
            {"type": "wheel"},
            {"videoMetadata": {"fps": 1}},
        ]}]),
        json!([{"role": "user", "parts": [
            {"fileData": {"fileUri": "https://x/y.JPG?z=1", "mimeType": "image/jpeg"}},
            {"fileData": {"fileUri": "gs://x/y"}},
            {"text": "{\"type\":\"wheel\"}"},
            {"videoMetadata": {"fps": 1}},
        ]}]),
    );
}

#[test]
fn thinking_fits_the_generation() {
    let enabled = |budget_tokens| Thinking::Enabled { budget_tokens };
    let effort = |level| Thinking::Effort { level };
    let rows = [
        ("gemini-2.0-flash", Thinking::Disabled, Value::Null),
        ("gemini-2.5-pro", Thinking::Disabled, Value::Null),
        (
            "gemini-2.5-flash",
            Thinking::Disabled,
            json!({"thinkingBudget": 0}),
        ),
        (
            "gemini-2.5-pro",
            enabled(None),
            json!({"includeThoughts": true}),
        ),
        (
            "gemini-2.5-pro",
            enabled(Some(7)),
            json!({"includeThoughts": true, "thinkingBudget": 7}),
        ),
        (
            "gemini-2.5-pro",
            Thinking::Adaptive,
            json!({"includeThoughts": true, "thinkingBudget": -1}),
        ),
        (
            "gemini-3-pro",
            Thinking::Adaptive,
            json!({"includeThoughts": true}),
        ),
        (
            "gemini-2.5-pro",
            effort(Effort::Low),
            json!({"includeThoughts": true, "thinkingBudget": 1024}),
        ),
        (
            "gemini-3-pro",
            effort(Effort::High),
            json!({"includeThoughts": true, "thinkingLevel": "high"}),
        ),
    ];
    for (model, thinking, expected) in rows {
        let mut request = ask(model, json!([]));
        request.thinking = thinking;
        let config = &body(&request)["generationConfig"]["thinkingConfig"];
        assert_eq!(*config, expected, "{model} {thinking:?}");
    }
}

#[test]
fn structured_output_has_a_media_type_and_a_schema() {
    let config = |output: Output| {
        let mut request = ask("gemini-2.0-flash", json!([]));
        request.output = output;
        let mut config = body(&request)["generationConfig"].clone();
        config.as_object_mut().unwrap().remove("maxOutputTokens");
        config
    };
    let with_schema = |schema: Value| Output::JsonSchema {
        schema,
        strict: true,
    };
    assert_eq!(config(Output::Text), json!({}));
    assert_eq!(
        config(Output::JsonObject),
        json!({"responseMimeType": "application/json"})
    );
    assert_eq!(
        config(with_schema(
            json!({"type": "object", "additionalProperties": false})
        )),
        json!({"responseMimeType": "application/json", "responseSchema": {"type": "object"}})
    );
    let referring = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}});
    assert_eq!(
        config(with_schema(referring.clone())),
        json!({"responseMimeType": "application/json", "responseJsonSchema": referring})
    );
}

#[test]
fn tools_are_declared_and_chosen() {
    let mut request = ask("gemini-2.5-pro", json!([]));
    request.tool_choice = Some(json!("any"));
    assert_eq!(body(&request).get("toolConfig"), None, "there are no tools");
    let spec = |name: &str, parameters: Value| ToolSpec {
        name: name.to_owned(),
        description: "d".to_owned(),
        parameters,
        ..ToolSpec::default()
    };
    request.tools = vec![
        spec(
            "a",
            json!({"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]}),
        ),
        spec("b", json!({"type": "object", "properties": {}})),
    ]
    .into();
    assert_eq!(
        body(&request)["tools"],
        json!([{"functionDeclarations": [
            {
                "name": "a", "description": "d",
                "parameters": {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]},
            },
            {"name": "b", "description": "d"},
        ]}])
    );
    let only_a = json!({"mode": "ANY", "allowedFunctionNames": ["a"]});
    let rows = [
        (json!("auto"), json!({"mode": "AUTO"})),
        (json!("required"), json!({"mode": "ANY"})),
        (json!("none"), json!({"mode": "NONE"})),
        (json!("a"), only_a.clone()),
        (
            json!({"type": "function", "function": {"name": "a"}}),
            only_a.clone(),
        ),
        (json!({"type": "tool", "name": "a"}), only_a.clone()),
        (only_a.clone(), only_a.clone()),
        (json!({"functionCallingConfig": only_a}), only_a),
    ];
    for (choice, expected) in rows {
        request.tool_choice = Some(choice);
        assert_eq!(
            body(&request)["toolConfig"]["functionCallingConfig"],
            expected
        );
    }
}

#[test]
fn pieces_of_arguments_are_asked_for_where_they_are_offered() {
    let mut request = ask("gemini-3-pro", json!([]));
    request.tools = vec![ToolSpec::default()].into();
    request.stream = true;
    request.wants_partial_arguments = true;
    assert_eq!(body(&request).get("toolConfig"), None);
    assert_eq!(
        encode(&request, &target("vertex")).body["toolConfig"],
        json!({"functionCallingConfig": {"streamFunctionCallArguments": true}})
    );
}

#[test]
fn schemas_lose_what_is_refused() {
    let rows = [
        (
            json!({"$schema": "s", "type": "object", "additionalProperties": false, "title": "t",
                "properties": {"additionalProperties": {"type": "string", "format": "uri"}},
                "required": ["additionalProperties", "gone"]}),
            json!({"type": "object", "title": "t",
                "properties": {"additionalProperties": {"type": "string"}},
                "required": ["additionalProperties"]}),
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": "string", "nullable": true}),
        ),
        (
            json!({"type": ["string", "integer"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            json!({"oneOf": [{"type": "null"}, {"type": "integer", "exclusiveMinimum": 1}]}),
            json!({"nullable": true, "anyOf": [{"type": "integer"}]}),
        ),
        (
            json!({"const": "a"}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!({"type": "integer"}),
        ),
        (
            json!({"type": "array", "items": {"type": "string", "format": "date-time", "$id": "x"}}),
            json!({"type": "array", "items": {"type": "string", "format": "date-time"}}),
        ),
        (json!(true), json!({"type": "object"})),
    ];
    for (given, expected) in rows {
        assert_eq!(schema::plain(&given), expected);
    }
}

#[test]
fn failures_have_their_category_and_their_wait() {
    let rows = [
        (401, "UNAUTHENTICATED", Category::Auth),
        (403, "PERMISSION_DENIED", Category::Auth),
        (429, "RESOURCE_EXHAUSTED", Category::RateLimit),
        (503, "UNAVAILABLE", Category::Overloaded),
        (500, "INTERNAL", Category::ServerError),
        (504, "DEADLINE_EXCEEDED", Category::Timeout),
        (404, "NOT_FOUND", Category::NotFound),
        (400, "INVALID_ARGUMENT", Category::Generic),
        (429, "NEW", Category::RateLimit),
    ];
    for (code, status, category) in rows {
        let error = failure::read(&json!({"code": code, "status": status, "message": "M"}));
        assert_eq!((error.category, error.status), (category, Some(code)));
        assert_eq!(error.message, format!("{status}: M"));
        assert_eq!(error.retry_after, None);
    }
    let waits = [
        ("3.5s", Some(Duration::from_millis(3500))),
        ("1e300s", None),
        ("-1s", None),
        ("NaNs", None),
        ("soon", None),
    ];
    for (delay, expected) in waits {
        let details = json!({"details": [{"reason": "r"}, {"retryDelay": delay}]});
        assert_eq!(failure::read(&details).retry_after, expected, "{delay}");
    }
}
