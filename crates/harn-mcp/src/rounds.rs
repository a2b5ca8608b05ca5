//! Questions that a server asks instead of answering.
//!
//! Each round is an effect: what the server asks is written down before anybody is asked, and
//! what is answered before the server hears it. The questions of a round are asked at once, so
//! that a round takes no longer than its slowest answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use harn_agent::BoxFuture;
use harn_agent::tool_servers::{CallJournal, ServerConfig, ServerError, ServerRequest};
use rmcp::model::{InputRequest, InputRequests, InputResponses};
use serde_json::{Value, json};

use crate::failure::Failures;
use crate::handler::Handler;
use crate::link::Link;

/// How often a server may ask before it answers.
pub(crate) const ROUNDS_MAX: usize = 10;

/// How much a server may ask at once.
const QUESTIONS_MAX: usize = 16;

/// How long a round may take. People have a day, after which they have answered; the rest is for
/// hosts that never answer.
const ROUND_TIME: Duration = Duration::from_secs(25 * 60 * 60);

/// Who is asked, and where it is written down.
pub(crate) struct Rounds<'a> {
    pub(crate) handler: &'a Handler,
    pub(crate) link: &'a Link,
    pub(crate) config: &'a ServerConfig,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) journal: Option<&'a Arc<dyn CallJournal>>,
}

impl Rounds<'_> {
    /// Answers the questions of one round.
    ///
    /// # Errors
    /// The server asks too much at once, or it has ended before everything was answered.
    pub(crate) async fn answer(
        &self,
        requests: &InputRequests,
        request_state: Option<&str>,
    ) -> Result<InputResponses, ServerError> {
        let failures = Failures {
            config: self.config,
            fault: &self.link.fault,
        };
        if requests.len() > QUESTIONS_MAX {
            let problem = format!("asked more than {QUESTIONS_MAX} questions at once");
            return Err(failures.broken(problem));
        }
        if let Some(journal) = self.journal {
            let asked = json!({"input_requests": requests, "request_state": request_state});
            journal.input_required(asked).await;
        }
        let answering = tokio::time::timeout(ROUND_TIME, self.answer_all(requests));
        let responses = tokio::select! {
            biased;
            answered = answering => answered.map_err(|_| {
                let limit_ms = u64::try_from(ROUND_TIME.as_millis()).unwrap_or(u64::MAX);
                failures.timed_out("input_required", limit_ms)
            })?,
            // Nobody is left who would hear the answer.
            () = self.link.ended() => return Err(failures.ended()),
        };
        if let Some(journal) = self.journal {
            journal
                .input_given(json!({"input_responses": responses}))
                .await;
        }
        Ok(responses)
    }

    async fn answer_all(&self, requests: &InputRequests) -> InputResponses {
        let asking = requests.iter().map(|(key, request)| {
            let answering: BoxFuture<'_, Value> = Box::pin(self.answer_one(request));
            (key, answering)
        });
        let mut asking: Vec<(&String, BoxFuture<'_, Value>)> = asking.collect();
        let mut responses = InputResponses::new();
        poll_fn(|context| {
            asking.retain_mut(|(key, answering)| match answering.as_mut().poll(context) {
                Poll::Ready(answer) => {
                    responses.insert((*key).clone(), answer);
                    false
                }
                Poll::Pending => true,
            });
            match asking.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        responses
    }

    /// What nobody answers is declined, which is an answer as well.
    async fn answer_one(&self, request: &InputRequest) -> Value {
        let whole = serde_json::to_value(request).unwrap_or_default();
        let params = whole.get("params").cloned().unwrap_or_else(|| json!({}));
        let (method, asked, declined) = match request {
            InputRequest::Elicitation(_) => (
                "elicitation/create",
                ServerRequest::Elicit(params.clone()),
                json!({"action": "decline"}),
            ),
            InputRequest::CreateMessage(_) => (
                "sampling/createMessage",
                ServerRequest::Sample(params.clone()),
                Value::Null,
            ),
            _ => ("roots/list", ServerRequest::Roots, json!({"roots": []})),
        };
        let answered = self.handler.answer(method, params, asked, self.session_id);
        answered.await.unwrap_or_else(|reason| {
            tracing::debug!("'{method}' of a server is declined: {reason}");
            declined
        })
    }
}
