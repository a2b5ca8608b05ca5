//! `harn run --deny` and `--allow-…`.

use std::os::unix::fs::symlink;

use super::Programs;
use super::repl::typed_bytes;
use crate::program::finished;

/// A program that tries something and says what came of it.
fn attempt(code: &str) -> String {
    format!("println(try {{ {code} }} catch (e) {{ e }})")
}

/// What a program is told, with the folder it works in left out.
#[track_caller]
fn said(programs: &Programs, options: &[&str], code: &str) -> String {
    let code = attempt(code);
    let mut words = vec!["run", "-e", &code];
    words.extend_from_slice(options);
    let call = programs.harn(&words).exits_with(0);
    assert_eq!(call.stderr, "");
    let here = programs.root().canonicalize().expect("it is there");
    let said = call.stdout.replace(&*here.to_string_lossy(), "HERE");
    said.trim_end().to_owned()
}

#[track_caller]
fn check(options: &[&str], code: &str, expected: &str) {
    let programs = Programs::new(&[("in/file", "text"), ("out/file", "secret")]);
    assert_eq!(
        said(&programs, options, code),
        expected,
        "{options:?} {code}"
    );
}

/// The same for something that is refused.
#[track_caller]
fn check_refused(options: &[&str], builtin: &str, code: &str, reason: &str) {
    let text = "Error [tool_rejected]: sandbox violation: builtin";
    check(options, code, &format!("{text} '{builtin}' {reason}"));
}

#[test]
fn a_plain_script_may_do_everything() {
    check(&[], "read_file(\"out/file\")", "secret");
    check(&[], "exec(\"echo\", \"hi\").stdout.trim()", "hi");
    check(&[], "write_file(\"out/new\", 1)", "nil");
}

#[test]
fn what_is_denied_is_refused_with_the_rule() {
    let denied = "--deny=net,exec,write,read,env";
    for (builtin, code, reason) in [
        (
            "read_file",
            "read_file(\"in/file\")",
            "attempted to read 'HERE/in/file' against the rule 'deny read'",
        ),
        (
            "write_file",
            "write_file(\"in/file\", 1)",
            "attempted to write 'HERE/in/file' against the rule 'deny write'",
        ),
        (
            "delete_file",
            "delete_file(\"in\")",
            "attempted to delete 'HERE/in' against the rule 'deny write'",
        ),
        (
            "exec",
            "exec(\"echo\", 1)",
            "attempted to run 'echo' against the rule 'deny exec'",
        ),
        (
            "env",
            "env(\"HOME\")",
            "attempted to read the variable 'HOME' against the rule 'deny env'",
        ),
        (
            "render",
            "render(\"in/file\")",
            "attempted to read 'HERE/in/file' against the rule 'deny read'",
        ),
    ] {
        check_refused(&[denied], builtin, code, reason);
    }
}

#[test]
fn what_is_allowed_is_allowed_and_nothing_else() {
    let options = [
        "--allow-read=in",
        "--allow-write",
        "in/new",
        "--allow-exec=echo,cat",
    ];
    check(&options, "read_file(\"in/file\")", "text");
    check(&options, "write_file(\"in/new\", 1)", "nil");
    check(&options, "exec(\"echo\", 1).stdout.trim()", "1");
    check_refused(
        &options,
        "read_file",
        "read_file(\"in/../out/file\")",
        "attempted to read 'HERE/in/../out/file' against the rule 'allow read [in]'",
    );
    check_refused(
        &options,
        "write_file",
        "write_file(\"in/file\", 1)",
        "attempted to write 'HERE/in/file' against the rule 'allow write [in/new]'",
    );
    check_refused(
        &options,
        "exec",
        "exec(\"ls\")",
        "attempted to run 'ls' against the rule 'allow exec [echo, cat]'",
    );
}

#[test]
fn links_do_not_lead_out() {
    let programs = Programs::new(&[("in/file", "text"), ("out/file", "secret")]);
    symlink("../out", programs.path("in/link")).unwrap();
    let options = ["--allow-read=in", "--allow-write=in"];
    for code in [
        "read_file(\"in/link/file\")",
        "write_file(\"in/link/new\", 1)",
    ] {
        let text = said(&programs, &options, code);
        assert!(text.contains("against the rule 'allow"), "{text}");
    }
    assert!(!programs.path("out/new").exists());
    assert_eq!(said(&programs, &options, "delete_file(\"in/link\")"), "nil");
    assert_eq!(programs.text("out/file"), "secret");
}

#[test]
fn processes_find_only_variables_that_are_allowed() {
    let programs = Programs::new(&[]);
    let code = attempt("shell(\"echo $SECRET $SHOWN\").stdout.trim()");
    let words = ["run", "-e", &code, "--allow-env=SHOWN"];
    let mut command = programs.command(&words);
    command.env("SECRET", "s").env("SHOWN", "shown");
    finished(&mut command).exits_with(0).says("shown\n", "");
}

#[test]
fn hosts_are_reached_by_name_only() {
    let refused = |builtin: &str, options: &[&str], code: &str, reason: &str| {
        check_refused(options, builtin, code, &format!("attempted to {reason}"));
    };
    let denied = ["--deny=net"];
    refused(
        "http_get",
        &denied,
        "http_get(\"http://a.test/x\", {retry: {max: 5, backoff_ms: 60000}})",
        "reach 'a.test:80' against the rule 'deny net'",
    );
    refused(
        "websocket_connect",
        &denied,
        "websocket_connect(\"wss://a.test/x\")",
        "reach 'a.test:443' against the rule 'deny net'",
    );
    let some = ["--allow-net=*.a.test,b.test", "--deny=read"];
    refused(
        "http_get",
        &some,
        "http_get(\"http://b.test@c.test:81/\")",
        "reach 'c.test:81' against the rule 'allow net [*.a.test, b.test]'",
    );
    refused(
        "http_get",
        &some,
        "http_get(\"http://b.test/\", {proxy: \"http://c.test:8080\"})",
        "reach 'c.test:8080' against the rule 'allow net [*.a.test, b.test]'",
    );
    refused(
        "http_get",
        &some,
        "http_get(\"https://b.test/\", {tls: {ca_bundle_path: \"/etc/passwd\"}})",
        "read '/etc/passwd' against the rule 'deny read'",
    );
    let mocked =
        "http_mock(\"GET\", \"*\", {body: \"scripted\"})\n http_get(\"http://c.test\").body";
    check(&denied, mocked, "scripted");
}

#[test]
fn models_are_not_asked_without_the_network() {
    let programs = Programs::new(&[]);
    let ask = "llm_call(\"hi\", nil, {provider: \"openai\", model: \"gpt-4o\"})";
    for (code, expected) in [
        (
            format!("{}\nprintln(1)", attempt(&format!("{ask}.text"))),
            "attempted to reach 'api.openai.com:443' against the rule 'deny net'",
        ),
        (
            attempt("agent_loop(\"hi\", nil, {provider: \"openai\", model: \"gpt-4o\"})"),
            "attempted to reach 'api.openai.com:443' against the rule 'deny net'",
        ),
        (
            format!(
                "llm_mock({{text: \"scripted\"}})\n{}",
                attempt(&format!("{ask}.text"))
            ),
            "scripted",
        ),
    ] {
        let mut command = programs.command(&["run", "-e", &code, "--deny=net"]);
        let call = finished(command.env("OPENAI_API_KEY", "none")).exits_with(0);
        assert!(call.stdout.contains(expected), "{call:?}");
    }
}

#[test]
fn the_tools_of_the_runtime_obey_as_well() {
    let tool = |name: &str, arguments: &str| {
        format!(
            "llm_mock({{tool_calls: [{{name: \"{name}\", arguments: {arguments}}}]}})\n\
             llm_mock({{text: \"So.\"}})\n\
             let options = {{provider: \"mock\", tools: coding_tools(), tool_format: \"native\"}}\n\
             println(agent_loop(\"go\", nil, options).transcript.messages[2].content)"
        )
    };
    let programs = Programs::new(&[("file", "text")]);
    for (denied, code, expected) in [
        ("read", tool("read", "{path: \"file\"}"), "'deny read'"),
        (
            "write",
            tool("write", "{path: \"new\", content: \"x\"}"),
            "'deny write'",
        ),
        ("exec", tool("run", "{command: \"true\"}"), "'deny exec'"),
        ("read", tool("read_file", "{path: \"file\"}"), "'deny read'"),
    ] {
        let denied = format!("--deny={denied}");
        let call = programs.harn(&["run", "-e", &code, &denied]).exits_with(0);
        assert!(call.stdout.contains(expected), "{call:?}");
    }
    assert!(!programs.path("new").exists());
}

#[test]
fn what_contradicts_itself_is_wrong_usage() {
    let programs = Programs::new(&[]);
    let call = programs.harn(&["run", "-e", "", "--deny=net", "--allow-net=a.org"]);
    call.exits_with(2).says(
        "",
        "error: --deny net and --allow-net contradict each other; --allow-net alone forbids \
         everything else\n",
    );
    let call = programs
        .harn(&["run", "-e", "", "--deny=all"])
        .exits_with(2);
    assert!(
        call.stderr
            .contains("[possible values: read, write, exec, net, env]"),
        "{call:?}"
    );
}

#[test]
fn whatever_runs_a_program_takes_the_same_options() {
    let rule = "attempted to write 'HERE/new' against the rule 'deny write'";
    let programs = Programs::new(&[
        ("t.harn", "pipeline test_it() { write_file(\"new\", 1) }\n"),
        ("b.harn", "pipeline bench_it() { write_file(\"new\", 1) }\n"),
    ]);
    let here = programs.root().canonicalize().expect("it is there");
    for words in [["test", "t.harn"], ["bench", "b.harn"]] {
        let [command, file] = words;
        let call = programs
            .harn(&[command, file, "--deny=write"])
            .exits_with(1);
        let said = format!("{}{}", call.stdout, call.stderr);
        let said = said.replace(&*here.to_string_lossy(), "HERE");
        assert!(said.contains(rule), "{command}: {call:?}");
    }
    let mut command = programs.command(&["repl", "--deny=write"]);
    let call = typed_bytes(&mut command, b"write_file(\"new\", 1)\n").exits_with(1);
    let said = call.stderr.replace(&*here.to_string_lossy(), "HERE");
    assert!(said.contains(rule), "{call:?}");
    assert!(!programs.path("new").exists());
    for command in ["test", "bench", "repl"] {
        let mut words = vec![command, "--deny=net", "--allow-net=a.org"];
        if command == "bench" {
            words.push("b.harn");
        }
        let call = programs.harn(&words).exits_with(2);
        assert!(call.stderr.contains("contradict each other"), "{call:?}");
    }
}
