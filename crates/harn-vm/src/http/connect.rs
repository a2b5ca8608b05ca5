//! Opening a web socket.

use std::sync::Arc;
use std::time::Duration;

use harn_machine::{NetAnswer, NetFailure, NetFailureKind, SocketRequest};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{
    Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config,
    connect_async_tls_with_config,
};

use super::failure::{failure, too_late};
use super::sockets::{SocketLimits, Sockets};
use super::tls;
use super::tunnel::{is_excepted, tunnel};

/// What is read ahead, and what waits to be written, so that an idle socket stays small.
const BUFFER_BYTES: usize = 16 << 10;

/// Opens a web socket.
pub(super) async fn connect(
    sockets: Arc<Sockets>,
    request: SocketRequest,
) -> Result<NetAnswer, NetFailure> {
    let time = Duration::from_millis(request.timeout_ms);
    let opened = timeout(time, open(&request)).await;
    let stream = opened.map_err(|_| too_late(time))??;
    let number = sockets.adopt(stream, SocketLimits::default());
    Ok(NetAnswer::Connected(number))
}

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn open(request: &SocketRequest) -> Result<Stream, NetFailure> {
    let impossible = |reason: String| failure(NetFailureKind::Impossible, reason);
    let upgrade = upgrade(request).map_err(impossible)?;
    let is_secure = upgrade.uri().scheme_str() == Some("wss");
    let connector = match is_secure {
        true => {
            let config = tls::trusting(&request.tls).map_err(impossible)?;
            Connector::Rustls(Arc::new(config))
        }
        false => Connector::Plain,
    };
    let config = Some(config(request.message_bytes_max));
    let host = upgrade.uri().host().unwrap_or_default().to_owned();
    let proxy = request.proxy.as_ref();
    let opened = match proxy.filter(|proxy| !is_excepted(proxy, &host)) {
        None => connect_async_tls_with_config(upgrade, config, true, Some(connector)).await,
        Some(proxy) => {
            let usual = if is_secure { 443 } else { 80 };
            let port = upgrade.uri().port_u16().unwrap_or(usual);
            let stream = tunnel(proxy, &host, port).await?;
            client_async_tls_with_config(upgrade, stream, config, Some(connector)).await
        }
    };
    let (stream, _) =
        opened.map_err(|error| failure(NetFailureKind::Connection, error.to_string()))?;
    Ok(stream)
}

/// How a socket treats messages of at most so many octets.
pub(crate) fn config(message_bytes_max: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(message_bytes_max))
        .max_frame_size(Some(message_bytes_max))
}

fn upgrade(request: &SocketRequest) -> Result<Request, String> {
    let upgrade = request.url.as_str().into_client_request();
    let mut upgrade = upgrade.map_err(|error| error.to_string())?;
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| error.to_string())?;
        upgrade.headers_mut().insert(name, value);
    }
    Ok(upgrade)
}
