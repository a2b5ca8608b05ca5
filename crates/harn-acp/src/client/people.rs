//! People: questions, approvals and what somebody should take over.
//!
//! A request is in the log before we hear of it. It is put to people in the best way that the
//! client has: as a form if it fits into one, as a page if it is a secret, and otherwise as a
//! notification that the host answers with `_harn/hitl/respond`. An answer to a form is given
//! to whoever waits, who writes it to the log; other answers go to the log at once. The first
//! that counts wins, wherever it comes from.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, Weak};
use std::task::{Context, Poll};

use harn_vm::agent::log::{EventLog, LogEvent, Topic};
use harn_vm::agent::people::RequestKind;
use harn_vm::agent::{HostError, rfc3339};
use serde_json::{Value, json};

use super::form::{Form, is_secret};
use super::{EditorHost, lock};
use crate::peer::{ClientFacts, PeerError};

pub(super) use harn_vm::agent::people::RESOLVED;

/// Who answers a form, where a name is needed.
const REVIEWER: &str = "user";

type Asking = Pin<Box<dyn Future<Output = Value> + Send>>;

/// The requests that this client is asked about.
pub(super) struct PeopleDesk {
    host: Weak<EditorHost>,
    /// What is being asked. It is taken out while somebody waits for it and put back when they
    /// stop, so that a form stays open although its readers come and go.
    asking: Mutex<HashMap<String, Option<Asking>>>,
}

/// What a person is asked in.
enum Way {
    Form(Form),
    Page(String),
    /// It is a secret, and the client opens no pages.
    None,
    /// The host finds its own way.
    Bridge,
}

impl PeopleDesk {
    pub(super) fn new(host: Weak<EditorHost>) -> Self {
        Self {
            host,
            asking: Mutex::default(),
        }
    }

    /// It is known what came of a request: whoever is still asked need not answer.
    pub(super) fn forget(&self, resolved: &Value) {
        let id = resolved["requestId"].as_str().unwrap_or_default();
        // Dropped outside of the lock, because it withdraws a request.
        let asking = lock(&self.asking).remove(id);
        drop(asking);
    }

    /// What a person says, once they have.
    pub(super) fn answer<'a>(&'a self, id: &'a str) -> Answer<'a> {
        let asking = lock(&self.asking).get_mut(id).and_then(Option::take);
        Answer {
            desk: self,
            id,
            asking,
        }
    }
}

/// Waits for an answer.
pub(super) struct Answer<'a> {
    desk: &'a PeopleDesk,
    id: &'a str,
    /// `None`: nobody is asked here.
    asking: Option<Asking>,
}

impl Future for Answer<'_> {
    type Output = Value;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Value> {
        let Some(asking) = &mut self.asking else {
            return Poll::Pending;
        };
        let answer = std::task::ready!(asking.as_mut().poll(context));
        self.asking = None;
        lock(&self.desk.asking).remove(self.id);
        Poll::Ready(answer)
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        let Some(asking) = self.asking.take() else {
            return;
        };
        let mut open = lock(&self.desk.asking);
        // If it is not known any more, it is over, and what was asked is withdrawn.
        if let Some(slot) = open.get_mut(self.id) {
            *slot = Some(asking);
        }
    }
}

impl EditorHost {
    /// Somebody has to be asked.
    pub(super) fn ask_people(&self, notice: Value) {
        let id = notice["requestId"].as_str().unwrap_or_default().to_owned();
        let asking: Asking = match self.way(&notice) {
            Way::Bridge => return self.tell_bridge("harn.hitl.requested", notice),
            Way::Form(form) => Box::pin(fill(self.people.host.clone(), notice, form)),
            Way::Page(url) => Box::pin(visit(self.people.host.clone(), notice, url)),
            Way::None => Box::pin(give_up(
                self.people.host.clone(),
                notice,
                "it is a secret, and the client opens no pages to ask for it",
            )),
        };
        lock(&self.people.asking).insert(id, Some(asking));
    }

    fn way(&self, notice: &Value) -> Way {
        let payload = &notice["payload"];
        let metadata = &payload["metadata"];
        let kind = RequestKind::named(notice["kind"].as_str().unwrap_or_default());
        if kind == Some(RequestKind::Question) && is_secret(metadata) {
            let opens = self.peers.find(|client| client.opens_urls).is_some();
            return match metadata["url"].as_str() {
                Some(url) if opens => Way::Page(url.to_owned()),
                _ => Way::None,
            };
        }
        let form = match kind {
            Some(RequestKind::Question) => Form::of_question(metadata),
            Some(RequestKind::Approval) => Form::of_approval(payload),
            _ => None,
        };
        match form {
            Some(form) if self.peers.find(|client| client.shows_forms).is_some() => Way::Form(form),
            _ => Way::Bridge,
        }
    }

    /// Asks a person what a tool server or the runtime wants to know: a form, or a page for
    /// what a form must not ask. A client that cannot do one is not asked in the other way.
    pub(super) async fn elicit(&self, asked: Value) -> Result<Value, HostError> {
        if asked["mode"] == "url" {
            return self.open_page(&asked).await;
        }
        let can: fn(&ClientFacts) -> bool = |client| client.shows_forms;
        let lacking = || HostError::Lacking("the client shows no forms".to_owned());
        self.peers.find(can).ok_or_else(lacking)?;
        let mut question = json!({
            "mode": "form",
            "sessionId": self.facts.id,
            "message": asked["message"],
            "requestedSchema": asked["requestedSchema"],
        });
        if let Some(server) = asked["server"].as_str() {
            question["_meta"] = json!({"harn": {"server": server}});
        }
        let answer = self.peers.ask("elicitation/create", question, can).await;
        answer.map_err(failed)
    }

    async fn open_page(&self, asked: &Value) -> Result<Value, HostError> {
        let can: fn(&ClientFacts) -> bool = |client| client.opens_urls;
        let lacking = || HostError::Lacking("the client opens no pages".to_owned());
        self.peers.find(can).ok_or_else(lacking)?;
        let id = match asked["elicitationId"].as_str() {
            Some(id) => id.to_owned(),
            None => harn_vm::new_id(),
        };
        let mut question = json!({
            "mode": "url",
            "sessionId": self.facts.id,
            "elicitationId": id,
            "url": asked["url"],
            "message": asked["message"],
        });
        if let Some(server) = asked["server"].as_str() {
            question["_meta"] = json!({"harn": {"server": server}});
        }
        let answer = self.peers.ask("elicitation/create", question, can).await;
        answer.map_err(failed)
    }

    /// What was to be done on a page is done.
    pub(super) fn tell_completion(&self, done: &Value) {
        let told = json!({"elicitationId": done["elicitationId"]});
        for peer in self.peers.all(|client| client.opens_urls) {
            peer.notify("elicitation/complete", told.clone());
        }
    }

    /// Takes a request back that nobody will answer.
    async fn cancel_request(&self, request_id: &str, reason: &str) {
        let payload = json!({
            "id": request_id,
            "at": rfc3339((self.facts.now)()),
            "by": REVIEWER,
            "reason": reason,
            "value": null,
            "metadata": null,
        });
        let event = LogEvent::at("waitpoint.cancelled", payload, (self.facts.now)());
        let topic = Topic::new("waitpoints").expect("this is a name of a topic");
        if let Err(error) = self.facts.log.append_durable(&topic, event).await {
            tracing::warn!("a request to people stays open: {error}");
        }
    }
}

fn failed(error: PeerError) -> HostError {
    HostError::Failed {
        code: Some(error.code),
        message: error.message,
    }
}

fn text<'a>(notice: &'a Value, pointer: &str) -> &'a str {
    let found = notice.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Lets a person fill in a form.
async fn fill(host: Weak<EditorHost>, notice: Value, form: Form) -> Value {
    let Some(host) = host.upgrade() else {
        return std::future::pending().await;
    };
    let question = json!({
        "mode": "form",
        "sessionId": host.facts.id,
        "message": text(&notice, "/payload/prompt"),
        "requestedSchema": form.schema,
        "_meta": {"harn": {"requestId": notice["requestId"]}},
    });
    let asked = host
        .peers
        .ask("elicitation/create", question, |client| client.shows_forms);
    let answer = match asked.await {
        Ok(answer) => answer,
        Err(error) => {
            // Somebody else may be able to ask.
            tracing::warn!("the client shows no form: {error}");
            host.tell_bridge("harn.hitl.requested", notice.clone());
            return std::future::pending().await;
        }
    };
    let accepted = (answer["action"] == "accept").then(|| form.response(&answer["content"]));
    match accepted.flatten() {
        Some(mut response) => {
            response["reviewer"] = json!(REVIEWER);
            response
        }
        None if notice["kind"] == "approval" => {
            json!({"approved": false, "reviewer": REVIEWER, "reason": "the form was dismissed"})
        }
        None => {
            let id = text(&notice, "/requestId");
            host.cancel_request(id, "the form was dismissed").await;
            std::future::pending().await
        }
    }
}

/// Lets a person do something on a page. What they do there does not pass through the client;
/// that it was done is the answer.
async fn visit(host: Weak<EditorHost>, notice: Value, url: String) -> Value {
    let Some(host) = host.upgrade() else {
        return std::future::pending().await;
    };
    let id = text(&notice, "/requestId");
    let asked = json!({
        "url": url,
        "message": text(&notice, "/payload/prompt"),
        "elicitationId": id,
    });
    match host.open_page(&asked).await {
        Ok(answer) if answer["action"] == "accept" => {
            json!({"answer": true, "reviewer": REVIEWER})
        }
        Ok(_) => {
            host.cancel_request(id, "the page was not opened").await;
            std::future::pending().await
        }
        Err(error) => {
            let reason = format!("the page could not be opened: {error}");
            host.cancel_request(id, &reason).await;
            std::future::pending().await
        }
    }
}

async fn give_up(host: Weak<EditorHost>, notice: Value, reason: &'static str) -> Value {
    if let Some(host) = host.upgrade() {
        let id = text(&notice, "/requestId");
        host.cancel_request(id, reason).await;
    }
    std::future::pending().await
}
