use std::sync::atomic::Ordering;

use serde_json::json;

use super::*;
use crate::testing::{Names, Peer, Reply, fetcher};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// Asks and expects to be refused without a connection.
#[track_caller]
fn refused(answer: Result<Fetched, FetchError>, expected: &str) {
    assert_eq!(answer.unwrap_err().to_string(), expected);
}

#[tokio::test]
async fn a_stranger_cannot_send_us_to_this_machine_or_a_private_network() {
    let peer = Peer::start(|_| Reply::new(200)).await;
    let names = Names::new(&[
        ("rebound.test", &["127.0.0.1"]),
        ("router.test", &["192.168.0.1"]),
        ("unique.test", &["fd00::7"]),
        ("cloud.test", &["169.254.169.254"]),
        ("mixed.test", &["93.184.216.34", "10.0.0.1"]),
    ]);
    let fetcher = fetcher(names, "");
    let hint = "which is not a public address; name it in HARN_FETCH_ALLOW if that is right";
    for (host, at) in [
        ("rebound.test", "127.0.0.1"),
        ("router.test", "192.168.0.1"),
        ("unique.test", "fd00::7"),
        ("cloud.test", "169.254.169.254"),
        ("mixed.test", "10.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("0x7f.1", "127.0.0.1"),
    ] {
        let asked = url(&format!("https://{host}:{}/", peer.address.port()));
        let origin = origin(&asked);
        let answer = fetcher.fetch(FetchRequest::get(asked)).await;
        refused(answer, &format!("{origin} is at {at}, {hint}"));
    }
    assert!(peer.seen().is_empty());
}

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_checked() {
    let peer = Peer::start(|_| Reply::json(&json!("here"))).await;
    let names = Names::new(&[("service.test", &["127.0.0.1"])]);
    let origin = format!("http://service.test:{}", peer.address.port());
    let fetcher = fetcher(names.clone(), &origin);
    let answer = fetcher
        .fetch(FetchRequest::get(url(&origin)))
        .await
        .unwrap();
    assert_eq!(answer.body, b"\"here\"");
    // No other resolver knows the name, and ours was asked once: what it would say the second
    // time does not matter.
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    assert_eq!(
        peer.seen()[0].header("host"),
        Some(&origin["http://".len()..])
    );
}

#[tokio::test]
async fn what_has_no_tls_must_be_named() {
    let peer = Peer::start(|_| Reply::new(200)).await;
    let names = Names::new(&[("plain.test", &["93.184.216.34"])]);
    let fetcher = fetcher(names, "");
    let asked = FetchRequest::get(url("http://plain.test/"));
    refused(
        fetcher.fetch(asked).await,
        "http://plain.test has no TLS; name it in HARN_FETCH_ALLOW if that is right",
    );
    let asked = FetchRequest::get(url("ftp://plain.test/"));
    refused(
        fetcher.fetch(asked).await,
        "only http and https URLs are fetched, not `ftp:`",
    );
    let configured = fetcher.naming(&peer.url("/mcp"));
    let asked = FetchRequest::get(peer.url("/metadata"));
    assert_eq!(configured.fetch(asked).await.unwrap().status, 200);
}

#[tokio::test]
async fn three_redirects_are_followed_and_four_are_not() {
    let peer = Peer::start(|seen| match seen.path() {
        "/0" => Reply::new(204),
        path => {
            let left: u32 = path[1..].parse().unwrap();
            Reply::redirect(&format!("/{}", left - 1))
        }
    })
    .await;
    let fetcher = fetcher(Names::new(&[]), &peer.origin());
    let three = fetcher.fetch(FetchRequest::get(peer.url("/3"))).await;
    assert_eq!(three.unwrap().status, 204);
    let four = fetcher.fetch(FetchRequest::get(peer.url("/4"))).await;
    refused(four, "more than 3 redirects");
    assert_eq!(peer.seen_at("/0").len(), 1);
}

#[tokio::test]
async fn every_redirect_is_checked_like_the_first_request() {
    let inside = Peer::start(|_| Reply::new(200)).await;
    let target = inside.url("/secret").to_string();
    let peer = Peer::start(move |_| Reply::redirect(&target)).await;
    let fetcher = fetcher(Names::new(&[]), &peer.origin());
    let answer = fetcher.fetch(FetchRequest::get(peer.url("/"))).await;
    let expected = format!(
        "{} has no TLS; name it in HARN_FETCH_ALLOW if that is right",
        inside.origin()
    );
    refused(answer, &expected);
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Peer::start(|_| Reply::new(200)).await;
    let target = other.url("/end").to_string();
    let first = Peer::start(move |seen| match seen.path() {
        "/start" => Reply::redirect("/same"),
        _ => Reply::redirect(&target),
    })
    .await;
    let fetcher = fetcher(
        Names::new(&[]),
        &format!("{} {}", first.origin(), other.origin()),
    );
    let mut request = FetchRequest::get(first.url("/start"));
    let secrets = [
        ("authorization", "Bearer s"),
        ("cookie", "s=1"),
        ("x-plain", "p"),
    ];
    for (name, value) in secrets {
        request.headers.insert(name, value.parse().unwrap());
    }
    fetcher.fetch(request).await.unwrap();
    assert_eq!(
        first.seen_at("/same")[0].header("authorization"),
        Some("Bearer s")
    );
    let seen = &other.seen()[0];
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(seen.header("cookie"), None);
    assert_eq!(seen.header("x-plain"), Some("p"));
}

#[tokio::test]
async fn a_redirect_may_be_held_to_its_origin_or_not_followed() {
    let other = Peer::start(|_| Reply::new(200)).await;
    let target = other.url("/").to_string();
    let first = Peer::start(move |_| Reply::redirect(&target)).await;
    let named = format!("{} {}", first.origin(), other.origin());
    let fetcher = fetcher(Names::new(&[]), &named);
    let with = |redirects, method| FetchRequest {
        redirects,
        method,
        ..FetchRequest::get(first.url("/"))
    };
    let answer = fetcher
        .fetch(with(Redirects::SameOrigin, Method::GET))
        .await;
    let expected = format!(
        "{} redirects to another origin, {}",
        first.origin(),
        other.origin()
    );
    refused(answer, &expected);
    let answer = fetcher.fetch(with(Redirects::Stop, Method::GET)).await;
    assert_eq!(answer.unwrap().status, 302);
    let answer = fetcher.fetch(with(Redirects::Anywhere, Method::POST)).await;
    assert_eq!(answer.unwrap().status, 302);
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_not_read() {
    let peer = Peer::start(|_| Reply::new(200).body(vec![b'x'; 100])).await;
    let with = |body_bytes_max| {
        let limits = FetchLimits {
            body_bytes_max,
            ..FetchLimits::default()
        };
        let named = NamedOrigins::parse(&peer.origin()).unwrap();
        Fetcher::new(Names::new(&[]), named, limits)
    };
    let answer = with(100).fetch(FetchRequest::get(peer.url("/"))).await;
    assert_eq!(answer.unwrap().body.len(), 100);
    let answer = with(99).fetch(FetchRequest::get(peer.url("/"))).await;
    refused(answer, "the body of the answer has more than 99 bytes");
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let peer = Peer::start(|_| Reply::events("").header("content-type", "text/plain")).await;
    let named = NamedOrigins::parse(&peer.origin()).unwrap();
    let limits = FetchLimits {
        time_max: Duration::from_millis(50),
        ..FetchLimits::default()
    };
    // The type that is sent first counts, so this one is a stream and needs no end.
    let fetcher = Fetcher::new(Names::new(&[]), named, limits);
    let stream = fetcher.fetch(FetchRequest::get(peer.url("/"))).await;
    assert_eq!(stream.unwrap().body, b"");
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = url(&format!("http://{}", silent.local_addr().unwrap()));
    let answer = fetcher.naming(&at).fetch(FetchRequest::get(at)).await;
    refused(answer, "no whole answer within 0.05 s");
}

#[tokio::test]
async fn errors_show_no_more_than_the_origin() {
    let fetcher = fetcher(Names::new(&[]), "");
    let asked = FetchRequest::get(url("https://u:p@gone.test/path?token=secret"));
    refused(
        fetcher.fetch(asked).await,
        "cannot resolve https://gone.test: no such name",
    );
}
