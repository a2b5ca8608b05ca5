//! Questions that a server asks instead of answering.
//!
//! Each round is an effect: what the server asks is written down before anybody is asked, and
//! what is answered before the server hears it.

use std::sync::Arc;

use harn_agent::tool_servers::{CallJournal, ServerRequest};
use rmcp::model::{InputRequest, InputRequests, InputResponses};
use serde_json::{Value, json};

use crate::handler::Handler;

/// How often a server may ask before it answers.
pub(crate) const ROUNDS_MAX: usize = 10;

/// Who is asked, and where it is written down.
pub(crate) struct Rounds<'a> {
    pub(crate) handler: &'a Handler,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) journal: Option<&'a Arc<dyn CallJournal>>,
}

impl Rounds<'_> {
    /// Answers the questions of one round.
    pub(crate) async fn answer(
        &self,
        requests: &InputRequests,
        request_state: Option<&str>,
    ) -> InputResponses {
        if let Some(journal) = self.journal {
            let asked = json!({"input_requests": requests, "request_state": request_state});
            journal.input_required(asked).await;
        }
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            responses.insert(key.clone(), self.answer_one(request).await);
        }
        if let Some(journal) = self.journal {
            journal
                .input_given(json!({"input_responses": responses}))
                .await;
        }
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
