//! Performs the effects of the kind `people`.

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use harn_agent::events::RedactionPolicy;
use harn_agent::llm::desk::Thrown;
use harn_agent::log::{EventLog, LogError, LogEvent, Topic, block_on};
use harn_agent::people::{
    AskedPerson, NOTICE, Outcome, RESUMED, Request, Requests, headers, notice, this_process,
};
use harn_agent::{HostBridge, Runtime, rfc3339};
use harn_machine::{Answer, EffectId};
use serde_json::{Value, json};

use super::asked::{About, Asked, outcome};
use super::earlier::{Place, fingerprint, same};
use super::wait::{Elsewhere, news};
use crate::agents::IfGivenUp;
use crate::event_log::{EventLogPort, Logs};
use crate::models::TokioHandle;
use crate::world::{failed, now};

/// Something that takes time.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Value, Thrown>> + Send>>;

/// Performs the effects of the kind `people`.
pub(crate) struct PeoplePort {
    bridge: Option<Arc<dyn HostBridge>>,
    /// What this process is called, once somebody wants to know.
    process: Option<String>,
    /// The requests that tasks of the program wait for.
    open: HashMap<String, Open>,
    /// How often the program has asked the same.
    occurrences: HashMap<String, usize>,
    /// What the lasting log knows.
    known: Requests,
}

/// A request that a task waits for.
struct Open {
    elsewhere: Elsewhere,
    /// Says in the session that asks what comes of it.
    asked: Option<AskedPerson>,
    session: Option<(Arc<Runtime>, String)>,
    /// What the task waits for right now.
    effect: Option<EffectId>,
    /// Whether it is known what comes of it.
    is_decided: bool,
}

impl PeoplePort {
    pub(crate) fn new(bridge: Option<Arc<dyn HostBridge>>) -> Self {
        Self {
            bridge,
            process: None,
            open: HashMap::new(),
            occurrences: HashMap::new(),
            known: Requests::default(),
        }
    }

    /// Answers at once.
    pub(crate) fn perform(&mut self, payload: &str, event_log: &mut EventLogPort) -> Answer {
        match serde_json::from_str(payload) {
            Ok(Asked::Open(about)) => {
                Answer::Text(Some(self.opened(&about, event_log).to_string()))
            }
            Ok(Asked::Decided { request_id }) => {
                if let Some(open) = self.open.get_mut(&request_id) {
                    open.is_decided = true;
                }
                Answer::Text(Some("null".to_owned()))
            }
            Ok(_) => failed(&io::Error::other("this takes time and must be begun")),
            Err(error) => failed(&io::Error::other(error)),
        }
    }

    /// Begins what takes time.
    pub(crate) fn begin(
        &mut self,
        id: EffectId,
        payload: &str,
        event_log: &mut EventLogPort,
        runtime: Option<Arc<Runtime>>,
    ) -> (Work, IfGivenUp) {
        let work = match serde_json::from_str(payload) {
            Ok(Asked::Requested {
                about,
                headers,
                is_earlier,
            }) => {
                let mut request = Request::new(about.kind(), about.payload, headers);
                let logs = event_log.logs();
                if is_earlier && let Some(earlier) = self.known.get(request.id()) {
                    request.event_id = earlier.event_id;
                }
                let session = about.session.zip(runtime);
                let session = session.map(|(session_id, runtime)| (runtime, session_id));
                self.requested(id, &request, logs, session, is_earlier)
            }
            Ok(Asked::Wait { request_id, topics }) => {
                return (self.wait(id, &request_id, topics), IfGivenUp::Stops);
            }
            Ok(Asked::Resolved {
                request_id,
                outcome: word,
            }) => self.resolved(&request_id, outcome(&word)),
            Ok(_) => over(Err(Thrown::Runtime("this is answered at once".to_owned()))),
            Err(error) => over(Err(Thrown::Runtime(error.to_string()))),
        };
        // What was begun to be told is told, whatever becomes of who tells it.
        (work, IfGivenUp::GoesOn)
    }

    /// Gives something up. A task that waits for a person and is stopped takes its request
    /// back. The loop that has stopped it may be over by then, so the closures of the session do
    /// not depend on it to hear of that.
    pub(crate) fn cancel(&mut self, id: EffectId, tokio: &TokioHandle) {
        let mut open = self.open.iter();
        let abandoned = open.find(|(_, open)| open.effect == Some(id) && !open.is_decided);
        if let Some(request_id) = abandoned.map(|(request_id, _)| request_id.clone())
            && let Some(open) = self.open.remove(&request_id)
        {
            let session = open.session.clone();
            open.abandon();
            if let Some((runtime, session_id)) = session {
                tokio.spawn(async move { runtime.settle_session(&session_id).await });
            }
        }
    }

    /// What a request that is about to be made should know: the headers of its record, and the
    /// request of an earlier process that it goes on with.
    fn opened(&mut self, about: &About, event_log: &mut EventLogPort) -> Value {
        let logs = event_log.logs();
        let counted = self.occurrences.entry(fingerprint(about)).or_default();
        let place = Place {
            program: event_log.program(),
            occurrence: *counted,
        };
        *counted += 1;
        let found = block_on(same(&mut self.known, logs.lasting(), about, &place));
        let earlier = found.unwrap_or_else(|error| {
            tracing::warn!("earlier requests to people are not known: {error}");
            None
        });
        let process = self.process.get_or_insert_with(this_process);
        let deadline = now().saturating_add(about.timeout_ms);
        let mut record = BTreeMap::from([
            (headers::PROCESS.to_owned(), process.clone()),
            (headers::PROGRAM.to_owned(), place.program.to_owned()),
            (headers::OCCURRENCE.to_owned(), place.occurrence.to_string()),
            (headers::DEADLINE.to_owned(), rfc3339(deadline)),
        ]);
        if let Some(session) = &about.session {
            record.insert(headers::SESSION.to_owned(), session.clone());
        }
        let earlier = earlier.map(|request| {
            if let Err(error) = block_on(resume(&logs, &request, process)) {
                tracing::warn!("nobody will know that a request was taken up again: {error}");
            }
            let left = request.deadline().map(|at| at.timestamp_millis() - now());
            json!({
                "payload": request.payload,
                "event_id": request.event_id,
                "is_here": logs.kept.is_none(),
                "timeout_ms": left.unwrap_or(about.timeout_ms).max(0),
            })
        });
        json!({"headers": record, "earlier": earlier})
    }

    fn requested(
        &mut self,
        id: EffectId,
        request: &Request,
        logs: Logs,
        session: Option<(Arc<Runtime>, String)>,
        is_earlier: bool,
    ) -> Work {
        let asked = session
            .as_ref()
            .map(|(runtime, session_id)| match is_earlier {
                true => block_on(AskedPerson::ask_again(runtime, session_id, request)),
                false => AskedPerson::ask(runtime, session_id, request),
            });
        if let Some(bridge) = &self.bridge {
            let session_id = session.as_ref().map(|(_, session_id)| &**session_id);
            let redaction = match &session {
                Some((runtime, _)) => runtime.bus().redaction_policy(),
                None => Arc::new(RedactionPolicy::new()),
            };
            bridge.notify(NOTICE, notice(request, session_id, &redaction));
        }
        let cursor = match is_earlier {
            true => request.event_id,
            // Nobody answers before the record is there, and it came after these.
            false => self.known.cursor(request.kind),
        };
        let open = Open {
            elsewhere: Elsewhere {
                logs,
                bridge: self.bridge.clone(),
                request_id: request.id().to_owned(),
                topic: request.kind.topic(),
                cursor: Arc::new(AtomicU64::new(cursor)),
            },
            asked,
            session: session.clone(),
            effect: Some(id),
            is_decided: false,
        };
        self.open.insert(request.id().to_owned(), open);
        settled(session)
    }

    fn wait(&mut self, id: EffectId, request_id: &str, topics: Vec<(String, u64)>) -> Work {
        let Some(open) = self.open.get_mut(request_id) else {
            let problem = format!("nobody was asked {request_id}");
            return over(Err(Thrown::Runtime(problem)));
        };
        open.effect = Some(id);
        let elsewhere = open.elsewhere.clone();
        Box::pin(async move {
            let news = news(elsewhere, topics).await;
            let failed = |error: LogError| Thrown::Runtime(format!("event_log: {error}"));
            news.map(|()| Value::Null).map_err(failed)
        })
    }

    fn resolved(&mut self, request_id: &str, outcome: Outcome) -> Work {
        let Some(open) = self.open.remove(request_id) else {
            return over(Ok(Value::Null));
        };
        open.elsewhere.tell_resolved();
        if let Some(asked) = open.asked {
            asked.resolve(outcome);
        }
        settled(open.session)
    }
}

impl Drop for PeoplePort {
    /// The program has ended: nobody waits any more.
    fn drop(&mut self) {
        for (_, open) in self.open.drain() {
            if !open.is_decided {
                open.abandon();
            }
        }
    }
}

impl Open {
    /// Takes the request back, in the logs first and then in the session.
    fn abandon(self) {
        let Elsewhere {
            logs, request_id, ..
        } = &self.elsewhere;
        let payload = json!({
            "id": request_id,
            "at": rfc3339(now()),
            "by": null,
            "reason": "nobody waits any more",
            "value": null,
            "metadata": null,
        });
        let event = LogEvent::new("waitpoint.cancelled", payload);
        let written = block_on(logs.append("waitpoints", event, BTreeMap::new()));
        if let Err(error) = written {
            tracing::warn!("a request to people stays open: {error}");
        }
        self.elsewhere.tell_resolved();
        if let Some(asked) = self.asked {
            asked.resolve(Outcome::Cancelled);
        }
    }
}

/// Says that this process waits for the answer now.
async fn resume(logs: &Logs, request: &Request, process: &str) -> Result<(), LogError> {
    let topic = Topic::new(request.kind.topic())?;
    let event = LogEvent::new(RESUMED, json!({"request_id": request.id()}));
    let event = event.with_header(headers::PROCESS, process);
    logs.lasting().append_durable(&topic, event).await?;
    Ok(())
}

/// Lets a session see what was said in it.
fn settled(session: Option<(Arc<Runtime>, String)>) -> Work {
    let Some((runtime, session_id)) = session else {
        return over(Ok(Value::Null));
    };
    Box::pin(async move {
        runtime.settle_session(&session_id).await;
        Ok(Value::Null)
    })
}

fn over(outcome: Result<Value, Thrown>) -> Work {
    Box::pin(ready(outcome))
}
