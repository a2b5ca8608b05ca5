//! A listener with a small router behind it, and a client that speaks HTTP by hand.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, Uri};
use axum::routing::{any, get as on_get};
use axum::{Extension, Router};
use harn_listen::{Caller, Clock, Counters, Credentials, Policy, Secret};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const OTHER_KEY: &str = "another key that is long enough";
pub(crate) const SIGNING_KEY: &str = "fedcba9876543210fedcba9876543210";
pub(crate) const NOW_MS: i64 = 1_790_000_000_000;

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    pub(crate) fingerprint: Option<String>,
    /// `?token=…`, if one was made.
    pub(crate) token_query: Option<String>,
    now_ms: Arc<AtomicI64>,
    handled: Arc<AtomicU64>,
    counters: Arc<Counters>,
    /// Dropping it stops the listener.
    _running: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A listener that asks nobody, unless it is given keys.
pub(crate) fn policy() -> Policy {
    Policy {
        insecure_no_auth: true,
        ..asking()
    }
}

/// A listener as it is by default.
pub(crate) fn asking() -> Policy {
    Policy::new("127.0.0.1:0".parse().unwrap())
}

pub(crate) fn keys() -> Credentials {
    let mut credentials = Credentials::default();
    credentials
        .add_key("other", Secret::new(OTHER_KEY))
        .unwrap();
    credentials.add_key("ci", Secret::new(KEY)).unwrap();
    credentials
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(|| NOW_MS)
}

/// A whole request without a body.
pub(crate) fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n")
}

impl World {
    pub(crate) async fn open(policy: Policy) -> Self {
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let clock = {
            let now_ms = Arc::clone(&now_ms);
            move || now_ms.load(Ordering::Relaxed)
        };
        let listener = policy.open(Arc::new(clock)).await.unwrap();
        let handled = Arc::<AtomicU64>::default();
        let (running, stop) = oneshot::channel::<()>();
        let world = Self {
            address: listener.address(),
            url: listener.url().to_owned(),
            fingerprint: listener.certificate_fingerprint().map(str::to_owned),
            token_query: listener.token_query(),
            now_ms,
            handled: Arc::clone(&handled),
            counters: listener.counters(),
            _running: running,
        };
        let stop = async {
            let _ = stop.await;
        };
        tokio::spawn(listener.serve(router(handled), stop));
        world
    }

    pub(crate) fn pass(&self, time: Duration) {
        let passed = i64::try_from(time.as_millis()).unwrap();
        self.now_ms.fetch_add(passed, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counters.get(name).unwrap()
    }

    /// Requests that got through to the router.
    pub(crate) fn handled(&self) -> u64 {
        self.handled.load(Ordering::Relaxed)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub(crate) async fn ask(&self, request: &str) -> Answer {
        exchange(self.connect().await, request.to_owned()).await
    }
}

fn router(handled: Arc<AtomicU64>) -> Router {
    let count = move || {
        handled.fetch_add(1, Ordering::Relaxed);
    };
    let who = |caller: &Caller| format!("{} {:?}", caller.name, caller.means);
    let count_too = count.clone();
    Router::new()
        .route(
            "/who",
            on_get(
                async move |Extension(caller): Extension<Caller>, uri: Uri, headers: HeaderMap| {
                    count();
                    assert!(!uri.to_string().contains("token"), "{uri}");
                    // Nobody behind the checks may see what was claimed.
                    assert!(!headers.contains_key("x-harn-claims"));
                    who(&caller)
                },
            ),
        )
        .route(
            "/echo",
            any(
                async move |Extension(caller): Extension<Caller>, body: String| {
                    count_too();
                    format!("{} {body}", who(&caller))
                },
            ),
        )
}

/// Sends a request and reads until the other end closes, or has answered with a refusal.
pub(crate) async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    request: String,
) -> Answer {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
        // A refusal comes while the body is still awaited.
        if let Some(answer) = Answer::read(&bytes)
            && answer.is_whole()
        {
            return answer;
        }
    }
    Answer::read(&bytes).unwrap_or_default()
}

impl Answer {
    fn read(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some(Self {
            status: head.split(' ').nth(1)?.parse().ok()?,
            head: head.to_owned(),
            body: body.to_owned(),
        })
    }

    fn is_whole(&self) -> bool {
        let length = self
            .header("content-length")
            .and_then(|text| text.parse().ok());
        length.is_some_and(|length: usize| self.body.len() >= length)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        lines.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }
}
