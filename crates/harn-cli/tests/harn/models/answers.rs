//! Who answers when a program asks a model.

use serde_json::{Value, json};

use super::shop;
use crate::language::Programs;
use crate::program::finished;

const SCENARIO: &str = "\
[[turn]]
when = \"*buy*\"
text = \"You have to buy milk.\"

[[turn]]
error = { category = \"auth\", message = \"who are you?\" }
";

#[test]
fn fixtures_answer_in_order_and_from_several_files() {
    let programs = shop(&[
        ("a.jsonl", "{\"text\": \"milk\"}\n\n"),
        ("b.jsonl", "{\"text\": \"bread\"}\n"),
        (
            "twice.harn",
            "println(llm_call(\"a\").text)\nprintln(llm_call(\"b\").text)\n",
        ),
    ]);
    programs
        .harn(&[
            "run",
            "twice.harn",
            "--llm-mock",
            "a.jsonl",
            "--llm-mock",
            "b.jsonl",
        ])
        .exits_with(0)
        .says("milk\nbread\n", "");
    let call = programs
        .harn(&["run", "twice.harn", "--llm-mock", "a.jsonl"])
        .exits_with(1);
    assert!(
        call.stderr
            .contains("No --llm-mock fixture matched prompt: \""),
        "{call:?}"
    );
}

/// The program would print, so that nothing on standard output means that it never began.
#[test]
fn a_bad_file_is_told_before_the_program_starts() {
    let programs = Programs::new(&[
        ("main.harn", "println(1)\n"),
        ("text.jsonl", "{}\n{\"text\": 1}\n"),
        ("half.jsonl", "{\n"),
        ("bad.scenario.toml", "[[turn]]\ntext = 1\n"),
    ]);
    for (option, file, expected) in [
        (
            "--llm-mock",
            "text.jsonl",
            "error: invalid --llm-mock fixture in text.jsonl line 2: `text` must be a string\n",
        ),
        (
            "--llm-mock",
            "half.jsonl",
            "error: invalid JSON in half.jsonl line 1: ",
        ),
        (
            "--llm-mock",
            "none.jsonl",
            "error: none.jsonl: No such file",
        ),
        (
            "--scenario",
            "bad.scenario.toml",
            "error: bad.scenario.toml line 2: ",
        ),
        (
            "--tape-replay",
            "none.tape",
            "error: none.tape: No such file",
        ),
        (
            "--llm-mock-record",
            "none/a.jsonl",
            "error: none/a.jsonl: No such file",
        ),
        (
            "--tape-record",
            "none/a.tape",
            "error: none/a.tape: No such file",
        ),
    ] {
        let call = programs
            .harn(&["run", "main.harn", option, file])
            .exits_with(1);
        assert_eq!(call.stdout, "");
        assert!(call.stderr.starts_with(expected), "{call:?}");
    }
}

#[test]
fn a_scenario_answers_every_call_without_a_key() {
    let programs = shop(&[
        ("shop.scenario.toml", SCENARIO),
        (
            "stream.harn",
            "for piece in llm_stream(\"buy?\") { println(piece) }\n",
        ),
        (
            "more.harn",
            "println(llm_call(\"buy?\", nil, {provider: \"openai\"}).provider)\n\
             println(llm_call_safe(\"sell?\").error.category)\n\
             println(llm_call_safe(\"sell?\").error.message)\n",
        ),
        (
            "complete.harn",
            "println(llm_completion(\"buy\", \"!\", nil, {provider: \"openai\"}).text)\n",
        ),
    ]);
    let scenario = ["--scenario", "shop.scenario.toml"];
    let run = |name| {
        programs
            .harn(&[&["run", name][..], &scenario].concat())
            .exits_with(0)
    };
    run("main.harn").says("You have to buy milk.\n", "");
    run("complete.harn").says("You have to buy milk.\n", "");
    run("stream.harn").says("You\n have\n to\n buy\n milk.\n", "");
    let over = "the scenario shop.scenario.toml is over: all of its turns (2) were played";
    run("more.harn").says(&format!("openai\nauth\n{over}\n"), "");
    // Also if the mock is the provider, as it is for tests.
    let mut command = programs.command(&["run", "main.harn", scenario[0], scenario[1]]);
    finished(command.env("HARN_LLM_PROVIDER", "mock")).says("You have to buy milk.\n", "");
}

#[test]
fn what_the_program_scripts_comes_before_the_scenario() {
    let text = "llm_mock({text: \"bread\"})\nprintln(llm_call(\"buy?\").text)\nprintln(llm_call(\"buy?\").text)\n";
    let programs = shop(&[("shop.scenario.toml", SCENARIO), ("a.harn", text)]);
    programs
        .harn(&["run", "a.harn", "--scenario", "shop.scenario.toml"])
        .exits_with(0)
        .says("bread\nYou have to buy milk.\n", "");
}

#[test]
fn the_manifest_names_providers_and_models() {
    let manifest = "[llm.aliases.helper]\nid = \"m-1\"\nprovider = \"mock\"\n";
    let programs = Programs::new(&[
        ("harn.toml", manifest),
        (
            "deep/main.harn",
            "println(llm_resolve_model(\"helper\").id)\n",
        ),
        ("deep/main.expected", "m-1\n"),
        (
            "deep/test_a.harn",
            "pipeline test_a(task) { assert_eq(llm_resolve_model(\"helper\").id, \"m-1\") }\n",
        ),
    ]);
    programs
        .harn(&["run", "deep/main.harn"])
        .exits_with(0)
        .says("m-1\n", "");
    programs
        .harn(&["run", "-e", "println(llm_resolve_model(\"helper\").id)"])
        .exits_with(0)
        .says("m-1\n", "");
    programs
        .harn(&["test", "conformance", "deep"])
        .exits_with(0);
    programs.harn(&["test", "deep/test_a.harn"]).exits_with(0);
    programs.add("harn.toml", "[llm.aliases.helper]\nid = 1\n");
    let call = programs.harn(&["run", "deep/main.harn"]).exits_with(1);
    assert!(call.stderr.contains("harn.toml line 2: "), "{call:?}");
}

const TESTED: &str = "pipeline test_a(task) { assert_eq(llm_call(\"buy?\").text, \"milk\") }\n";

#[test]
fn tests_get_the_answers_beside_them() {
    let programs = Programs::new(&[
        ("tests/a.harn", TESTED),
        ("tests/a.llm-mock.jsonl", "{\"text\": \"milk\"}\n"),
    ]);
    programs.harn(&["test", "tests"]).exits_with(0);
    programs.add("tests/a.llm-mock.jsonl", "{\"text\": 1}\n");
    let call = programs.harn(&["test", "tests"]).exits_with(1);
    let why = "a.llm-mock.jsonl line 1: `text` must be a string";
    assert!(format!("{call:?}").contains(why), "{call:?}");
}

#[test]
fn promises_get_the_answers_beside_them_and_no_real_ones() {
    let programs = Programs::new(&[
        ("conformance/a.harn", "println(llm_call(\"buy?\").text)\n"),
        ("conformance/a.expected", "milk\n"),
        ("conformance/a.llm-mock.jsonl", "{\"text\": \"milk\"}\n"),
        (
            "conformance/b.harn",
            "llm_call(\"buy?\", nil, {provider: \"openai\"})\n",
        ),
        ("conformance/b.error", "HARN_LLM_CALLS_DISABLED\n"),
    ]);
    programs
        .harn(&["test", "conformance"])
        .exits_with(0)
        .says("2 passed\n", "");
}

#[test]
fn tests_can_be_answered_by_a_scenario() {
    let programs = Programs::new(&[
        ("a.harn", TESTED),
        (
            "a.scenario.toml",
            "[[turn]]\ntext = \"milk\"\nrepeat = true\n",
        ),
    ]);
    programs.harn(&["test", "a.harn"]).exits_with(1);
    programs
        .harn(&["test", "a.harn", "--scenario", "a.scenario.toml"])
        .exits_with(0);
}

/// 1.14: every record has a type and a time, and a call has a request and a response.
#[test]
fn every_call_is_written_down() {
    let text = "llm_call(\"a\", \"be kind\", {max_tokens: 9})\nllm_call(\"a\", \"be kind\")\n";
    let programs = shop(&[("a.harn", text)]);
    let mut command = programs.command(&["run", "a.harn"]);
    command.env("HARN_LLM_PROVIDER", "mock");
    command.env("HARN_LLM_TRANSCRIPT_DIR", "deep/transcripts");
    finished(&mut command).exits_with(0);
    let log = programs.text("deep/transcripts/llm_transcript.jsonl");
    let records: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record is JSON"))
        .collect();
    let types: Vec<&str> = records
        .iter()
        .filter_map(|record| record["type"].as_str())
        .collect();
    assert_eq!(
        types,
        [
            "system_prompt",
            "message",
            "provider_call_request",
            "provider_call_response",
            "interpreted_response",
            "provider_call_request",
            "provider_call_response",
            "interpreted_response",
        ]
    );
    assert!(records.iter().all(|record| record["timestamp"].is_string()));
    let request = &records[2];
    assert_eq!(
        json!([
            request["provider"],
            request["max_tokens"],
            request["message_count"]
        ]),
        json!(["mock", 9, 1])
    );
    assert_eq!(records[3]["text"], "Mock response to 1-word prompt: a");
    assert_eq!(records[3]["call_id"], request["call_id"]);
    assert_ne!(records[5]["call_id"], request["call_id"]);
}
