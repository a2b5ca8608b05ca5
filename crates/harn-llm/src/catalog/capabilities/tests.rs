use super::*;

/// What is on, in short.
fn summary(capability: &Capability) -> String {
    let mut words: Vec<String> = Vec::new();
    let flags = [
        ("native", capability.native_tools),
        ("defer", capability.defer_loading),
        ("caching", capability.prompt_caching),
        ("vision", capability.vision_supported),
        ("audio", capability.audio),
        ("pdf", capability.pdf),
        ("interleaved", capability.interleaved_thinking_supported),
        ("preserve", capability.preserve_thinking),
        ("completion", capability.requires_completion_tokens),
        ("effort", capability.reasoning_effort_supported),
    ];
    words.extend(
        flags
            .iter()
            .filter(|(_, on)| *on)
            .map(|(word, _)| (*word).to_owned()),
    );
    if !capability.tool_search.is_empty() {
        words.push(format!("search={}", capability.tool_search.join("+")));
    }
    words.extend(capability.max_tools.map(|max| format!("max={max}")));
    if !capability.thinking_modes.is_empty() {
        words.push(format!("think={}", capability.thinking_modes.join("+")));
    }
    match capability.structured_output {
        StructuredOutput::None => {}
        StructuredOutput::Native => words.push("out=native".to_owned()),
        StructuredOutput::ToolUse => words.push("out=tool_use".to_owned()),
        StructuredOutput::FormatKw => words.push("out=format_kw".to_owned()),
    }
    words.join(" ")
}

#[track_caller]
fn check(capabilities: &Capabilities, provider: &str, model: &str, expected: &str) {
    let found = summary(&capabilities.of(provider, model));
    assert_eq!(found, expected, "{provider} {model}");
}

#[test]
fn every_row_of_the_table_holds() {
    let search = "search=bm25+regex max=10000";
    let adaptive = format!("native defer caching vision {search} think=adaptive out=tool_use");
    let adaptive_opus =
        format!("native defer caching vision interleaved {search} think=adaptive out=tool_use");
    let enabled = format!("native defer caching vision {search} think=enabled out=tool_use");
    let enabled_opus =
        format!("native defer caching vision interleaved {search} think=enabled out=tool_use");
    let plain = "native caching vision think=enabled out=tool_use";
    let o = "native completion effort think=effort out=native";
    let qwen = "native think=enabled out=native";
    let qwen36 = "native preserve think=enabled out=native";
    let rows: Vec<(&str, &str, &str)> = vec![
        ("anthropic", "claude-haiku-4-7", &adaptive),
        ("anthropic", "claude-opus-4-7", &adaptive_opus),
        ("anthropic", "claude-opus-5-0", &adaptive_opus),
        ("anthropic", "claude-sonnet-4-7", &adaptive),
        ("anthropic", "claude-haiku-4-5", &enabled),
        ("anthropic", "claude-opus-4-6", &enabled_opus),
        ("anthropic", "claude-opus-4-20250514", &enabled),
        ("anthropic", "claude-sonnet-4-20250514", &enabled),
        ("anthropic", "Claude-Sonnet-4-6", &enabled),
        ("anthropic", "claude-3-5-haiku-20241022", plain),
        ("anthropic", "claude-haiku-4-0", plain),
        ("anthropic", "anthropic/claude-opus-4-7", &adaptive_opus),
        ("anthropic", "anthropic/claude-3-opus", plain),
        ("anthropic", "gpt-4o", ""),
        ("openai", "gpt-4o-mini", "native vision audio out=native"),
        ("openai", "gpt-4.1", "native vision"),
        (
            "openai",
            "gpt-5.4",
            "native defer vision search=hosted+client",
        ),
        ("openai", "gpt-5", "native out=native"),
        ("openai", "o1-mini", o),
        ("openai", "o3", o),
        (
            "openai",
            "o4-mini",
            "native vision completion effort think=effort out=native",
        ),
        ("openai", "openai/gpt-4o", "native vision audio out=native"),
        (
            "openai",
            "openai/gpt-5.4",
            "native defer vision search=hosted+client",
        ),
        ("openai", "openai/o3", o),
        ("ollama", "llava:7b", "vision"),
        ("ollama", "bakllava", "vision"),
        ("ollama", "llama3.2-vision", "vision"),
        ("ollama", "gemma3:4b", "vision"),
        (
            "ollama",
            "qwen3.6:8b",
            "native preserve think=enabled out=format_kw",
        ),
        ("ollama", "qwen3:8b", "native think=enabled out=format_kw"),
        ("ollama", "llama3.2", ""),
        ("local", "Qwen3.6-27B", qwen36),
        ("local", "qwen3-8b", qwen),
        ("llamacpp", "qwen3-8b", qwen),
        (
            "mlx",
            "unsloth/Qwen3.6-27B-UD-MLX-4bit",
            "native vision preserve think=enabled out=native",
        ),
        ("mlx", "qwen3", "native vision think=enabled out=native"),
        ("dashscope", "qwen3-max", qwen),
        ("fireworks", "accounts/fireworks/models/qwen3-8b", qwen),
        ("huggingface", "Qwen/Qwen3-8B", qwen),
        ("together", "Qwen/Qwen3.6-8B", qwen36),
        (
            "openrouter",
            "Qwen/Qwen3.5-9B",
            "native effort think=enabled+effort out=native",
        ),
        (
            "together",
            "deepseek-ai/DeepSeek-V3",
            "native caching think=enabled",
        ),
        (
            "huggingface",
            "deepseek-ai/DeepSeek-V3",
            "native caching think=enabled",
        ),
        (
            "openrouter",
            "deepseek/deepseek-v3.1",
            "native caching think=enabled",
        ),
        (
            "openrouter",
            "google/gemini-2.5-flash",
            "native caching think=enabled",
        ),
        (
            "openrouter",
            "openai/gpt-4o",
            "native vision audio out=native",
        ),
        ("groq", "gpt-4o", "native vision audio out=native"),
        ("vllm", "gpt-4o", ""),
        ("gemini", "gemini-2.5-pro", "vision"),
        ("bedrock", "amazon.nova", "native"),
        ("azure_openai", "gpt-4o", "native"),
        ("azure_openai", "o3", "native"),
        ("azure_openai", "llama", ""),
        ("vertex", "gemini-2.5-pro", "native"),
        ("mock", "claude-opus-4-6", &enabled_opus),
        ("mock", "gpt-4.1", "native vision"),
        ("mock", "nothing", ""),
        ("nobody", "claude-opus-4-6", ""),
    ];
    let capabilities = Capabilities::default();
    for (provider, model, expected) in rows {
        check(&capabilities, provider, model, expected);
    }
}

#[test]
fn rules_of_the_user_come_first_and_can_be_taken_back() {
    let mut capabilities = Capabilities::default();
    let rules = "[[provider.openai]]\nmodel_match = \"gpt-4o*\"\naudio = true\n\n[[provider.my]]\nmodel_match = \"*\"\nversion_min = [5, 0]\npdf = true\n\n[provider_family]\nmy = \"openai\"\n";
    capabilities.install(rules).unwrap();
    check(&capabilities, "openai", "gpt-4o", "audio");
    check(&capabilities, "openai", "gpt-4.1", "native vision");
    check(&capabilities, "my", "gpt-5", "pdf");
    check(&capabilities, "my", "gpt-4.1", "native vision");
    check(&capabilities, "my", "unversioned", "");
    capabilities
        .install("[[provider.openai]]\nmodel_match = \"x\"\npdf = true\n")
        .unwrap();
    check(
        &capabilities,
        "openai",
        "gpt-4o",
        "native vision audio out=native",
    );
    check(&capabilities, "openai", "X", "pdf");
    capabilities.clear();
    check(&capabilities, "openai", "x", "");
}

#[test]
fn a_circle_of_families_ends() {
    let mut capabilities = Capabilities::default();
    capabilities
        .install("[provider_family]\na = \"b\"\nb = \"a\"\n")
        .unwrap();
    check(&capabilities, "a", "gpt-4o", "");
}

#[test]
fn a_manifest_brings_rules_that_stay() {
    let text = "[[capabilities.provider.mock]]\nmodel_match = \"claude-*\"\npdf = true\ntool_mode_parity = \"native_only\"\npreferred_tool_format = \"native\"\n";
    let mut capabilities = Capabilities::load(Some(Source {
        path: "harn.toml",
        text,
    }))
    .unwrap();
    check(&capabilities, "mock", "claude-opus-4-6", "pdf");
    capabilities.clear();
    let found = capabilities.of("mock", "claude-opus-4-6");
    assert_eq!(found.tool_mode_parity, Parity::NativeOnly);
    assert_eq!(found.tool_mode_parity.word(), "native_only");
    assert_eq!(found.preferred_tool_format.as_deref(), Some("native"));
    let wrong = "[[capabilities.provider.x]]\nmodel_match = 5\n";
    let error = Capabilities::load(Some(Source {
        path: "harn.toml",
        text: wrong,
    }))
    .unwrap_err();
    assert!(error.to_string().starts_with("harn.toml line "), "{error}");
}

#[test]
fn a_text_that_is_no_toml_is_refused_and_changes_nothing() {
    let mut capabilities = Capabilities::default();
    capabilities
        .install("[[provider.x]]\nmodel_match = \"*\"\npdf = true\n")
        .unwrap();
    for text in ["[[provider", "provider = 5", "[[provider.x]]\npdf = true\n"] {
        let error = capabilities.install(text).unwrap_err().to_string();
        assert!(
            error.starts_with("provider_capabilities_install: parse error: "),
            "{error}"
        );
    }
    check(&capabilities, "x", "y", "pdf");
}

#[test]
fn the_dict_has_every_key() {
    let capabilities = Capabilities::default();
    assert_eq!(
        capabilities.describe("openai", "o4-mini"),
        json!({
            "provider": "openai",
            "model": "o4-mini",
            "native_tools": true,
            "defer_loading": false,
            "tool_search": [],
            "max_tools": null,
            "prompt_caching": false,
            "thinking": true,
            "thinking_modes": ["effort"],
            "interleaved_thinking_supported": false,
            "anthropic_beta_features": [],
            "vision_supported": true,
            "audio": false,
            "pdf": false,
            "preserve_thinking": false,
            "requires_completion_tokens": true,
            "reasoning_effort_supported": true,
        })
    );
    let unknown = capabilities.describe("nobody", "m");
    assert_eq!(unknown["thinking"], json!(false));
    assert_eq!(unknown["max_tools"], json!(null));
    assert_eq!(unknown["tool_search"], json!([]));
}

#[test]
fn encoders_are_told_what_a_model_wants() {
    let none = ModelTraits {
        accepts_prefill: true,
        ..ModelTraits::default()
    };
    let rows = [
        ("anthropic", "claude-sonnet-4-20250514", none),
        (
            "anthropic",
            "claude-opus-4-6",
            ModelTraits {
                accepts_prefill: false,
                interleaved_thinking: true,
                ..none
            },
        ),
        (
            "anthropic",
            "claude-sonnet-4-6",
            ModelTraits {
                accepts_prefill: false,
                ..none
            },
        ),
        (
            "anthropic",
            "claude-sonnet-4-7",
            ModelTraits {
                accepts_prefill: false,
                adaptive_only: true,
                ..none
            },
        ),
        (
            "openai",
            "o3",
            ModelTraits {
                requires_completion_tokens: true,
                ..none
            },
        ),
        (
            "ollama",
            "qwen3.6",
            ModelTraits {
                preserve_thinking: true,
                ..none
            },
        ),
        ("nobody", "m", none),
    ];
    let capabilities = Capabilities::default();
    for (provider, model, expected) in rows {
        assert_eq!(capabilities.traits(provider, model), expected, "{model}");
    }
}
