//! A server that listens, and the sockets that wait to be accepted.
//!
//! ```text
//! listening ─► a place of PLACES ─► handshake ─► opened ─► websocket_accept
//! ```
//!
//! A connection has a place from the moment it is made until the program has accepted it. When
//! there is none left, whoever connects has to wait: the system holds them in its own queue.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::asked::Route;
use super::handshake::{Opened, Routes, shake_hands};
use crate::http::{SocketLimits, Sockets};
use crate::models::TokioHandle;

/// How many connections may wait to be accepted.
const PLACES: usize = 64;

/// A server that listens. Dropping it stops that; sockets that were accepted stay open.
pub(super) struct Listener {
    routes: Routes,
    opened: Opens,
    listening: Option<AbortHandle>,
}

/// Sockets that wait to be accepted, each with its place.
type Opens = Arc<tokio::sync::Mutex<mpsc::Receiver<Waiting>>>;

struct Waiting {
    opened: Opened,
    peer: SocketAddr,
    /// Given back when the program has the socket.
    _place: OwnedSemaphorePermit,
}

impl Listener {
    /// Begins to listen.
    pub(super) fn start(listening: TcpListener, tokio: &TokioHandle) -> Self {
        let routes: Routes = Arc::new(Mutex::new(HashMap::new()));
        let (sender, receiver) = mpsc::channel(PLACES);
        let listening = tokio.spawn(listen(listening, Arc::clone(&routes), sender));
        Self {
            routes,
            opened: Arc::new(tokio::sync::Mutex::new(receiver)),
            listening,
        }
    }

    /// Accepts a path from now on.
    pub(super) fn add_route(&self, path: String, route: Route) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        routes.insert(path, route);
    }

    /// The next socket, for the program; `None` if none comes in time.
    pub(super) fn accept(
        &self,
        sockets: Arc<Sockets>,
        patience: Duration,
    ) -> impl Future<Output = Option<Value>> + Send + use<> {
        let opened = Arc::clone(&self.opened);
        async move {
            let next = async { opened.lock().await.recv().await };
            let Waiting { opened, peer, .. } = timeout(patience, next).await.ok()??;
            let route = &opened.route;
            let idle = Duration::from_millis(route.idle_ms);
            let limits = SocketLimits {
                outgoing_max: Some(route.outgoing_max),
                idle: (!idle.is_zero()).then_some(idle),
            };
            let socket = sockets.adopt(opened.stream, limits);
            Some(json!({
                "socket": socket,
                "path": opened.path,
                "peer": peer.to_string(),
                "headers": opened.headers,
            }))
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

async fn listen(listening: TcpListener, routes: Routes, sender: mpsc::Sender<Waiting>) {
    let places = Arc::new(Semaphore::new(PLACES));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok(place) = place else {
            return;
        };
        match listening.accept().await {
            Ok((connection, peer)) => {
                let (routes, sender) = (Arc::clone(&routes), sender.clone());
                tokio::spawn(open(connection, peer, routes, sender, place));
            }
            // A connection that broke at once, or no file left: the next one may work.
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn open(
    connection: TcpStream,
    peer: SocketAddr,
    routes: Routes,
    sender: mpsc::Sender<Waiting>,
    place: OwnedSemaphorePermit,
) {
    let _it_is_only_slower_without = connection.set_nodelay(true);
    if let Some(opened) = shake_hands(connection, &routes).await {
        let waiting = Waiting {
            opened,
            peer,
            _place: place,
        };
        let _server_may_be_closed = sender.send(waiting).await;
    }
}
