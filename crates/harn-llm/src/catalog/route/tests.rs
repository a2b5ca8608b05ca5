use super::*;

type Rows<'a> = &'a [(&'a str, &'a str)];

fn route(environment: Rows<'_>, provider: &str, model: &str) -> Result<Route, Invalid> {
    let rows: std::collections::BTreeMap<String, String> = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let config = Config::built_in();
    build(&config, &Capabilities::default(), &rows, provider, model)
}

#[test]
fn each_provider_is_reached_its_own_way() {
    let rows: [(Rows<'_>, &str, &str, Wire, &str, &str); 9] = [
        (
            &[("ANTHROPIC_API_KEY", "k")],
            "anthropic",
            "claude-opus-4-6",
            Wire::Anthropic,
            "https://api.anthropic.com/v1/messages",
            "anthropic-version: 2023-06-01, x-api-key: k",
        ),
        (
            &[("OPENAI_API_KEY", "k")],
            "openai",
            "gpt-4o",
            Wire::Chat,
            "https://api.openai.com/v1/chat/completions",
            "authorization: Bearer k",
        ),
        (
            &[("OLLAMA_HOST", "127.0.0.1:9/")],
            "ollama",
            "llama3.2",
            Wire::Ollama,
            "http://127.0.0.1:9/api/chat",
            "",
        ),
        (
            &[("GOOGLE_API_KEY", "k")],
            "gemini",
            "gemini-2.5-pro",
            Wire::Gemini,
            "https://generativelanguage.googleapis.com/v1beta/models",
            "x-goog-api-key: k",
        ),
        (
            &[("HUGGINGFACE_API_KEY", "k")],
            "huggingface",
            "m",
            Wire::Chat,
            "https://router.huggingface.co/v1/chat/completions",
            "authorization: Bearer k",
        ),
        (
            &[
                ("AZURE_OPENAI_API_KEY", "k"),
                ("AZURE_OPENAI_RESOURCE", "us"),
            ],
            "azure_openai",
            "gpt-4o",
            Wire::Chat,
            "https://us.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
            "api-key: k",
        ),
        (
            &[
                ("AZURE_OPENAI_AD_TOKEN", "t"),
                ("AZURE_OPENAI_ENDPOINT", "https://x.example/"),
                ("AZURE_OPENAI_DEPLOYMENT", "d"),
                ("AZURE_OPENAI_API_VERSION", "v"),
            ],
            "azure_openai",
            "gpt-4o",
            Wire::Chat,
            "https://x.example/openai/deployments/d/chat/completions?api-version=v",
            "authorization: Bearer t",
        ),
        (
            &[
                ("VERTEX_AI_ACCESS_TOKEN", "t"),
                ("GOOGLE_CLOUD_PROJECT", "p"),
            ],
            "vertex",
            "gemini-2.5-pro",
            Wire::Gemini,
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models",
            "authorization: Bearer t",
        ),
        (
            &[("LOCAL_LLM_BASE_URL", "http://h:1")],
            "local",
            "m",
            Wire::Chat,
            "http://h:1/v1/chat/completions",
            "",
        ),
    ];
    for (environment, provider, model, wire, url, headers) in rows {
        let route = route(environment, provider, model).unwrap();
        assert_eq!(route.wire, wire, "{provider}");
        assert_eq!(route.target.url, url, "{provider}");
        let shown: Vec<String> = route
            .target
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.expose()))
            .collect();
        assert_eq!(shown.join(", "), headers, "{provider}");
        assert!(!format!("{route:?}").contains("Bearer"), "{provider}");
    }
}

#[test]
fn what_cannot_be_reached_says_why() {
    let rows: [(Rows<'_>, &str, &str); 5] = [
        (
            &[("AWS_ACCESS_KEY_ID", "k")],
            "bedrock",
            "provider `bedrock` needs AWS request signing, which is not available in this build",
        ),
        (
            &[("GOOGLE_APPLICATION_CREDENTIALS", "/f.json")],
            "vertex",
            "provider `vertex` needs signing in with a credentials file, which is not available in this build",
        ),
        (
            &[("VERTEX_AI_ACCESS_TOKEN", "t")],
            "vertex",
            "provider `vertex` needs VERTEX_AI_PROJECT or GOOGLE_CLOUD_PROJECT to be set",
        ),
        (
            &[],
            "mock",
            "provider `mock` has no base URL; set `base_url` in its configuration",
        ),
        (
            &[],
            "groq",
            "Missing API key: set GROQ_API_KEY environment variable (provider 'groq' selected via LLM_PROVIDER / llm.toml @ built-in defaults; set HARN_LLM_PROVIDER=mock or LLM_PROVIDER=mock for offline use)",
        ),
    ];
    for (environment, provider, expected) in rows {
        let error = route(environment, provider, "m").unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_registered_name_is_reached_through_its_variable() {
    let mut config = Config::built_in();
    config.register("my-box");
    let environment = [("MY_BOX_BASE_URL", "http://h:1/v1")];
    let capabilities = Capabilities::default();
    let route = build(&config, &capabilities, &environment, "my-box", "m").unwrap();
    assert_eq!(route.target.url, "http://h:1/v1/chat/completions");
    assert_eq!(route.wire, Wire::Chat);
}

#[test]
fn the_wire_follows_the_endpoint_unless_the_entry_says_otherwise() {
    let rows = [
        ("p", "/messages", None, Wire::Anthropic),
        ("p", "/responses", None, Wire::Responses),
        ("p", "/api/chat", None, Wire::Ollama),
        ("gemini", "/v1beta/models", None, Wire::Gemini),
        ("vertex", "/x", None, Wire::Gemini),
        ("p", "/chat/completions", None, Wire::Chat),
        ("p", "/messages", Some(WireName::Chat), Wire::Chat),
        ("p", "/x", Some(WireName::Anthropic), Wire::Anthropic),
        ("p", "/x", Some(WireName::Responses), Wire::Responses),
        ("p", "/x", Some(WireName::Gemini), Wire::Gemini),
        ("p", "/x", Some(WireName::Ollama), Wire::Ollama),
    ];
    for (provider, endpoint, name, expected) in rows {
        let entry = Provider {
            chat_endpoint: endpoint.to_owned(),
            wire: name,
            ..Provider::default()
        };
        assert_eq!(wire(provider, &entry), expected, "{endpoint}");
    }
}
