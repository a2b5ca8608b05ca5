//! `harn models` and `harn check --provider-matrix`.

use serde_json::{Value, json};

use super::server::{Server, is_healthy, says_milk, whole};
use super::{Programs, provider_file};
use crate::program::{Call, finished, harn};

fn rows<'a>(answer: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let rows = answer[list].as_array().expect("it is a list");
    rows.iter().filter_map(|row| row[key].as_str()).collect()
}

#[test]
fn models_are_listed_with_what_they_cost_and_can() {
    let answer = harn(&["models", "list", "--json"]).exits_with(0).json();
    assert!(rows(&answer, "providers", "name").contains(&"anthropic"));
    let models = answer["models"].as_array().unwrap();
    let mini = models
        .iter()
        .find(|model| model["id"] == "gpt-4o-mini")
        .unwrap();
    assert_eq!(
        json!([
            mini["provider"],
            mini["context_window"],
            mini["input_per_mtok"],
            mini["available"]
        ]),
        json!(["openai", 128_000, 0.15, false])
    );
    assert_eq!(mini["aliases"], json!(["mid", "tier/mid"]));
    let call = harn(&["models", "list"]).exits_with(0);
    assert!(call.stdout.starts_with("PROVIDER"), "{call:?}");
    assert!(
        call.stdout.contains("ANTHROPIC_API_KEY missing"),
        "{call:?}"
    );
}

#[test]
fn lists_are_filtered() {
    let answer = harn(&["models", "list", "--provider", "openai", "--json"]).json();
    assert_eq!(rows(&answer, "providers", "name"), ["openai"]);
    assert_eq!(rows(&answer, "models", "provider"), ["openai"]);
    let programs = Programs::new(&[]);
    let mut command = programs.command(&["models", "list", "--available", "--json"]);
    let answer = finished(command.env("OPENAI_API_KEY", "sk-1")).json();
    let names = rows(&answer, "providers", "name");
    assert!(
        names.contains(&"openai") && names.contains(&"mock"),
        "{names:?}"
    );
    assert!(!names.contains(&"anthropic"), "{names:?}");
    let call = harn(&["models", "list", "--provider", "opnai"]).exits_with(1);
    assert!(
        call.stderr
            .starts_with("error: there is no provider `opnai`; "),
        "{call:?}"
    );
}

#[test]
fn a_model_is_shown_by_its_alias() {
    let answer = harn(&["models", "show", "mid", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        json!([
            answer["id"],
            answer["alias"],
            answer["provider"],
            answer["wire"]
        ]),
        json!(["gpt-4o-mini", "mid", "openai", "chat"])
    );
    assert_eq!(answer["url"], "https://api.openai.com/v1/chat/completions");
    assert_eq!(answer["key"]["variables"], json!(["OPENAI_API_KEY"]));
    harn(&["models", "show", "mid"])
        .exits_with(0)
        .prints("key                            OPENAI_API_KEY is missing");
}

#[test]
fn a_model_that_is_not_listed_is_shown_with_a_note() {
    let call = harn(&["models", "show", "gpt-4o-mni"]).exits_with(0);
    assert_eq!(
        call.stderr,
        "`gpt-4o-mni` is not listed, its id is passed on as it is; did you mean `gpt-4o-mini`?\n"
    );
}

#[test]
fn the_matrix_has_a_row_for_every_rule() {
    let answer = harn(&["check", "--provider-matrix", "--json"])
        .exits_with(0)
        .json();
    let rules = answer["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["origin"] == "built_in"));
    assert_eq!(answer["families"]["groq"], "openai");
    let programs = Programs::new(&[(
        "harn.toml",
        "[[capabilities.provider.fake]]\nmodel_match = \"m-*\"\nvision = true\n",
    )]);
    let call = programs.harn(&["check", "--provider-matrix"]).exits_with(0);
    let row = call.stdout.lines().nth(1).expect("there is a rule");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["fake", "m-*", "-", "-", "vision"]);
}

#[test]
fn a_mistake_in_the_configuration_is_told_with_its_line() {
    let programs = Programs::new(&[("harn.toml", "[llm.providers.a]\nbase_url = 1\n")]);
    for arguments in [&["models", "list"][..], &["check", "--provider-matrix"]] {
        let call = programs.harn(arguments).exits_with(1);
        assert!(
            call.stderr
                .contains("harn.toml line 2: `llm.providers.a.base_url`: "),
            "{call:?}"
        );
    }
}

fn probe(url: &str, arguments: &[&str]) -> Call {
    let programs = Programs::new(&[("providers.toml", &provider_file(url))]);
    let mut command = programs.command(&[&["models", "probe"][..], arguments].concat());
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    finished(command.env("FAKE_API_KEY", "sk-test-0123"))
}

#[test]
fn a_provider_that_answers_is_told_with_what_was_seen() {
    let server = Server::start([is_healthy, says_milk]);
    let answer = probe(&server.url, &["fake", "m-1", "--json"])
        .exits_with(0)
        .json();
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /models "), "{requests:?}");
    assert!(
        requests[1].starts_with("POST /chat/completions "),
        "{requests:?}"
    );
    let call = &answer["steps"][1];
    assert_eq!(
        json!([
            call["ok"],
            call["pieces"],
            call["text"],
            call["input_tokens"],
            call["stop_reason"]
        ]),
        json!([true, 2, "Buy milk.", 7, "stop"])
    );
}

#[test]
fn a_provider_that_refuses_the_key_says_what_to_do_next() {
    let server = Server::start([|_| whole("401 Unauthorized", "{\"error\": \"no\"}")]);
    let call = probe(&server.url, &["fake", "m-1"]).exits_with(1);
    server.requests();
    assert!(
        call.stdout.starts_with("healthcheck: failed after "),
        "{call:?}"
    );
    call.prints("      next: look whether the key in FAKE_API_KEY is still valid");
}

#[test]
fn a_provider_without_key_or_name_says_what_to_do_next() {
    harn(&["models", "probe", "openai"])
        .exits_with(1)
        .prints("      next: set OPENAI_API_KEY");
    harn(&["models", "probe", "nobody"])
        .exits_with(1)
        .prints("      next: `harn models list` shows the providers");
}
