//! Redirects, each of which is looked at before it is followed.

use std::io::Write;

use super::programs::check;
use super::server::{Server, answer};

/// A server that sends `/to/PLACE` to that place, and says what arrived elsewhere.
fn server() -> Server {
    Server::start(|request, stream| {
        let (method, path) = request.line.split_once(' ').expect("a request has a path");
        if let Some(rest) = path.strip_prefix("/to/") {
            let (status, place) = rest.split_once('/').expect("the test gives a status");
            let place = place.replace("%7C", "/").replace('|', "/");
            let head = format!("{status} Elsewhere");
            return stream.write_all(&answer(&head, &[("Location", &place)], b"moved"));
        }
        let secret = request.header("authorization").unwrap_or("none");
        let body = String::from_utf8_lossy(&request.body);
        let text = format!("{method} {path} auth={secret} body={body}");
        stream.write_all(&answer("200 OK", &[], text.as_bytes()))
    })
}

#[test]
fn redirects_are_followed() {
    let server = server();
    check(
        &server.url,
        r#"
println(http_get("URL/to/302/|end").body)
println(http_post("URL/to/302/|end", "b").body)
println(http_post("URL/to/307/|end", "b").body)
println(http_get("URL/to/302/end", {follow_redirects: false}).status)
println(http_get("URL/to/302/||", {auth: "me"}).body.len() > 0)
println(http_stream_info(http_stream_open("URL/to/301/|end")).status)
"#,
        &[
            "GET /end auth=none body=",
            "GET /end auth=none body=",
            "POST /end auth=none body=b",
            "302",
            "true",
            "200",
        ],
    );
}

#[test]
fn a_circle_of_redirects_ends() {
    let server = Server::fixed(answer("302 Found", &[("location", "/")], b""));
    check(
        &server.url,
        r#"
println(attempt({ -> http_get("URL/") }))
println(attempt({ -> http_get("URL/", {max_redirects: 0}) }))
"#,
        &[
            "http: request failed: too many redirects",
            "http: request failed: too many redirects",
        ],
    );
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_secret_stays_with_its_host() {
    let (near, far) = (server(), server());
    let place = far.url.replace("http://", "http:||");
    let program = format!(
        "println(http_get(\"URL/to/302/|end\", {{auth: \"me\"}}).body)\n\
         println(http_get(\"URL/to/302/{place}|end\", {{auth: \"me\"}}).body)\n"
    );
    check(
        &near.url,
        &program,
        &["GET /end auth=me body=", "GET /end auth=none body="],
    );
}

#[test]
fn every_hop_is_checked_before_it_is_made() {
    let (near, far) = (server(), server());
    let place = far.url.replace("http://", "http:||");
    let denied = far.url.trim_start_matches("http://");
    let program = format!(
        "egress_policy({{deny: [\"{denied}\"]}})\n\
         println(attempt({{ -> http_get(\"URL/to/302/{place}|end\") }}).url)\n\
         println(attempt({{ -> http_stream_open(\"URL/to/302/{place}|end\") }}).surface)\n\
         println(attempt({{ -> http_download(\"URL/to/302/{place}|end\", \"/tmp/never\") }}).host)\n\
         let events = sse_connect(\"GET\", \"URL/to/302/{place}|end\")\n\
         println(attempt({{ -> sse_receive(events) }}).surface)\n"
    );
    let url = format!("{}/end", far.url);
    let expected = [url.as_str(), "http_stream_open", "127.0.0.1", "sse_connect"];
    check(&near.url, &program, &expected);
    assert_eq!(far.connections(), 0);
}
