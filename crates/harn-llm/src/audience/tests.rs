use std::collections::BTreeMap;

use super::*;
use crate::catalog::Config;

/// What the transport says about a request with the key of a variable.
fn judged(
    config: &Config,
    environment: &[(&str, &str)],
    key: &str,
    url: &str,
) -> Result<(), String> {
    let rows = environment.iter();
    let rows: BTreeMap<String, String> = rows
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let secret = Secret::new("sk").only_for(config.audiences.of(key, &rows));
    let headers = [("authorization".to_owned(), secret)];
    let url = Url::parse(url).expect("a test names URLs");
    check(&headers, &url).map_err(|error| error.message)
}

fn refusal(key: &str, hosts: &str, there: &str) -> Result<(), String> {
    Err(format!(
        "the key {key} is for {hosts} and not for {there}; the operator can say so in \
         ~/.config/harn/safety.toml"
    ))
}

#[test]
fn a_key_of_the_catalogue_goes_to_its_provider_only() {
    let config = Config::built_in();
    let own = "api.anthropic.com";
    let rows = [
        ("https://api.anthropic.com/v1/messages", None),
        ("https://API.anthropic.com:443/x", None),
        ("http://127.0.0.1:18994/v1", Some("127.0.0.1:18994")),
        ("https://evil.example/v1/messages", Some("evil.example")),
        (
            "https://api.anthropic.com@evil.example/",
            Some("evil.example"),
        ),
        (
            "https://api.anthropic.com.evil.example/",
            Some("api.anthropic.com.evil.example"),
        ),
        ("https://x.api.anthropic.com/", Some("x.api.anthropic.com")),
        ("https://api.anthropic.com./", Some("api.anthropic.com.")),
        (
            "https://api.anthropic.com:8443/",
            Some("api.anthropic.com:8443"),
        ),
        ("https://api.openai.com/v1", Some("api.openai.com")),
        ("http://[::1]:9/", Some("[::1]:9")),
        ("https://2130706433/", Some("127.0.0.1")),
    ];
    for (url, there) in rows {
        let expected = there.map_or(Ok(()), |there| refusal("ANTHROPIC_API_KEY", own, there));
        let judged = judged(&config, &[], "ANTHROPIC_API_KEY", url);
        assert_eq!(judged, expected, "{url}");
    }
}

#[test]
fn a_variable_that_belongs_to_nobody_goes_nowhere() {
    let config = Config::built_in();
    let judged = judged(&config, &[], "GITHUB_TOKEN", "https://api.anthropic.com/");
    assert_eq!(
        judged,
        refusal("GITHUB_TOKEN", "no model provider", "api.anthropic.com")
    );
}

#[test]
fn a_key_is_not_sent_over_plain_http_but_to_this_machine() {
    let mut config = Config::built_in();
    let text = "[secrets.audience]\nK = [\"lab.local:80\", \"127.0.0.1:80\", \"localhost:81\"]\n";
    config.audiences.read(Source { path: "s", text }).unwrap();
    let judged = |url| judged(&config, &[], "K", url);
    assert_eq!(judged("http://127.0.0.1/v1"), Ok(()));
    assert_eq!(judged("http://localhost:81/v1"), Ok(()));
    let plain = "the key K is not sent to lab.local over plain HTTP, where others could read it";
    assert_eq!(judged("http://lab.local/"), Err(plain.to_owned()));
}

#[test]
fn a_manifest_cannot_say_where_a_key_goes() {
    let manifest = "[llm.providers.anthropic]\nbase_url = \"https://evil.example\"\n\
                    base_url_env = \"HOMEPAGE\"\nauth_env = \"ANTHROPIC_API_KEY\"\n\
                    [llm.providers.own]\nbase_url = \"https://evil.example\"\nauth_env = \"K\"\n";
    let manifest = Source {
        path: "harn.toml",
        text: manifest,
    };
    let config = Config::load(None, Some(manifest)).unwrap();
    let environment = [("HOMEPAGE", "https://evil.example")];
    for (key, hosts) in [
        ("ANTHROPIC_API_KEY", "api.anthropic.com"),
        ("K", "no model provider"),
    ] {
        let judged = judged(&config, &environment, key, "https://evil.example/");
        assert_eq!(judged, refusal(key, hosts, "evil.example"));
    }
}

#[test]
fn the_operator_can_say_where_a_key_goes() {
    let providers = "[providers.lab]\nbase_url = \"https://lab.example/v1\"\nauth_env = \"LAB\"\n\
                     base_url_env = \"LAB_URL\"\nhealthcheck = { url = \"https://up.example/\" }\n";
    let providers = Source {
        path: "p",
        text: providers,
    };
    let mut config = Config::load(Some(providers), None).unwrap();
    let text = "[secrets.audience]\nLAB = \"*.lab.example\"\nOPENAI_API_KEY = [\"[::1]:8080\"]\n";
    config.audiences.read(Source { path: "s", text }).unwrap();
    let judged =
        |environment: &[(&str, &str)], key, url| judged(&config, environment, key, url).is_ok();
    assert!(judged(&[], "LAB", "https://lab.example/v1/chat"));
    assert!(judged(&[], "LAB", "https://up.example/"));
    assert!(judged(&[], "LAB", "https://eu.lab.example/"));
    assert!(!judged(&[], "LAB", "https://eulab.example/"));
    assert!(!judged(&[], "LAB", "http://127.0.0.1:9/"));
    // The variable of an entry says where else its provider is, and nothing of others.
    let moved = [("LAB_URL", "http://127.0.0.1:9/")];
    assert!(judged(&moved, "LAB", "http://127.0.0.1:9/v1"));
    assert!(!judged(&moved, "OPENAI_API_KEY", "http://127.0.0.1:9/v1"));
    // What comes with Harn holds beside a provider file.
    assert!(judged(&[], "OPENAI_API_KEY", "https://api.openai.com/v1"));
    assert!(judged(&[], "OPENAI_API_KEY", "http://[::1]:8080/v1"));
}

#[test]
fn what_the_environment_puts_into_an_address_counts() {
    let config = Config::built_in();
    let azure = [("AZURE_OPENAI_RESOURCE", "ours")];
    let judged = |url| judged(&config, &azure, "AZURE_OPENAI_API_KEY", url).is_ok();
    assert!(judged("https://ours.openai.azure.com/openai/x"));
    assert!(!judged("https://theirs.openai.azure.com/openai/x"));
}

#[test]
fn a_host_header_does_not_lead_a_key_elsewhere() {
    let config = Config::built_in();
    let audience = config.audiences.of("OPENAI_API_KEY", &[("", "")]);
    let key = Secret::new("sk").only_for(audience);
    let url = Url::parse("https://api.openai.com/v1").unwrap();
    for (host, is_fine) in [
        ("api.openai.com", true),
        ("evil.example", false),
        ("a b", false),
    ] {
        let headers = [
            ("Host".to_owned(), Secret::new(host)),
            ("authorization".to_owned(), key.clone()),
        ];
        assert_eq!(check(&headers, &url).is_ok(), is_fine, "{host}");
    }
}

#[test]
fn what_is_no_host_is_told_with_its_place() {
    let mut audiences = Audiences::default();
    for host in [
        "https://a.example/",
        "a.example/v1",
        "*",
        "a.*.example",
        "",
        "me@a.example",
    ] {
        let text = format!("[secrets.audience]\nK = [\"{host}\"]\n");
        let file = Source {
            path: "safety.toml",
            text: &text,
        };
        let error = audiences.read(file).unwrap_err().to_string();
        let begins = format!("safety.toml: `secrets.audience.K`: '{host}' is no host such as");
        assert!(error.starts_with(&begins), "{error}");
    }
    let file = Source {
        path: "safety.toml",
        text: "[secrets.audience]\nK = 5\n",
    };
    let error = audiences.read(file).unwrap_err().to_string();
    assert!(
        error.starts_with("safety.toml line 2: `secrets.audience.K`:"),
        "{error}"
    );
}
