//! What a server says without being asked, and what it asks.
#![expect(
    deprecated,
    reason = "servers of the handshake still ask for models and roots, and still log"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harn_agent::tool_servers::{Capabilities, ServerClient, ServerNotice, ServerRequest};
use rmcp::ClientHandler;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, CustomNotification, ElicitRequestParams, ElicitResult,
    ElicitationCapability, ErrorData, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam, RootsCapabilities, SamplingCapability, ServerNotification,
    TASKS_EXTENSION_ID, TaskStatusNotificationParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::in_flight::InFlight;

/// How many questions of a server may be open at once. One that asks more hears that nobody
/// answers, and nobody is bothered with it.
const QUESTIONS_MAX: usize = 16;

/// Hears a server.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) client: Arc<dyn ServerClient>,
    pub(crate) in_flight: Arc<InFlight>,
    /// Goes up when a list of the server has changed.
    pub(crate) catalogue: Arc<AtomicU64>,
    /// How many more questions of the server may be open.
    questions: Arc<Semaphore>,
    /// When changes of lists were heard.
    list_changes: Arc<Mutex<HashMap<&'static str, ListChange>>>,
}

/// When a list was last said to have changed.
struct ListChange {
    heard: Instant,
    /// It was said again since, and is heard when it is time.
    is_planned: bool,
}

/// How often a server is heard that says that a list has changed.
const LIST_CHANGED_EVERY: Duration = Duration::from_secs(5);

impl Handler {
    pub(crate) fn new(client: Arc<dyn ServerClient>) -> Self {
        Self {
            client,
            in_flight: Arc::default(),
            catalogue: Arc::default(),
            questions: Arc::new(Semaphore::new(QUESTIONS_MAX)),
            list_changes: Arc::default(),
        }
    }

    /// The server said something.
    fn notice(&self, method: &str, params: Value, session_id: Option<String>) {
        self.client.notice(ServerNotice {
            method: method.to_owned(),
            is_request: false,
            params,
            session_id: session_id.or_else(|| self.in_flight.only_session()),
        });
    }

    /// A list has changed, says the server. It is heard at most once in a while; what it says
    /// before that is heard then.
    fn list_changed(&self, method: &'static str) {
        let now = Instant::now();
        let mut changes = self
            .list_changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let wait = match changes.get_mut(method) {
            Some(change) if now < change.heard + LIST_CHANGED_EVERY => {
                if std::mem::replace(&mut change.is_planned, true) {
                    return;
                }
                Some(change.heard + LIST_CHANGED_EVERY)
            }
            _ => {
                let change = ListChange {
                    heard: now,
                    is_planned: false,
                };
                changes.insert(method, change);
                None
            }
        };
        drop(changes);
        match wait {
            None => self.hear_list_changed(method),
            Some(until) => {
                let own = self.clone();
                tokio::spawn(async move {
                    tokio::time::sleep_until(until).await;
                    let heard = ListChange {
                        heard: Instant::now(),
                        is_planned: false,
                    };
                    let mut changes = own
                        .list_changes
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    changes.insert(method, heard);
                    drop(changes);
                    own.hear_list_changed(method);
                });
            }
        }
    }

    /// The version goes first: who hears the notice and then looks at the version must find that
    /// the list is old.
    fn hear_list_changed(&self, method: &str) {
        self.catalogue.fetch_add(1, Ordering::AcqRel);
        self.notice(method, json!({}), None);
        let session = self.in_flight.only_session();
        self.client.catalogue_changed(session.as_deref());
    }

    /// What comes over a subscription is the same as what comes by itself.
    pub(crate) fn subscribed(&self, notification: ServerNotification) {
        use ServerNotification as Said;
        match notification {
            Said::ToolListChangedNotification(_) => self.list_changed(TOOLS_CHANGED),
            Said::PromptListChangedNotification(_) => self.list_changed(PROMPTS_CHANGED),
            Said::ResourceListChangedNotification(_) => self.list_changed(RESOURCES_CHANGED),
            Said::ResourceUpdatedNotification(updated) => {
                self.notice(
                    "notifications/resources/updated",
                    shown(&updated.params),
                    None,
                );
            }
            Said::TaskStatusNotification(task) => {
                self.notice("notifications/tasks", shown(&task.params), None);
            }
            Said::CustomNotification(custom) => {
                self.notice(&custom.method, custom.params.unwrap_or_default(), None);
            }
            _ => {}
        }
    }

    /// Asks whoever can answer, after everybody could see that the server asks.
    ///
    /// # Errors
    /// Why it is not answered, for the server.
    pub(crate) async fn answer(
        &self,
        method: &str,
        params: Value,
        request: ServerRequest,
        session_id: Option<&str>,
    ) -> Result<Value, String> {
        let Ok(_open) = self.questions.try_acquire() else {
            return too_many(&request);
        };
        let only = self.in_flight.only_session();
        let session_id = session_id.or(only.as_deref());
        self.client.notice(ServerNotice {
            method: method.to_owned(),
            is_request: true,
            params,
            session_id: session_id.map(str::to_owned),
        });
        self.client.answer(request, session_id).await
    }

    /// Answers a question that came by itself. It is taken back when the server does not want to
    /// know any more, and when nobody waits for what it is about.
    async fn typed<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let question = self.in_flight.ask();
        let answered = tokio::select! {
            biased;
            answered = self.answer(method, params, request, None) => answered,
            () = context.ct.cancelled() => Err("it was cancelled".to_owned()),
            () = question.is_pointless() => Err("nobody waits for it any more".to_owned()),
        };
        let answer = answered.map_err(|reason| ErrorData::invalid_request(reason, None))?;
        let wrong = |_| ErrorData::internal_error("the answer is not understood", None);
        serde_json::from_value(answer).map_err(wrong)
    }
}

/// What a server hears that asks before it has heard enough answers.
fn too_many(request: &ServerRequest) -> Result<Value, String> {
    let reason = format!("{QUESTIONS_MAX} questions are open");
    tracing::debug!("a question of a server is not asked: {reason}");
    match request {
        ServerRequest::Elicit(_) => Ok(json!({"action": "cancel"})),
        ServerRequest::Sample(_) | ServerRequest::Roots => Err(reason),
    }
}

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";

/// Parameters as JSON. They were JSON a moment ago.
fn shown(params: &impl Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_default()
}

/// What is announced to a server. What nobody could answer is not announced.
pub(crate) fn announced(capabilities: Capabilities) -> ClientCapabilities {
    let mut announced = ClientCapabilities::default();
    let tasks = (TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new());
    announced.extensions = Some(std::iter::once(tasks).collect());
    if capabilities.forms || capabilities.urls {
        let mut elicitation = ElicitationCapability::new();
        if capabilities.forms {
            elicitation = elicitation.with_form(Default::default());
        }
        if capabilities.urls {
            elicitation = elicitation.with_url(Default::default());
        }
        announced.elicitation = Some(elicitation);
    }
    if capabilities.sampling {
        announced.sampling = Some(SamplingCapability::default());
    }
    if capabilities.roots {
        announced.roots = Some(RootsCapabilities::default());
    }
    announced
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = announced(self.client.capabilities());
        let ours = Implementation::new("harn", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, ours)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = shown(&request);
        let asked = ServerRequest::Elicit(params.clone());
        self.typed("elicitation/create", params, asked, context)
            .await
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let params = shown(&request);
        let asked = ServerRequest::Sample(params.clone());
        self.typed("sampling/createMessage", params, asked, context)
            .await
    }

    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.typed("roots/list", json!({}), ServerRequest::Roots, context)
            .await
    }

    async fn on_cancelled(
        &self,
        params: CancelledNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notice("notifications/cancelled", shown(&params), None);
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.in_flight.progressed(&params.progress_token);
        let session = self.in_flight.session_of(&params.progress_token);
        self.notice("notifications/progress", shown(&params), session);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notice("notifications/message", shown(&params), None);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notice("notifications/resources/updated", shown(&params), None);
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed(RESOURCES_CHANGED);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed(TOOLS_CHANGED);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed(PROMPTS_CHANGED);
    }

    async fn on_task_status(
        &self,
        params: TaskStatusNotificationParams,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notice("notifications/tasks", shown(&params), None);
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        let params = notification.params.unwrap_or_default();
        self.notice(&notification.method, params, None);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use harn_agent::BoxFuture;

    use super::*;

    /// Somebody who takes their time.
    struct Thoughtful;

    impl ServerClient for Thoughtful {
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }

        fn notice(&self, _: ServerNotice) {}

        fn catalogue_changed(&self, _: Option<&str>) {}

        fn auth_required(&self, _: &str, _: Option<&str>, _: Option<&str>) {}

        fn answer<'a>(
            &'a self,
            _: ServerRequest,
            _: Option<&'a str>,
        ) -> BoxFuture<'a, Result<Value, String>> {
            Box::pin(std::future::pending())
        }

        fn warn(&self, _: &str) {}
    }

    /// Asks, and gives what is answered at once.
    async fn at_once(
        asking: &mut BoxFuture<'_, Result<Value, String>>,
    ) -> Option<Result<Value, String>> {
        poll_fn(|context| match asking.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    #[tokio::test]
    async fn a_server_has_only_so_many_questions_open() {
        let handler = Handler::new(Arc::new(Thoughtful));
        let ask = |request: ServerRequest| -> BoxFuture<'_, Result<Value, String>> {
            Box::pin(handler.answer("elicitation/create", json!({}), request, None))
        };
        let form = || ServerRequest::Elicit(json!({}));
        let mut open = Vec::new();
        for _ in 0..QUESTIONS_MAX {
            let mut asking = ask(form());
            assert_eq!(at_once(&mut asking).await, None);
            open.push(asking);
        }
        let cancelled = Some(Ok(json!({"action": "cancel"})));
        assert_eq!(at_once(&mut ask(form())).await, cancelled);
        let refused = Some(Err("16 questions are open".to_owned()));
        assert_eq!(at_once(&mut ask(ServerRequest::Roots)).await, refused);
        // One that is answered or taken back makes room.
        open.pop();
        assert_eq!(at_once(&mut ask(form())).await, None);
    }
}
