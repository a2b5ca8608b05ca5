//! `harn doctor protocols`.

use serde_json::{Value, json};

use super::{Project, Tracker};
use crate::program::{Call, finished};

const KEY: &str = "0123456789abcdef";

fn doctor(project: &Project, more: &[&str], environment: &[(&str, &str)]) -> Call {
    let mut program = project.program();
    program.args(["doctor", "protocols"]).args(more);
    finished(program.envs(environment.iter().copied()))
}

#[test]
fn versions_listeners_limits_and_answers_are_told() {
    let tracker = Tracker::open_to_all();
    let project = Project::of(&tracker);
    let keys = format!("ci={KEY},editor={KEY}{KEY}");
    let environment = [("HARN_API_KEYS", &*keys), ("HARN_ACP_RETAIN_SECS", "60")];
    let call = doctor(&project, &["--json"], &environment).exits_with(0);
    assert!(!call.stdout.contains(KEY), "keys have names");
    let told = call.json();
    assert_eq!(told["ok"], true);
    assert_eq!(
        told["versions"],
        json!([
            {"surface": "acp", "role": "agent", "versions": ["1"]},
            {"surface": "bridge", "role": "peer", "versions": ["1"]},
            {"surface": "mcp", "role": "client", "versions": [
                "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
            ]},
            {"surface": "events", "role": "emitter", "versions": ["1"]},
        ])
    );
    assert_eq!(
        told["listeners"][1],
        json!({
            "surface": "acp", "transport": "http and websocket", "path": "/acp",
            "command": "harn serve acp --listen ADDR",
        })
    );
    let callers = json!({"api_keys": ["ci", "editor"], "hmac_keys": [], "retain_secs": 60});
    assert_eq!(told["callers"], callers);
    for (name, value) in [
        ("connections", 256),
        ("frame_in_bytes", 16 * 1024 * 1024),
        ("frame_out_bytes", 64 * 1024 * 1024),
        ("depth", 100),
        ("sessions", 1024),
        ("permissions", 64),
    ] {
        assert_eq!(told["limits"][name], value, "{name}");
    }
    assert_eq!(
        told["peers"],
        json!([{
            "kind": "mcp", "name": "tracker", "ok": true, "error": null, "next": null,
            "answer": "tracker 1.2, protocol 2026-07-28 (modern), 1 tools",
        }])
    );
    assert_eq!(told["problems"], json!([]));
    doctor(&project, &[], &[])
        .exits_with(0)
        .prints("acp      agent    1")
        .prints("acp       http and websocket  /acp  harn serve acp --listen ADDR")
        .prints("without keys only this machine can be listened to, with a token made for it")
        .prints("depth                   100")
        .prints("tracker  mcp   ok      tracker 1.2, protocol 2026-07-28 (modern), 1 tools");
}

#[test]
fn a_peer_that_does_not_answer_and_a_setting_that_is_not_understood_are_told() {
    let project = Project::with("[[mcp]]\nname = \"gone\"\ncommand = \"no-such-program\"\n");
    let call = doctor(&project, &["--json"], &[]).exits_with(1);
    let told = call.json();
    let peer = &told["peers"][0];
    assert_eq!(
        json!([told["ok"], peer["ok"], peer["name"], peer["answer"]]),
        json!([false, false, "gone", null])
    );
    let error = peer["error"].as_str().unwrap();
    assert!(error.contains("no-such-program"), "{error}");
    assert_eq!(peer["next"], "`harn mcp probe gone` tells more");
    doctor(&project, &[], &[])
        .exits_with(1)
        .prints("next: gone: `harn mcp probe gone` tells more");

    let project = Project::with("");
    let rows = [
        (
            "HARN_API_KEYS",
            "s3cret",
            "HARN_API_KEYS must have the form NAME=KEY,NAME=KEY",
        ),
        (
            "HARN_API_KEYS",
            "czNjcmV0IG9mIHNvbWVib2R5s3cret=",
            "HARN_API_KEYS must have the form NAME=KEY,NAME=KEY",
        ),
        (
            "HARN_ACP_RETAIN_SECS",
            "0",
            "HARN_ACP_RETAIN_SECS must be a number of seconds, at least 1",
        ),
    ];
    for (name, value, problem) in rows {
        let call = doctor(&project, &["--json"], &[(name, value)]).exits_with(1);
        assert_eq!(call.json()["problems"], json!([problem]));
        assert_eq!(call.json()["callers"], Value::Null, "nobody knows");
        let call = doctor(&project, &[], &[(name, value)]).exits_with(1);
        assert_eq!(call.stderr, format!("error: {problem}\n"));
        assert!(!format!("{call:?}").contains("s3cret"));
    }
    let project = Project::with("[mcp]\nname = \"a\"\n");
    let told = doctor(&project, &["--json"], &[]).exits_with(1).json();
    let problem = told["problems"][0].as_str().unwrap();
    assert!(
        problem.ends_with("servers are written as [[mcp]]"),
        "{problem}"
    );
}

#[test]
fn offline_nobody_is_asked() {
    let tracker = Tracker::open_to_all();
    let project = Project::of(&tracker);
    let told = doctor(&project, &["--offline", "--json"], &[])
        .exits_with(0)
        .json();
    assert_eq!(
        told["peers"],
        json!([{
            "kind": "mcp", "name": "tracker", "ok": null, "answer": null, "error": null,
            "next": null,
        }])
    );
    assert_eq!(tracker.count("/mcp"), 0);
    doctor(&project, &["--offline"], &[])
        .exits_with(0)
        .prints("tracker  mcp   not asked");
    doctor(&Project::with(""), &["--offline"], &[])
        .exits_with(0)
        .prints("no peers are configured");
}
