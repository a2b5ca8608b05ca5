//! One live connection to a server.

use std::sync::Arc;
use std::time::Duration;

use harn_agent::tool_servers::{
    Endpoint, Generation, ProtocolChoice, ServerClient, ServerConfig, ServerError, ServerFacts,
};
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ProtocolVersion, RequestMetaObject, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions,
    RoleClient, RunningService,
};
use rmcp::transport::Transport;
use tokio::runtime::Handle;

use crate::failure::Failures;
use crate::forgetful::Forgetful;
use crate::handler::Handler;
use crate::http;
use crate::in_flight::InFlight;
use crate::servers::Surroundings;
use crate::stdio::{self, Fault, Guardians};
use crate::watched::{Ending, Watched};

/// What a connection is made with.
pub(crate) struct Making<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) client: &'a Arc<dyn ServerClient>,
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) guardians: &'a Guardians,
    pub(crate) handler: Handler,
}

/// One live connection.
pub(crate) struct Link {
    service: RunningService<RoleClient, Handler>,
    pub(crate) facts: ServerFacts,
    pub(crate) fault: Fault,
    ending: Ending,
    in_flight: Arc<InFlight>,
    /// Where the connection lives, for what has to be said when somebody stops waiting.
    tokio: Handle,
}

/// Why there is no connection.
enum Unopened {
    /// The server said what it can do when that question had been given up and the handshake had
    /// begun: it is a modern one that was slow to start.
    Modern(ServerError),
    Failed(ServerError),
}

impl From<ServerError> for Unopened {
    fn from(error: ServerError) -> Self {
        Self::Failed(error)
    }
}

impl From<Unopened> for ServerError {
    fn from(why: Unopened) -> Self {
        match why {
            Unopened::Modern(error) | Unopened::Failed(error) => error,
        }
    }
}

/// A request and how long its answer may take.
pub(crate) struct Request {
    pub(crate) request: ClientRequest,
    /// What it is called in messages.
    pub(crate) what: String,
    pub(crate) session_id: Option<String>,
    pub(crate) traceparent: Option<String>,
}

impl Request {
    pub(crate) fn new(request: ClientRequest, what: impl Into<String>) -> Self {
        Self {
            request,
            what: what.into(),
            session_id: None,
            traceparent: None,
        }
    }

    pub(crate) fn of(mut self, session_id: Option<&str>) -> Self {
        self.session_id = session_id.map(str::to_owned);
        self
    }
}

impl Link {
    /// Connects within the time that the server has for it.
    pub(crate) async fn open(
        making: &Making<'_>,
        remembered: Option<Generation>,
    ) -> Result<Self, ServerError> {
        let limit_ms = making.config.limits.connect_ms;
        let opening = Self::open_either_way(making, remembered);
        let opened = tokio::time::timeout(Duration::from_millis(limit_ms), opening).await;
        opened.unwrap_or_else(|_| {
            Err(ServerError::TimedOut {
                server: making.config.name.clone(),
                what: "connect".to_owned(),
                limit_ms,
            })
        })
    }

    async fn open_either_way(
        making: &Making<'_>,
        remembered: Option<Generation>,
    ) -> Result<Self, ServerError> {
        let mode = mode(making.config.protocol, remembered);
        let may_fall_back = matches!(mode, ClientLifecycleMode::Auto { .. });
        let better = match Self::open_once(making, mode).await {
            // Some servers of the handshake end when they hear anything else first.
            Err(Unopened::Failed(ServerError::Ended { .. })) if may_fall_back => {
                ClientLifecycleMode::Initialize
            }
            Err(Unopened::Modern(_)) if may_fall_back => discovery(),
            opened => return opened.map_err(ServerError::from),
        };
        Ok(Self::open_once(making, better).await?)
    }

    async fn open_once(making: &Making<'_>, mode: ClientLifecycleMode) -> Result<Self, Unopened> {
        let Making { config, client, .. } = making;
        match &config.endpoint {
            Endpoint::Stdio(endpoint) => {
                let (transport, fault) = stdio::open(
                    config,
                    endpoint,
                    making.surroundings,
                    making.guardians,
                    client,
                )?;
                Self::serve(making, transport, fault, mode).await
            }
            Endpoint::Http(endpoint) => {
                let transport = http::open(config, endpoint, &making.surroundings.web)?;
                Self::serve(making, transport, Fault::default(), mode).await
            }
        }
    }

    async fn serve<T>(
        making: &Making<'_>,
        transport: T,
        fault: Fault,
        mode: ClientLifecycleMode,
    ) -> Result<Self, Unopened>
    where
        T: Transport<RoleClient> + 'static,
    {
        let handler = making.handler.clone();
        let in_flight = Arc::clone(&handler.in_flight);
        let (transport, ending) = Watched::new(Forgetful::new(transport));
        let served = handler.serve_with_lifecycle(transport, mode).await;
        let failures = Failures {
            config: making.config,
            fault: &fault,
        };
        let service = served.map_err(|error| match error {
            ClientInitializeError::ConflictInitResponseId(..) => {
                Unopened::Modern(failures.of_start(&error))
            }
            error => Unopened::Failed(failures.of_start(&error)),
        })?;
        let facts = facts(&service)
            .ok_or_else(|| failures.broken("did not say what it can do".to_owned()))?;
        let link = Self {
            facts,
            in_flight,
            fault,
            ending,
            tokio: Handle::current(),
            service,
        };
        link.listen();
        Ok(link)
    }

    /// Whether nobody is at the other end any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Until nobody is at the other end any more.
    pub(crate) async fn ended(&self) {
        self.ending.wait().await;
    }

    /// The other end.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether the server said that it can do something.
    pub(crate) fn can(&self, what: &str) -> bool {
        !self.facts.capabilities[what].is_null()
    }

    /// Asks, and waits as long as the server shows signs of life, but not for ever. If this is
    /// dropped, the server is told that nobody waits any more.
    pub(crate) async fn ask(
        &self,
        config: &ServerConfig,
        request: Request,
    ) -> Result<ServerResult, ServerError> {
        let limits = config.limits;
        let mut options = PeerRequestOptions::no_options();
        if let Some(traceparent) = request.traceparent {
            let mut meta = RequestMetaObject::new();
            meta.set_traceparent(traceparent);
            options = options.with_meta(meta);
        }
        let failures = Failures {
            config,
            fault: &self.fault,
        };
        let waiting = self.in_flight.begin(request.session_id);
        let sent = self
            .peer()
            .send_request_with_option(request.request, options);
        let handle = sent
            .await
            .map_err(|error| failures.of_request(&request.what, &error))?;
        waiting.sent(handle.progress_token.clone());
        let mut abandoned = Abandoned {
            link: self,
            id: Some(handle.id.clone()),
        };
        tokio::select! {
            biased;
            answer = handle.await_response() => {
                abandoned.id = None;
                answer.map_err(|error| failures.of_request(&request.what, &error))
            }
            () = waiting.idle(Duration::from_millis(limits.idle_ms)) => {
                Err(failures.timed_out(&request.what, limits.idle_ms))
            }
            // The protocol could count this as well, but not without the time that people take.
            () = waiting.overdue(Duration::from_millis(limits.total_ms)) => {
                Err(failures.timed_out(&request.what, limits.total_ms))
            }
        }
    }

    /// Hears of changes. Servers of the handshake tell by themselves; others are asked to.
    fn listen(&self) {
        if self.facts.generation == Generation::Handshake {
            return;
        }
        let changes = |what: &str| self.facts.capabilities[what]["listChanged"] == true;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = changes("tools").then_some(true);
        filter.prompts_list_changed = changes("prompts").then_some(true);
        filter.resources_list_changed = changes("resources").then_some(true);
        if filter == SubscriptionFilter::new() {
            return;
        }
        let (peer, handler) = (self.peer().clone(), self.service.service().clone());
        // It ends with the connection.
        tokio::spawn(async move {
            let Ok(mut subscription) = peer.listen(filter).await else {
                tracing::debug!("a server does not tell of changes");
                return;
            };
            while let Ok(Some(notification)) = subscription.next().await {
                handler.subscribed(notification);
            }
        });
    }

    /// Asks something whose answer nobody waits for.
    pub(crate) fn send_later(&self, request: ClientRequest) {
        let peer = self.peer().clone();
        self.tokio.spawn(async move {
            let _it_may_have_ended = peer.send_request(request).await;
        });
    }

    /// Ends the connection and waits until the process has ended.
    pub(crate) async fn close(mut self) {
        let _it_may_have_ended = self.service.close().await;
    }
}

/// Tells a server that nobody waits for an answer any more, unless it came.
struct Abandoned<'a> {
    link: &'a Link,
    id: Option<rmcp::model::RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let peer = self.link.peer().clone();
        let reason = "nobody waits for it any more".to_owned();
        let params = CancelledNotificationParam::new(Some(id), Some(reason));
        self.link.tokio.spawn(async move {
            let _it_may_have_ended = peer.notify_cancelled(params).await;
        });
    }
}

/// Which way of talking is tried. What was found out before is not found out again.
fn mode(choice: ProtocolChoice, remembered: Option<Generation>) -> ClientLifecycleMode {
    match (choice, remembered) {
        (ProtocolChoice::Handshake, _) | (ProtocolChoice::Auto, Some(Generation::Handshake)) => {
            ClientLifecycleMode::Initialize
        }
        (ProtocolChoice::Modern, _) | (ProtocolChoice::Auto, Some(Generation::Modern)) => {
            discovery()
        }
        (ProtocolChoice::Auto, None) => ClientLifecycleMode::Auto {
            preferred_versions: modern(),
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

/// The way of modern servers.
fn discovery() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: modern(),
    }
}

fn modern() -> Vec<ProtocolVersion> {
    vec![ProtocolVersion::V_2026_07_28]
}

fn facts(service: &RunningService<RoleClient, Handler>) -> Option<ServerFacts> {
    let info = service.peer().peer_info()?;
    let generation = match info.protocol_version.has_initialize() {
        true => Generation::Handshake,
        false => Generation::Modern,
    };
    Some(ServerFacts {
        generation,
        protocol_version: info.protocol_version.to_string(),
        server_info: info
            .server_info
            .as_ref()
            .and_then(|info| serde_json::to_value(info).ok()),
        capabilities: serde_json::to_value(&info.capabilities).unwrap_or_default(),
        instructions: info.instructions.clone(),
    })
}
