//! `worker_update` records of every age: aliases, missing and unknown events.

use harn_events::{Adaptation, AgentEvent, RecordedEvent, WorkerEvent};
use serde_json::{Value, json};

const STATUSES: [(&str, &str); 8] = [
    ("running", "WorkerSpawned"),
    ("progressed", "WorkerProgressed"),
    ("awaiting_input", "WorkerWaitingForInput"),
    ("suspended", "WorkerSuspended"),
    ("completed", "WorkerCompleted"),
    ("failed", "WorkerFailed"),
    ("stopped", "WorkerStopped"),
    ("cancelled", "WorkerCancelled"),
];

const ALIASES: [(&str, &str); 11] = [
    ("awaiting", "awaiting_input"),
    ("done", "completed"),
    ("succeeded", "completed"),
    ("success", "completed"),
    ("ok", "completed"),
    ("error", "failed"),
    ("errored", "failed"),
    ("timeout", "failed"),
    ("timed_out", "failed"),
    ("canceled", "cancelled"),
    ("aborted", "cancelled"),
];

fn update(event: Option<Value>, status: &str) -> String {
    let mut update = json!({
        "type": "worker_update", "session_id": "s", "worker_id": "w", "worker_name": "n",
        "worker_task": "t", "worker_mode": "m", "status": status, "metadata": {}, "audit": null,
    });
    if let Some(event) = event {
        update["event"] = event;
    }
    update.to_string()
}

/// The event and the status a record is read as, and by which rules.
#[track_caller]
fn check(text: &str, event: &str, status: &str, rules: &[Adaptation]) {
    let recorded = RecordedEvent::decode(text).expect("it is an object");
    let Some(AgentEvent::WorkerUpdate {
        event: found_event,
        status: found_status,
        ..
    }) = recorded.event()
    else {
        panic!("{recorded:?}");
    };
    assert_eq!(
        (found_event.as_str(), found_status.as_str()),
        (event, status)
    );
    let found_rules = match &recorded {
        RecordedEvent::Adapted(adapted) => adapted.adaptations.as_slice(),
        RecordedEvent::Known(_) | RecordedEvent::Opaque(_) => &[],
    };
    assert_eq!(found_rules, rules, "{text}");
    let plain: Option<AgentEvent> = serde_json::from_str(text).ok();
    assert_eq!(
        plain.as_ref(),
        recorded.event(),
        "the plain reader knows the same rules"
    );
}

#[test]
fn a_missing_or_unknown_event_follows_from_the_status() {
    for (status, event) in STATUSES {
        for odd in [
            None,
            Some(json!("WorkerHibernated")),
            Some(Value::Null),
            Some(json!(5)),
        ] {
            let rules = [Adaptation::EventFromStatus];
            check(&update(odd, status), event, status, &rules);
        }
    }
}

#[test]
fn aliases_are_read_as_the_word_they_stand_for() {
    for (alias, status) in ALIASES {
        let (_, event) = STATUSES
            .into_iter()
            .find(|(word, _)| *word == status)
            .unwrap();
        let rules = [Adaptation::StatusAlias];
        check(&update(Some(json!(event)), alias), event, status, &rules);
        let rules = [Adaptation::StatusAlias, Adaptation::EventFromStatus];
        check(&update(None, alias), event, status, &rules);
    }
}

#[test]
fn a_known_event_is_kept_with_the_status_it_came_with() {
    for event in WorkerEvent::ALL {
        for (status, _) in STATUSES {
            check(
                &update(Some(json!(event)), status),
                event.as_str(),
                status,
                &[],
            );
        }
        check(
            &update(Some(json!(event)), "zz_later"),
            event.as_str(),
            "zz_later",
            &[],
        );
    }
}

#[test]
fn without_a_known_event_or_status_the_record_is_kept_as_it_is() {
    for odd in [None, Some(json!("WorkerHibernated"))] {
        for status in ["zz_later", "", "Running", " running"] {
            let text = update(odd.clone(), status);
            let recorded = RecordedEvent::decode(&text).unwrap();
            assert!(matches!(recorded, RecordedEvent::Opaque(_)), "{text}");
            assert_eq!(serde_json::to_string(&recorded).unwrap(), text);
        }
    }
}

#[test]
fn an_alias_is_never_written() {
    for (alias, _) in ALIASES {
        let event: AgentEvent = serde_json::from_str(&update(None, alias)).unwrap();
        let written = serde_json::to_value(&event).unwrap();
        assert_ne!(written["status"], json!(alias));
    }
}
