//! Clients come and go.

use serde_json::{Value, json};

use super::{contents, said, texts};
use crate::testing::Program;

fn live(program: &Program) -> Vec<String> {
    let clients = program.get("agent_session_live_clients", json!(["s"]));
    contents(&clients, "client_id")
}

fn attach(program: &Program, client_id: &str, mode: &str) -> Value {
    program.get(
        "agent_session_attach",
        json!(["s", client_id, {"mode": mode}]),
    )
}

#[test]
fn clients_come_and_go() {
    let program = said("s", &[]);
    assert_eq!(live(&program), [""; 0]);
    let watcher = program.get("agent_session_attach", json!(["s", "watcher"]));
    let expected = json!({
        "client_id": "watcher", "mode": "observer", "prompt_injection": false,
        "permission_routing": false, "ttl_ms": null,
        "attached_at": "2026-01-31T11:59:59.999Z", "last_seen_at": "2026-01-31T11:59:59.999Z",
    });
    assert_eq!(watcher, expected);
    let driver = attach(&program, "driver", "controller");
    assert_eq!(driver["prompt_injection"], true);
    assert_eq!(driver["permission_routing"], true);
    assert_eq!(live(&program), ["watcher", "driver"]);
    program.wait(1);
    let seen = program.get("agent_session_heartbeat", json!(["s", "driver"]));
    assert_eq!(seen["last_seen_at"], "2026-01-31T12:00:00.000Z");
    assert_eq!(
        program.get("agent_session_detach", json!(["s", "driver"])),
        true
    );
    assert_eq!(
        program.get("agent_session_detach", json!(["s", "driver"])),
        false
    );
    assert_eq!(live(&program), ["watcher"]);
    let refusal = program.refusal("agent_session_heartbeat", json!(["s", "driver"]));
    assert_eq!(
        refusal,
        "agent_session_heartbeat: unknown client id 'driver'"
    );
}

#[test]
fn what_clients_may_not_ask_for() {
    let program = said("s", &[]);
    let observer = "observer mode cannot request prompt_injection or permission_routing";
    let rows = [
        (
            json!({"mode": "observer", "prompt_injection": true}),
            observer,
        ),
        (json!({"permission_routing": true}), observer),
        (
            json!({"mode": "boss"}),
            "unknown mode 'boss' (expected 'observer' or 'controller')",
        ),
        (json!({"ttl_ms": 0}), "`ttl_ms` must be an int > 0"),
    ];
    for (options, complaint) in rows {
        let refusal = program.refusal("agent_session_attach", json!(["s", "w", options]));
        assert_eq!(refusal, format!("agent_session_attach: {complaint}"));
    }
    let refusal = program.refusal("agent_session_attach", json!(["s", " "]));
    assert_eq!(
        refusal,
        "agent_session_attach: `client_id` must not be empty"
    );
    assert_eq!(live(&program), [""; 0]);
}

#[test]
fn one_client_is_in_control() {
    let program = said("s", &[]);
    attach(&program, "one", "controller");
    attach(&program, "one", "controller");
    let arguments = json!(["s", "two", {"mode": "controller"}]);
    let refusal = program.refusal("agent_session_attach", arguments);
    assert_eq!(
        refusal,
        "agent_session_attach: session 's' is controlled by client 'one'"
    );
    let two = program.get("agent_session_takeover", json!(["s", "two"]));
    assert_eq!(two["mode"], "controller");
    assert_eq!(two["previous_controller"], "one");
    let clients = program.get("agent_session_live_clients", json!(["s"]));
    assert_eq!(contents(&clients, "mode"), ["observer", "controller"]);
    let routed = program.get(
        "agent_session_route_permission",
        json!(["s", {"tool": "run"}]),
    );
    let expected = json!({
        "ok": true, "session_id": "s", "client_id": "two", "request": {"tool": "run"},
        "error": null,
    });
    assert_eq!(routed, expected);
    program.get("agent_session_detach", json!(["s", "two"]));
    let routed = program.get("agent_session_route_permission", json!(["s", {}]));
    assert_eq!(routed["ok"], false);
    assert_eq!(routed["client_id"], Value::Null);
    assert_eq!(routed["error"], "no live client takes permission requests");
}

#[test]
fn a_client_that_is_silent_for_too_long_is_gone() {
    let program = said("s", &[]);
    let options = json!({"mode": "controller", "ttl_ms": 100});
    program.get("agent_session_attach", json!(["s", "one", options]));
    program.wait(100);
    program.get("agent_session_heartbeat", json!(["s", "one"]));
    program.wait(100);
    assert_eq!(live(&program), ["one"]);
    program.wait(1);
    assert_eq!(live(&program), [""; 0]);
    attach(&program, "two", "controller");
    assert_eq!(live(&program), ["two"]);
}

#[test]
fn the_client_in_control_speaks_as_the_user() {
    let program = said("s", &[]);
    attach(&program, "watcher", "observer");
    let options = json!({"mode": "controller", "prompt_injection": false});
    program.get("agent_session_attach", json!(["s", "mute", options]));
    let builtin = "agent_session_client_inject_prompt";
    let rows = [
        (json!(["s", "nobody", "hi"]), "unknown client id 'nobody'"),
        (
            json!(["s", "watcher", "hi"]),
            "observer mode cannot inject a prompt",
        ),
        (
            json!(["s", "mute", "hi"]),
            "client 'mute' has not requested prompt_injection",
        ),
        (
            json!(["s", "mute", " "]),
            "`prompt` must be a string or a list of blocks",
        ),
    ];
    for (arguments, complaint) in rows {
        assert_eq!(
            program.refusal(builtin, arguments),
            format!("{builtin}: {complaint}")
        );
    }
    program.get("agent_session_takeover", json!(["s", "driver"]));
    let watch = program.watch("s");
    let said = program.get(builtin, json!(["s", "driver", "hi", {"message_id": "m"}]));
    let expected = json!({"ok": true, "session_id": "s", "client_id": "driver", "queued": false});
    assert_eq!(said, expected);
    assert_eq!(texts(&program, "s"), ["hi"]);
    assert_eq!(watch.take()[0]["message_id"], "m");
    program.runtime.sessions().begin_run("s");
    let said = program.get(
        builtin,
        json!(["s", "driver", [{"type": "text", "text": "later"}]]),
    );
    assert_eq!(said["queued"], true);
    let notes = program.get("agent_session_drain_inbox", json!(["s"]));
    assert_eq!(notes[0]["kind"], "client_prompt");
    assert_eq!(notes[0]["content"], "later");
    assert_eq!(notes[0]["payload"]["client_id"], "driver");
    assert_eq!(texts(&program, "s"), ["hi"]);
}
