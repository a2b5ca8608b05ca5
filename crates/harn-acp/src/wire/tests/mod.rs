//! What the specification says, row by row.

mod calls;
mod legal;
mod replaying;
mod rows;

use harn_vm::agent::Seen;
use harn_vm::agent::events::AgentEvent;
use serde_json::{Value, json};

use super::{Mapping, Outgoing, Profile};
use crate::peer::ClientFacts;

/// A client that said this in `initialize`.
fn client(capabilities: Value) -> Profile {
    Profile::of(&ClientFacts::read(
        &json!({"clientCapabilities": capabilities}),
    ))
}

/// A client that said nothing about itself.
fn plain() -> Profile {
    client(json!({}))
}

/// A client that wants everything.
fn extended() -> Profile {
    client(json!({"_meta": {"harn": {"sessionUpdateKinds": true}}}))
}

fn event(fields: Value) -> AgentEvent {
    let mut fields = fields;
    fields["session_id"] = json!("s");
    serde_json::from_value(fields).unwrap()
}

fn seen(index: u64, fields: Value) -> Seen {
    Seen {
        index,
        event: event(fields),
        emitted_at_ms: 1_000_000 + i64::try_from(index).unwrap() * 1000,
        is_kept: true,
        is_replayed: false,
    }
}

fn mapping() -> Mapping {
    Mapping::new("/folder")
}

/// What events say to a client, one after the other from index 0.
fn tell(profile: &Profile, events: &[Value]) -> Vec<Outgoing> {
    let mut mapping = mapping();
    let told = (0..).zip(events);
    let told = told.flat_map(|(index, event)| mapping.of(&seen(index, event.clone()), profile));
    told.collect()
}

#[track_caller]
fn updates(outgoing: &[Outgoing]) -> Vec<Value> {
    let updates = outgoing.iter().map(|one| match one {
        Outgoing::Update(update) => update.clone(),
        Outgoing::Extension { parameters, .. } => panic!("{parameters} is no update"),
    });
    updates.collect()
}

/// Checks what one event says to a client that has seen nothing.
#[track_caller]
fn check_update(profile: &Profile, fields: Value, expected: Value) {
    let told = tell(profile, &[fields]);
    assert_eq!(json!(updates(&told)), expected);
}

/// Checks that an event goes as a notification, with this kind and body.
#[track_caller]
fn check_extension(profile: &Profile, fields: Value, kind: &str, body: Value) {
    let told = tell(profile, &[fields]);
    let [Outgoing::Extension { method, parameters }] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(*method, "_harn/agentEvent");
    let mut expected = json!({"sessionId": "s", "kind": kind, "_meta": {"harn": {"index": 0}}});
    let (Value::Object(expected), Value::Object(body)) = (&mut expected, body) else {
        panic!("a body is an object");
    };
    expected.extend(body);
    assert_eq!(*parameters, json!(expected));
}

#[test]
fn a_replayed_update_says_so() {
    let mut mapping = mapping();
    let chunk = json!({"type": "agent_message_chunk", "content": "Hi"});
    let mut replayed = seen(7, chunk);
    replayed.is_replayed = true;
    let told = mapping.of(&replayed, &plain());
    assert_eq!(
        updates(&told)[0]["_meta"],
        json!({"harn": {"index": 7, "replayed": true}})
    );
    let mut replayed = seen(8, json!({"type": "iteration_start", "iteration": 1}));
    replayed.is_replayed = true;
    let told = mapping.of(&replayed, &plain());
    let [Outgoing::Extension { parameters, .. }] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(
        parameters["_meta"],
        json!({"harn": {"index": 8, "replayed": true}})
    );
}

#[test]
fn a_quiet_client_is_told_what_it_asked_for() {
    let start = json!({"type": "iteration_start", "iteration": 1});
    let stuck = json!({
        "type": "loop_stuck", "max_nudges": 1, "last_iteration": 1, "tail_excerpt": "",
    });
    let chunk = json!({"type": "agent_message_chunk", "content": "Hi"});
    let events = [start, stuck, chunk];
    let count = |agent_events: Value| {
        let profile = client(json!({"_meta": {"harn": {"agentEvents": agent_events}}}));
        tell(&profile, &events).len()
    };
    assert_eq!(count(json!(null)), 3);
    assert_eq!(count(json!(true)), 3);
    assert_eq!(count(json!(false)), 1, "updates stay");
    assert_eq!(count(json!(["loop_stuck"])), 2);
}
