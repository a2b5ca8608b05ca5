//! A server that is started when it is used, and again when it has ended.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Guarded, PoisonError};
use std::time::Duration;

use harn_agent::BoxFuture;
use harn_agent::tool_servers::{
    CallResult, Endpoint, Generation, Listed, ServerCall, ServerClient, ServerConfig, ServerError,
    ServerFacts, ToolServer,
};
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, GetPromptRequest,
    GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams, Reference,
    ServerResult,
};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use crate::failure::Failures;
use crate::handler::Handler;
use crate::http::{self, Attempts};
use crate::link::{Link, Making, Request};
use crate::rounds::{ROUNDS_MAX, Rounds};
use crate::servers::Surroundings;
use crate::stdio::Guardians;
use crate::{call, lists, tasks};

/// How often a server is started in a while before it is left alone.
const STARTS_MAX: usize = 5;

/// That while.
const STARTS_WITHIN: Duration = Duration::from_secs(10 * 60);

/// The pause before the second start; each later one is twice as long.
const BACKOFF: Duration = Duration::from_millis(100);

/// A server, connected or not.
pub(crate) struct Server {
    config: ServerConfig,
    client: Arc<dyn ServerClient>,
    surroundings: Arc<Surroundings>,
    guardians: Guardians,
    handler: Handler,
    /// Whoever connects holds it, so that nobody else does at the same time.
    connecting: Mutex<Memory>,
    /// What is connected now.
    link: Guarded<Option<Arc<Link>>>,
    /// Closed for good.
    is_closed: AtomicBool,
    /// Told when it is closed, so that nobody goes on waiting.
    closing: watch::Sender<bool>,
    /// The tools as they were listed last, and for which version of the catalogue.
    tools: Guarded<Option<(u64, Arc<Vec<Value>>)>>,
}

/// What is remembered between connections.
#[derive(Default)]
struct Memory {
    /// The way of talking that was found.
    generation: Option<Generation>,
    /// When it was started lately.
    starts: VecDeque<Instant>,
}

impl Memory {
    /// How long to wait before it is started again; `None` if it is left alone.
    fn may_start(&mut self, now: Instant) -> Option<Duration> {
        while self
            .starts
            .front()
            .is_some_and(|start| now - *start > STARTS_WITHIN)
        {
            self.starts.pop_front();
        }
        // The first start is none of the restarts.
        let restarts = self.starts.len();
        (restarts <= STARTS_MAX).then(|| match restarts {
            0 => Duration::ZERO,
            restarts => BACKOFF * (1 << (restarts - 1)),
        })
    }
}

impl Server {
    pub(crate) fn new(
        config: ServerConfig,
        client: Arc<dyn ServerClient>,
        surroundings: Arc<Surroundings>,
        guardians: Guardians,
    ) -> Self {
        let handler = Handler::new(Arc::clone(&client));
        Self {
            config,
            client,
            surroundings,
            guardians,
            handler,
            connecting: Mutex::default(),
            link: Guarded::default(),
            is_closed: AtomicBool::new(false),
            closing: watch::channel(false).0,
            tools: Guarded::default(),
        }
    }

    /// The connection, made anew if there is none.
    async fn link(&self) -> Result<Arc<Link>, ServerError> {
        if let Some(link) = self.live()? {
            return Ok(link);
        }
        let mut memory = self.connecting.lock().await;
        if let Some(link) = self.live()? {
            return Ok(link);
        }
        // Only processes are restarted; a service is somebody else's.
        let pause = match self.config.endpoint {
            Endpoint::Stdio(_) => memory.may_start(Instant::now()),
            Endpoint::Http(_) => Some(Duration::ZERO),
        };
        let Some(pause) = pause else {
            return Err(ServerError::RestartedTooOften {
                server: self.config.name.clone(),
                starts: STARTS_MAX + 1,
                minutes: STARTS_WITHIN.as_secs() / 60,
            });
        };
        tokio::time::sleep(pause).await;
        memory.starts.push_back(Instant::now());
        let making = Making {
            config: &self.config,
            client: &self.client,
            surroundings: &self.surroundings,
            guardians: &self.guardians,
            handler: self.handler.clone(),
        };
        let opened = Link::open(&making, memory.generation).await;
        let link = Arc::new(opened?);
        memory.generation = Some(link.facts.generation);
        // What was listed before may be something else now.
        self.handler.catalogue.fetch_add(1, Ordering::AcqRel);
        let mut kept = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_closed.load(Ordering::Acquire) {
            return Err(ServerError::Disconnected);
        }
        *kept = Some(Arc::clone(&link));
        Ok(link)
    }

    /// The connection, if there is one that works.
    fn live(&self) -> Result<Option<Arc<Link>>, ServerError> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(ServerError::Disconnected);
        }
        let mut kept = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_some_and(|link| link.is_closed()) {
            *kept = None;
        }
        Ok(kept.clone())
    }

    /// Somebody has to log in: the session hears of it.
    fn told<T>(
        &self,
        result: Result<T, ServerError>,
        session_id: Option<&str>,
    ) -> Result<T, ServerError> {
        if let Err(ServerError::AuthRequired {
            resource, scope, ..
        }) = &result
        {
            self.client
                .auth_required(resource, scope.as_deref(), session_id);
        }
        result
    }

    /// Does some work; if the server wants to know who asks and somebody can be asked, does it
    /// again after the login. A request that was refused has done nothing.
    async fn let_in<T, W>(
        &self,
        session_id: Option<&str>,
        work: impl Fn() -> W,
    ) -> Result<T, ServerError>
    where
        W: Future<Output = Result<T, ServerError>>,
    {
        let mut attempts = Attempts::default();
        loop {
            let done = self.unless_closed(work()).await;
            if matches!(done, Err(ServerError::AuthRequired { .. })) {
                let login = http::login(&self.config, &self.surroundings.web, &mut attempts);
                if self.unless_closed(login).await? {
                    continue;
                }
            }
            return self.told(done, session_id);
        }
    }

    /// Until the work is done or the connection is closed.
    async fn unless_closed<T>(
        &self,
        work: impl Future<Output = Result<T, ServerError>>,
    ) -> Result<T, ServerError> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            result = work => result,
            _ = closing.wait_for(|is_closing| *is_closing) => Err(ServerError::Disconnected),
        }
    }

    async fn list_now(&self, link: &Link, what: Listed) -> Result<Arc<Vec<Value>>, ServerError> {
        let version = self.handler.catalogue.load(Ordering::Acquire);
        let entries = Arc::new(lists::all(link, &self.config, what).await?);
        if what == Listed::Tools {
            let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
            *tools = Some((version, Arc::clone(&entries)));
        }
        Ok(entries)
    }

    /// What the server says about a tool now.
    async fn tool(&self, link: &Link, name: &str) -> Result<Value, ServerError> {
        let version = self.handler.catalogue.load(Ordering::Acquire);
        let known = self
            .tools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let find = |tools: &[Value]| tools.iter().find(|tool| tool["name"] == name).cloned();
        if let Some((listed, tools)) = known
            && listed == version
            && let Some(tool) = find(&tools)
        {
            return Ok(tool);
        }
        let tools = self.list_now(link, Listed::Tools).await?;
        find(&tools).ok_or_else(|| ServerError::Refused {
            code: -32602,
            message: format!("mcp server '{}' has no tool '{name}'", self.config.name),
            data: None,
        })
    }

    async fn call_now(&self, asked: &ServerCall) -> Result<CallResult, ServerError> {
        let link = self.link().await?;
        let tool = self.tool(&link, &asked.tool).await?;
        call::call(&link, &self.config, &self.handler, &tool, asked).await
    }

    async fn read_now(
        &self,
        uri: &str,
        session_id: Option<&str>,
    ) -> Result<Vec<Value>, ServerError> {
        let link = self.link().await?;
        let rounds = self.rounds(&link, session_id);
        let mut params = ReadResourceRequestParams::new(uri);
        for _ in 0..=ROUNDS_MAX {
            let request = ReadResourceRequest::new(params.clone());
            let request = ClientRequest::ReadResourceRequest(request);
            let request = Request::new(request, "resources/read").of(session_id);
            match link.ask(&self.config, request).await? {
                ServerResult::InputRequiredResult(asked) => {
                    let requests = asked.input_requests.unwrap_or_default();
                    let state = asked.request_state;
                    let given = rounds.answer(&requests, state.as_deref()).await?;
                    params.input_responses = Some(given);
                    params.request_state = state;
                }
                ServerResult::ReadResourceResult(result) => {
                    let contents = result.contents.iter().map(serde_json::to_value);
                    return Ok(contents.filter_map(Result::ok).collect());
                }
                _ => return Err(self.something_else(&link, "resources/read")),
            }
        }
        Err(tasks::too_many_rounds(&self.failures(&link)))
    }

    async fn prompt_now(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        session_id: Option<&str>,
    ) -> Result<Value, ServerError> {
        let link = self.link().await?;
        let rounds = self.rounds(&link, session_id);
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments);
        for _ in 0..=ROUNDS_MAX {
            let request = GetPromptRequest::new(params.clone());
            let request = ClientRequest::GetPromptRequest(request);
            let request = Request::new(request, "prompts/get").of(session_id);
            match link.ask(&self.config, request).await? {
                ServerResult::InputRequiredResult(asked) => {
                    let requests = asked.input_requests.unwrap_or_default();
                    let state = asked.request_state;
                    let given = rounds.answer(&requests, state.as_deref()).await?;
                    params.input_responses = Some(given);
                    params.request_state = state;
                }
                ServerResult::GetPromptResult(result) => {
                    let mut prompt = json!({"messages": result.messages});
                    if let Some(description) = result.description {
                        prompt["description"] = json!(description);
                    }
                    return Ok(prompt);
                }
                _ => return Err(self.something_else(&link, "prompts/get")),
            }
        }
        Err(tasks::too_many_rounds(&self.failures(&link)))
    }

    async fn complete_now(
        &self,
        reference: Value,
        argument: &str,
        value: &str,
    ) -> Result<Value, ServerError> {
        let link = self.link().await?;
        let reference: Reference = serde_json::from_value(reference).map_err(|error| {
            ServerError::InvalidArguments(format!("this cannot be completed: {error}"))
        })?;
        let argument = ArgumentInfo::new(argument, value);
        let request = CompleteRequest::new(CompleteRequestParams::new(reference, argument));
        let request = ClientRequest::CompleteRequest(request);
        match link
            .ask(&self.config, Request::new(request, "completion/complete"))
            .await?
        {
            ServerResult::CompleteResult(result) => {
                Ok(serde_json::to_value(result.completion).unwrap_or_default())
            }
            _ => Err(self.something_else(&link, "completion/complete")),
        }
    }

    fn rounds<'a>(&'a self, link: &'a Link, session_id: Option<&'a str>) -> Rounds<'a> {
        Rounds {
            handler: &self.handler,
            link,
            config: &self.config,
            session_id,
            journal: None,
        }
    }

    fn failures<'a>(&'a self, link: &'a Link) -> Failures<'a> {
        Failures {
            config: &self.config,
            fault: &link.fault,
        }
    }

    fn something_else(&self, link: &Link, what: &str) -> ServerError {
        let problem = format!("answered '{what}' with something else");
        self.failures(link).broken(problem)
    }
}

/// What a server is, whatever it is called. Variables and headers are secrets and no part of it.
fn identity(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Stdio(process) => {
            let words = std::iter::once(&process.command).chain(&process.arguments);
            json!(words.collect::<Vec<_>>()).to_string()
        }
        Endpoint::Http(service) => service
            .url
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

impl ToolServer for Server {
    fn identity(&self) -> String {
        identity(&self.config.endpoint)
    }

    fn name(&self) -> &str {
        &self.config.name
    }

    fn is_connected(&self) -> bool {
        self.live().is_ok_and(|link| link.is_some())
    }

    fn connect(&self) -> BoxFuture<'_, Result<ServerFacts, ServerError>> {
        Box::pin(async {
            let link = self.let_in(None, || self.link()).await?;
            Ok(link.facts.clone())
        })
    }

    fn list(&self, what: Listed) -> BoxFuture<'_, Result<Arc<Vec<Value>>, ServerError>> {
        Box::pin(async move {
            let listing = || async {
                let link = self.link().await?;
                self.list_now(&link, what).await
            };
            self.let_in(None, listing).await
        })
    }

    fn catalogue_version(&self) -> u64 {
        self.handler.catalogue.load(Ordering::Acquire)
    }

    fn call(&self, asked: ServerCall) -> BoxFuture<'_, Result<CallResult, ServerError>> {
        Box::pin(async move {
            let session_id = asked.session_id.as_deref();
            self.let_in(session_id, || self.call_now(&asked)).await
        })
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Value>, ServerError>> {
        Box::pin(async move {
            self.let_in(session_id, || self.read_now(uri, session_id))
                .await
        })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(async move {
            let getting = || self.prompt_now(name, arguments.clone(), session_id);
            self.let_in(session_id, getting).await
        })
    }

    fn complete<'a>(
        &'a self,
        reference: Value,
        argument: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(async move {
            let completing = || self.complete_now(reference.clone(), argument, value);
            self.let_in(None, completing).await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.is_closed.store(true, Ordering::Release);
            self.closing.send_replace(true);
            let link = {
                let mut kept = self.link.lock().unwrap_or_else(PoisonError::into_inner);
                kept.take()
            };
            // Calls that were in flight let go of it now; the last of them ends it.
            if let Some(link) = link.and_then(Arc::into_inner) {
                link.close().await;
            }
            self.client.ended();
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_again_and_again_is_left_alone_for_a_while() {
        let begin = Instant::now();
        let mut memory = Memory::default();
        let mut pauses = Vec::new();
        while let Some(pause) = memory.may_start(begin) {
            pauses.push(pause.as_millis());
            memory.starts.push_back(begin);
        }
        assert_eq!(pauses, [0, 100, 200, 400, 800, 1600]);
        let later = begin + STARTS_WITHIN + Duration::from_secs(1);
        assert_eq!(memory.may_start(later), Some(Duration::ZERO));
    }
}
