use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalog::{Capabilities, Config, Environment};
use crate::{Effort, Output, SearchVariant, Thinking};

/// Keys for everybody, so that only options decide.
struct Keys<'a>(&'a [(&'a str, &'a str)]);

impl Environment for Keys<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let row = self.0.iter().find(|(key, _)| *key == name);
        let key = name.ends_with("_KEY") || name.ends_with("_TOKEN");
        row.map(|(_, value)| *value).or(key.then_some("k"))
    }
}

fn with(
    environment: &dyn Environment,
    mocked: bool,
    options: Value,
) -> Result<CallOptions, String> {
    let (config, capabilities) = (Config::built_in(), Capabilities::default());
    let catalog = Catalog {
        config: &config,
        capabilities: &capabilities,
        environment,
    };
    let options = options.as_object().unwrap();
    let context = Context { catalog, mocked };
    Ok(parse("hi", Some("be nice"), options, context)?)
}

fn read(options: Value) -> CallOptions {
    with(&Keys(&[]), true, options).unwrap()
}

fn refused(options: Value) -> String {
    with(&Keys(&[]), false, options).unwrap_err()
}

#[test]
fn without_options_everything_has_its_default() {
    let call = read(json!({"provider": "mock"}));
    assert_eq!(call.provider, "mock");
    let request = &call.request;
    assert_eq!(request.model, "claude-sonnet-4-20250514");
    assert_eq!(request.system.as_deref(), Some("be nice"));
    assert_eq!(request.messages, [json!({"role": "user", "content": "hi"})]);
    assert_eq!(request.sampling, crate::Sampling::default());
    assert_eq!(request.output, Output::Text);
    assert_eq!(request.thinking, Thinking::Disabled);
    assert!(request.stream && !request.cache && request.prefill.is_none());
    assert_eq!((call.timeout_s, call.idle_timeout_s), (120, None));
    assert_eq!((call.retries, call.backoff_ms), (0, 250));
    assert_eq!(call.tool_format, "text");
    assert_eq!(call.limits, Limits::default());
    assert!(call.native_tools.is_none() && call.search.is_none() && call.routing.is_none());
    assert!(!call.expects_structure() && !call.user_visible);
}

#[test]
fn every_key_is_read() {
    let call = read(json!({
        "provider": "mock", "model": "mid", "max_tokens": 5, "temperature": 1, "top_p": 0.5,
        "top_k": 7, "seed": -3, "frequency_penalty": 0.1, "presence_penalty": 0.2,
        "stop": ["a", 1], "timeout": 9, "idle_timeout": 8, "stream": false, "cache": true,
        "tool_choice": {"type": "any"}, "tool_format": "native", "prefill": "{",
        "thinking": "high", "interleaved_thinking": true, "anthropic_beta_features": ["a-1", "b_2"],
        "output_schema": {"type": "object"}, "llm_retries": 2, "llm_backoff_ms": 10,
        "max_cost_usd": 1, "fallback_chain": "openai, ,groq", "structural_experiment": "doubled_prompt",
        "session_id": "s", "user_visible": true, "mock": {"x": 1}, "openai": {"y": 2}, "other": {"z": 3},
    }));
    let request = &call.request;
    assert_eq!(request.model, "gpt-4o-mini");
    assert_eq!(call.alias.as_deref(), Some("mid"));
    assert_eq!(request.sampling.max_tokens, 5);
    assert_eq!(request.sampling.temperature, Some(1.0));
    assert_eq!(request.sampling.top_p, Some(0.5));
    assert_eq!(request.sampling.top_k, Some(7));
    assert_eq!(request.sampling.seed, Some(-3));
    assert_eq!(request.sampling.frequency_penalty, Some(0.1));
    assert_eq!(request.sampling.presence_penalty, Some(0.2));
    assert_eq!(request.sampling.stop, ["a", "1"]);
    assert_eq!((call.timeout_s, call.idle_timeout_s), (9, Some(8)));
    assert!(!request.stream && request.cache && request.interleaved_thinking);
    assert_eq!(request.tool_choice, Some(json!({"type": "any"})));
    assert_eq!(call.tool_format, "native");
    assert_eq!(request.prefill.as_deref(), Some("{"));
    let high = Thinking::Effort {
        level: Effort::High,
    };
    assert_eq!(request.thinking, high);
    assert_eq!(request.beta_features, ["a-1", "b_2"]);
    assert!(call.expects_structure());
    assert_eq!((call.retries, call.backoff_ms), (2, 10));
    assert_eq!(call.limits.max_cost_usd, Some(1.0));
    assert_eq!(call.fallback_chain, ["openai", "groq"]);
    assert_eq!(
        call.structural_experiment.unwrap()["name"],
        "doubled_prompt"
    );
    assert_eq!(request.messages.len(), 3);
    assert_eq!(call.session_id.as_deref(), Some("s"));
    assert!(call.user_visible);
    assert_eq!(Value::from(request.extra.clone()), json!({"x": 1}));
    let known: Vec<&String> = call.provider_options.keys().collect();
    assert_eq!(known, ["mock", "openai"]);
}

#[test]
fn the_environment_sets_what_options_do_not() {
    let environment = Keys(&[
        ("HARN_LLM_TIMEOUT", "33"),
        ("HARN_LLM_STREAM", "false"),
        ("HARN_STRUCTURAL_EXPERIMENT", "chain_of_draft"),
        ("LLM_PROVIDER", "mock"),
    ]);
    let call = with(&environment, true, json!({})).unwrap();
    assert_eq!(call.provider, "mock");
    assert_eq!(call.timeout_s, 33);
    assert!(!call.request.stream);
    assert_eq!(
        call.structural_experiment.unwrap()["name"],
        "chain_of_draft"
    );
    let call = with(&environment, true, json!({"timeout": 4, "stream": true})).unwrap();
    assert_eq!(call.timeout_s, 4);
    assert!(call.request.stream);
    let off = Keys(&[("HARN_LLM_STREAM", "0"), ("LLM_PROVIDER", "mock")]);
    assert!(!with(&off, true, json!({})).unwrap().request.stream);
}

#[test]
fn nil_is_absent_where_it_must_be_and_text_elsewhere() {
    let call = read(json!({
        "provider": "mock", "tools": null, "tool_choice": null, "prefill": null, "thinking": null,
        "max_tokens": null, "budget": null, "route_policy": null, "tool_search": null, "model": null,
    }));
    assert_eq!(call.request.model, "nil");
    assert!(call.native_tools.is_none() && call.request.prefill.is_none());
    assert_eq!(call.request.sampling.max_tokens, 16_384);
    assert!(
        read(json!({"provider": "mock", "prefill": ""}))
            .request
            .prefill
            .is_none()
    );
}

#[test]
fn mistakes_have_their_texts() {
    let removed = "llm_call / agent_loop: the `transcript` option was removed. Open or open-and-resume a session with agent_session_open(id) and pass `session_id: id` instead.";
    let rows = [
        (json!({"transcript": null}), removed),
        (
            json!({"anthropic_beta_features": ["a", 5]}),
            "anthropic_beta_features: expected list<string>, got int",
        ),
        (
            json!({"anthropic_beta_features": {"a": 1}}),
            "anthropic_beta_features: expected string or list<string>, got dict",
        ),
        (
            json!({"anthropic_beta_features": "a,b"}),
            "anthropic_beta_features: invalid beta feature name `a,b`; expected ASCII letters, digits, '-' or '_'",
        ),
        (
            json!({"route_policy": 5}),
            "route_policy: expected string or dict",
        ),
        (
            json!({"tools": "x"}),
            "tools must be a tool_registry or a list of tool definition dicts",
        ),
        (
            json!({"tool_search": {"mode": "x"}}),
            "tool_search.mode: expected \"auto\" | \"native\" | \"client\", got \"x\"",
        ),
        (
            json!({"output_format": 5}),
            "output_format: expected string or dict",
        ),
        (
            json!({"thinking": "max"}),
            "thinking: expected bool, dict, or one of \"enabled\" | \"adaptive\" | \"low\" | \"medium\" | \"high\", got \"max\"",
        ),
        (
            json!({"budget": 5}),
            "budget: expected a dict {max_cost_usd?, total_budget_usd?, max_input_tokens?, max_output_tokens?}",
        ),
    ];
    for (mut options, expected) in rows {
        options["provider"] = "mock".into();
        assert_eq!(refused(options), expected);
    }
}

#[test]
fn what_a_model_cannot_do_is_refused_in_order() {
    let image = json!([{"role": "user", "content": [{"type": "image", "url": "u"}]}]);
    let tool = json!([{"name": "t"}]);
    let rows = [
        (
            "openai",
            "gpt-4o",
            json!({"reasoning_effort": "low"}),
            Some("reasoning_effort"),
        ),
        ("openai", "o3", json!({"reasoning_effort": "low"}), None),
        (
            "openai",
            "gpt-4o",
            json!({"thinking": true}),
            Some("thinking"),
        ),
        ("openai", "o3", json!({"thinking": true}), Some("thinking")),
        ("openai", "o3", json!({"thinking": "low"}), None),
        (
            "openai",
            "o3",
            json!({"thinking": "adaptive"}),
            Some("thinking"),
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            json!({"thinking": true}),
            None,
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            json!({"thinking": "adaptive"}),
            Some("thinking"),
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            json!({"thinking": "low"}),
            Some("thinking"),
        ),
        (
            "anthropic",
            "claude-opus-4-7",
            json!({"thinking": true}),
            None,
        ),
        (
            "anthropic",
            "claude-opus-4-7",
            json!({"thinking": "adaptive"}),
            None,
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            json!({"interleaved_thinking": true}),
            None,
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            json!({"interleaved_thinking": true}),
            Some("interleaved_thinking"),
        ),
        (
            "gemini",
            "gemini-2.5-pro",
            json!({"response_format": "json"}),
            Some("output_format"),
        ),
        (
            "gemini",
            "gemini-2.5-pro",
            json!({"json_schema": {}}),
            Some("output_format"),
        ),
        (
            "gemini",
            "gemini-2.5-pro",
            json!({"output_schema": {}}),
            None,
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            json!({"json_schema": {}}),
            None,
        ),
        ("ollama", "qwen3", json!({"json_schema": {}}), None),
        ("mock", "nothing", json!({"json_schema": {}}), None),
        ("openai", "o3", json!({"vision": true}), Some("vision")),
        ("openai", "o3", json!({"messages": image}), Some("vision")),
        ("openai", "gpt-4o", json!({"messages": image}), None),
        ("openai", "gpt-4o", json!({"audio": true}), None),
        ("openai", "o3", json!({"audio": true}), Some("audio")),
        ("openai", "gpt-4o", json!({"pdf": true}), Some("pdf")),
        ("openai", "gpt-4o", json!({"cache": true}), Some("cache")),
        ("anthropic", "claude-opus-4-6", json!({"cache": true}), None),
        (
            "ollama",
            "llama3.2",
            json!({"tools": tool, "tool_format": "native"}),
            Some("tools"),
        ),
        ("ollama", "llama3.2", json!({"tools": tool}), None),
        (
            "ollama",
            "llama3.2",
            json!({"tool_choice": "auto"}),
            Some("tool_choice"),
        ),
        (
            "openai",
            "gpt-4o",
            json!({"tool_choice": "auto", "tools": tool}),
            None,
        ),
        (
            "ollama",
            "llama3.2",
            json!({"tool_choice": "auto", "cache": true, "pdf": true}),
            Some("pdf"),
        ),
        (
            "mock",
            "claude-opus-4-6",
            json!({"audio": true}),
            Some("audio"),
        ),
    ];
    for (provider, model, mut options, expected) in rows {
        options["provider"] = provider.into();
        options["model"] = model.into();
        let text = expected.map(|option| {
            let capability = match option {
                "vision" => " The capability it lacks is `vision_supported`.",
                _ => "",
            };
            format!(
                "option `{option}` is not supported by `{model}` (provider `{provider}`). See `harn check --provider-matrix` for compatibility.{capability}"
            )
        });
        let found = with(&Keys(&[]), false, options.clone()).err();
        assert_eq!(found, text, "{options}");
        assert!(with(&Keys(&[]), true, options).is_ok());
    }
}

#[test]
fn a_missing_key_is_found_before_anything_is_sent() {
    let none: [(&str, &str); 0] = [];
    let error = with(&none, false, json!({"provider": "openai"})).unwrap_err();
    assert!(error.starts_with("Missing API key: set OPENAI_API_KEY environment variable "));
    assert!(with(&none, true, json!({"provider": "openai"})).is_ok());
    assert!(with(&none, false, json!({"provider": "mock"})).is_ok());
}

#[test]
fn knobs_that_a_provider_refuses_are_dropped_with_a_warning() {
    let knobs = json!({"temperature": 0.5, "top_k": 4, "seed": 1, "presence_penalty": 0.1});
    let rows: [(&str, &str, &[&str]); 5] = [
        (
            "anthropic",
            "claude-opus-4-6",
            &["seed", "presence_penalty"],
        ),
        (
            "anthropic",
            "claude-opus-4-7",
            &["seed", "presence_penalty", "temperature", "top_k"],
        ),
        ("openai", "gpt-4o", &["top_k"]),
        ("ollama", "llama3.2", &[]),
        ("gemini", "gemini-2.5-pro", &[]),
    ];
    for (provider, model, dropped) in rows {
        let mut options = knobs.clone();
        options["provider"] = provider.into();
        options["model"] = model.into();
        let call = with(&Keys(&[]), false, options).unwrap();
        let expected: Vec<String> = dropped
            .iter()
            .map(|knob| format!("option `{knob}` is not supported by `{model}` (provider `{provider}`) and was dropped"))
            .collect();
        assert_eq!(call.warnings, expected);
        let sampling = &call.request.sampling;
        let kept = [
            ("temperature", sampling.temperature.is_some()),
            ("top_k", sampling.top_k.is_some()),
            ("seed", sampling.seed.is_some()),
            ("presence_penalty", sampling.presence_penalty.is_some()),
        ];
        for (knob, is_kept) in kept {
            assert_eq!(is_kept, !dropped.contains(&knob), "{provider} {knob}");
        }
    }
}

#[test]
fn an_unknown_model_warns_about_the_default_provider() {
    let call = with(&Keys(&[]), true, json!({"model": "nonsense"})).unwrap();
    assert_eq!(call.provider, "anthropic");
    assert_eq!(call.warnings.len(), 1);
}

#[test]
fn a_policy_chooses_the_model() {
    let call = read(json!({"route_policy": "always(groq:llama-3)"}));
    assert_eq!((&*call.provider, &*call.request.model), ("groq", "llama-3"));
    assert_eq!(
        call.routing.unwrap().record["policy"],
        "always(groq:llama-3)"
    );
}

#[test]
fn tools_are_shown_in_the_shape_of_the_provider() {
    let tools = json!([{"name": "t", "description": "d", "parameters": {"a": "int"}}]);
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {"a": {"type": "integer", "description": ""}},
    });
    let function = json!([{"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}}]);
    let anthropic = json!([{"name": "t", "description": "d", "input_schema": schema}]);
    for (provider, expected) in [
        ("mock", &function),
        ("openai", &function),
        ("anthropic", &anthropic),
    ] {
        let call = read(json!({"provider": provider, "tools": tools}));
        assert_eq!(&json!(call.native_tools.as_deref()), expected, "{provider}");
        assert_eq!(call.request.tools.len(), 1);
    }
    assert_eq!(
        read(json!({"provider": "mock", "tools": []}))
            .native_tools
            .as_deref(),
        Some(&[][..])
    );
}

#[test]
fn a_search_holds_tools_back() {
    let tools = json!([{"name": "a"}, {"name": "b", "defer_loading": true, "namespace": "n"}]);
    let names = |call: &CallOptions| -> Vec<String> {
        let tools = call.native_tools.as_ref().unwrap().iter();
        tools
            .map(|tool| {
                let inner = tool.get("function").unwrap_or(tool);
                display(inner.get("name").unwrap_or(&inner["type"]))
            })
            .collect()
    };
    let search = |provider: &str, model: &str, more: Value| {
        let mut options =
            json!({"provider": provider, "model": model, "tools": tools, "tool_search": "regex"});
        options[provider] = more;
        read(options)
    };
    let native = search("mock", "claude-opus-4-6", json!(null));
    assert_eq!(names(&native), ["tool_search_tool_regex", "a", "b"]);
    assert_eq!(
        native.request.tool_search.unwrap().variant,
        SearchVariant::Regex
    );
    let hosted = search("openai", "gpt-5.4", json!(null));
    assert_eq!(names(&hosted), ["tool_search", "a", "b"]);
    let client = search("openai", "gpt-4o", json!(null));
    assert_eq!(names(&client), ["__harn_tool_search", "a"]);
    assert!(client.request.tool_search.is_none());
    assert_eq!(client.search.unwrap().deferred.len(), 1);
    let forced = search(
        "openai",
        "gpt-4o",
        json!({"force_native_tool_search": true, "x": 1}),
    );
    assert_eq!(names(&forced), ["tool_search", "a", "b"]);
    assert_eq!(Value::from(forced.request.extra), json!({"x": 1}));
    let none = read(json!({"provider": "mock", "tool_search": true}));
    assert!(none.search.is_none() && none.native_tools.is_none());
}

#[test]
fn ollama_is_told_how_much_to_read_and_keep() {
    let call = read(json!({"provider": "ollama", "ollama": {"options": {"seed": 1}}}));
    assert_eq!(
        Value::from(call.request.extra),
        json!({"keep_alive": "30m", "options": {"num_ctx": 32_768, "seed": 1}})
    );
    let environment = Keys(&[
        ("HARN_OLLAMA_NUM_CTX", "9"),
        ("HARN_OLLAMA_KEEP_ALIVE", "1h"),
    ]);
    let options = json!({"provider": "ollama", "ollama": {"keep_alive": 0}});
    let call = with(&environment, true, options).unwrap();
    assert_eq!(
        Value::from(call.request.extra),
        json!({"keep_alive": 0, "options": {"num_ctx": 9}})
    );
}

#[test]
fn a_listed_model_may_be_silent_for_longer() {
    let call = read(json!({"provider": "ollama"}));
    assert_eq!(
        (&*call.request.model, call.idle_timeout_s),
        ("llama3.2", Some(300))
    );
    let call = read(json!({"provider": "ollama", "idle_timeout": 5}));
    assert_eq!(call.idle_timeout_s, Some(5));
}

/// Any value a program may pass, not too deep.
fn any_value() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "native",
        "regex",
        "high",
        "json_schema",
        "always(",
        "auto",
        "tool_registry",
        "é(",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let keys = [
        "name",
        "parameters",
        "type",
        "properties",
        "items",
        "tools",
        "_type",
        "mode",
        "schema",
        "kind",
        "role",
        "content",
        "url",
        "defer_loading",
        "budget_tokens",
        "level",
        "function",
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let key = prop::sample::select(keys.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn no_options_make_it_panic(
        fields in prop::collection::btree_map(
            prop::sample::select(vec![
                "provider", "model", "max_tokens", "stop", "tools", "tool_choice", "tool_format",
                "tool_search", "messages", "prefill", "thinking", "reasoning_effort",
                "anthropic_beta_features", "response_format", "json_schema", "output_schema",
                "output_format", "schema_retries", "budget", "max_cost_usd", "route_policy",
                "fallback_chain", "mock", "openai",
            ]),
            any_value(),
            0..6,
        ),
        mocked in any::<bool>(),
    ) {
        let options: Map<String, Value> = fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        let _ = with(&Keys(&[]), mocked, options.into());
    }
}

/// Options that change a call as it was understood, each with what has to stand beside it.
fn probes() -> Vec<(&'static str, Value, Value)> {
    let nothing = || json!({});
    let schema = || json!({"type": "object"});
    let tool = json!([{"name": "look", "parameters": {}}]);
    let with_tool = || json!({"tools": tool});
    vec![
        ("provider", json!("ollama"), nothing()),
        ("model", json!("small"), nothing()),
        ("model_tier", json!("small"), json!({"provider": null})),
        ("max_tokens", json!(5), nothing()),
        ("temperature", json!(1), nothing()),
        ("top_p", json!(0.5), nothing()),
        ("top_k", json!(7), nothing()),
        ("seed", json!(3), nothing()),
        ("frequency_penalty", json!(0.1), nothing()),
        ("presence_penalty", json!(0.2), nothing()),
        ("stop", json!(["a"]), nothing()),
        ("timeout", json!(9), nothing()),
        ("idle_timeout", json!(8), nothing()),
        ("stream", json!(false), nothing()),
        ("cache", json!(true), nothing()),
        ("tools", tool.clone(), nothing()),
        ("tool_choice", json!("any"), nothing()),
        ("tool_format", json!("native"), nothing()),
        (
            "tool_search",
            json!({"mode": "client", "always_loaded": ["look"]}),
            with_tool(),
        ),
        (
            "messages",
            json!([{"role": "user", "content": "else"}]),
            nothing(),
        ),
        ("prefill", json!("{"), nothing()),
        ("thinking", json!("high"), nothing()),
        ("reasoning_effort", json!("high"), nothing()),
        ("interleaved_thinking", json!(true), nothing()),
        ("anthropic_beta_features", json!("a-1"), nothing()),
        ("response_format", json!("json"), nothing()),
        ("json_schema", schema(), nothing()),
        ("schema", schema(), nothing()),
        ("output_schema", schema(), nothing()),
        ("output_format", json!("json"), nothing()),
        ("output_validation", json!("error"), nothing()),
        ("schema_retries", json!(3), nothing()),
        ("schema_retry_nudge", json!(false), nothing()),
        ("llm_retries", json!(3), nothing()),
        ("llm_backoff_ms", json!(3), nothing()),
        ("budget", json!({"max_cost_usd": 1}), nothing()),
        ("max_cost_usd", json!(1), nothing()),
        ("total_budget_usd", json!(1), nothing()),
        ("max_input_tokens", json!(1), nothing()),
        ("max_output_tokens", json!(1), nothing()),
        ("route_policy", json!("always(openai:gpt-4o)"), nothing()),
        ("fallback_chain", json!("openai"), nothing()),
        ("structural_experiment", json!("doubled_prompt"), nothing()),
        ("session_id", json!("s"), nothing()),
        ("user_visible", json!(true), nothing()),
    ]
}

/// Options that ask whether something is possible, or are refused whatever they say.
const GATED: &[&str] = &["vision", "audio", "pdf", "transcript"];

#[test]
fn every_option_of_a_call_makes_a_difference() {
    let understood = |options: Value| format!("{:?}", with(&Keys(&[]), true, options));
    for (key, value, beside) in probes() {
        let mut options = json!({"provider": "mock"});
        for (key, value) in beside.as_object().unwrap() {
            options[key] = value.clone();
        }
        let without = understood(options.clone());
        options[key] = value;
        assert_ne!(without, understood(options), "`{key}` is taken and ignored");
    }
    for key in GATED {
        let options = json!({"provider": "local", "model": "unheard-of", *key: true});
        assert!(refused(options).contains(key), "{key}");
    }
    let looked_at: Vec<&str> = probes().iter().map(|probe| probe.0).collect();
    for key in harn_options::MODEL_CALL.keys {
        let is_looked_at = looked_at.contains(&key.name) || GATED.contains(&key.name);
        assert!(is_looked_at, "{}", key.name);
    }
}

/// The same for what stands inside of an option, with the way to it.
fn inner_probes() -> Vec<(&'static str, Value, Value)> {
    let nothing = || json!({});
    let schema = || json!({"type": "object"});
    let searched = || {
        let tool = json!({"name": "look", "parameters": {}, "defer_loading": true});
        let known = json!({"name": "walk", "parameters": {}});
        json!({"tools": [known, tool], "tool_search": {"strategy": "bm25"}})
    };
    let thinking = |mode: &str| json!({"thinking": {"mode": mode}});
    let routed = |mode: &str| json!({"route_policy": {"mode": mode}});
    let ordered = || json!({"structural_experiment": {"name": "prompt_order_permutation"}});
    vec![
        ("tool_search.variant", json!("regex"), searched()),
        ("tool_search.mode", json!("client"), searched()),
        ("tool_search.always_loaded", json!(["look"]), searched()),
        ("tool_search.strategy", json!("regex"), searched()),
        ("tool_search.budget_tokens", json!(5), searched()),
        ("tool_search.name", json!("find"), searched()),
        ("tool_search.include_stub_listing", json!(true), searched()),
        ("thinking.enabled", json!(false), nothing()),
        ("thinking.mode", json!("adaptive"), nothing()),
        ("thinking.budget_tokens", json!(2048), nothing()),
        ("thinking.level", json!("high"), thinking("effort")),
        ("output_format.kind", json!("json"), nothing()),
        ("output_format.schema", schema(), nothing()),
        ("output_format.json_schema", schema(), nothing()),
        (
            "output_format.strict",
            json!(false),
            json!({"output_format": {"schema": {"type": "object"}}}),
        ),
        ("budget.max_cost_usd", json!(1), nothing()),
        ("budget.total_budget_usd", json!(1), nothing()),
        ("budget.max_input_tokens", json!(1), nothing()),
        ("budget.max_output_tokens", json!(1), nothing()),
        (
            "route_policy.mode",
            json!("always"),
            json!({"route_policy": {"target": "openai:gpt-4o"}}),
        ),
        (
            "route_policy.target",
            json!("openai:gpt-4o"),
            routed("always"),
        ),
        (
            "route_policy.quality",
            json!("openai:gpt-4o"),
            routed("always"),
        ),
        ("route_policy.id", json!("openai:gpt-4o"), routed("always")),
        (
            "structural_experiment.name",
            json!("doubled_prompt"),
            nothing(),
        ),
        (
            "structural_experiment.experiment",
            json!("doubled_prompt"),
            nothing(),
        ),
        ("structural_experiment.label", json!("mine"), ordered()),
        ("structural_experiment.args", json!({"seed": 7}), ordered()),
    ]
}

/// Functions of the program have run before its options come here.
const INNER_ELSEWHERE: &[(&str, &str)] = &[
    (
        "structural_experiment.transform",
        "conformance/models/experiment-closure.harn",
    ),
    (
        "structural_experiment.handler",
        "conformance/models/options-of-experiments-and-repairs.harn",
    ),
];

#[test]
fn every_option_inside_of_an_option_makes_a_difference() {
    let understood = |options: Value| format!("{:?}", with(&Keys(&[]), true, options));
    for (path, value, beside) in inner_probes() {
        let (outer, key) = path.split_once('.').unwrap();
        let mut options = json!({"provider": "mock"});
        for (key, value) in beside.as_object().unwrap() {
            options[key] = value.clone();
        }
        // A dict that is given at all may already mean something.
        if options.get(outer).is_none() {
            options[outer] = json!({});
        }
        let without = understood(options.clone());
        options[outer][key] = value;
        assert_ne!(
            without,
            understood(options),
            "`{path}` is taken and ignored"
        );
    }
    let looked_at: Vec<&str> = inner_probes().iter().map(|probe| probe.0).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for outer in harn_options::MODEL_CALL.keys {
        let harn_options::Holds::Dict(dict) = outer.holds else {
            continue;
        };
        for key in dict.keys {
            let path = format!("{}.{}", outer.name, key.name);
            let elsewhere = INNER_ELSEWHERE.iter().find(|(known, _)| *known == path);
            match elsewhere {
                Some((_, place)) => assert!(root.join(place).exists(), "{place}"),
                None => assert!(looked_at.contains(&&*path), "{path}"),
            }
        }
    }
}
