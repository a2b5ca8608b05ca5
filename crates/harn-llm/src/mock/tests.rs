//! What scripts rely on, sentence by sentence.

use serde_json::json;

use super::*;
use crate::{Category, Effort, StopReason, Thinking};

fn asking(content: &str) -> Request {
    Request {
        model: "claude-x".to_owned(),
        messages: vec![json!({"role": "user", "content": content})].into(),
        ..Request::default()
    }
}

fn with(entries: &[Value]) -> Mock {
    let mut mock = Mock::default();
    for entry in entries {
        mock.add(entry).unwrap();
    }
    mock
}

#[track_caller]
fn said(mock: &mut Mock, content: &str) -> String {
    mock.answer(&asking(content), None).unwrap().reply.text
}

fn is_send<T: Send>(_: &T) {}

#[test]
fn the_mock_can_move_to_another_thread() {
    is_send(&Mock::default());
}

// When it answers.

#[test]
fn it_intercepts_its_own_provider_always_and_others_while_there_is_a_script() {
    let mut mock = Mock::default();
    assert!(mock.intercepts("mock"));
    assert!(!mock.intercepts("openai"));
    mock.add(&json!({"text": "x"})).unwrap();
    assert!(mock.intercepts("openai") && mock.is_scripted());
    said(&mut mock, "use it up");
    assert!(!mock.intercepts("openai"));
}

#[test]
fn fixtures_intercept_everything_also_when_they_are_used_up() {
    let mut mock = Mock::default();
    mock.load_fixtures("f", "{\"text\": \"x\"}").unwrap();
    assert!(mock.intercepts("openai"));
    said(&mut mock, "use it up");
    assert!(mock.intercepts("openai"));
}

#[test]
fn every_call_is_logged_also_one_that_fails() {
    let mut mock = with(&[json!({"error": {"category": "timeout"}})]);
    mock.answer(&asking("a"), None).unwrap_err();
    assert_eq!(mock.calls().as_array().unwrap().len(), 1);
}

// In which order.

#[test]
fn fixtures_go_before_the_queue_and_the_queue_before_the_error() {
    let mut mock = with(&[json!({"text": "queue"})]);
    mock.load_fixtures(
        "f",
        "{\"text\": \"file\"}\n{\"text\": \"b\", \"match\": \"*b*\"}",
    )
    .unwrap();
    assert_eq!(said(&mut mock, "a"), "file");
    assert_eq!(said(&mut mock, "a"), "queue");
    assert_eq!(said(&mut mock, "b"), "b");
    let error = mock.answer(&asking("a"), None).unwrap_err();
    let expected = "No --llm-mock fixture matched prompt: \"a\\nuser\"";
    assert_eq!(error.message, expected);
    assert_eq!(error.category, Category::Generic);
}

#[test]
fn without_a_script_the_default_answers() {
    let mut mock = with(&[json!({"text": "only for x", "match": "*x*"})]);
    assert_eq!(
        said(&mut mock, "yes"),
        "Mock response to 1-word prompt: yes"
    );
    assert_eq!(said(&mut mock, "x"), "only for x");
}

#[test]
fn patterns_see_roles() {
    let mut mock = with(&[json!({"text": "1", "match": "hi\nuser"})]);
    assert_eq!(said(&mut mock, "hi"), "1");
}

// What an entry says.

#[test]
fn an_empty_entry_says_nothing_as_the_mock() {
    let mut mock = with(&[json!({})]);
    let answer = mock.answer(&asking("hello"), None).unwrap();
    assert_eq!(answer.provider, "mock");
    let reply = answer.reply;
    assert_eq!(reply.text, "");
    assert_eq!(reply.model.as_deref(), Some("mock"));
    // "hello", a line break and "user".
    assert_eq!(reply.usage.input, 10);
    assert_eq!(reply.usage.output, 30);
    assert_eq!((reply.usage.cache_read, reply.usage.cache_write), (0, 0));
    assert_eq!(reply.stop, None);
    assert_eq!((reply.thinking, reply.thinking_summary), (None, None));
    assert_eq!(reply.blocks, Vec::<Value>::new());
    assert_eq!(reply.tool_calls, []);
}

#[test]
fn an_entry_says_everything_it_has() {
    let mut mock = with(&[json!({
        "text": "t", "input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3,
        "cache_write_tokens": 4, "thinking": "th", "thinking_summary": "su",
        "stop_reason": "max_tokens", "model": "gpt-4o",
        "tool_calls": [{"id": "x", "name": "a", "arguments": {"k": 1}}, {"name": "b"}],
    })]);
    let reply = mock.answer(&asking("hello"), None).unwrap().reply;
    assert_eq!(reply.model.as_deref(), Some("gpt-4o"));
    let usage = &reply.usage;
    let counts = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    assert_eq!(counts, [1, 2, 3, 4]);
    assert_eq!(reply.thinking.as_deref(), Some("th"));
    assert_eq!(reply.thinking_summary.as_deref(), Some("su"));
    let stop = reply.stop.unwrap();
    assert_eq!(stop.word.as_deref(), Some("max_tokens"));
    assert_eq!(stop.reason, StopReason::Length);
    let blocks = json!([
        {"type": "output_text", "text": "t", "visibility": "public"},
        {"type": "tool_call", "id": "mock_call_1", "name": "a", "arguments": {"k": 1},
         "visibility": "internal"},
        {"type": "tool_call", "id": "mock_call_2", "name": "b", "arguments": {},
         "visibility": "internal"},
    ]);
    assert_eq!(Value::Array(reply.blocks), blocks);
    let ids: Vec<_> = reply.tool_calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids, ["mock_call_1", "mock_call_2"]);
}

#[test]
fn ids_start_anew_in_every_answer() {
    let entry = json!({"match": "*", "tool_calls": [{"name": "a"}]});
    let mut mock = with(&[entry]);
    for _ in 0..2 {
        let reply = mock.answer(&asking("x"), None).unwrap().reply;
        assert_eq!(reply.tool_calls[0].id, "mock_call_1");
    }
}

#[test]
fn an_entry_fails_with_its_category() {
    let error = json!({"category": "rate_limit", "message": "slow", "retry_after_ms": 1500});
    let mut mock = with(&[json!({"text": "unused", "error": error})]);
    let error = mock.answer(&asking("x"), None).unwrap_err();
    assert_eq!(error.category, Category::RateLimit);
    assert_eq!(error.message, "slow\nretry-after: 1.5\n");
}

#[test]
fn a_bad_entry_is_refused_with_the_name_of_the_builtin() {
    let rows = [
        (json!(1), "llm_mock: expected a dict argument"),
        (json!({"error": {}}), "llm_mock: error.category is required"),
        (
            json!({"error": {"category": "odd"}}),
            "llm_mock: unknown error category `odd`",
        ),
        (
            json!({"error": {"category": "auth", "retry_after_ms": "1"}}),
            "llm_mock: error.retry_after_ms must be a non-negative int",
        ),
        (
            json!({"error": 1}),
            "llm_mock: error must be a dict {category, message, retry_after_ms?}",
        ),
    ];
    for (entry, expected) in rows {
        let mut mock = Mock::default();
        assert_eq!(mock.add(&entry).unwrap_err(), expected);
        assert!(!mock.is_scripted());
    }
}

#[test]
fn a_fixture_may_speak_for_another_provider_with_its_blocks() {
    let mut mock = Mock::default();
    let line =
        "{\"provider\": \"openai\", \"text\": \"t\", \"blocks\": [{\"type\": \"reasoning\"}]}";
    mock.load_fixtures("f", line).unwrap();
    let answer = mock.answer(&asking("x"), None).unwrap();
    assert_eq!(answer.provider, "openai");
    assert_eq!(answer.reply.blocks, [json!({"type": "reasoning"})]);
    assert_eq!(answer.reply.model.as_deref(), Some("mock"));
}

#[test]
fn a_file_with_a_bad_line_changes_nothing() {
    let mut mock = Mock::default();
    mock.load_fixtures("f", "{\"text\": \"x\"}\n{").unwrap_err();
    assert!(!mock.is_scripted());
}

// The log and scopes.

#[test]
fn the_log_shows_what_was_asked() {
    let mut mock = Mock::default();
    mock.answer(&asking("a"), None).unwrap();
    let request = Request {
        system: Some("be brief".to_owned()),
        thinking: Thinking::Effort {
            level: Effort::High,
        },
        ..asking("b")
    };
    let tools = [json!({"type": "function", "function": {"name": "t"}})];
    mock.answer(&request, Some(&tools)).unwrap();
    let expected = json!([
        {"messages": [{"role": "user", "content": "a"}], "system": null, "tools": null,
         "thinking": {"mode": "disabled"}},
        {"messages": [{"role": "user", "content": "b"}], "system": "be brief",
         "tools": [{"type": "function", "function": {"name": "t"}}],
         "thinking": {"mode": "effort", "level": "high"}},
    ]);
    assert_eq!(mock.calls(), expected);
}

#[test]
fn clearing_forgets_queue_log_cache_scopes_and_fixtures() {
    let mut mock = with(&[json!({"text": "x", "match": "*"})]);
    mock.push_scope();
    mock.load_fixtures("f", "{\"match\": \"*\"}").unwrap();
    let request = Request {
        cache: true,
        ..asking("a")
    };
    mock.answer(&request, None).unwrap();
    mock.clear();
    assert!(!mock.intercepts("openai"));
    assert_eq!(mock.calls(), json!([]));
    assert!(mock.pop_scope().is_err());
    assert!(mock.answer(&request, None).unwrap().reply.usage.cache_write > 0);
}

#[test]
fn a_scope_sets_queue_log_and_cache_aside() {
    let mut mock = with(&[json!({"text": "outer", "match": "*"})]);
    let request = Request {
        cache: true,
        ..asking("a")
    };
    mock.answer(&request, None).unwrap();
    mock.push_scope();
    assert!(!mock.is_scripted());
    assert_eq!(mock.calls(), json!([]));
    let inner = mock.answer(&request, None).unwrap().reply;
    assert_eq!(inner.text, "Mock response to 1-word prompt: a");
    assert!(inner.usage.cache_write > 0 && inner.usage.cache_read == 0);
    mock.pop_scope().unwrap();
    assert_eq!(mock.calls().as_array().unwrap().len(), 1);
    let outer = mock.answer(&request, None).unwrap().reply;
    assert_eq!(outer.text, "outer");
    assert!(outer.usage.cache_read > 0 && outer.usage.cache_write == 0);
}

#[test]
fn a_scope_keeps_the_fixtures() {
    let mut mock = Mock::default();
    mock.load_fixtures("f", "{\"text\": \"file\"}").unwrap();
    mock.push_scope();
    assert_eq!(said(&mut mock, "a"), "file");
}

#[test]
fn there_must_be_a_scope_to_go_back_to() {
    let mut mock = Mock::default();
    mock.push_scope();
    mock.push_scope();
    mock.pop_scope().unwrap();
    mock.pop_scope().unwrap();
    let expected = "llm_mock_pop_scope: no scope to pop";
    assert_eq!(mock.pop_scope().unwrap_err(), expected);
}

// The default answer.

#[test]
fn the_default_repeats_the_beginning_of_the_prompt() {
    let long = format!("{} tail", "é".repeat(98));
    let rows = [
        ("", "Mock LLM response".to_owned(), 0),
        (" \n", "Mock LLM response".to_owned(), 0),
        (
            "say  hi\nnow",
            "Mock response to 3-word prompt: say  hi\nnow".to_owned(),
            11,
        ),
        (
            &long,
            format!("Mock response to 2-word prompt: {} t", "é".repeat(98)),
            201,
        ),
    ];
    for (content, expected, input) in rows {
        let reply = Mock::default().answer(&asking(content), None).unwrap();
        let reply = reply.reply;
        assert_eq!(reply.text, expected);
        assert_eq!((reply.usage.input, reply.usage.output), (input, 30));
        assert_eq!(reply.model.as_deref(), Some("claude-x"));
        assert_eq!(reply.stop, None);
        assert_eq!(reply.blocks[0]["text"], expected);
    }
}

#[test]
fn the_default_is_about_the_last_message_that_says_something() {
    let request = Request {
        messages: vec![
            json!({"role": "user", "content": "first"}),
            json!({"role": "user", "content": [{"type": "text", "text": "two words"}]}),
            json!({"role": "assistant", "content": ""}),
        ]
        .into(),
        ..Request::default()
    };
    let reply = Mock::default().answer(&request, None).unwrap().reply;
    assert_eq!(
        reply.text,
        "Mock response to 3-word prompt: two words\ntext"
    );
}

#[test]
fn the_default_finishes_when_the_system_prompt_asks_for_the_mark() {
    let request = Request {
        system: Some("End with <done>".to_owned()),
        ..asking("")
    };
    let reply = Mock::default().answer(&request, None).unwrap().reply;
    assert_eq!(
        reply.text,
        "<assistant_prose>Mock LLM response</assistant_prose>\n<done>##DONE##</done>"
    );
}

#[test]
fn the_default_calls_the_first_native_tool_with_placeholders() {
    let properties = json!({
        "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"},
        "a": {"type": "array"}, "o": {"type": "object"}, "s": {"type": "string"},
        "optional": {"type": "string"},
    });
    let required = json!(["i", "n", "b", "a", "o", "s", "undeclared"]);
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let chat = json!({"type": "function", "function": {"name": "first", "parameters": schema}});
    let anthropic = json!({"name": "first", "input_schema": schema});
    let second = json!({"name": "second", "input_schema": {}});
    for tool in [chat, anthropic] {
        let request = Request {
            system: Some("<done>".to_owned()),
            ..asking("four")
        };
        let tools = [tool, second.clone()];
        let answer = Mock::default().answer(&request, Some(&tools)).unwrap();
        let reply = answer.reply;
        assert_eq!(reply.text, "");
        assert_eq!(reply.tool_calls.len(), 1);
        let call = &reply.tool_calls[0];
        assert_eq!(
            (call.id.as_str(), call.name.as_str()),
            ("mock_call_1", "first")
        );
        let arguments = json!({
            "i": 0, "n": 0.0, "b": false, "a": [], "o": {}, "s": "", "undeclared": "",
        });
        assert_eq!(call.arguments, arguments);
        assert_eq!(reply.blocks.len(), 1);
        assert_eq!((reply.usage.input, reply.usage.output), (4, 20));
        assert_eq!(reply.model.as_deref(), Some("claude-x"));
        assert_eq!(reply.stop, None);
        assert_eq!(answer.provider, "mock");
    }
}

#[test]
fn an_empty_list_of_tools_is_no_tools() {
    let reply = Mock::default()
        .answer(&asking(""), Some(&[]))
        .unwrap()
        .reply;
    assert_eq!(reply.text, "Mock LLM response");
}

// The cache.

#[test]
fn a_conversation_is_written_to_the_cache_once_and_then_read() {
    let mut mock = with(&[json!({"text": "x", "match": "*", "input_tokens": 7})]);
    let cached = |content: &str, system: Option<&str>, model: &str| Request {
        cache: true,
        system: system.map(str::to_owned),
        model: model.to_owned(),
        ..asking(content)
    };
    let rows = [
        (asking("a"), (0, 0)),
        (cached("a", None, "m"), (0, 7)),
        (cached("a", None, "m"), (7, 0)),
        (cached("b", None, "m"), (0, 7)),
        (cached("a", Some("s"), "m"), (0, 7)),
        (cached("a", None, "n"), (0, 7)),
        (cached("a", None, "m"), (7, 0)),
    ];
    for (request, expected) in rows {
        let usage = mock.answer(&request, None).unwrap().reply.usage;
        assert_eq!((usage.cache_read, usage.cache_write), expected);
    }
}

#[test]
fn an_answer_that_reports_cache_tokens_is_left_alone() {
    let mut mock = with(&[json!({"cache_read_tokens": 2}), json!({"input_tokens": 5})]);
    let request = Request {
        cache: true,
        ..asking("a")
    };
    let reported = mock.answer(&request, None).unwrap().reply.usage;
    assert_eq!((reported.cache_read, reported.cache_write), (2, 0));
    let first_sight = mock.answer(&request, None).unwrap().reply.usage;
    assert_eq!((first_sight.cache_read, first_sight.cache_write), (0, 5));
}

// Completions and streams.

#[test]
fn a_completion_counts_characters_and_bytes() {
    let rows = [
        ("abc", None, "Mock completion after 3 chars", 3),
        (
            "é",
            Some("ab"),
            "Mock completion after 1 chars before 2 chars",
            4,
        ),
        (
            "",
            Some(""),
            "Mock completion after 0 chars before 0 chars",
            0,
        ),
    ];
    for (prefix, suffix, expected, input) in rows {
        let answer = Mock::completion("m", prefix, suffix);
        assert_eq!(answer.provider, "mock");
        let reply = answer.reply;
        assert_eq!(reply.text, expected);
        assert_eq!((reply.usage.input, reply.usage.output), (input, 16));
        assert_eq!(reply.stop.unwrap().word.as_deref(), Some("stop"));
        assert_eq!(reply.model.as_deref(), Some("m"));
    }
}

#[test]
fn a_stream_says_each_word_of_the_last_message() {
    let mut request = asking("unused");
    request
        .messages
        .push(json!({"role": "user", "content": " two\n words "}));
    assert_eq!(Mock::stream_words(&request), ["two", "words"]);
    assert_eq!(
        Mock::stream_words(&Request::default()),
        Vec::<String>::new()
    );
}
