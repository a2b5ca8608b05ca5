//! The checks in front of a router.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::caller::{CLAIMS, Shown};
use crate::failures::Failures;
use crate::origins::{self, From};
use crate::places::ConnectionPlace;
use crate::replay::{Replay, Seen};
use crate::signed::{Head, Signature};
use crate::{Caller, Clock, Counters, Peer, Policy, late, token};

/// The checks of one listener, and what they remember.
pub(crate) struct Guard {
    policy: Policy,
    clock: Arc<dyn Clock>,
    failures: Mutex<Failures>,
    replay: Mutex<Replay>,
    pub(crate) counters: Arc<Counters>,
}

/// Why a request goes no further.
enum Stop {
    Host,
    Origin,
    Credential,
    Slow { wait_secs: i64 },
    Busy,
    Connections,
    Body,
    BodyTooLarge,
    BodyLate,
}

const CONTENT_TYPE_OPTIONS: &str = "x-content-type-options";

impl Guard {
    pub(crate) fn new(policy: Policy, clock: Arc<dyn Clock>) -> Self {
        let limits = &policy.limits;
        let window_ms = millis(limits.failures_window);
        let failures = Failures::new(limits.failures_max, window_ms, limits.failing_peers_max);
        let replay = Replay::new(limits.replay_entries_max);
        Self {
            failures: Mutex::new(failures),
            replay: Mutex::new(replay),
            policy,
            clock,
            counters: Arc::default(),
        }
    }

    /// Puts the checks in front of everything the router answers, its 404 too.
    pub(crate) fn protect(self: Arc<Self>, router: Router) -> Router {
        router.layer(from_fn_with_state(self, check))
    }

    /// Host and origin, before anything else of the request is looked at.
    fn check_source<'a>(&'a self, request: &Request) -> Result<From<'a>, Stop> {
        let Policy { hosts, origins, .. } = &self.policy;
        if !hosts.allow_request(request.uri(), request.headers()) {
            self.counters.hosts_refused.add();
            return Err(Stop::Host);
        }
        match origins.of(request.headers()) {
            From::Stranger => {
                self.counters.origins_refused.add();
                Err(Stop::Origin)
            }
            from => Ok(from),
        }
    }

    async fn check_caller(&self, request: Request) -> Result<Request, Stop> {
        let (mut parts, mut body) = request.into_parts();
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
        let head = Head {
            method: &parts.method,
            uri: &parts.uri,
            headers: &parts.headers,
        };
        let is_open = self.policy.credentials.is_empty() || self.is_open(parts.uri.path());
        let caller = if is_open {
            Caller::anybody()
        } else {
            // A good credential is let in whatever else came from there: on this machine all
            // callers have one address.
            match self.policy.credentials.judge(peer, &head) {
                Shown::Good(caller) => caller,
                Shown::Signed(caller, signature) => {
                    self.check_new(peer, &signature)?;
                    body = self.check_body(peer, body, &signature).await?;
                    caller
                }
                Shown::Nothing => return Err(Stop::Credential),
                Shown::Wrong => return Err(self.refuse(peer)),
            }
        };
        let place = parts.extensions.remove::<Arc<ConnectionPlace>>();
        // What is open to everybody makes nobody known, unless everything is.
        if let Some(place) = place.filter(|_| !is_open || self.policy.credentials.is_empty()) {
            place.identify(&caller).map_err(|_| Stop::Connections)?;
        }
        // Whoever is further in must not mistake what a stranger wrote for what we found, and
        // has no use for the token.
        parts.headers.remove(CLAIMS);
        forget_token(&mut parts.uri);
        parts.extensions.insert(caller);
        Ok(Request::from_parts(parts, body))
    }

    fn check_new(&self, peer: Option<IpAddr>, signature: &Signature) -> Result<(), Stop> {
        let seen = lock(&self.replay).note(
            &signature.key,
            &signature.nonce,
            signature.time_secs.saturating_mul(1000),
            self.clock.now_ms(),
            millis(self.policy.limits.clock_window),
        );
        match seen {
            Seen::New => Ok(()),
            Seen::OutOfTime => Err(self.refuse(peer)),
            Seen::Before => {
                self.counters.replays_refused.add();
                Err(self.refuse(peer))
            }
            Seen::Full => {
                self.counters.replay_cache_full.add();
                Err(Stop::Busy)
            }
        }
    }

    async fn check_body(
        &self,
        peer: Option<IpAddr>,
        body: Body,
        signature: &Signature,
    ) -> Result<Body, Stop> {
        let max = self.policy.limits.signed_body_bytes_max;
        let Ok(bytes) = to_bytes(body, max).await else {
            self.counters.bodies_refused.add();
            return Err(Stop::BodyTooLarge);
        };
        if !signature.fits_body(&bytes) {
            self.counters.bodies_refused.add();
            self.refuse(peer);
            return Err(Stop::Body);
        }
        Ok(Body::from(bytes))
    }

    /// Notes a failure. What was shown is not written down: it may be a good credential for
    /// somebody else, or one with a slip.
    fn refuse(&self, peer: Option<IpAddr>) -> Stop {
        self.counters.credentials_refused.add();
        let Some(peer) = peer else {
            return Stop::Credential;
        };
        let now_ms = self.clock.now_ms();
        let mut failures = lock(&self.failures);
        if let Some(wait_secs) = failures.wait_secs(peer, now_ms) {
            self.counters.peers_slowed.add();
            return Stop::Slow { wait_secs };
        }
        failures.note(peer, now_ms);
        drop(failures);
        tracing::warn!(%peer, "a credential was refused");
        Stop::Credential
    }

    /// A connection comes to a listener that asks nobody. The operator hears of each.
    pub(crate) fn note_insecure(&self, peer: SocketAddr) {
        if self.policy.credentials.is_empty() {
            self.counters.connections_insecure.add();
            tracing::warn!(%peer, "let in without a credential, because of --insecure-no-auth");
        }
    }

    fn is_open(&self, path: &str) -> bool {
        let mut open = self.policy.open_paths.iter();
        open.any(|known| path == known || known.ends_with('/') && path.starts_with(known.as_str()))
    }

    fn stop(&self, why: Stop) -> Response {
        let (status, text) = match why {
            Stop::Host => (
                StatusCode::FORBIDDEN,
                "this listener is not known by that host",
            ),
            Stop::Origin => (StatusCode::FORBIDDEN, "this origin may not connect"),
            Stop::Credential => (StatusCode::UNAUTHORIZED, "a credential is needed"),
            Stop::Slow { .. } => (StatusCode::TOO_MANY_REQUESTS, "too many failed attempts"),
            Stop::Busy => (StatusCode::TOO_MANY_REQUESTS, "too many signed requests"),
            Stop::Connections => (
                StatusCode::TOO_MANY_REQUESTS,
                "this caller has too many connections",
            ),
            Stop::Body => (
                StatusCode::UNAUTHORIZED,
                "the body is not the one that was signed",
            ),
            Stop::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
            Stop::BodyLate => (StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
        };
        let mut response = (status, text).into_response();
        let header = match why {
            Stop::Credential | Stop::Body => {
                Some((WWW_AUTHENTICATE, self.policy.challenge.clone()))
            }
            Stop::Slow { wait_secs } => Some((RETRY_AFTER, wait_secs.to_string())),
            Stop::Busy => Some((RETRY_AFTER, "1".to_owned())),
            Stop::Connections | Stop::BodyLate => Some((CONNECTION, "close".to_owned())),
            Stop::Host | Stop::Origin | Stop::BodyTooLarge => None,
        };
        if let Some((name, value)) = header
            && let Ok(value) = HeaderValue::try_from(value)
        {
            response.headers_mut().insert(name, value);
        }
        response
    }

    fn finish(&self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(strict) = self.policy.tls.strict_transport() {
            headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(strict));
        }
    }
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let from = match guard.check_source(&request) {
        Ok(from) => from,
        Err(stop) => return guard.stop(stop),
    };
    let mut response = if matches!(from, From::Allowed(_))
        && origins::is_preflight(request.method(), request.headers())
    {
        let mut response = StatusCode::NO_CONTENT.into_response();
        origins::grant_request(response.headers_mut());
        response
    } else {
        let limit = guard.policy.limits.body_timeout;
        let (parts, body) = request.into_parts();
        let (body, lateness) = late::within(body, limit);
        let answer = match guard.check_caller(Request::from_parts(parts, body)).await {
            Ok(request) => next.run(request).await,
            Err(stop) => guard.stop(stop),
        };
        match lateness.is_late() {
            false => answer,
            true => {
                guard.counters.bodies_late.add();
                guard.stop(Stop::BodyLate)
            }
        }
    };
    if let From::Allowed(origin) = from {
        origins::grant(origin, response.headers_mut());
    }
    guard.finish(response.headers_mut());
    response
}

/// Takes the token out of an address.
fn forget_token(uri: &mut Uri) {
    let Some((_, rest)) = uri.query().and_then(token::split_query) else {
        return;
    };
    let path = match &*rest {
        "" => uri.path().to_owned(),
        rest => format!("{}?{rest}", uri.path()),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = path.parse().ok();
    if let Ok(without) = Uri::from_parts(parts) {
        *uri = without;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
