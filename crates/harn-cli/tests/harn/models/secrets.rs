//! No key gets anywhere but to its provider.

use std::fs;
use std::path::Path;

use super::server::{Server, key_of, stream, whole};
use super::{Programs, project_of, provider_file};
use crate::program::finished;

/// What must not be found.
const MARK: &str = "MARKED-7f3a";

/// Three ways in which a call can fail, the last of them uncaught.
const PROGRAM: &str = "\
println(llm_call_safe(\"one\", nil, {model: \"m-1\"}))
println(llm_call_safe(\"two\", nil, {model: \"m-1\"}))
println(llm_healthcheck(\"fake\"))
println(llm_config(\"fake\"))
println(llm_info())
llm_call(\"three\", nil, {model: \"m-1\"})
";

/// Repeats the key that it refuses, as some providers do.
fn refuses(request: &str) -> String {
    let body = format!(
        r#"{{"error": {{"message": "Incorrect API key provided: {}", "type": "auth"}}}}"#,
        key_of(request)
    );
    whole("401 Unauthorized", &body)
}

/// The same in the middle of a stream.
fn fails_later(request: &str) -> String {
    let error = format!(
        r#"{{"error": {{"message": "no: {}", "code": 500}}}}"#,
        key_of(request)
    );
    stream(&[r#"{"choices":[{"delta":{"content":"a"}}]}"#, &error])
}

#[test]
fn no_key_is_shown_or_written() {
    let server = Server::start([refuses, fails_later, refuses, refuses]);
    let programs = Programs::new(&[("main.harn", PROGRAM)]);
    programs.add("providers.toml", provider_file(&server.url));
    let key = format!("sk-{MARK}-0123");
    let mut command = programs.command(&[
        "run",
        "main.harn",
        "--llm-mock-record",
        "recorded.jsonl",
        "--tape-record",
        "recorded.tape",
        "--record",
    ]);
    let other = format!("sk-ant-{MARK}-4567");
    command.env("FAKE_API_KEY", &key);
    command.env("ANTHROPIC_API_KEY", &other);
    command.env("HARN_LLM_TRANSCRIPT_DIR", "transcripts");
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    let call = finished(&mut command).exits_with(1);
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.contains(&key)));
    assert!(call.stdout.contains("[redacted]"), "{call:?}");
    assert!(call.stderr.contains("[redacted]"), "{call:?}");
    assert!(!format!("{call:?}").contains(MARK), "{call:?}");
    let files = check_files(programs.root());
    for name in ["recorded.jsonl", "recorded.tape", "llm_transcript.jsonl"] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{files:?}");
    }
}

/// Fails if the mark is in a file. The names of all that are not empty.
fn check_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it is ours") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            files.extend(check_files(&path));
            continue;
        }
        let text = fs::read_to_string(&path).expect("we write text");
        assert!(!text.contains(MARK), "{}: {text}", path.display());
        if !text.is_empty() {
            files.push(path.display().to_string());
        }
    }
    files
}

#[test]
fn a_key_that_a_model_repeats_is_not_written() {
    fn repeats(request: &str) -> String {
        let (first, second) = key_of(request).split_at(8);
        let piece = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
        let whole = piece(&format!("{first}{second}"));
        let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        stream(&[&whole, end, "[DONE]"])
    }
    let server = Server::start([repeats]);
    let programs = Programs::new(&[(
        "main.harn",
        "let _a = llm_call(\"x\", nil, {provider: \"fake\", model: \"m\"})\n",
    )]);
    programs.add("providers.toml", provider_file(&server.url));
    let mut command = programs.command(&[
        "run",
        "main.harn",
        "--llm-mock-record=recorded.jsonl",
        "--tape-record=recorded.tape",
        "--record=fixtures",
    ]);
    command.env("FAKE_API_KEY", format!("sk-{MARK}-0123"));
    command.env("HARN_LLM_TRANSCRIPT_DIR", "transcripts");
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    finished(&mut command).exits_with(0).says("", "");
    assert_eq!(check_files(programs.root()).len(), 6);
}

#[test]
fn commands_about_models_name_keys_and_never_show_them() {
    let programs = Programs::new(&[("harn.toml", &project_of("http://127.0.0.1:1"))]);
    for arguments in [
        &["models", "list"][..],
        &["models", "list", "--json"],
        &["models", "show", "frontier"],
        &["models", "show", "frontier", "--json"],
        &["models", "probe", "fake"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let mut command = programs.command(arguments);
        command.env("FAKE_API_KEY", format!(" {MARK} x"));
        command.env("ANTHROPIC_API_KEY", format!("sk-ant-{MARK}"));
        let call = finished(&mut command);
        assert!(!format!("{call:?}").contains(MARK), "{call:?}");
        let is_probe = arguments.contains(&"probe");
        assert!(is_probe || call.stdout.contains("_API_KEY"), "{call:?}");
    }
}
