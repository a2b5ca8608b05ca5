//! The port of this machine to which a browser comes back.
//!
//! Every page that the person has open can send requests here, and so can every program of
//! the machine. So only the answer with the right state ends the waiting; anything else is
//! refused and forgotten. Nothing that was sent is ever shown or followed.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::Failure;

/// Where the answer comes.
const PATH: &str = "/callback";

/// An answer is one line and a few headers.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long a connection may take to say something.
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);

/// How much of an error is told; it is a stranger's text.
const ERROR_CHARS_MAX: usize = 64;

/// A port that waits for a browser.
pub(super) struct Redirect {
    listener: TcpListener,
    port: u16,
}

/// What the authorization server says through the browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: String,
    pub(super) state: String,
    pub(super) issuer: Option<String>,
}

/// What one visit was.
enum Visit {
    /// Not for us.
    Stray,
    Answer(Answer),
    Denied(String),
}

impl Redirect {
    /// Listens, on the port of an earlier time if it is free.
    pub(super) async fn listen(port: Option<u16>) -> Result<Self, Failure> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => match bind(port).await {
                Ok(listener) => Ok(listener),
                Err(_) => bind(0).await,
            },
            None => bind(0).await,
        };
        let listener = listener.map_err(Failure::Listen)?;
        let port = listener.local_addr().map_err(Failure::Listen)?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// What authorization servers are told.
    pub(super) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer to the request that `page` makes.
    pub(super) async fn wait(&self, page: &Url) -> Result<Answer, Failure> {
        let state = parameter(page, "state").ok_or(Failure::Endpoint("authorization"))?;
        loop {
            let (stream, _) = self.listener.accept().await.map_err(Failure::Listen)?;
            match self.visit(stream, &state).await {
                Visit::Stray => {}
                Visit::Answer(answer) => return Ok(answer),
                Visit::Denied(error) => return Err(Failure::Denied(error)),
            }
        }
    }

    async fn visit(&self, mut stream: TcpStream, state: &str) -> Visit {
        let read = tokio::time::timeout(HEAD_TIME_MAX, head(&mut stream)).await;
        let Ok(Some(head)) = read else {
            return Visit::Stray;
        };
        let visit = self.understand(&head, state);
        let (status, text) = match &visit {
            Visit::Stray => ("400 Bad Request", "This is not the answer to a login."),
            Visit::Answer(_) => ("200 OK", "You are logged in. You can close this page."),
            Visit::Denied(_) => ("200 OK", "The login was refused. You can close this page."),
        };
        let reply = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{text}",
            text.len(),
        );
        let _the_browser_may_have_gone = stream.write_all(reply.as_bytes()).await;
        let _likewise = stream.shutdown().await;
        visit
    }

    fn understand(&self, head: &str, state: &str) -> Visit {
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some("GET"), Some(target)) = (words.next(), words.next()) else {
            return Visit::Stray;
        };
        // A page of the web can make its own name lead here; its requests say so.
        let ours = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        let mut hosts = lines.filter_map(|line| line.split_once(':'));
        let host = hosts.find(|(name, _)| name.eq_ignore_ascii_case("host"));
        if !host.is_some_and(|(_, host)| ours.iter().any(|one| one == host.trim())) {
            return Visit::Stray;
        }
        let Ok(url) = Url::parse(&format!("http://127.0.0.1:{}", self.port))
            .and_then(|base| base.join(target))
        else {
            return Visit::Stray;
        };
        if url.path() != PATH || parameter(&url, "state").as_deref() != Some(state) {
            return Visit::Stray;
        }
        if let Some(error) = parameter(&url, "error") {
            return Visit::Denied(shown(&error));
        }
        match parameter(&url, "code") {
            None => Visit::Stray,
            Some(code) => Visit::Answer(Answer {
                code,
                state: state.to_owned(),
                issuer: parameter(&url, "iss"),
            }),
        }
    }
}

/// The one value of a parameter; of two, none is to be believed.
fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut values = url.query_pairs().filter(|(key, _)| key == name);
    let value = values.next()?.1.into_owned();
    values.next().is_none().then_some(value)
}

/// Errors are words with underscores; nothing else is passed on.
fn shown(error: &str) -> String {
    let is_shown = |letter: &char| letter.is_ascii_alphanumeric() || "_-. ".contains(*letter);
    error
        .chars()
        .filter(is_shown)
        .take(ERROR_CHARS_MAX)
        .collect()
}

/// Everything before the body.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 1024];
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok()?;
        bytes.extend_from_slice(&chunk[..count]);
        if count == 0 || bytes.len() > HEAD_BYTES_MAX {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn visit(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .unwrap();
        // Whoever is given up in the middle of a sentence gets an error instead of a reply.
        let _given_up = stream.write_all(request.as_bytes()).await;
        let mut reply = String::new();
        let _given_up = stream.read_to_string(&mut reply).await;
        reply
    }

    fn get(port: u16, target: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
    }

    /// What a listener makes of a last request, after it was sent others that it must ignore.
    async fn after(strays: &[String], last: &str) -> (Vec<String>, Result<Answer, Failure>) {
        let redirect = Redirect::listen(None).await.unwrap();
        let port = redirect.port();
        let page = Url::parse("https://as.test/authorize?state=right").unwrap();
        let visits = async {
            let mut replies = Vec::new();
            for request in strays
                .iter()
                .map(|one| one.replace("PORT", &port.to_string()))
            {
                replies.push(visit(port, &request).await);
            }
            replies.push(visit(port, &get(port, last)).await);
            replies
        };
        let (answer, replies) = tokio::join!(redirect.wait(&page), visits);
        (replies, answer)
    }

    #[tokio::test]
    async fn only_the_answer_with_the_right_state_ends_the_waiting() {
        let host = "\r\nHost: 127.0.0.1:PORT\r\n\r\n";
        let strays = [
            format!("GET /callback?code=evil&state=wrong HTTP/1.1{host}"),
            format!("GET /callback?code=evil HTTP/1.1{host}"),
            format!("GET /other?code=evil&state=right HTTP/1.1{host}"),
            format!("POST /callback?code=evil&state=right HTTP/1.1{host}"),
            format!("GET /callback?code=a&code=b&state=right HTTP/1.1{host}"),
            format!("GET /callback?code=a&state=right&state=wrong HTTP/1.1{host}"),
            "GET /callback?code=evil&state=right HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned(),
            "GET /callback?code=evil&state=right HTTP/1.1\r\n\r\n".to_owned(),
            format!("GET //evil.test/callback?code=a&state=right HTTP/1.1{host}")
                .replace("/callback", "/x"),
        ];
        let last = "/callback?code=good&state=right&iss=https%3A%2F%2Fas.test";
        let (replies, answer) = after(&strays, last).await;
        let (last, strays) = replies.split_last().unwrap();
        for reply in strays {
            assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
        }
        assert!(last.starts_with("HTTP/1.1 200 "), "{last}");
        let expected = Answer {
            code: "good".to_owned(),
            state: "right".to_owned(),
            issuer: Some("https://as.test".to_owned()),
        };
        assert_eq!(answer.unwrap(), expected);
    }

    #[tokio::test]
    async fn nothing_that_was_sent_is_shown_or_followed() {
        let last = "/callback?code=c&state=right&redirect_uri=https://evil.test&x=<script>";
        let (replies, _) = after(&[], last).await;
        let reply = replies[0].to_ascii_lowercase();
        assert!(!reply.contains("location:"), "{reply}");
        assert!(
            !reply.contains("evil") && !reply.contains("script"),
            "{reply}"
        );
    }

    #[tokio::test]
    async fn a_refusal_is_told_in_plain_letters() {
        let last = "/callback?state=right&error=access_denied%1B%5B31m%0a<b>";
        let (_, answer) = after(&[], last).await;
        let error = answer.unwrap_err().to_string();
        assert_eq!(error, "the authorization server refused: access_denied31mb");
    }

    #[tokio::test]
    async fn a_head_without_an_end_is_given_up() {
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(HEAD_BYTES_MAX + 1));
        let (replies, answer) = after(&[endless], "/callback?code=c&state=right").await;
        assert_eq!(replies[0], "");
        assert_eq!(answer.unwrap().code, "c");
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_replaced() {
        let first = Redirect::listen(None).await.unwrap();
        let second = Redirect::listen(Some(first.port())).await.unwrap();
        assert_ne!(first.port(), second.port());
        assert_eq!(
            first.uri(),
            format!("http://127.0.0.1:{}/callback", first.port())
        );
    }
}
