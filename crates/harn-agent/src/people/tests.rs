//! Requests in a log, and answers to them.

use harn_log::{AnyEventLog, EventLog, LogEvent, MemoryEventLog, Topic, block_on};
use serde_json::{Value, json};

use super::*;
use crate::principal::Principal;

/// What is said beside an answer: the name it is given in.
fn given(reviewer: Option<&str>) -> Given<'_> {
    Given {
        reviewer,
        reason: None,
        actor: Box::leak(Box::new(Principal::operator("test"))),
    }
}

struct Desk(AnyEventLog);

/// The time at which everything happens.
const NOW: i64 = 1_767_225_600_000;

impl Desk {
    fn new() -> Self {
        Self(AnyEventLog::Memory(MemoryEventLog::new(8)))
    }

    fn write(&self, topic: &str, event: LogEvent) {
        let topic = Topic::new(topic).unwrap();
        block_on(self.0.append(&topic, event)).unwrap();
    }

    fn asks(&self, kind: RequestKind, id: &str, more: &Value) {
        let mut payload = json!({
            "request_id": id, "request_kind": kind.name(), "agent": "harn", "prompt": "?",
            "trace_id": "t", "timestamp": "2026-01-01T00:00:00.000Z", "approvers": [],
            "metadata": {},
        });
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        let event = LogEvent::at(kind.asked(), payload, NOW);
        let event = event.with_header(headers::DEADLINE, "2026-01-02T00:00:00Z");
        self.write(kind.topic(), event);
    }

    fn answer(&self, id: &str, response: Response, reviewer: &str) -> Result<(), RespondError> {
        block_on(respond(&self.0, id, response, given(Some(reviewer)), NOW))
    }

    #[track_caller]
    fn refuses(&self, id: &str, response: Response, reviewer: &str) -> String {
        let refused = self.answer(id, response, reviewer);
        refused.expect_err("it does not count").to_string()
    }

    fn open(&self) -> Vec<String> {
        let mut requests = Requests::default();
        block_on(requests.read(&self.0)).unwrap();
        let open = requests.open(NOW);
        open.iter().map(|request| request.id().to_owned()).collect()
    }
}

#[test]
fn a_question_is_open_until_it_is_answered() {
    let desk = Desk::new();
    assert_eq!(desk.open(), Vec::<String>::new());
    desk.asks(RequestKind::Question, "q", &json!({}));
    assert_eq!(desk.open(), ["q"]);
    desk.answer("q", Response::Answer(json!("blue")), "ada")
        .unwrap();
    assert_eq!(desk.open(), Vec::<String>::new());
    assert_eq!(
        desk.refuses("q", Response::Answer(json!("red")), "bob"),
        "q was already answered"
    );
    let topic = Topic::new("hitl.questions").unwrap();
    let records = block_on(desk.0.read_range(&topic, None, 10)).unwrap();
    assert_eq!(
        records[1].1.payload,
        json!({
            "request_id": "q", "answer": "blue", "reviewer": "ada",
            "metadata": {"actor": {
                "kind": "host", "id": "operator", "via": "test", "verified": true,
            }},
            "responded_at": "2026-01-01T00:00:00.000Z",
        })
    );
}

#[test]
fn enough_of_those_who_were_asked_have_to_approve() {
    let desk = Desk::new();
    let asked = json!({"approvers": ["ada", "bob"], "metadata": {"quorum": 2}});
    desk.asks(RequestKind::Approval, "a", &asked);
    let yes = || Response::Approved(true);
    assert_eq!(
        desk.refuses("a", yes(), "eve"),
        "a can be answered by ada, bob and not by eve"
    );
    desk.answer("a", yes(), "ada").unwrap();
    assert_eq!(
        desk.refuses("a", yes(), "ada"),
        "ada has already approved a, which needs somebody else as well"
    );
    assert_eq!(desk.open(), ["a"]);
    desk.answer("a", yes(), "bob").unwrap();
    assert_eq!(desk.open(), Vec::<String>::new());
    desk.asks(
        RequestKind::DualControl,
        "d",
        &json!({"metadata": {"n": 2, "m": 3}}),
    );
    desk.answer("d", Response::Approved(false), "eve").unwrap();
    assert_eq!(desk.refuses("d", yes(), "ada"), "d was already answered");
}

#[test]
fn what_does_not_fit_is_refused() {
    let desk = Desk::new();
    desk.asks(RequestKind::Question, "q", &json!({}));
    desk.asks(RequestKind::Approval, "a", &json!({}));
    desk.asks(RequestKind::Escalation, "e", &json!({}));
    let answer = || Response::Answer(json!(1));
    assert_eq!(desk.refuses("x", answer(), "ada"), "there is no request x");
    assert_eq!(
        desk.refuses("q", Response::Approved(true), "ada"),
        "q is a question, which needs an answer"
    );
    assert_eq!(
        desk.refuses("a", answer(), "ada"),
        "a is an approval, which needs to be approved or denied"
    );
    assert_eq!(
        desk.refuses("e", answer(), "ada"),
        "e is an escalation, which needs to be accepted or refused"
    );
    let late = respond(
        &desk.0,
        "q",
        answer(),
        given(None),
        NOW + 24 * 60 * 60 * 1000,
    );
    assert_eq!(
        block_on(late).unwrap_err().to_string(),
        "q had to be answered by 2026-01-02T00:00:00Z"
    );
}

#[test]
fn what_is_over_is_not_open() {
    let desk = Desk::new();
    for (id, topic, kind, payload, said) in [
        (
            "timeout",
            "hitl.questions",
            "hitl.timeout",
            json!({"request_id": "timeout"}),
            "timeout is over: nobody answered in time",
        ),
        (
            "cancelled",
            "waitpoints",
            "waitpoint.cancelled",
            json!({"id": "cancelled"}),
            "cancelled is over: it was cancelled",
        ),
        (
            "done",
            "waitpoints",
            "waitpoint.completed",
            json!({"id": "done", "value": null}),
            "done is over: it was answered, and the program went on",
        ),
        (
            "completed",
            "waitpoints",
            "waitpoint.completed",
            json!({"id": "completed", "value": {"answer": 1}}),
            "completed was already answered",
        ),
    ] {
        desk.asks(RequestKind::Question, id, &json!({}));
        assert_eq!(desk.open(), [id]);
        desk.write(topic, LogEvent::at(kind, payload, NOW));
        assert_eq!(desk.open(), Vec::<String>::new());
        assert_eq!(desk.refuses(id, Response::Answer(json!(1)), "ada"), said);
    }
}

#[test]
fn a_host_is_told_without_secrets() {
    let desk = Desk::new();
    let metadata = json!({
        "args": {"password": "p", "n": 1}, "principal": "me", "evidence_refs": ["log"], "quorum": 2,
    });
    desk.asks(
        RequestKind::Approval,
        "a",
        &json!({"prompt": "deploy", "metadata": metadata}),
    );
    let mut requests = Requests::default();
    block_on(requests.read(&desk.0)).unwrap();
    let policy = harn_events::RedactionPolicy::new();
    let told = notice(requests.get("a").unwrap(), Some("s"), &policy);
    assert_eq!(told["requestId"], "a");
    assert_eq!(told["sessionId"], "s");
    assert_eq!(
        told["payload"]["approval_request"],
        json!({
            "id": "a", "action": "deploy", "args": {"password": "[redacted]", "n": 1},
            "principal": "me", "requestedAt": "2026-01-01T00:00:00.000Z",
            "deadline": "2026-01-02T00:00:00Z", "approversRequired": 2, "evidenceRefs": ["log"],
            "undoMetadata": null, "capabilitiesRequested": [],
        })
    );
}
