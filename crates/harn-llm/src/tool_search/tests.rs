use super::*;
use crate::options::tools;

fn search(value: Value) -> Search {
    Search::parse(&value).unwrap().unwrap()
}

fn declared(tools: Value) -> Vec<Declared> {
    tools::parse(&tools).unwrap()
}

fn mixed() -> Vec<Declared> {
    declared(json!([
        {"name": "read", "description": "Reads."},
        {"name": "send_mail", "description": "Sends.", "defer_loading": true, "namespace": "mail"},
        {"name": "list_mail", "description": "Lists.", "defer_loading": true, "namespace": "mail"},
    ]))
}

fn place(capability: &Capability) -> Place<'_> {
    Place {
        provider: "p",
        model: "m",
        capability,
        forced: false,
    }
}

fn able() -> Capability {
    Capability {
        tool_search: vec!["bm25".to_owned(), "regex".to_owned()],
        ..Capability::default()
    }
}

fn names(tools: &[ToolSpec]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn every_form_of_the_option_is_read() {
    assert_eq!(Search::parse(&json!(null)), Ok(None));
    assert_eq!(Search::parse(&json!(false)), Ok(None));
    let default = search(json!(true));
    assert_eq!(default.name, "__harn_tool_search");
    assert_eq!(default.mode, Mode::Auto);
    assert_eq!(default.strategy(), Strategy::Bm25);
    assert_eq!(default.event_name(), "tool_search_tool_bm25");
    assert_eq!(search(json!("bm25")), default);
    assert_eq!(search(json!({})), default);
    let regex = search(json!("regex"));
    assert_eq!(regex.strategy(), Strategy::Regex);
    assert_eq!(regex.event_name(), "tool_search_tool_regex");
    let full = search(json!({
        "variant": "regex", "mode": "client", "always_loaded": ["a"], "strategy": "host",
        "budget_tokens": 100, "name": "find", "include_stub_listing": true,
    }));
    let expected = Search {
        variant: SearchVariant::Regex,
        mode: Mode::Client,
        strategy: Some(Strategy::Host),
        always_loaded: vec!["a".to_owned()],
        budget_tokens: Some(100),
        name: "find".to_owned(),
        include_stub_listing: true,
    };
    assert_eq!(full, expected);
    assert_eq!(full.strategy(), Strategy::Host);
    for (word, strategy) in [("bm25", Strategy::Bm25), ("semantic", Strategy::Semantic)] {
        assert_eq!(search(json!({"strategy": word})).strategy(), strategy);
    }
    for (word, mode) in [("auto", Mode::Auto), ("native", Mode::Native)] {
        assert_eq!(search(json!({"mode": word})).mode, mode);
    }
}

#[test]
fn every_mistake_has_its_text() {
    let list = "tool_search.always_loaded: expected a list of tool names";
    let rows = [
        (
            json!("fuzzy"),
            "tool_search.variant: expected \"bm25\" or \"regex\", got \"fuzzy\"",
        ),
        (
            json!({"variant": "x"}),
            "tool_search.variant: expected \"bm25\" or \"regex\", got \"x\"",
        ),
        (
            json!({"mode": "x"}),
            "tool_search.mode: expected \"auto\" | \"native\" | \"client\", got \"x\"",
        ),
        (
            json!({"strategy": "x"}),
            "tool_search.strategy: expected \"bm25\" | \"regex\" | \"semantic\" | \"host\", got \"x\"",
        ),
        (
            json!({"variant": 1}),
            "tool_search.variant: expected a string",
        ),
        (json!({"mode": 1}), "tool_search.mode: expected a string"),
        (
            json!({"strategy": 1}),
            "tool_search.strategy: expected a string",
        ),
        (json!({"name": 1}), "tool_search.name: expected a string"),
        (json!({"always_loaded": "a"}), list),
        (json!({"always_loaded": [1]}), list),
        (json!(5), "tool_search: expected bool, string, or dict"),
    ];
    for (value, expected) in rows {
        assert_eq!(Search::parse(&value).unwrap_err().to_string(), expected);
    }
}

#[test]
fn the_provider_searches_if_it_can() {
    let capability = able();
    let plan = search(json!(true))
        .plan(mixed(), place(&capability))
        .unwrap();
    assert!(plan.native && plan.deferred.is_empty());
    assert_eq!(names(&plan.tools), ["read", "send_mail", "list_mail"]);
    assert!(plan.tools[1].defer_loading);
    let unable = Capability::default();
    let forced = Place {
        forced: true,
        ..place(&unable)
    };
    assert!(
        search(json!({"mode": "native"}))
            .plan(mixed(), forced)
            .unwrap()
            .native
    );
    let client = search(json!({"mode": "client"}))
        .plan(mixed(), place(&capability))
        .unwrap();
    assert!(!client.native);
}

#[test]
fn otherwise_deferred_tools_stay_here() {
    let capability = Capability::default();
    let plan = search(json!({"always_loaded": ["list_mail"]}))
        .plan(mixed(), place(&capability))
        .unwrap();
    assert!(!plan.native);
    assert_eq!(
        names(&plan.tools),
        ["__harn_tool_search", "read", "list_mail"]
    );
    assert!(plan.tools.iter().all(|tool| !tool.defer_loading));
    let deferred: Vec<&str> = plan.deferred.iter().map(|tool| &*tool.spec.name).collect();
    assert_eq!(deferred, ["send_mail"]);
    let properties = plan.tools[0].parameters["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["query"]);
    assert!(!plan.tools[0].description.contains("send_mail"));
    let listed = search(json!({"include_stub_listing": true, "name": "find"}))
        .plan(mixed(), place(&capability))
        .unwrap();
    assert_eq!(listed.tools[0].name, "find");
    assert!(
        listed.tools[0]
            .description
            .ends_with("Tools that can be found: send_mail, list_mail.")
    );
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let capability = Capability::default();
    let error = search(json!({"mode": "native"}))
        .plan(mixed(), place(&capability))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool_search: provider \"p\" does not expose native tool-search for model \"m\". Set `tool_search: { mode: \"client\" }` to use the client-executed fallback, or omit tool_search to ship tools eagerly."
    );
    let all = "tool_search: all tools have defer_loading set. At least one tool must be non-deferred so the model has somewhere to start. (Matches Anthropic's 400 on the same condition.)";
    let held = || declared(json!([{"name": "a", "defer_loading": true}]));
    for capability in [able(), Capability::default()] {
        let error = search(json!(true))
            .plan(held(), place(&capability))
            .unwrap_err();
        assert_eq!(error.to_string(), all);
    }
    let loaded = search(json!({"always_loaded": ["a"]})).plan(held(), place(&capability));
    assert_eq!(names(&loaded.unwrap().tools), ["__harn_tool_search", "a"]);
}

#[test]
fn the_head_of_a_native_list_has_two_shapes() {
    let tools: Vec<ToolSpec> = mixed().into_iter().map(|tool| tool.spec).collect();
    let bm25 = json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"});
    let regex =
        json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    let hosted = json!({"type": "tool_search", "mode": "hosted", "namespaces": ["mail"]});
    assert_eq!(
        native_head(SearchVariant::Bm25, Style::Anthropic, &tools),
        bm25
    );
    assert_eq!(
        native_head(SearchVariant::Regex, Style::Anthropic, &tools),
        regex
    );
    assert_eq!(
        native_head(SearchVariant::Bm25, Style::OpenAi, &tools),
        hosted
    );
    let rows = [
        ("mock", "claude-opus-4-6", Style::OpenAi, Style::Anthropic),
        ("mock", "gpt-5.4", Style::OpenAi, Style::OpenAi),
        (
            "openrouter",
            "claude-opus-4-6",
            Style::OpenAi,
            Style::OpenAi,
        ),
        ("anthropic", "x", Style::Anthropic, Style::Anthropic),
    ];
    for (provider, model, style, expected) in rows {
        assert_eq!(
            head_style(style, provider, model),
            expected,
            "{provider} {model}"
        );
    }
}

fn corpus() -> Corpus {
    Corpus::new(&declared(json!([
        {"name": "send_mail", "description": "Send a letter", "parameters": {
            "to": {"type": "string", "description": "Address of the recipient"},
        }},
        {"name": "read_mail", "description": "Read mail, mail and more mail"},
        {"name": "weather", "description": "Forecast", "mcp_server": "sky"},
        {"name": "alpha", "description": "Same words"},
        {"name": "beta", "description": "Same words"},
    ])))
}

#[test]
fn words_find_tools() {
    let rows: [(&str, &[&str]); 9] = [
        ("mail", &["read_mail", "send_mail"]),
        ("SEND", &["send_mail"]),
        ("recipient", &["send_mail"]),
        ("to", &["send_mail"]),
        ("sky", &["weather"]),
        ("mcp", &["weather"]),
        ("same", &["alpha", "beta"]),
        ("nothing here", &[]),
        ("", &[]),
    ];
    for (query, expected) in rows {
        let found = corpus().search(Strategy::Bm25, query);
        assert_eq!(found.names, expected, "{query}");
        assert_eq!(found.diagnostic, None);
    }
    assert!(
        Corpus::default()
            .search(Strategy::Bm25, "x")
            .names
            .is_empty()
    );
}

#[test]
fn scores_follow_the_formula() {
    // Two tools of two words each, so that length makes no difference: `x` occurs twice in the
    // first (score w·2·2.5/3.5 = 1.43w) and once in the second (w·1·2.5/2.5 = w).
    let corpus = Corpus::new(&declared(json!([{"name": "b_x"}, {"name": "x_x"}])));
    assert_eq!(corpus.search(Strategy::Bm25, "x").names, ["x_x", "b_x"]);
    // `b` is rarer: ln(1.5/1.5 + 1) = 0.69 against ln(0.5/2.5 + 1) = 0.18 for `x`.
    assert_eq!(corpus.search(Strategy::Bm25, "x b").names, ["b_x", "x_x"]);
}

#[test]
fn patterns_find_tools() {
    let rows: [(&str, &[&str]); 4] = [
        ("MAIL", &["read_mail", "send_mail"]),
        ("^(alpha|beta)$", &[]),
        ("(?m)^(alpha|beta)$", &["alpha", "beta"]),
        ("mcp:\\w+", &["weather"]),
    ];
    for (pattern, expected) in rows {
        assert_eq!(
            corpus().search(Strategy::Regex, pattern).names,
            expected,
            "{pattern}"
        );
    }
    for pattern in ["(", "\\w{100}{100}{100}{100}"] {
        let wrong = corpus().search(Strategy::Regex, pattern);
        assert!(
            wrong.names.is_empty() && wrong.diagnostic.is_some(),
            "{pattern}"
        );
        assert_eq!(wrong.answer()["tool_names"], json!([]));
        assert!(wrong.answer()["diagnostic"].is_string());
    }
}

#[test]
fn at_most_twenty_are_found() {
    let many: Vec<Value> = (0..30)
        .map(|at| json!({"name": format!("t{at:02} x")}))
        .collect();
    let corpus = Corpus::new(&declared(json!(many)));
    for strategy in [Strategy::Bm25, Strategy::Regex] {
        let found = corpus.search(strategy, "x");
        assert_eq!(found.names.len(), 20);
        assert_eq!(found.names[0], "t00 x");
    }
}

#[test]
fn the_host_is_asked_elsewhere() {
    for strategy in [Strategy::Semantic, Strategy::Host] {
        let found = corpus().search(strategy, "mail");
        assert!(found.names.is_empty() && found.diagnostic.is_some());
    }
    let answer = json!({"tool_names": ["beta", "unknown", 5, "beta", "alpha"], "diagnostic": "d"});
    let found = corpus().found_by_host(&answer);
    assert_eq!(found.names, ["beta", "alpha"]);
    assert_eq!(
        found.answer(),
        json!({"tool_names": ["beta", "alpha"], "diagnostic": "d"})
    );
    assert_eq!(corpus().found_by_host(&json!("x")), Found::default());
    assert_eq!(corpus().candidates()[2]["name"], "weather");
}

#[test]
fn the_query_is_read_from_the_arguments() {
    assert_eq!(query(&json!({"query": "a b"})), "a b");
    assert_eq!(query(&json!({"query": 5})), "5");
    assert_eq!(query(&json!({"query": null})), "");
    assert_eq!(query(&json!("x")), "");
}
