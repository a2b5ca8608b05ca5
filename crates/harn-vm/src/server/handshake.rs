//! Turns a connection into a web socket, if its path is one that a program knows.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::asked::Route;
use crate::http::socket_config;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The paths that a server accepts.
pub(super) type Routes = Arc<Mutex<HashMap<String, Route>>>;

/// A web socket that somebody has opened.
pub(super) struct Opened {
    pub(super) stream: WebSocketStream<TcpStream>,
    pub(super) route: Route,
    pub(super) path: String,
    /// The headers of the request, their names in lower case.
    pub(super) headers: BTreeMap<String, String>,
}

/// What a request asks for.
struct Wanted {
    route: Route,
    path: String,
    headers: BTreeMap<String, String>,
}

/// Answers the request of a connection; `None` if it is no web socket that we want.
pub(super) async fn shake_hands(connection: TcpStream, routes: &Routes) -> Option<Opened> {
    let mut wanted = None;
    #[expect(
        clippy::result_large_err,
        reason = "the library wants the whole response as the error"
    )]
    let decide = |request: &Request, response: Response| match read(request, routes) {
        Ok(found) => {
            wanted = Some(found);
            Ok(response)
        }
        Err(status) => Err(refusal(status)),
    };
    let accepted = timeout(HANDSHAKE, accept_hdr_async(connection, decide)).await;
    let stream = accepted.ok()?.ok()?;
    let Wanted {
        route,
        path,
        headers,
    } = wanted?;
    // Only now it is known how large messages may be. Nothing was read ahead: a request with
    // something behind it is refused.
    let config = socket_config(route.message_bytes_max);
    let connection = stream.into_inner();
    let stream = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
    Some(Opened {
        stream,
        route,
        path,
        headers,
    })
}

fn read(request: &Request, routes: &Routes) -> Result<Wanted, StatusCode> {
    let path = request.uri().path().to_owned();
    let routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
    let route = routes.get(&path).cloned().ok_or(StatusCode::NOT_FOUND)?;
    let given = request.headers().get(AUTHORIZATION);
    let given = given.and_then(|header| header.to_str().ok());
    let is_known = match &route.bearer {
        Some(bearer) => given.and_then(|given| given.strip_prefix("Bearer ")) == Some(&**bearer),
        None => true,
    };
    if !is_known {
        return Err(StatusCode::UNAUTHORIZED);
    }
    let headers = request.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    Ok(Wanted {
        route,
        path,
        headers: headers.collect(),
    })
}

fn refusal(status: StatusCode) -> ErrorResponse {
    let mut refusal = ErrorResponse::new(None);
    *refusal.status_mut() = status;
    refusal
}
