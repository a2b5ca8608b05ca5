//! Accepts connections and speaks HTTP on them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::guard::Guard;
use crate::places::{ConnectionPlace, Places};
use crate::tls::Ready;
use crate::token::{TOKEN_PARAMETER, TokenFile};
use crate::{Counters, Limits, Secret};

/// Whom a request comes from. Handed on as an extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// A listener that was checked and has its address.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    url: String,
    tls: Option<Ready>,
    token: Option<MadeToken>,
    guard: Arc<Guard>,
    limits: Limits,
}

/// The token that a listener without keys has made.
pub(crate) struct MadeToken {
    pub(crate) token: Secret,
    /// Where it is kept, until the listener ends.
    pub(crate) file: Option<TokenFile>,
}

/// How long connections may take to finish what they are doing when the listener stops.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long to wait when the system has no more files for us.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

impl Listener {
    pub(crate) fn new(
        socket: TcpListener,
        address: SocketAddr,
        url: String,
        tls: Option<Ready>,
        token: Option<MadeToken>,
        guard: Arc<Guard>,
        limits: Limits,
    ) -> Self {
        Self {
            socket,
            address,
            url,
            tls,
            token,
            guard,
            limits,
        }
    }

    /// Where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where others reach it; ends with `/`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The part of an address that lets a person in, for the one place where they read it:
    /// `?token=…`. Nothing if there are keys, or if everybody is let in.
    pub fn token_query(&self) -> Option<String> {
        let token = self.token.as_ref()?.token.bytes();
        let token = String::from_utf8_lossy(token);
        Some(format!("?{TOKEN_PARAMETER}={token}"))
    }

    /// The file that the token is kept in.
    pub fn token_file(&self) -> Option<&Path> {
        Some(self.token.as_ref()?.file.as_ref()?.path())
    }

    /// The SHA-256 of its certificate, by which people can tell it from another.
    pub fn certificate_fingerprint(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.fingerprint.as_str())
    }

    /// How often each rule was applied so far. Stays valid while the listener serves.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.guard.counters)
    }

    /// Answers requests until `stop` resolves; then finishes what has begun.
    pub async fn serve(self, router: Router, stop: impl Future<Output = ()>) {
        let Self {
            socket,
            tls,
            token,
            guard,
            limits,
            ..
        } = self;
        let room = Arc::new(Semaphore::new(limits.connections_max));
        let places = Places::new(
            limits.unknown_connections_max,
            limits.caller_connections_max,
            Arc::clone(&guard.counters),
        );
        let tls = tls.map(|ready| TlsAcceptor::from(ready.config));
        let app = Arc::clone(&guard).protect(router);
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&socket, &room, &guard) => accepted,
                Some(_) = connections.join_next() => continue,
            };
            guard.counters.connections.add();
            let (stream, peer, permit) = accepted;
            guard.note_insecure(peer);
            let place = places.enter(peer.ip());
            let connection = Connection {
                app: app.clone(),
                tls: tls.clone(),
                limits,
                place: Arc::clone(&place),
                stopped: stopped.clone(),
            };
            let guard = Arc::clone(&guard);
            connections.spawn(async move {
                let silent = place.is_silent(limits.head_timeout);
                tokio::select! {
                    ended = connection.run(stream, peer, permit) => if ended.is_none() {
                        guard.counters.handshakes_failed.add();
                    },
                    () = place.is_evicted() => {}
                    () = silent => guard.counters.connections_silent.add(),
                }
            });
        }
        drop(socket);
        stopping.send_replace(true);
        let all = async { while connections.join_next().await.is_some() {} };
        // Those that take longer are cut off when the set is dropped.
        let _ = timeout(FAREWELL, all).await;
        drop(token);
    }
}

/// Waits for a place, then for somebody to take it.
async fn accept(
    socket: &TcpListener,
    room: &Arc<Semaphore>,
    guard: &Guard,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let permit = match Arc::clone(room).try_acquire_owned() {
        Ok(permit) => permit,
        Err(_) => {
            guard.counters.connections_waited.add();
            let permit = Arc::clone(room).acquire_owned().await;
            permit.expect("the semaphore is never closed")
        }
    };
    loop {
        match socket.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

struct Connection {
    app: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    place: Arc<ConnectionPlace>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    /// `None` if there was no TLS in time.
    async fn run(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        permit: OwnedSemaphorePermit,
    ) -> Option<()> {
        // Messages are small and somebody waits for them.
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.speak(stream, peer, permit).await,
            Some(tls) => {
                let shaken = timeout(self.limits.head_timeout, tls.accept(stream)).await;
                self.speak(shaken.ok()?.ok()?, peer, permit).await;
            }
        }
        Some(())
    }

    async fn speak<S>(self, stream: S, peer: SocketAddr, permit: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            app,
            limits,
            place,
            mut stopped,
            ..
        } = self;
        let app = app.layer(Extension(Peer(peer)));
        let app = TowerToHyperService::new(app.layer(Extension(Arc::clone(&place))));
        let stream = TokioIo::new(Placed {
            stream,
            _permit: permit,
            _place: place,
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .max_buf_size(limits.head_bytes_max.max(8192))
            .serve_connection(stream, app)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = &mut connection => return,
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// A stream that keeps its place until it is dropped, also when it has become a web socket.
struct Placed<S> {
    stream: S,
    _permit: OwnedSemaphorePermit,
    _place: Arc<ConnectionPlace>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Placed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(ctx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Placed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(ctx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(ctx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(ctx)
    }
}
