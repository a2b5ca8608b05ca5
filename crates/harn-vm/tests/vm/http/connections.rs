//! Requests, connections and attempts.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::programs::{check, output, output_in};
use super::server::{Server, answer};

#[test]
fn a_request_arrives_as_it_was_described() {
    let server = Server::start(|request, stream| {
        let text = format!(
            "{} x-a={} auth={} body={}",
            request.line,
            request.header("x-a").unwrap_or("none"),
            request.header("authorization").unwrap_or("none"),
            String::from_utf8_lossy(&request.body),
        );
        stream.write_all(&answer(
            "201 Created",
            &[("X-Case", "Kept")],
            text.as_bytes(),
        ))
    });
    check(
        &server.url,
        r#"
let answer = http_post("URL/p", "é", {query: {q: "a b"}, headers: {"X-A": "1"}, auth: {bearer: "t"}})
println(answer.status)
println(answer.ok)
println(answer.headers["x-case"])
println(answer.body)
println(http_get("URL/").body)
println(http_request("PATCH", "URL/", {body: "b"}).body)
"#,
        &[
            "201",
            "true",
            "Kept",
            "POST /p?q=a+b x-a=1 auth=Bearer t body=é",
            "GET / x-a=none auth=none body=",
            "PATCH / x-a=none auth=none body=b",
        ],
    );
}

#[test]
fn several_headers_of_one_name_are_one() {
    let server = Server::fixed(answer("200 OK", &[("Via", "a"), ("via", "b")], b""));
    check(
        &server.url,
        r#"println(http_get("URL").headers.via)"#,
        &["a, b"],
    );
}

#[test]
fn a_multipart_body_arrives_with_its_boundary() {
    let server = Server::start(|request, stream| {
        let text = format!(
            "{}|{}",
            request.header("content-type").unwrap_or_default(),
            String::from_utf8_lossy(&request.body).replace("\r\n", "|"),
        );
        stream.write_all(&answer("200 OK", &[], text.as_bytes()))
    });
    check(
        &server.url,
        r#"println(http_post("URL", {multipart: [{name: "a", value: "harn-boundary"}]}).body)"#,
        &[
            "multipart/form-data; boundary=harn-boundary-1|--harn-boundary-1|Content-Disposition: \
           form-data; name=\"a\"||harn-boundary|--harn-boundary-1--|",
        ],
    );
}

#[test]
fn connections_are_used_again() {
    let server = Server::fixed(answer("200 OK", &[], b"x"));
    let program = r#"
let session = http_session()
for _ in range(5) {
  http_get("URL/")
  http_session_request(session, "GET", "URL/")
}
http_session_close(session)
"#;
    output(&server.url, program);
    assert_eq!(server.connections(), 2);
}

#[test]
fn many_requests_are_under_way_at_once() {
    const AT_ONCE: usize = 16;
    let meeting = Arc::new(Meeting::default());
    let host = Arc::clone(&meeting);
    let server = Server::start(move |_, stream| {
        host.meet(AT_ONCE);
        stream.write_all(&answer("200 OK", &[], b"x"))
    });
    let program = r#"
let answers = parallel 200 with {max_concurrent: 16} { i -> http_get("URL/" + to_string(i)).body }
println(join(answers, "").len())
"#;
    check(&server.url, program, &["200"]);
    assert_eq!(meeting.most(), AT_ONCE);
}

/// Requests that wait for each other.
#[derive(Default)]
struct Meeting {
    /// How many are here, and the most that ever were.
    seen: Mutex<(usize, usize)>,
    came: Condvar,
}

impl Meeting {
    /// Comes, and goes when so many have been here together. If they never are, that is told
    /// by [`most`](Self::most) and not by waiting for ever.
    fn meet(&self, together: usize) {
        const PATIENCE: Duration = Duration::from_secs(20);
        let mut seen = self.seen.lock().expect("nobody panics here");
        seen.0 += 1;
        seen.1 = seen.1.max(seen.0);
        self.came.notify_all();
        let waited = self
            .came
            .wait_timeout_while(seen, PATIENCE, |(_, most)| *most < together);
        waited.expect("nobody panics here").0.0 -= 1;
    }

    fn most(&self) -> usize {
        self.seen.lock().expect("nobody panics here").1
    }
}

#[test]
fn a_broken_connection_is_tried_again() {
    let count = AtomicUsize::new(0);
    let server = Server::start(
        move |_, stream| match count.fetch_add(1, Ordering::SeqCst) {
            0 => Err(std::io::ErrorKind::ConnectionAborted.into()),
            1 => stream.write_all(&answer("503 Busy", &[], b"")),
            _ => stream.write_all(&answer("200 OK", &[], b"at last")),
        },
    );
    let program = r#"
println(http_get("URL/", {retries: 3, backoff: 1}).body)
"#;
    check(&server.url, program, &["at last"]);
}

#[test]
fn a_proxy_is_asked_instead() {
    let proxy = Server::start(|request, stream| {
        let login = request.header("proxy-authorization").unwrap_or("none");
        let text = format!("{} {login}", request.line);
        stream.write_all(&answer("200 OK", &[], text.as_bytes()))
    });
    let program = r#"
let proxy_auth = {user: "u", pass: "p"}
println(http_get("http://far.test/x", {proxy: "URL", proxy_auth: proxy_auth}).body)
println(http_get("http://far.test/x", {proxy: {url: "URL"}}).body)
"#;
    let expected = [
        "GET http://far.test/x Basic dTpw",
        "GET http://far.test/x none",
    ];
    check(&proxy.url, program, &expected);
    let usual = [
        ("HTTP_PROXY", proxy.url.as_str()),
        ("NO_PROXY", "near.test"),
    ];
    let program = r#"println(http_get("http://far.test/y").body)"#;
    let output = output_in(&proxy.url, program, &usual);
    assert_eq!(output, "GET http://far.test/y none\n");
}

#[test]
fn the_environment_decides_where_a_program_may_go() {
    let server = Server::fixed(answer("200 OK", &[], b"x"));
    let program = r#"
println(attempt({ -> http_get("URL/") }).reason)
println(attempt({ -> egress_policy({}) }))
"#;
    let deny = [("HARN_EGRESS_DENY", "other.test; 127.0.0.0/8")];
    let already = "egress_policy: policy already configured from environment";
    let output = output_in(&server.url, program, &deny);
    assert_eq!(
        output,
        format!("matched deny rule `127.0.0.0/8`\n{already}\n")
    );
    let deny = [
        ("HARN_EGRESS_DEFAULT", "deny"),
        ("HARN_EGRESS_ALLOW", "a.test"),
    ];
    let output = output_in(&server.url, program, &deny);
    assert_eq!(output, format!("no allow rule matched\n{already}\n"));
    assert_eq!(server.connections(), 0);
}
