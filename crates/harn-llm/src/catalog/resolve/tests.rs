use super::*;
use crate::catalog::Source;

type Rows<'a> = &'a [(&'a str, &'a str)];

fn environment(rows: Rows<'_>) -> std::collections::BTreeMap<String, String> {
    let rows = rows.iter();
    rows.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[track_caller]
fn check(rows: Rows<'_>, wanted: (&str, &str, &str), expected: (&str, &str)) {
    let (provider, model, tier) = wanted;
    let wanted = Wanted {
        provider: Some(provider),
        model: Some(model),
        tier: Some(tier),
    };
    let selection = select(&Config::built_in(), &environment(rows), wanted);
    assert_eq!((&*selection.provider, &*selection.model), expected);
}

#[test]
fn the_first_rule_that_applies_decides() {
    let sonnet = "claude-sonnet-4-20250514";
    let local = ("LOCAL_LLM_BASE_URL", "http://h");
    let key = ("ANTHROPIC_API_KEY", "k");
    // A provider that is named, with every default model.
    check(&[], ("mock", "", ""), ("mock", sonnet));
    check(&[], ("anthropic", "", ""), ("anthropic", sonnet));
    check(&[], ("openai", "", ""), ("openai", "gpt-4o"));
    check(&[], ("ollama", "", ""), ("ollama", "llama3.2"));
    check(
        &[],
        ("openrouter", "", ""),
        ("openrouter", "anthropic/claude-sonnet-4.6"),
    );
    check(&[], ("local", "", ""), ("local", "gpt-4o"));
    check(
        &[("LOCAL_LLM_MODEL", "m")],
        ("local", "", ""),
        ("local", "m"),
    );
    check(&[], ("gemini", "", ""), ("gemini", sonnet));
    check(
        &[("HARN_LLM_PROVIDER", "groq")],
        ("mock", "", ""),
        ("mock", sonnet),
    );
    check(&[], ("mock", "mid", ""), ("mock", "gpt-4o-mini"));
    // `auto` with a model.
    check(
        &[("HARN_LLM_PROVIDER", "groq")],
        ("AUTO", "gpt-4o", ""),
        ("openai", "gpt-4o"),
    );
    check(
        &[("HARN_LLM_PROVIDER", "groq")],
        ("auto", "", ""),
        ("groq", sonnet),
    );
    // The environment.
    check(
        &[("HARN_LLM_PROVIDER", "groq")],
        ("", "gpt-4o", ""),
        ("groq", "gpt-4o"),
    );
    check(&[("LLM_PROVIDER", "mock")], ("", "", ""), ("mock", sonnet));
    check(
        &[("HARN_LLM_PROVIDER", "groq"), ("LLM_PROVIDER", "mock")],
        ("", "", ""),
        ("groq", sonnet),
    );
    // A local server with a model.
    check(&[local], ("", "gpt-4o", ""), ("local", "gpt-4o"));
    check(
        &[local, ("HARN_LLM_MODEL", "m")],
        ("", "", ""),
        ("local", "m"),
    );
    check(
        &[local, ("LOCAL_LLM_MODEL", "m")],
        ("", "", ""),
        ("local", "m"),
    );
    // What the model says.
    check(
        &[],
        ("", "gemini-2.5-pro", ""),
        ("gemini", "gemini-2.5-pro"),
    );
    check(&[], ("", "", "small"), ("openrouter", "Qwen/Qwen3.5-9B"));
    check(&[], ("", "", "frontier"), ("anthropic", sonnet));
    check(&[("HARN_LLM_MODEL", "o3")], ("", "", ""), ("openai", "o3"));
    check(
        &[("HARN_LLM_MODEL", "o3")],
        ("", "", "mid"),
        ("openai", "gpt-4o-mini"),
    );
    // The default.
    check(&[key], ("", "", ""), ("anthropic", sonnet));
    check(&[], ("", "", ""), ("ollama", "llama3.2"));
    check(
        &[("HARN_DEFAULT_PROVIDER", "groq"), ("GROQ_API_KEY", "k")],
        ("", "", ""),
        ("groq", sonnet),
    );
    check(&[key], ("", "", "unheard-of"), ("anthropic", sonnet));
}

#[test]
fn without_ollama_a_local_server_or_the_default_is_asked() {
    let text = "[providers.anthropic]\nauth_env = \"ANTHROPIC_API_KEY\"\n";
    let config = Config::load(Some(Source { path: "p", text }), None).unwrap();
    let selected = |rows: Rows<'_>| select(&config, &environment(rows), Wanted::default()).provider;
    assert_eq!(selected(&[]), "anthropic");
    assert_eq!(selected(&[("LOCAL_LLM_BASE_URL", "http://h")]), "local");
}

/// Ollama is asked for want of anything better only where nothing at all says whom to ask.
#[test]
fn a_key_is_missed_where_nothing_says_whom_to_ask() {
    let config = Config::built_in();
    let missing = |rows: Rows<'_>, provider: Option<&str>, model: Option<&str>| {
        let wanted = Wanted {
            provider,
            model,
            tier: None,
        };
        select(&config, &environment(rows), wanted).missing_key
    };
    let key = Some("ANTHROPIC_API_KEY".to_owned());
    assert_eq!(missing(&[], None, None), key);
    assert_eq!(missing(&[], Some("auto"), None), key);
    assert_eq!(missing(&[], Some("ollama"), None), None);
    assert_eq!(missing(&[], None, Some("ollama:m")), None);
    for row in [
        ("ANTHROPIC_API_KEY", "k"),
        ("HARN_LLM_PROVIDER", "ollama"),
        ("OLLAMA_HOST", "http://h"),
    ] {
        assert_eq!(missing(&[row], None, None), None, "{row:?}");
    }
}

#[test]
fn ids_tell_their_provider() {
    let rows = [
        ("local:m", "local", "m"),
        ("ollama:m:7b", "ollama", "m:7b"),
        ("huggingface:a/b", "huggingface", "a/b"),
        ("hf:a/b", "huggingface", "a/b"),
        ("claude-3-opus", "anthropic", "claude-3-opus"),
        ("gpt-5", "openai", "gpt-5"),
        ("o1-mini", "openai", "o1-mini"),
        ("o3", "openai", "o3"),
        ("o4-mini", "openai", "o4-mini"),
        ("anthropic.claude-3", "bedrock", "anthropic.claude-3"),
        ("meta.llama3", "bedrock", "meta.llama3"),
        ("amazon.nova", "bedrock", "amazon.nova"),
        ("mistral.large", "bedrock", "mistral.large"),
        ("cohere.command", "bedrock", "cohere.command"),
        ("gemini-2.5-pro", "gemini", "gemini-2.5-pro"),
        ("meta/llama:free", "openrouter", "meta/llama:free"),
        ("a/b/c", "anthropic", "a/b/c"),
        ("llama3:8b", "ollama", "llama3:8b"),
        ("small", "openrouter", "Qwen/Qwen3.5-9B"),
        ("nonsense", "anthropic", "nonsense"),
    ];
    let config = Config::built_in();
    for (name, provider, id) in rows {
        let found = find(&config, &[], name);
        assert_eq!((&*found.provider, &*found.id), (provider, id), "{name}");
        assert_eq!(
            found.warning.is_some(),
            ["nonsense", "a/b/c"].contains(&name)
        );
    }
    let warning = find(&config, &[], "nonsense").warning;
    assert_eq!(
        warning.as_deref(),
        Some(
            "no rule says which provider serves model \"nonsense\"; using default provider \"anthropic\""
        )
    );
    let text = "[[llm.inference_rules]]\ncontains = \"gpt\"\nprovider = \"mine\"\n";
    let config = Config::load(None, Some(Source { path: "p", text })).unwrap();
    assert_eq!(find(&config, &[], "gpt-4o").provider, "mine");
    assert_eq!(find(&config, &[], "ollama:gpt").provider, "mine");
}

#[test]
fn ids_tell_their_tier() {
    let rows = [
        ("qwen-9b", "small"),
        ("qwen-a3b", "small"),
        ("gemma-4-e2b", "small"),
        ("gemma-4-e4b", "small"),
        ("gemma-4-26b", "mid"),
        ("gemma4:26b", "mid"),
        ("gemma-4-31b", "frontier"),
        ("gemma4:31b", "frontier"),
        ("claude-3-haiku", "frontier"),
        ("gpt-4o", "frontier"),
        ("gpt-4o-mini", "mid"),
        ("Qwen/Qwen3.5-9B", "small"),
        ("Qwen3-30B-A3B", "small"),
        ("anything", "mid"),
        ("frontier", "frontier"),
        ("tier/mid", "mid"),
        ("small", "small"),
    ];
    let config = Config::built_in();
    for (model, expected) in rows {
        assert_eq!(tier(&config, model), expected, "{model}");
    }
}

#[test]
fn the_tool_format_is_that_of_the_alias_or_the_provider() {
    let mut config = Config::built_in();
    config.aliases.get_mut("mid").unwrap().tool_format = Some("native".to_owned());
    assert_eq!(tool_format(&config, "openai", Some("mid")), "native");
    assert_eq!(tool_format(&config, "openai", Some("frontier")), "text");
    assert_eq!(tool_format(&config, "openai", None), "text");
    assert_eq!(tool_format(&config, "vertex", None), "native");
    assert_eq!(tool_format(&config, "mock", None), "text");
}

#[test]
fn a_missing_key_says_what_to_set() {
    let config = Config::built_in();
    let check = |rows: Rows<'_>, provider: &str| {
        let result = check_key(&config, &environment(rows), provider);
        result.map_err(|error| error.to_string())
    };
    assert_eq!(
        check(&[("ANTHROPIC_API_KEY", "")], "anthropic"),
        Err("Missing API key: set ANTHROPIC_API_KEY environment variable (provider 'anthropic' selected via LLM_PROVIDER / llm.toml @ built-in defaults; set HARN_LLM_PROVIDER=mock or LLM_PROVIDER=mock for offline use)".to_owned())
    );
    assert_eq!(
        check(&[("HUGGINGFACE_API_KEY", "k")], "huggingface"),
        Ok(())
    );
    assert_eq!(check(&[], "ollama"), Ok(()));
    assert_eq!(check(&[], "mock"), Ok(()));
    let unknown = check(&[], "nobody").unwrap_err();
    assert!(unknown.starts_with("Unknown provider \"nobody\"; configured providers: anthropic, "));
    let text = "[providers.x]\nauth_env = [\"A\", \"B\"]\n";
    let own = Config::load(
        Some(Source {
            path: "/p.toml",
            text,
        }),
        None,
    )
    .unwrap();
    let error = check_key(&own, &environment(&[]), "x")
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("Missing API key: set A or B environment variable (provider 'x' selected via LLM_PROVIDER / llm.toml @ /p.toml; "));
}

#[test]
fn real_requests_can_be_forbidden() {
    for value in ["1", "true", "yes", "on", "TRUE"] {
        let error = check_enabled(&[("HARN_LLM_CALLS_DISABLED", value)], "openai").unwrap_err();
        assert_eq!(
            error.to_string(),
            "LLM calls are disabled by HARN_LLM_CALLS_DISABLED; provider `openai` would make a real LLM request"
        );
    }
    for value in ["0", "", "no"] {
        assert!(check_enabled(&[("HARN_LLM_CALLS_DISABLED", value)], "openai").is_ok());
    }
    assert!(check_enabled(&[], "openai").is_ok());
}
