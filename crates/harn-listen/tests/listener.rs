//! Each rule of a listener, over a real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::time::Duration;

use harn_listen::{Credentials, Error, Limits, Policy, Secret, Tls, sign};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use world::{KEY, NOW_MS, World, get, policy};

#[tokio::test]
async fn a_listener_that_strangers_could_reach_does_not_start() {
    let exposed = || Policy::new("0.0.0.0:0".parse().unwrap());
    let refused = exposed().open(world::clock()).await;
    assert!(matches!(refused, Err(Error::Exposed(_))));

    let mut insecure = exposed();
    insecure.insecure_no_auth = true;
    assert!(insecure.open(world::clock()).await.is_ok());

    let mut known = exposed();
    known.credentials = world::keys();
    assert!(known.open(world::clock()).await.is_ok());
}

#[tokio::test]
async fn a_listener_behind_a_proxy_counts_as_reachable() {
    let mut edge = world::asking();
    edge.tls = Tls::Edge;
    let refused = edge.clone().open(world::clock()).await;
    assert!(matches!(refused, Err(Error::ExposedByProxy)));
    edge.insecure_no_auth = true;
    assert!(edge.open(world::clock()).await.is_ok());
}

#[tokio::test]
async fn requests_for_another_host_are_refused_before_their_body_is_read() {
    let world = World::open(policy()).await;
    // The body never comes, and the answer comes all the same.
    let head = "POST /echo HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 10\r\n\r\n";
    assert_eq!(world.ask(head).await.status, 403);
    assert_eq!(world.ask(&get("/who", "host: localhost")).await.status, 200);
    assert_eq!(world.ask(&get("/who", "x-none: 1")).await.status, 403);
    assert_eq!(world.count("hosts_refused"), 2);
    assert_eq!(world.handled(), 1);
}

#[tokio::test]
async fn unknown_paths_are_guarded_too() {
    let world = World::open(policy()).await;
    assert_eq!(
        world.ask(&get("/none", "host: evil.example")).await.status,
        403
    );
    assert_eq!(
        world.ask(&get("/none", "host: localhost")).await.status,
        404
    );
}

#[tokio::test]
async fn hosts_are_allowed_by_name_and_by_the_public_url() {
    let mut policy = policy();
    policy.hosts.allow("agents.example").unwrap();
    policy.public_url = Some("http://public.example/base/".to_owned());
    let world = World::open(policy).await;
    for host in ["agents.example:80", "public.example", "127.0.0.1"] {
        let answer = world.ask(&get("/who", &format!("host: {host}"))).await;
        assert_eq!(answer.status, 200, "{host}");
    }
    assert_eq!(world.url, "http://public.example/base/");
}

#[tokio::test]
async fn pages_are_refused_unless_their_origin_is_allowed() {
    let world = World::open(policy()).await;
    let page = "host: localhost\r\norigin: http://localhost";
    assert_eq!(world.ask(&get("/who", page)).await.status, 403);
    let head = format!("POST /echo HTTP/1.1\r\n{page}\r\ncontent-length: 10\r\n\r\n");
    assert_eq!(world.ask(&head).await.status, 403);
    assert_eq!(world.count("origins_refused"), 2);
    assert_eq!(world.handled(), 0);
}

#[tokio::test]
async fn an_allowed_origin_is_granted_access_for_itself_alone() {
    let mut policy = policy();
    policy.credentials = world::keys();
    policy.origins.allow("https://editor.example").unwrap();
    let world = World::open(policy).await;
    let page = "host: localhost\r\norigin: https://editor.example";

    let preflight = format!(
        "OPTIONS /who HTTP/1.1\r\n{page}\r\naccess-control-request-method: POST\r\n\
         connection: close\r\n\r\n"
    );
    let answer = world.ask(&preflight).await;
    assert_eq!(answer.status, 204);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://editor.example")
    );
    let headers = answer.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("authorization") && !headers.contains('*'));
    assert_eq!(answer.header("access-control-allow-credentials"), None);

    let answer = world
        .ask(&get("/who", &format!("{page}\r\nx-api-key: {KEY}")))
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://editor.example")
    );
    assert_eq!(answer.header("vary"), Some("origin"));

    let other = page.replace("editor", "other");
    let answer = world.ask(&preflight.replace(page, &other)).await;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn callers_show_a_key_in_either_header() {
    let mut policy = policy();
    policy.credentials = world::keys();
    let world = World::open(policy).await;
    for (shown, status) in [
        (String::new(), 401),
        (format!("authorization: Bearer {KEY}"), 200),
        (format!("authorization: bearer {KEY}"), 200),
        (format!("x-api-key: {KEY}"), 200),
        (format!("authorization: Bearer {KEY}x"), 401),
        (format!("authorization: Bearer {}", &KEY[1..]), 401),
        (format!("authorization: Basic {KEY}"), 401),
        (format!("authorization: {KEY}"), 401),
        ("authorization: Bearer ".to_owned(), 401),
        ("x-api-key: ".to_owned(), 401),
    ] {
        let shown = shown.trim();
        let headers = match shown {
            "" => "host: localhost".to_owned(),
            _ => format!("host: localhost\r\n{shown}"),
        };
        let answer = world.ask(&get("/who", &headers)).await;
        assert_eq!(answer.status, status, "{shown}");
        if status == 401 {
            let challenge = answer.header("www-authenticate");
            assert_eq!(challenge, Some("Bearer realm=\"harn\""));
        } else {
            assert_eq!(answer.body, "ci Key");
        }
    }
}

#[tokio::test]
async fn open_paths_need_no_key_and_others_do() {
    let mut policy = policy();
    policy.credentials = world::keys();
    policy.open_paths = vec!["/.well-known/".to_owned(), "/who".to_owned()];
    let world = World::open(policy).await;
    for (path, status) in [
        ("/who", 200),
        ("/who/", 401),
        ("/.well-known/x", 404),
        ("/x", 401),
    ] {
        let answer = world.ask(&get(path, "host: localhost")).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

#[tokio::test]
async fn guessing_is_slowed_down_and_good_keys_are_not() {
    let mut policy = policy();
    policy.credentials = world::keys();
    policy.limits.failures_max = 3;
    let world = World::open(policy).await;
    let wrong = get("/who", "host: localhost\r\nx-api-key: wrong");
    let right = get("/who", &format!("host: localhost\r\nx-api-key: {KEY}"));
    // To come without a key is no guess.
    for _ in 0..5 {
        assert_eq!(world.ask(&get("/who", "host: localhost")).await.status, 401);
    }
    for _ in 0..3 {
        assert_eq!(world.ask(&wrong).await.status, 401);
    }
    let slowed = world.ask(&wrong).await;
    assert_eq!(slowed.status, 429);
    assert_eq!(slowed.header("retry-after"), Some("60"));
    assert_eq!(world.count("peers_slowed"), 1);
    assert_eq!(
        world.ask(&right).await.status,
        200,
        "it comes from there too"
    );
    world.pass(Duration::from_secs(60));
    assert_eq!(world.ask(&wrong).await.status, 401);
}

#[tokio::test]
async fn a_listener_without_keys_asks_for_the_token_it_has_made() {
    let scratch = tempfile::tempdir().unwrap();
    let world = World::open(Policy {
        token_folder: Some(scratch.path().join("listeners")),
        ..world::asking()
    })
    .await;
    let query = world.token_query.clone().unwrap();
    let token = query.strip_prefix("?token=").unwrap();
    let file = scratch
        .path()
        .join(format!("listeners/{}.token", world.address));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        format!("{token}\n")
    );
    for (path, headers, status) in [
        ("/who".to_owned(), String::new(), 401),
        (
            "/who".to_owned(),
            format!("\r\nauthorization: Bearer {token}"),
            200,
        ),
        ("/who".to_owned(), format!("\r\nx-api-key: {token}"), 200),
        (format!("/who{query}"), String::new(), 200),
        (format!("/who?a=1&token={token}"), String::new(), 200),
        ("/who?token=".to_owned(), String::new(), 401),
        (format!("/who{query}0"), String::new(), 401),
        (format!("/who{query}"), "\r\nx-api-key: no".to_owned(), 401),
    ] {
        let answer = world
            .ask(&get(&path, &format!("host: localhost{headers}")))
            .await;
        assert_eq!(answer.status, status, "{path} {headers}");
        if status == 200 {
            assert_eq!(answer.body, " Token");
        }
    }
}

#[tokio::test]
async fn a_key_is_no_part_of_an_address() {
    let mut policy = policy();
    policy.credentials = world::keys();
    let world = World::open(policy).await;
    assert_eq!(world.token_query, None, "keys are configured");
    let asked = get(&format!("/none?token={KEY}"), "host: localhost");
    assert_eq!(world.ask(&asked).await.status, 401);
}

/// A request for `/echo` that is signed, with the body that is signed.
fn signed(time_secs: i64, nonce: &str, body: &str) -> String {
    let key = Secret::new(world::SIGNING_KEY);
    let header = sign(
        "hook",
        &key,
        "POST",
        "/echo?a=1",
        "localhost",
        time_secs,
        nonce,
        body.as_bytes(),
    );
    let length = body.len();
    format!(
        "POST /echo?a=1 HTTP/1.1\r\nhost: localhost\r\nauthorization: {header}\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn signing() -> Policy {
    let mut credentials = Credentials::default();
    let key = Secret::new(world::SIGNING_KEY);
    credentials.add_signing_key("hook", key).unwrap();
    Policy {
        credentials,
        ..policy()
    }
}

const NONCE: &str = "abcdefghijklmnop";
const NOW_SECS: i64 = NOW_MS / 1000;

#[tokio::test]
async fn a_signed_request_is_accepted_once() {
    let world = World::open(signing()).await;
    let request = signed(NOW_SECS, NONCE, "hello");
    let answer = world.ask(&request).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, "hook Signature hello")
    );
    assert_eq!(world.ask(&request).await.status, 401);
    assert_eq!(world.count("replays_refused"), 1);
    assert_eq!(
        world
            .ask(&signed(NOW_SECS, "another-nonce-00", "hello"))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_signed_request_must_be_of_now() {
    let world = World::open(signing()).await;
    for (offset, status) in [(-301, 401), (301, 401), (-299, 200), (299, 200)] {
        let nonce = format!("nonce-of-offset-{}", offset + 1000);
        let answer = world.ask(&signed(NOW_SECS + offset, &nonce, "")).await;
        assert_eq!(answer.status, status, "{offset}");
    }
}

#[tokio::test]
async fn nothing_of_a_signed_request_can_be_changed() {
    let mut policy = signing();
    policy.limits.failures_max = 100;
    let world = World::open(policy).await;
    let request = signed(NOW_SECS, NONCE, "hello");
    for (part, other) in [
        ("POST", "PUT"),
        ("a=1", "a=2"),
        ("/echo", "/who"),
        ("host: localhost", "host: 127.0.0.1"),
        (NONCE, "abcdefghijklmnoq"),
        ("key=hook", "key=none"),
        ("time=1", "time=2"),
        ("signature=", "signature=00"),
    ] {
        let answer = world.ask(&request.replacen(part, other, 1)).await;
        assert_eq!(answer.status, 401, "{part} {other}");
    }
    let answer = world
        .ask(&request.replace("\r\n\r\nhello", "\r\n\r\nhallo"))
        .await;
    assert_eq!(answer.status, 401, "the body");
    assert_eq!(world.handled(), 0);
    assert_eq!(world.count("bodies_refused"), 1);
}

#[tokio::test]
async fn signed_bodies_and_the_memory_of_them_are_bounded() {
    let mut policy = signing();
    policy.limits.signed_body_bytes_max = 8;
    policy.limits.replay_entries_max = 2;
    let world = World::open(policy).await;
    assert_eq!(
        world
            .ask(&signed(NOW_SECS, "first-nonce-0000", "too large"))
            .await
            .status,
        413
    );
    assert_eq!(
        world
            .ask(&signed(NOW_SECS, "second-nonce-000", "small"))
            .await
            .status,
        200
    );
    let full = world
        .ask(&signed(NOW_SECS, "third-nonce-0000", "small"))
        .await;
    assert_eq!(full.status, 429);
    assert_eq!(world.count("replay_cache_full"), 1);
}

#[tokio::test]
async fn claims_are_believed_from_the_layer_in_front_of_us_alone() {
    let claims = get(
        "/who",
        "host: localhost\r\nx-harn-claims: {\"sub\":\"ada\",\"scope\":\"acp\"}",
    );
    let mut trusting = policy();
    trusting
        .credentials
        .trust_claims_from("127.0.0.1".parse().unwrap());
    let world = World::open(trusting).await;
    let answer = world.ask(&claims).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "ada Claims"));
    assert_eq!(world.ask(&get("/who", "host: localhost")).await.status, 401);
    for broken in ["nobody", "{}", "{\"sub\":1}", "[]"] {
        let request = get(
            "/who",
            &format!("host: localhost\r\nx-harn-claims: {broken}"),
        );
        assert_eq!(world.ask(&request).await.status, 401, "{broken}");
    }

    let mut other = policy();
    other
        .credentials
        .trust_claims_from("10.0.0.1".parse().unwrap());
    let world = World::open(other).await;
    assert_eq!(world.ask(&claims).await.status, 401);

    // Where nobody is asked, the header says nothing and goes no further.
    let world = World::open(policy()).await;
    let answer = world.ask(&claims).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, " Nothing"));
}

#[tokio::test]
async fn keys_that_are_easy_to_guess_are_refused() {
    let mut credentials = Credentials::default();
    let weak = credentials.add_key("ci", Secret::new("short"));
    assert!(matches!(weak, Err(Error::WeakKey { length: 5, .. })));
    credentials.add_key("ci", Secret::new(KEY)).unwrap();
    let twice = credentials.add_key("ci", Secret::new(KEY));
    assert!(matches!(twice, Err(Error::TwoKeys(_))));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_given_up() {
    let world = World::open(policy()).await;
    let answer = world.ask("GET /who HTTP/1.1\r\nhost: loc").await;
    assert_ne!(answer.status, 200);
    assert_eq!(world.handled(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    let mut policy = policy();
    policy.credentials = world::keys();
    let world = World::open(policy).await;
    let slow = format!(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nx-api-key: {KEY}\r\n\
         content-length: 10\r\n\r\nhalf"
    );
    let answer = world.ask(&slow).await;
    assert_eq!(answer.status, 408);
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(world.count("bodies_late"), 1);
}

#[tokio::test]
async fn idle_connections_without_a_credential_keep_nobody_out() {
    let mut policy = policy();
    policy.credentials = world::keys();
    policy.limits.unknown_connections_max = 4;
    let world = World::open(policy).await;
    let right = get("/who", &format!("host: localhost\r\nx-api-key: {KEY}"));
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(world.connect().await);
    }
    assert_eq!(world.ask(&right).await.status, 200);
    // Twenty and the good one, of which four stay.
    assert_eq!(world.count("connections_evicted"), 17);
}

#[tokio::test]
async fn one_caller_cannot_take_all_connections() {
    let mut policy = policy();
    policy.credentials = world::keys();
    policy.limits.caller_connections_max = 2;
    let world = World::open(policy).await;
    let slow = format!(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nx-api-key: {KEY}\r\n\
         content-length: 10\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = world.connect().await;
        stream.write_all(slow.as_bytes()).await.unwrap();
        // It is asked for its body: it was let in.
        let mut asked = [0; 12];
        stream.read_exact(&mut asked).await.unwrap();
        assert_eq!(&asked, b"HTTP/1.1 100");
        held.push(stream);
    }
    let right = |key: &str| get("/who", &format!("host: localhost\r\nx-api-key: {key}"));
    assert_eq!(world.ask(&right(KEY)).await.status, 429);
    assert_eq!(world.count("connections_refused"), 1);
    let other = world.ask(&right(world::OTHER_KEY)).await;
    assert_eq!((other.status, &*other.body), (200, "other Key"));
}

#[tokio::test]
async fn connections_are_bounded_and_wait_for_a_place() {
    let mut policy = policy();
    policy.limits = Limits {
        connections_max: 1,
        ..Limits::default()
    };
    let world = World::open(policy).await;
    let first = world.connect().await;
    let second = tokio::spawn(world::exchange(
        world.connect().await,
        get("/who", "host: localhost"),
    ));
    let first = world::exchange(first, get("/who", "host: localhost")).await;
    assert_eq!(first.status, 200);
    assert_eq!(second.await.unwrap().status, 200);
    assert!(world.count("connections_waited") >= 1);
}

#[tokio::test]
async fn browsers_are_told_to_stay_with_https_behind_a_proxy_only() {
    let plain = World::open(policy()).await;
    let answer = plain.ask(&get("/who", "host: localhost")).await;
    assert_eq!(answer.header("strict-transport-security"), None);
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(plain.url.starts_with("http://127.0.0.1:"));

    let mut edge = policy();
    edge.tls = Tls::Edge;
    edge.credentials = world::keys();
    let edge = World::open(edge).await;
    let answer = edge
        .ask(&get(
            "/who",
            &format!("host: localhost\r\nx-api-key: {KEY}"),
        ))
        .await;
    assert_eq!(
        answer.header("strict-transport-security"),
        Some("max-age=31536000")
    );
    assert!(edge.url.starts_with("https://127.0.0.1:"));
}

#[tokio::test]
async fn public_urls_are_checked() {
    for (url, tls) in [
        ("agents.example", Tls::Plain),
        ("ftp://agents.example/", Tls::Plain),
        ("https://user:pw@agents.example/", Tls::Plain),
        ("https://agents.example/?a", Tls::Plain),
        ("http://agents.example/", Tls::SelfSignedDev),
    ] {
        let policy = Policy {
            public_url: Some(url.to_owned()),
            tls,
            ..policy()
        };
        assert!(policy.open(world::clock()).await.is_err(), "{url}");
    }
}
