use super::*;
use crate::catalog::Source;

fn with<T>(environment: &dyn Environment, look: impl FnOnce(Catalog<'_>) -> T) -> T {
    let (config, capabilities) = (Config::built_in(), Capabilities::default());
    look(Catalog {
        config: &config,
        capabilities: &capabilities,
        environment,
    })
}

#[test]
fn a_provider_shows_its_keys_and_no_secret() {
    let environment = [("ANTHROPIC_API_KEY", "sk-very-secret")];
    let entry = with(&environment, |catalog| catalog.provider("anthropic"));
    assert_eq!(
        entry,
        json!({
            "display_name": "Anthropic",
            "base_url": "https://api.anthropic.com/v1",
            "auth_style": "header",
            "auth_header": "x-api-key",
            "auth_envs": ["ANTHROPIC_API_KEY"],
            "auth_available": true,
            "extra_headers": {"anthropic-version": "2023-06-01"},
            "chat_endpoint": "/messages",
            "features": ["prompt_caching", "thinking"],
            "cost_per_1k_in": 0.003,
            "cost_per_1k_out": 0.015,
            "latency_p50_ms": 2500,
        })
    );
    let ollama = with(&[], |catalog| catalog.provider("ollama"));
    assert_eq!(ollama["base_url_env"], "OLLAMA_HOST");
    assert_eq!(ollama["completion_endpoint"], "/api/generate");
    assert_eq!(ollama["auth_envs"], json!([]));
    assert_eq!(ollama["auth_available"], true);
    assert_eq!(with(&[], |catalog| catalog.provider("nobody")), Value::Null);
    let everything = with(&environment, |catalog| {
        let all = [
            catalog.all_providers(),
            catalog.provider_catalog(),
            catalog.info(),
        ];
        json!(all).to_string()
    });
    assert!(!everything.contains("sk-very-secret"));
}

#[test]
fn headers_that_may_hold_a_key_are_not_shown() {
    let text = "[providers.x]\nextra_headers = { Authorization = \"Bearer k\", x-Token = \"t\", x-team = \"a\" }\n";
    let config = Config::load(Some(Source { path: "p", text }), None).unwrap();
    let catalog = Catalog {
        config: &config,
        capabilities: &Capabilities::default(),
        environment: &[],
    };
    assert_eq!(
        catalog.provider("x")["extra_headers"],
        json!({"Authorization": "[redacted]", "x-Token": "[redacted]", "x-team": "a"})
    );
}

#[test]
fn registered_names_are_listed() {
    let mut config = Config::built_in();
    config.register("aardvark");
    let catalog = Catalog {
        config: &config,
        capabilities: &Capabilities::default(),
        environment: &[],
    };
    assert_eq!(catalog.providers()[0], "aardvark");
    assert_eq!(
        catalog.available_providers(),
        json!(["aardvark", "local", "mlx", "mock", "ollama", "tgi", "vllm"])
    );
}

#[test]
fn models_are_found_by_name() {
    let look = |selector: &str| with(&[], |catalog| catalog.resolve_model(selector));
    assert_eq!(
        look("mid"),
        json!({"id": "gpt-4o-mini", "provider": "openai", "alias": "mid", "tool_format": "text", "tier": "mid"})
    );
    assert_eq!(
        look("amazon.nova"),
        json!({"id": "amazon.nova", "provider": "bedrock", "alias": null, "tool_format": "native", "tier": "mid"})
    );
    let info = with(&[], |catalog| catalog.model_info("frontier"));
    let mut keys: Vec<&String> = info.as_object().unwrap().keys().collect();
    keys.sort_unstable();
    let expected = [
        "alias",
        "auth_available",
        "capabilities",
        "catalog",
        "id",
        "provider",
        "qc_default_model",
        "tier",
        "tool_format",
    ];
    assert_eq!(keys, expected);
    assert_eq!(info["capabilities"]["thinking_modes"], json!(["enabled"]));
    assert_eq!(info["qc_default_model"], "claude-3-5-haiku-20241022");
    assert_eq!(info["auth_available"], false);
    assert_eq!(
        info["catalog"],
        json!({
            "id": "claude-sonnet-4-20250514",
            "name": "Claude Sonnet 4",
            "provider": "anthropic",
            "context_window": 200_000,
            "stream_timeout": null,
            "capabilities": ["tools", "streaming", "prompt_caching", "thinking"],
            "pricing": {
                "input_per_mtok": 3.0,
                "output_per_mtok": 15.0,
                "cache_read_per_mtok": 0.3,
                "cache_write_per_mtok": 3.75,
            },
        })
    );
    let unknown = with(&[], |catalog| catalog.model_info("gemini-x"));
    assert_eq!(unknown["catalog"], Value::Null);
    assert_eq!(unknown["qc_default_model"], Value::Null);
}

#[test]
fn the_small_questions_are_answered() {
    let answers = with(&[("LLM_PROVIDER", "mock")], |catalog| {
        json!([
            catalog.infer_provider("gpt-4o"),
            catalog.model_tier("gpt-4o"),
            catalog.qc_default_model("ollama"),
            catalog.qc_default_model("groq"),
            catalog.pick_model("small", None),
            catalog.pick_model("gpt-4o", Some("azure_openai")),
            catalog.info(),
        ])
    });
    assert_eq!(
        answers,
        json!([
            "openai",
            "frontier",
            "llama3.2",
            null,
            {"id": "Qwen/Qwen3.5-9B", "provider": "openrouter", "tier": "small"},
            {"id": "gpt-4o", "provider": "azure_openai", "tier": "frontier"},
            {"provider": "mock", "model": "claude-sonnet-4-20250514", "api_key_set": false},
        ])
    );
    let environment = [("OPENAI_API_KEY", "k"), ("HARN_LLM_MODEL", "gpt-4o")];
    assert_eq!(
        with(&environment, |catalog| catalog.info()),
        json!({"provider": "openai", "model": "gpt-4o", "api_key_set": true})
    );
}

#[test]
fn the_catalog_has_everything() {
    let catalog = with(&[], |catalog| catalog.provider_catalog());
    let mut keys: Vec<&String> = catalog.as_object().unwrap().keys().collect();
    keys.sort_unstable();
    let expected = [
        "aliases",
        "available_providers",
        "known_model_names",
        "models",
        "providers",
        "qc_defaults",
    ];
    assert_eq!(keys, expected);
    assert_eq!(catalog["providers"][0]["name"], "anthropic");
    assert_eq!(
        catalog["aliases"][0],
        json!({"name": "frontier", "id": "claude-sonnet-4-20250514", "provider": "anthropic", "tool_format": null})
    );
    let models: Vec<&Value> = catalog["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["id"])
        .collect();
    assert_eq!(
        models,
        [
            "Qwen/Qwen3.5-9B",
            "claude-sonnet-4-20250514",
            "gpt-4o-mini",
            "llama3.2"
        ]
    );
    let known = catalog["known_model_names"].as_array().unwrap();
    for name in ["frontier", "tier/small", "llama3.2", "gpt-4o-mini"] {
        assert!(known.contains(&json!(name)), "{name}");
    }
    assert!(known.is_sorted_by_key(|name| name.as_str().unwrap().to_owned()));
}
