//! Levels, escalations and what they leave behind.

use std::sync::Arc;

use harn_log::block_on;

use super::*;
use crate::callback::Functions;

fn level(value: Value) -> Permissions {
    let level = Permissions::read("permissions", &value, &Functions::default());
    level.expect("it is well formed").expect("it is given")
}

/// A level that denies everything and lets a function answer this.
fn escalating(answer: Value) -> Permissions {
    let mut functions = Functions::default();
    let answer = move |_: Vec<Value>| Ok(answer.clone());
    functions.insert("/on_escalation", Arc::new(answer));
    let level = Permissions::read("permissions", &json!({"allow": []}), &functions);
    level.expect("it is well formed").expect("it is given")
}

fn ask(levels: &[Permissions], grants: &SessionGrants) -> Verdict {
    let arguments = json!({"command": "ls"});
    let call = PermissionCall {
        tool: "run",
        arguments: &arguments,
        parameters: &DeclaredParameters::default(),
        annotations: None,
        session_id: "s",
        place: &harn_shell::Nowhere,
        dispatch: None,
    };
    block_on(evaluate(levels, call, grants)).expect("nothing throws")
}

fn told(verdict: &Verdict) -> Vec<String> {
    let records = verdict.records.iter();
    records
        .map(|record| {
            let (kind, reason) = (record.kind.as_str(), &record.reason);
            format!("{kind} {} {reason}", record.escalated)
        })
        .collect()
}

#[test]
fn one_level_allows_or_denies() {
    let allowed = (true, "permission allow rule matched");
    let not_allowed = (
        false,
        "permission denied: tool 'run' is not allowed by this agent's permissions",
    );
    let rows = [
        (json!({}), allowed),
        (json!({"allow": ["run"]}), allowed),
        (json!({"allow": ["r*"]}), allowed),
        (json!({"allow": {"run": "ls*"}}), allowed),
        (json!({"allow": {"run": "rm*"}}), not_allowed),
        (json!({"allow": ["read"]}), not_allowed),
        (json!({"allow": []}), not_allowed),
        (
            json!({"allow": ["run"], "deny": ["x", "ru*"]}),
            (false, "permission denied by deny rule: ru*"),
        ),
        (
            json!({"deny": {"run": {"key": "command", "patterns": ["rm*"]}}}),
            allowed,
        ),
    ];
    for (rules, (granted, reason)) in rows {
        let verdict = ask(&[level(rules)], &SessionGrants::default());
        assert_eq!((verdict.granted, &*verdict.reason), (granted, reason));
        assert!(!verdict.escalated && verdict.session_grants.is_empty());
        let kind = if granted {
            "PermissionGrant"
        } else {
            "PermissionDeny"
        };
        assert_eq!(told(&verdict), [format!("{kind} false {reason}")]);
    }
}

#[test]
fn without_levels_nothing_is_recorded() {
    let verdict = ask(&[], &SessionGrants::default());
    assert!(verdict.granted && verdict.records.is_empty());
}

#[test]
fn every_level_must_grant() {
    let levels = [
        level(json!({})),
        level(json!({"deny": ["run"]})),
        level(json!({})),
    ];
    let verdict = ask(&levels, &SessionGrants::default());
    assert!(!verdict.granted);
    assert_eq!(
        told(&verdict),
        ["PermissionDeny false permission denied by deny rule: run"]
    );
    let verdict = ask(
        &[level(json!({})), level(json!({}))],
        &SessionGrants::default(),
    );
    assert!(verdict.granted);
    assert_eq!(
        told(&verdict),
        ["PermissionGrant false permission allow rule matched"]
    );
}

#[test]
fn an_escalation_is_answered() {
    let (yes, no) = (
        "permission escalation granted",
        "permission escalation denied",
    );
    let rows = [
        (json!(true), true, false, yes),
        (json!("once"), true, false, yes),
        (json!("session"), true, true, yes),
        (json!(false), false, false, no),
        (json!(null), false, false, no),
        (json!("always"), false, false, no),
        (json!(1), false, false, no),
        (json!({}), false, false, no),
        (json!({"grant": true}), true, false, yes),
        (json!({"grant": "session"}), true, true, yes),
        (
            json!({"granted": "once", "reason": "fine"}),
            true,
            false,
            "fine",
        ),
        (
            json!({"granted": false, "reason": "bad idea"}),
            false,
            false,
            "bad idea",
        ),
        (
            json!({"grant": null, "granted": true, "reason": null}),
            true,
            false,
            yes,
        ),
    ];
    for (answer, granted, lasts, reason) in rows {
        let verdict = ask(&[escalating(answer)], &SessionGrants::default());
        assert_eq!((verdict.granted, &*verdict.reason), (granted, reason));
        assert!(verdict.escalated);
        assert_eq!(!verdict.session_grants.is_empty(), lasts);
        let kind = if granted {
            "PermissionGrant"
        } else {
            "PermissionDeny"
        };
        let expected = [
            format!("PermissionEscalation true {reason}"),
            format!("{kind} true {reason}"),
        ];
        assert_eq!(told(&verdict), expected);
    }
}

#[test]
fn the_approver_is_told() {
    let answer = json!({"grant": true, "approver": "ana"});
    let verdict = ask(&[escalating(answer)], &SessionGrants::default());
    assert_eq!(verdict.approver.as_deref(), Some("ana"));
}

#[test]
fn a_session_grant_comes_before_the_rules() {
    let levels = [escalating(json!("session"))];
    let verdict = ask(&levels, &SessionGrants::default());
    let mut grants = SessionGrants::default();
    verdict
        .session_grants
        .into_iter()
        .for_each(|grant| grants.insert(grant));
    let again = ask(&levels, &grants);
    assert!(again.granted && !again.escalated);
    assert_eq!(told(&again), ["PermissionGrant false session grant"]);
    let denied = ask(
        &[level(json!({})), level(json!({"deny": ["run"]}))],
        &grants,
    );
    assert!(!denied.granted, "the grant was for the other level");
}

#[test]
fn a_grant_of_an_outer_level_is_kept_when_an_inner_one_denies() {
    let levels = [escalating(json!("session")), level(json!({"deny": ["*"]}))];
    let verdict = ask(&levels, &SessionGrants::default());
    assert!(!verdict.granted && verdict.session_grants.len() == 1);
    let expected = [
        "PermissionEscalation true permission escalation granted",
        "PermissionDeny true permission denied by deny rule: *",
    ];
    assert_eq!(told(&verdict), expected);
    let levels = [escalating(json!(true)), level(json!({}))];
    let verdict = ask(&levels, &SessionGrants::default());
    let expected = [
        "PermissionEscalation true permission escalation granted",
        "PermissionGrant true permission escalation granted",
    ];
    assert_eq!(told(&verdict), expected);
}

#[test]
fn an_escalation_is_told_what_it_is_about() {
    let mut functions = Functions::default();
    let echo =
        |arguments: Vec<Value>| Ok(json!({"grant": true, "reason": arguments[0].to_string()}));
    functions.insert("/on_escalation", Arc::new(echo));
    let level = Permissions::read("permissions", &json!({"deny": ["run"]}), &functions);
    let level = level.expect("it is well formed").expect("it is given");
    let arguments = json!({"command": "ls"});
    let dispatch = json!({"agent": "a", "trace_id": "t"});
    let call = PermissionCall {
        tool: "run",
        arguments: &arguments,
        parameters: &DeclaredParameters::default(),
        annotations: None,
        session_id: "s",
        place: &harn_shell::Nowhere,
        dispatch: dispatch.as_object(),
    };
    let verdict = block_on(evaluate(&[level], call, &SessionGrants::default()));
    let verdict = verdict.expect("nothing throws");
    let request: Value = serde_json::from_str(&verdict.reason).expect("it is JSON");
    let expected = json!({
        "_type": "PermissionRequest", "tool": "run", "args": {"command": "ls"},
        "session_id": "s", "reason": "permission denied by deny rule: run",
        "grant_options": ["once", "session", false], "agent": "a", "trace_id": "t",
    });
    assert_eq!(request, expected);
}

#[test]
fn what_a_function_throws_is_given_back() {
    let mut functions = Functions::default();
    let throws = |_: Vec<Value>| Err(Thrown::Plain("broken".to_owned()));
    functions.insert("/deny/run", Arc::new(throws));
    let level = Permissions::read("permissions", &json!({"deny": {"run": null}}), &functions);
    let level = level.expect("it is well formed").expect("it is given");
    let arguments = json!({});
    let call = PermissionCall {
        tool: "run",
        arguments: &arguments,
        parameters: &DeclaredParameters::default(),
        annotations: None,
        session_id: "s",
        place: &harn_shell::Nowhere,
        dispatch: None,
    };
    let thrown = block_on(evaluate(&[level], call, &SessionGrants::default()));
    assert_eq!(thrown, Err(Thrown::Plain("broken".to_owned())));
}

#[test]
fn asking_can_move_to_another_thread() {
    fn check<T: Send>(_: T) {}
    let arguments = json!({});
    let call = PermissionCall {
        tool: "run",
        arguments: &arguments,
        parameters: &DeclaredParameters::default(),
        annotations: None,
        session_id: "s",
        place: &harn_shell::Nowhere,
        dispatch: None,
    };
    check(evaluate(&[], call, &SessionGrants::default()));
}
