use serde_json::json;

use super::*;

fn source(text: &str) -> Option<Source<'_>> {
    Some(Source {
        path: "p.toml",
        text,
    })
}

#[test]
fn the_built_in_providers_are_those_of_the_book() {
    let config = Config::built_in();
    let names: Vec<&str> = config.providers.keys().map(String::as_str).collect();
    let expected = [
        "anthropic",
        "azure_openai",
        "bedrock",
        "dashscope",
        "deepseek",
        "fireworks",
        "gemini",
        "groq",
        "huggingface",
        "local",
        "mlx",
        "mock",
        "ollama",
        "openai",
        "openrouter",
        "tgi",
        "together",
        "vertex",
        "vllm",
    ];
    assert_eq!(names, expected);
    // `harn check` has them from there.
    assert_eq!(names, harn_options::BUILT_IN_PROVIDERS);
    let economics = [
        ("anthropic", Some((0.003, 0.015)), Some(2500)),
        ("openai", Some((0.0025, 0.010)), Some(1800)),
        ("openrouter", Some((0.003, 0.015)), Some(2200)),
        ("huggingface", Some((0.0002, 0.0006)), Some(2400)),
        ("ollama", Some((0.0, 0.0)), Some(1200)),
        ("gemini", Some((0.00125, 0.005)), Some(1800)),
        ("together", Some((0.0002, 0.0006)), Some(1600)),
        ("groq", Some((0.0001, 0.0003)), Some(450)),
        ("deepseek", Some((0.00014, 0.00028)), Some(1800)),
        ("fireworks", Some((0.0002, 0.0006)), Some(1400)),
        ("dashscope", Some((0.0003, 0.0012)), Some(1600)),
        ("bedrock", None, Some(2600)),
        ("azure_openai", Some((0.0025, 0.010)), Some(1900)),
        ("vertex", Some((0.00125, 0.005)), Some(2100)),
        ("local", Some((0.0, 0.0)), None),
        ("mock", Some((0.0, 0.0)), None),
    ];
    for (name, cost, latency) in economics {
        let entry = &config.providers[name];
        let known = entry.cost_per_1k_in.zip(entry.cost_per_1k_out);
        assert_eq!(known, cost, "{name}");
        assert_eq!(entry.latency_p50_ms, latency, "{name}");
    }
}

#[test]
fn a_provider_file_replaces_what_is_built_in() {
    let text =
        "default_provider = \"x\"\n[providers.x]\nbase_url = \"http://x\"\nauth_env = \"K\"\n";
    let config = Config::load(source(text), None).unwrap();
    let names: Vec<&String> = config.providers.keys().collect();
    assert_eq!(names, ["x"]);
    assert!(config.aliases.is_empty() && config.models.is_empty());
    assert_eq!(config.origin.as_deref(), Some("p.toml"));
    assert_eq!(config.providers["x"].auth_style, AuthStyle::Bearer);
    assert_eq!(config.providers["x"].auth_env.items(), ["K"]);
}

#[test]
fn a_manifest_is_merged_on_top() {
    let manifest = r#"
        [package]
        name = "demo"

        [llm]
        default_provider = "mine"

        [llm.providers.mine]
        base_url = "http://mine"
        auth_style = "header"
        auth_env = ["A", "B"]
        extra_headers = { x-one = "1" }
        healthcheck = { method = "GET", path = "/ok" }
        fallback = "openai"
        rpm = 5
        retry_count = 2
        retry_delay_ms = 10
        wire = "responses"

        [llm.aliases.quick]
        id = "q-1"
        provider = "mine"
        tool_format = "native"

        [[llm.inference_rules]]
        exact = "gpt-4o"
        provider = "mine"

        [[llm.tier_rules]]
        pattern = "q-*"
        tier = "frontier"

        [llm.tier_defaults]
        default = "small"

        [llm.model_defaults."q-*"]
        temperature = 0.5
        top_k = 3

        [llm.qc_defaults]
        mine = "q-1"
    "#;
    let config = Config::load(None, source(manifest)).unwrap();
    assert_eq!(config.default_provider.as_deref(), Some("mine"));
    assert_eq!(config.providers["mine"].rpm, Some(5));
    assert_eq!(config.providers["mine"].wire, Some(WireName::Responses));
    assert!(config.providers.contains_key("anthropic"));
    assert_eq!(
        config.aliases["quick"].tool_format.as_deref(),
        Some("native")
    );
    assert!(config.aliases.contains_key("frontier"));
    assert_eq!(config.inference_rules[0].provider, "mine");
    assert_eq!(config.inference_rules[1].provider, "anthropic");
    assert_eq!(config.tier_rules[0].tier, "frontier");
    assert_eq!(config.tier_defaults.default.as_deref(), Some("small"));
    assert_eq!(config.qc_defaults["mine"], "q-1");
    assert_eq!(config.qc_defaults["openai"], "gpt-4o-mini");
    assert_eq!(config.origin, None);
}

#[test]
fn an_entry_of_the_manifest_replaces_that_of_the_same_name() {
    let manifest = "[llm.providers.openai]\nbase_url = \"http://proxy\"\n";
    let config = Config::load(None, source(manifest)).unwrap();
    assert_eq!(config.providers["openai"].base_url, "http://proxy");
    assert!(config.providers["openai"].auth_env.items().is_empty());
}

#[test]
fn mistakes_name_file_line_and_key() {
    let rows = [
        (
            "default_provider = 1\n",
            "p.toml line 1: `default_provider`: invalid type: integer `1`, expected a string",
        ),
        (
            "[providers.x]\nbase_url = \"u\"\nrpm = \"many\"\n",
            "p.toml line 3: `providers.x.rpm`: invalid type: string \"many\", expected i64",
        ),
        (
            "[providers.x]\nauth_env = 5\n",
            "p.toml line 2: `providers.x.auth_env`: expected a string or a list of strings",
        ),
    ];
    for (text, expected) in rows {
        let error = Config::load(source(text), None).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = Config::load(source("\n[providers.x\n"), None).unwrap_err();
    assert!(error.to_string().starts_with("p.toml line 2: "), "{error}");
    let error = Config::load(None, source("[llm]\naliases = 5\n")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("p.toml line 2: `llm.aliases`: "),
        "{error}"
    );
    let unknown = "[providers.x]\nauth_style = \"magic\"\n";
    let error = Config::load(source(unknown), None).unwrap_err().to_string();
    assert!(
        error.starts_with("p.toml line 2: `providers.x.auth_style`: "),
        "{error}"
    );
}

#[test]
fn the_provider_file_is_where_the_environment_says() {
    type Rows<'a> = &'a [(&'a str, &'a str)];
    let rows: [(Rows<'_>, Option<&str>); 3] = [
        (
            &[("HARN_PROVIDERS_CONFIG", "/x.toml"), ("HOME", "/h")],
            Some("/x.toml"),
        ),
        (&[("HOME", "/h/")], Some("/h/.config/harn/providers.toml")),
        (&[], None),
    ];
    for (environment, expected) in rows {
        let environment: BTreeMap<String, String> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(Config::provider_file(&environment).as_deref(), expected);
    }
}

#[test]
fn the_environment_overrides_the_rate_of_an_entry() {
    let mut config = Config::built_in();
    config.providers.get_mut("openai").unwrap().rpm = Some(9);
    assert_eq!(config.rpm(&[], "openai"), Some(9));
    assert_eq!(
        config.rpm(&[("HARN_RATE_LIMIT_OPENAI", "4")], "openai"),
        Some(4)
    );
    assert_eq!(
        config.rpm(&[("HARN_RATE_LIMIT_OPENAI", "0")], "openai"),
        None
    );
    assert_eq!(
        config.rpm(&[("HARN_RATE_LIMIT_OPENAI", "x")], "openai"),
        Some(9)
    );
    assert_eq!(
        config.rpm(&[("HARN_RATE_LIMIT_MY_BOX", "4")], "my-box"),
        Some(4)
    );
    assert_eq!(config.rpm(&[], "groq"), None);
}

#[test]
fn the_glob_that_says_more_decides() {
    let text = "[model_defaults.\"*\"]\ntemperature = 0.1\ntop_p = 0.9\n[model_defaults.\"gpt-*\"]\ntemperature = 0.7\n";
    let config = Config::load(source(text), None).unwrap();
    assert_eq!(
        Value::from(config.defaults_of("gpt-4o")),
        json!({"temperature": 0.7, "top_p": 0.9})
    );
    assert_eq!(
        Value::from(config.defaults_of("x")),
        json!({"temperature": 0.1, "top_p": 0.9})
    );
}

#[test]
fn a_matcher_that_says_nothing_fits_nothing() {
    assert!(!Matcher::default().fits("x"));
    let both = Matcher {
        pattern: Some("a*".to_owned()),
        contains: Some("B".to_owned()),
        ignore_case: true,
        exact: None,
    };
    assert!(both.fits("AxB") && !both.fits("ax"));
}
