//! The connection to the server, and asking it something.
//!
//! The client below reconnects by itself, for ever. What it cannot know is whether a
//! request that was under way meanwhile may be repeated. Questions may, so
//! [`Connection::call`] repeats them until their time is up. A publication may not,
//! so [`Connection::publish`] tries once and says what it knows.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::{self, ErrorCode, response::Response};
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, HeaderMap, Message, StatusCode, Subject,
    Subscriber,
};
use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::config::{NatsConfig, NatsCredentials};
use super::error::{Cause, NatsError, Result, is_passing};
use super::name::Names;
use crate::error::LogError;
use crate::local::Counters;

/// How long one attempt may take where there is time for several.
pub(super) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait before the next attempt, unless the connection changes before.
const PAUSE: Duration = Duration::from_millis(25);
const RECONNECT_PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long a server may be silent before it counts as gone, twice over.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// A connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connection(Arc<Inner>);

struct Inner {
    client: Client,
    context: jetstream::Context,
    names: Names,
    replicas: usize,
    request_timeout: Duration,
    /// Tells our messages from those of others, who may append the same.
    writer: String,
    messages: AtomicU64,
    counters: Counters,
    /// Changes whenever the connection was lost or made.
    link: watch::Receiver<u64>,
}

/// What became of a publication.
pub(super) enum Published {
    /// It has this sequence, now or since an earlier attempt.
    Stored(u64),
    /// The stream was not in the expected state.
    Conflict,
    /// There is no stream that would take it.
    NoStream,
}

impl Connection {
    /// Connects, or says in bounded time why not.
    pub(super) async fn open(config: &NatsConfig, names: Names) -> Result<Self> {
        let addresses = config.addresses()?;
        let (changed, link) = watch::channel(0);
        let changed = Arc::new(changed);
        let options = with_credentials(&config.credentials)?
            .name("harn-log")
            .connection_timeout(config.connect_timeout)
            .ping_interval(PING_INTERVAL)
            .skip_subject_validation(true)
            .reconnect_delay_callback(|attempts| {
                let doubled = PAUSE * 2_u32.saturating_pow(attempts.min(10) as u32);
                doubled.min(RECONNECT_PAUSE_MAX)
            })
            .event_callback(move |event| {
                if matches!(event, Event::Connected | Event::Disconnected) {
                    changed.send_modify(|count| *count += 1);
                }
                std::future::ready(())
            });
        let connected = timeout(config.connect_timeout, options.connect(addresses)).await;
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(why)) if is_about_us(why.kind()) => {
                let problem = format!("the NATS server refused our credentials: {why}");
                return Err(LogError::Config(problem));
            }
            Ok(Err(why)) => return Err(nobody_at(config, why).into()),
            Err(why) => return Err(nobody_at(config, why).into()),
        };
        if !client.server_info().jetstream {
            let problem = "the NATS server has JetStream switched off: start it with -js";
            return Err(LogError::Config(problem.to_owned()));
        }
        Ok(Self(Arc::new(Inner {
            context: jetstream::new(client.clone()),
            writer: random_word(&client),
            messages: AtomicU64::new(0),
            counters: Counters::default(),
            client,
            names,
            replicas: config.replicas,
            request_timeout: config.request_timeout,
            link,
        })))
    }

    /// What the log has done so far.
    pub(super) fn counters(&self) -> &Counters {
        &self.0.counters
    }

    pub(super) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(super) fn context(&self) -> &jetstream::Context {
        &self.0.context
    }

    pub(super) fn names(&self) -> &Names {
        &self.0.names
    }

    pub(super) fn writer(&self) -> &str {
        &self.0.writer
    }

    /// What the next message is called. No other message is called the same.
    pub(super) fn next_message_id(&self) -> String {
        let number = self.0.messages.fetch_add(1, Ordering::Relaxed);
        format!("{}.{number}", self.0.writer)
    }

    pub(super) fn replicas(&self) -> usize {
        self.0.replicas
    }

    /// When something that begins now has to be done.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.0.request_timeout
    }

    /// Watches the connection: the value changes when it is lost and when it is made.
    pub(super) fn link(&self) -> watch::Receiver<u64> {
        let mut link = self.0.link.clone();
        link.mark_unchanged();
        link
    }

    /// Waits a moment before something is tried again, but not longer than until the
    /// connection changes.
    pub(super) async fn pause(&self) {
        let mut link = self.link();
        // Either way it is time to try again.
        let _changed = timeout(PAUSE, link.changed()).await;
    }

    /// Asks the server something that may be asked twice.
    pub(super) async fn call<V: DeserializeOwned>(
        &self,
        doing: &'static str,
        subject: &str,
        body: &(impl Serialize + ?Sized),
        deadline: Instant,
    ) -> Result<V, NatsError> {
        loop {
            let soon = deadline.min(Instant::now() + ATTEMPT_TIMEOUT);
            let asked = self.0.context.request(subject.to_owned(), body);
            let problem = match timeout_at(soon, asked).await {
                Ok(Ok(Response::Ok(answer))) => return Ok(answer),
                Ok(Ok(Response::Err { error })) if is_passing(&error) => Cause::from(error),
                Ok(Ok(Response::Err { error })) => {
                    return Err(NatsError::Refused {
                        doing,
                        cause: error,
                    });
                }
                Ok(Err(why)) => Cause::from(why),
                Err(why) => Cause::from(why),
            };
            if Instant::now() >= deadline {
                return Err(unreachable(doing, problem));
            }
            self.pause().await;
        }
    }

    /// Publishes a message once and waits for what the stream says.
    ///
    /// # Errors
    /// [`NatsError::Unreachable`] means that it may or may not have been stored.
    pub(super) async fn publish(
        &self,
        doing: &'static str,
        subject: Subject,
        headers: HeaderMap,
        payload: String,
        deadline: Instant,
    ) -> Result<Published, NatsError> {
        let request = async_nats::Request::new()
            .headers(headers)
            .payload(payload.into())
            .timeout(Some(ATTEMPT_TIMEOUT));
        let sent = self.0.client.send_request(subject, request);
        match timeout_at(deadline, sent).await {
            Ok(Ok(message)) => published(doing, &message),
            Ok(Err(why)) if why.kind() == async_nats::RequestErrorKind::NoResponders => {
                Ok(Published::NoStream)
            }
            Ok(Err(why)) => Err(unreachable(doing, why)),
            Err(why) => Err(unreachable(doing, why)),
        }
    }
}

/// Reads what a stream answered to a publication.
pub(super) fn published(doing: &'static str, message: &Message) -> Result<Published, NatsError> {
    #[derive(Deserialize)]
    struct Answer {
        seq: Option<u64>,
        error: Option<jetstream::Error>,
    }
    const CONFLICTS: [ErrorCode; 3] = [
        ErrorCode::STREAM_WRONG_LAST_SEQUENCE,
        ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT,
        ErrorCode::STREAM_WRONG_LAST_MESSAGE_ID,
    ];
    if message.status == Some(StatusCode::NO_RESPONDERS) {
        return Ok(Published::NoStream);
    }
    let answer: Answer =
        serde_json::from_slice(&message.payload).map_err(|why| unreachable(doing, why))?;
    match (answer.error, answer.seq) {
        (Some(error), _) if CONFLICTS.contains(&error.error_code()) => Ok(Published::Conflict),
        (Some(error), _) if is_passing(&error) => Err(unreachable(doing, error)),
        (Some(cause), _) => Err(NatsError::Refused { doing, cause }),
        (None, Some(sequence)) => Ok(Published::Stored(sequence)),
        (None, None) => Err(unreachable(doing, "the answer has no sequence")),
    }
}

/// The next message of a subscription; `None` when the connection is closed for good.
///
/// # Cancel safety
/// Nothing is lost when the future is dropped.
pub(super) async fn next(messages: &mut Subscriber) -> Option<Message> {
    poll_fn(|context| Pin::new(&mut *messages).poll_next(context)).await
}

/// Nobody is where the log should be.
fn nobody_at(config: &NatsConfig, cause: impl Into<Cause>) -> NatsError {
    NatsError::Nobody {
        location: config.location(),
        cause: cause.into(),
    }
}

pub(super) fn unreachable(doing: &'static str, cause: impl Into<Cause>) -> NatsError {
    NatsError::Unreachable {
        doing,
        cause: cause.into(),
    }
}

/// Whether trying again with the same credentials would not help.
fn is_about_us(kind: ConnectErrorKind) -> bool {
    matches!(
        kind,
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation
    )
}

/// Twelve letters and digits that nobody else has.
fn random_word(client: &Client) -> String {
    let inbox = client.new_inbox();
    inbox[inbox.len().saturating_sub(12)..].to_owned()
}

fn with_credentials(credentials: &NatsCredentials) -> Result<ConnectOptions> {
    let options = ConnectOptions::new();
    Ok(match credentials.clone() {
        NatsCredentials::None => options,
        NatsCredentials::Token(token) => options.token(token),
        NatsCredentials::User { name, password } => options.user_and_password(name, password),
        NatsCredentials::NKey(seed) => options.nkey(seed),
        NatsCredentials::Credentials(text) => options.credentials(&text)?,
    })
}
