//! A connection through a proxy, which passes on whatever it is given.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::{HttpProxy, NetFailure, NetFailureKind};
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::failure::failure;

/// How long what a proxy says may be.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Whether a host is reached without the proxy: it is named, is below a name, or all are.
pub(super) fn is_excepted(proxy: &HttpProxy, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let except = proxy.except.as_deref().unwrap_or_default();
    except.split(',').map(str::trim).any(|name| {
        let domain = name.trim_start_matches(['*', '.']).to_ascii_lowercase();
        match domain.is_empty() {
            true => name == "*",
            false => host
                .strip_suffix(&domain)
                .is_some_and(|below| below.is_empty() || below.ends_with('.')),
        }
    })
}

/// Connects to a host and port through a proxy.
pub(super) async fn tunnel(
    proxy: &HttpProxy,
    host: &str,
    port: u16,
) -> Result<TcpStream, NetFailure> {
    let broken = |error: io::Error| {
        let reason = format!("the proxy cannot be reached: {error}");
        failure(NetFailureKind::Connection, reason)
    };
    let (address, login) = address(proxy)?;
    let stream = TcpStream::connect((address.0.as_str(), address.1)).await;
    let mut stream = stream.map_err(broken)?;
    let _only_slower_without = stream.set_nodelay(true);
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some((user, password)) = login {
        let login = STANDARD.encode(format!("{user}:{password}"));
        request.push_str(&format!("Proxy-Authorization: Basic {login}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let head = head(&mut stream).await.map_err(broken)?;
    match is_success(&head) {
        true => Ok(stream),
        false => {
            let said = head.lines().next().unwrap_or_default();
            let reason = format!("the proxy says '{said}'");
            Err(failure(NetFailureKind::Connection, reason))
        }
    }
}

type Login = (String, String);

/// Where a proxy is, and who we are to it.
fn address(proxy: &HttpProxy) -> Result<((String, u16), Option<Login>), NetFailure> {
    let invalid = |reason: &str| failure(NetFailureKind::Proxy, reason);
    let url = Url::parse(&proxy.url).map_err(|error| invalid(&error.to_string()))?;
    if url.scheme() != "http" {
        return Err(invalid("web sockets go through proxies of http:// only"));
    }
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']).to_owned();
    let of_url = || {
        let password = url.password().unwrap_or_default();
        (!url.username().is_empty()).then(|| (url.username().to_owned(), password.to_owned()))
    };
    let login = proxy.login.clone().or_else(of_url);
    Ok(((host, url.port_or_known_default().unwrap_or(80)), login))
}

/// What the proxy says before it passes anything on, and not a byte more.
async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == HEAD_BYTES_MAX {
            return Err(io::Error::other("it says too much"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn is_success(head: &str) -> bool {
    let status = head.split(' ').nth(1).unwrap_or_default();
    head.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_can_be_excepted() {
        let is_excepted = |except: &str, host: &str| {
            let proxy = HttpProxy {
                url: String::new(),
                except: Some(except.to_owned()),
                login: None,
            };
            is_excepted(&proxy, host)
        };
        assert!(is_excepted("localhost, example.com", "example.com"));
        assert!(is_excepted("localhost,.example.com", "a.Example.com"));
        assert!(is_excepted("*.example.com", "a.example.com"));
        assert!(is_excepted("*", "anything"));
        assert!(!is_excepted("example.com", "badexample.com"));
        assert!(!is_excepted("", "example.com"));
        assert!(!is_excepted("a.example.com,", "example.com"));
    }

    #[test]
    fn only_some_answers_open_a_tunnel() {
        assert!(is_success("HTTP/1.1 200 Connection established\r\n\r\n"));
        assert!(!is_success(
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
        ));
        assert!(!is_success("SSH-2.0-OpenSSH 200\r\n\r\n"));
    }
}
