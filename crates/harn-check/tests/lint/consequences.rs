//! Rules about what a program does to the world and to people.

use super::{finds, says, silent};

#[test]
fn connector_effect_policy() {
    const RULE: &str = "connector-effect-policy";
    let merge = "connector_call(\"github\", \"merge_pr\", {pr_url: u})";
    finds(RULE, merge, &["1:1"]);
    finds(
        RULE,
        "connector_call(\"notion\", \"api_call\", {path: p, method: \"DELETE\"})",
        &["1:1"],
    );
    finds(
        RULE,
        "import { merge_pr } from \"std/connectors/github\"\nmerge_pr(u)",
        &["2:1"],
    );
    finds(
        RULE,
        "import { api_call } from \"std/connectors/github\"\napi_call(p, \"DELETE\")",
        &["2:1"],
    );
    // Consent in another body is not consent to this.
    finds(
        RULE,
        &format!("fn f() {{\n  let a = request_approval(\"x\")\n  g(a)\n}}\n\n{merge}"),
        &["6:1"],
    );
    silent(
        RULE,
        &format!("let a = request_approval(\"x\")\n{merge}\ng(a)"),
    );
    silent(RULE, &format!("dual_control(1, 2, {{ -> {merge} }})"));
    silent(
        RULE,
        &format!("fn ask() {{\n  return ask_user(\"ok?\")\n}}\n\nif ask() {{\n  {merge}\n}}"),
    );
    silent(
        RULE,
        &format!("@invariant(\"budget\")\nfn f() {{\n  {merge}\n}}"),
    );
    silent(
        RULE,
        "connector_call(\"slack\", \"post_message\", {channel: c, text: t})",
    );
    silent(RULE, "fn merge_pr(u) {\n  return u\n}\n\nmerge_pr(u)");
    silent(RULE, "merge_lists(a, b)");
    says(
        RULE,
        merge,
        "`merge_pr` cannot be taken back, and nobody is asked before",
    );
}

#[test]
fn pr_open_without_secret_scan() {
    const RULE: &str = "pr-open-without-secret-scan";
    for text in [
        "exec(\"gh\", \"pr\", \"create\")",
        "shell(\"gh pr create --title ${t}\")",
        "connector_call(\"github\", \"create_pr\", {})",
        "mcp_call(c, \"create_pull_request\", {})",
        "host_call(\"git.open_pr\", {})",
        "api_call(\"/repos/${r}/pulls\", \"POST\", {})",
        "open_pr(t)",
    ] {
        finds(RULE, text, &["1:1"]);
        silent(
            RULE,
            &format!("let found = secret_scan(diff)\nif found.empty {{\n  {text}\n}}"),
        );
        silent(
            RULE,
            &format!("fn scan(d) {{\n  return self_review(d)\n}}\n\nscan(d)\n{text}"),
        );
        finds(RULE, &format!("{text}\nsecret_scan(diff)"), &["1:1"]);
        silent(RULE, &format!("fn open_pr(t) {{\n  {text}\n}}"));
    }
    silent(
        RULE,
        "exec(\"gh\", \"pr\", \"view\")\nconnector_call(\"github\", \"get_pr_diff\", {})",
    );
    silent(RULE, "open_pr(secret_scan(diff))");
}

#[test]
fn prompt_injection_risk() {
    const RULE: &str = "prompt-injection-risk";
    finds(RULE, "llm_call(\"Do: ${http_get(u).body}\")", &["1:10"]);
    finds(
        RULE,
        "let p = http_get(u)\nllm_call(\"x\", \"Do \" + p.body)",
        &["2:15"],
    );
    finds(
        RULE,
        "let p = http_get(u).body\nlet q = \"Sum ${p}\"\nagent_loop(q)",
        &["3:12"],
    );
    finds(
        RULE,
        "let {body} = http_get(u)\nllm_call(\"Sum ${body}\")",
        &["2:10"],
    );
    silent(RULE, "llm_call(http_get(u).body)");
    silent(RULE, "llm_call(\"Sum ${clean(http_get(u).body)}\")");
    silent(RULE, "let p = read_file(f)\nllm_call(\"Sum ${p}\")");
    silent(RULE, "let p = http_get(u)\nprintln(\"got ${p.body}\")");
    silent(
        RULE,
        "let p = http_get(u)\nllm_call(\"Sum\", nil, {messages: [\"x ${p}\"]})",
    );
}

#[test]
fn long_running_without_cleanup() {
    const RULE: &str = "long-running-without-cleanup";
    finds(RULE, "supervisor_start({})\nf()", &["1:1"]);
    finds(
        RULE,
        "fn f() {\n  let c = mcp_connect(\"x\")\n  return 1\n}",
        &["2:7"],
    );
    finds(
        RULE,
        "let c = mcp_connect(\"x\")\nprintln(mcp_call(c, \"t\", {}))",
        &["1:5"],
    );
    silent(
        RULE,
        "let c = mcp_connect(\"x\")\ndefer { mcp_disconnect(c) }",
    );
    silent(
        RULE,
        "fn f() {\n  let c = mcp_connect(\"x\")\n  return c\n}",
    );
    silent(RULE, "fn f() {\n  let c = mcp_connect(\"x\")\n  g(c)\n}");
    silent(
        RULE,
        "fn f() {\n  let c = mcp_connect(\"x\")\n  return {client: c}\n}",
    );
    silent(RULE, "fn f() {\n  return mcp_connect(\"x\")\n}");
    silent(RULE, "let f = { -> mcp_connect(\"x\") }");
    silent(RULE, "let w = spawn_agent({})\nlet r = wait_agent(w)");
    silent(RULE, "fn mcp_connect(x) {\n  return x\n}\n\nmcp_connect(1)");
}

#[test]
fn unhandled_approval_result() {
    const RULE: &str = "unhandled-approval-result";
    finds(RULE, "fn f() {\n  request_approval(\"x\")\n}", &["2:3"]);
    finds(RULE, "for x in xs {\n  ask_user(\"ok?\")\n}", &["2:3"]);
    finds(RULE, "let a = request_approval(\"x\")\nf()", &["1:5"]);
    silent(RULE, "let a = request_approval(\"x\")\nf(a)");
    silent(RULE, "let _ = request_approval(\"x\")");
    silent(
        RULE,
        "try {\n  request_approval(\"x\")\n  f()\n} catch (e) {\n  g(e)\n}",
    );
    silent(RULE, "let ask = { -> request_approval(\"x\") }");
    silent(RULE, "pipeline main(t) {\n  request_approval(\"x\")\n}");
    silent(RULE, "if request_approval(\"x\").approved { f() }");
}

#[test]
fn untyped_dict_access() {
    const RULE: &str = "untyped-dict-access";
    finds(RULE, "let x = json_parse(s).name", &["1:22"]);
    finds(
        RULE,
        "let d = yaml_parse(s)\nf(d[\"a\"], d.b)",
        &["2:4", "2:12"],
    );
    finds(
        RULE,
        "fn f(s) {\n  let d: dict = json_parse(s)\n  return d.x\n}",
        &["3:11"],
    );
    silent(RULE, "let x = json_parse(s)?.name");
    silent(RULE, "let x = json_parse(s).name ?? \"none\"");
    silent(RULE, "let d: {name: string} = json_parse(s)\nf(d.name)");
    silent(
        RULE,
        "let d = json_parse(s)\nif schema_is(d, t) {\n  f(d.name)\n}",
    );
    silent(RULE, "let d = json_parse(s)\nf(d.get(\"name\"))");
    silent(RULE, "let r = http_get(u)\nf(r.body)");
    silent(
        RULE,
        "fn json_parse(s) {\n  return s\n}\n\nlet x = json_parse(s).name",
    );
}
