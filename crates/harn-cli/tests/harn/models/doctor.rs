//! `harn doctor`.

use serde_json::{Value, json};

use super::server::{Server, is_healthy, whole};
use super::{Programs, provider_file};
use crate::program::finished;

fn finding<'a>(answer: &'a Value, area: &str) -> &'a Value {
    let findings = answer["findings"].as_array().expect("it is a list");
    let found = findings.iter().find(|one| one["area"] == area);
    found.unwrap_or_else(|| panic!("nothing about {area} in {answer}"))
}

#[test]
fn without_anything_all_is_well_but_there_may_be_advice() {
    let programs = Programs::new(&[]);
    let answer = programs.harn(&["doctor", "--json"]).exits_with(0).json();
    assert_eq!(answer["ok"], true);
    for area in ["version", "harn.toml", "models", "event log"] {
        assert_eq!(finding(&answer, area)["status"], "ok");
    }
    let mut command = programs.command(&["doctor", "--json"]);
    let answer = finished(command.env("HARN_LLM_PROVIDER", "openai"))
        .exits_with(0)
        .json();
    let advice = finding(&answer, "default model");
    assert_eq!(advice["status"], "warning");
    let next = advice["next"].as_str().unwrap();
    assert!(next.starts_with("set OPENAI_API_KEY, or "), "{next}");
}

#[test]
fn what_is_broken_is_told_with_its_line_and_what_to_do() {
    let programs = Programs::new(&[
        (
            "harn.toml",
            "[llm.providers.a]\nbase_url = 1\n\n[fmt]\nline_width = \"x\"\n",
        ),
        (".harn", "a file where a folder should be"),
    ]);
    let call = programs.harn(&["doctor", "--json"]).exits_with(1);
    let answer = call.json();
    for (area, part) in [
        ("harn.toml", "harn.toml:5:"),
        ("models", "harn.toml line 2: "),
        ("event log", ".harn is no folder"),
    ] {
        let found = finding(&answer, area);
        assert_eq!(found["status"], "broken", "{found}");
        assert!(found["message"].as_str().unwrap().contains(part), "{found}");
        assert!(found["next"].is_string());
    }
    let call = programs.harn(&["doctor"]).exits_with(1);
    assert!(call.stdout.contains("broken  harn.toml "), "{call:?}");
}

#[test]
fn odd_keys_and_unknown_providers_are_noticed() {
    let programs = Programs::new(&[]);
    let mut command = programs.command(&["doctor", "--json"]);
    command.env("OPENAI_API_KEY", "\"sk-1\"");
    command.env("HARN_LLM_PROVIDER", "opnai");
    let answer = finished(&mut command).exits_with(1).json();
    let key = finding(&answer, "keys");
    assert_eq!(
        key["message"],
        "openai: OPENAI_API_KEY is set, but its value begins with a quotation mark"
    );
    let model = finding(&answer, "default model");
    assert_eq!(
        json!([model["status"], model["message"]]),
        json!(["broken", "there is no provider `opnai`"])
    );
    assert_eq!(
        model["next"],
        "change HARN_LLM_PROVIDER; `harn models list` shows the providers"
    );
}

/// What is told about providers by a doctor who asks the one that a project has.
fn asked(arguments: &[&str], answer: fn(&str) -> String, code: i32) -> Value {
    let server = Server::start([answer]);
    let programs = Programs::new(&[("providers.toml", &provider_file(&server.url))]);
    let mut command = programs.command(arguments);
    command.env("FAKE_API_KEY", "sk-test-0123");
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    let answer = finished(&mut command).exits_with(code).json();
    server.requests();
    answer
}

fn online(answer: fn(&str) -> String, code: i32) -> Vec<Value> {
    let answer = asked(&["doctor", "--online", "--json"], answer, code);
    let findings = answer["findings"].as_array().expect("it is a list").iter();
    findings
        .filter(|one| one["area"] == "online")
        .cloned()
        .collect()
}

#[test]
fn online_asks_the_providers_that_have_a_key() {
    let findings = online(is_healthy, 0);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["message"], "fake: fake is reachable");
    let findings = online(|_| whole("403 Forbidden", "{}"), 1);
    assert_eq!(
        findings[0]["next"],
        "look whether the key in FAKE_API_KEY is still valid"
    );
}

#[test]
fn providers_that_have_a_key_are_peers() {
    let arguments = ["doctor", "protocols", "--json"];
    let told = asked(&arguments, is_healthy, 0);
    assert_eq!(
        told["peers"],
        json!([{
            "kind": "provider", "name": "fake", "ok": true, "answer": "fake is reachable",
            "error": null, "next": null,
        }])
    );
    let told = asked(&arguments, |_| whole("403 Forbidden", "{}"), 1);
    let peer = &told["peers"][0];
    assert_eq!(peer["ok"], false);
    assert!(peer["error"].is_string(), "{peer}");
    assert_eq!(
        peer["next"],
        "look whether the key in FAKE_API_KEY is still valid"
    );
}
