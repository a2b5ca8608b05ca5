//! Authorization servers that want more than they should get. Each of these tests fails when
//! the rule is taken away that it is about.

use serde_json::{Value, json};

use super::desk::{Desk, metadata};
use super::*;
use crate::testing::{Peer, Reply, Seen};

/// A login comes to nothing, for the reason that is expected, and nobody learns a code, a
/// secret or where to go.
async fn refused(desk: &Desk, expected: &str) {
    let failure = desk
        .authorizer()
        .login(&desk.challenge(""))
        .await
        .unwrap_err();
    let told = failure.to_string();
    assert!(told.contains(expected), "{told}");
    assert!(desk.exchanges().is_empty(), "a code was sent");
    assert!(desk.authorizer().token().await.unwrap().is_none());
}

async fn refused_before_anybody_is_sent(desk: &Desk, expected: &str) {
    refused(desk, expected).await;
    assert_eq!(desk.visits(), 0, "somebody was sent there");
}

#[tokio::test]
async fn without_pkce_nobody_is_sent_anywhere() {
    let no = "does not offer PKCE with S256";
    let desk = Desk::saying(|metadata| {
        metadata
            .as_object_mut()
            .unwrap()
            .remove("code_challenge_methods_supported");
    });
    refused_before_anybody_is_sent(&desk.await, no).await;
    let desk = Desk::saying(|metadata| {
        metadata["code_challenge_methods_supported"] = json!(["plain"]);
    });
    refused_before_anybody_is_sent(&desk.await, no).await;
}

#[tokio::test]
async fn metadata_of_another_issuer_are_not_believed() {
    let desk = Desk::saying(|metadata| metadata["issuer"] = json!("https://good.example"));
    refused_before_anybody_is_sent(&desk.await, "issuer mismatch").await;
    let desk = Desk::saying(|metadata| {
        metadata.as_object_mut().unwrap().remove("issuer");
    });
    refused_before_anybody_is_sent(&desk.await, "missing required issuer").await;
}

#[tokio::test]
async fn metadata_of_another_server_are_not_believed() {
    let desk = Desk::behaving(|origin, seen: &Seen| {
        (seen.path() == "/metadata").then(|| {
            Reply::json(&json!({
                "resource": "https://good.example/mcp", "authorization_servers": [origin],
            }))
        })
    });
    refused_before_anybody_is_sent(&desk.await, "resource mismatch").await;
}

#[tokio::test]
async fn without_metadata_no_endpoint_is_guessed() {
    let desk = Desk::behaving(|_, seen: &Seen| {
        let is_endpoint = matches!(seen.path(), "/authorize" | "/token" | "/register");
        (!is_endpoint).then(|| Reply::new(404))
    });
    refused_before_anybody_is_sent(&desk.await, "publishes no metadata").await;
}

#[tokio::test]
async fn an_authorization_server_at_a_private_address_is_not_asked() {
    for place in [
        "http://169.254.169.254",
        "https://169.254.169.254",
        "https://10.0.0.1",
        "https://[fd00::1]",
        "https://cloud.test",
    ] {
        let desk = Desk::behaving(move |origin, seen: &Seen| {
            (seen.path() == "/metadata").then(|| {
                Reply::json(&json!({
                    "resource": format!("{origin}/mcp"), "authorization_servers": [place],
                }))
            })
        })
        .await;
        let failure = desk
            .authorizer()
            .login(&desk.challenge(""))
            .await
            .unwrap_err();
        let told = failure.to_string();
        let is_refused = told.contains("none published usable metadata")
            || told.contains("not a public address")
            || told.contains("has no TLS");
        assert!(is_refused, "{place}: {told}");
        assert_eq!(desk.visits(), 0);
    }
}

#[tokio::test]
async fn an_authorization_server_on_another_port_of_this_machine_must_be_named() {
    let other = Desk::open().await;
    let place = other.peer.origin();
    let at = place.clone();
    let desk = Desk::behaving(move |origin, seen: &Seen| {
        (seen.path() == "/metadata").then(|| {
            Reply::json(&json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [at],
            }))
        })
    })
    .await;
    refused_before_anybody_is_sent(&desk, "has no TLS").await;
    assert!(other.peer.seen().is_empty());
    let named = desk.authorizer_of(desk.server(), &place);
    named.login(&desk.challenge("")).await.unwrap();
}

#[tokio::test]
async fn metadata_cannot_be_somewhere_else() {
    let other = Peer::at(|origin| move |_: &Seen| Reply::json(&metadata(&origin))).await;
    let target = other.url("/").to_string();
    let desk = Desk::behaving(move |_, seen: &Seen| {
        let is_metadata = seen.path() == "/.well-known/oauth-authorization-server";
        is_metadata.then(|| Reply::redirect(&target))
    });
    refused_before_anybody_is_sent(&desk.await, "another origin").await;
    assert!(other.seen().is_empty());
    let desk = Desk::behaving(|_, seen: &Seen| {
        let is_metadata = seen.path() == "/.well-known/oauth-authorization-server";
        is_metadata.then(|| Reply::redirect("/.well-known/oauth-authorization-server"))
    });
    refused_before_anybody_is_sent(&desk.await, "more than 3 redirects").await;
}

#[tokio::test]
async fn metadata_without_an_end_are_not_read() {
    let desk = Desk::behaving(|_, seen: &Seen| {
        let is_metadata = seen.path() == "/.well-known/oauth-authorization-server";
        is_metadata.then(|| Reply::new(200).body(vec![b' '; 2 * 1024 * 1024]))
    });
    refused_before_anybody_is_sent(&desk.await, "more than 1048576 bytes").await;
}

#[tokio::test]
async fn endpoints_are_where_the_issuer_is() {
    for what in ["authorization", "token", "registration"] {
        let desk = Desk::saying(move |metadata| {
            metadata[format!("{what}_endpoint")] = json!("https://evil.example/x");
        })
        .await;
        let expected = format!(
            "the {what} endpoint of {} is on another",
            desk.peer.origin()
        );
        refused_before_anybody_is_sent(&desk, &expected).await;
    }
}

#[tokio::test]
async fn nobody_is_sent_to_what_is_no_page() {
    for page in ["javascript:alert(1)", "file:///etc/passwd", "not a URL"] {
        let desk = Desk::saying(move |metadata| {
            metadata["authorization_endpoint"] = json!(page);
        })
        .await;
        refused_before_anybody_is_sent(&desk, "authorization endpoint").await;
    }
}

/// An answer that comes back with another issuer, or with none although one was promised.
async fn answering(issuer: Option<&'static str>, promises: bool) -> Desk {
    Desk::behaving(move |origin, seen: &Seen| match seen.path() {
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = metadata(origin);
            metadata["authorization_response_iss_parameter_supported"] = json!(promises);
            Some(Reply::json(&metadata))
        }
        "/authorize" => {
            let asked = seen.parameters();
            let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
            back.query_pairs_mut()
                .append_pair("code", "stolen")
                .append_pair("state", &asked["state"]);
            if let Some(issuer) = issuer {
                back.query_pairs_mut().append_pair("iss", issuer);
            }
            Some(Reply::redirect(back.as_str()))
        }
        _ => None,
    })
    .await
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_not_believed() {
    let desk = answering(Some("https://good.example"), false).await;
    refused(&desk, "issuer mismatch").await;
    let desk = answering(None, true).await;
    refused(&desk, "missing required issuer").await;
}

#[tokio::test]
async fn a_code_is_not_sent_on() {
    let other = Peer::start(|_| super::desk::token("stolen", 60)).await;
    let target = other.url("/token").to_string();
    let desk = Desk::behaving(move |_, seen: &Seen| {
        (seen.path() == "/token").then(|| Reply::new(307).header("location", &target))
    })
    .await;
    let failure = desk.authorizer().login(&desk.challenge("")).await;
    assert!(failure.is_err());
    assert!(other.seen().is_empty());
    assert!(desk.authorizer().token().await.unwrap().is_none());
}

#[tokio::test]
async fn a_login_that_is_refused_is_told() {
    let desk = Desk::behaving(|_, seen: &Seen| {
        (seen.path() == "/authorize").then(|| {
            let asked = seen.parameters();
            let back = format!(
                "{}?error=access_denied&state={}",
                asked["redirect_uri"], asked["state"]
            );
            Reply::redirect(&back)
        })
    });
    refused(&desk.await, "refused: access_denied").await;
}

#[tokio::test]
async fn a_refresh_token_goes_only_to_who_gave_it() {
    // The server names another authorization server after the login.
    let evil = Desk::open().await;
    let evil_origin = evil.peer.origin();
    let at = evil_origin.clone();
    let has_moved = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let moved = has_moved.clone();
    let desk = Desk::behaving(move |origin, seen: &Seen| {
        let is_moved = moved.load(std::sync::atomic::Ordering::SeqCst);
        (seen.path() == "/metadata" && is_moved).then(|| {
            Reply::json(&json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [at],
            }))
        })
    })
    .await;
    let authorizer = desk.authorizer_of(desk.server(), &evil_origin);
    let sent = authorizer.login(&desk.challenge("")).await.unwrap();
    has_moved.store(true, std::sync::atomic::Ordering::SeqCst);
    let renewed = authorizer.silently(&desk.challenge(""), Some(&sent)).await;
    assert!(renewed.unwrap().is_none());
    assert!(evil.exchanges().is_empty());
    assert!(
        authorizer.token().await.unwrap().is_none(),
        "the login is forgotten"
    );
    // A new login registers anew: who we are belongs to one issuer.
    authorizer.login(&desk.challenge("")).await.unwrap();
    assert_eq!(evil.peer.seen_at("/register").len(), 1);
}

#[tokio::test]
async fn what_is_kept_is_never_shown() {
    let desk = Desk::open().await;
    desk.authorizer().login(&desk.challenge("")).await.unwrap();
    let kept = desk.vault.load(&desk.url()).await.unwrap().unwrap();
    let text: Value = serde_json::to_value(&kept).unwrap();
    assert!(text.to_string().contains("token-of-code-1"));
    assert_eq!(format!("{:?}", kept.access_token()), "Some([redacted])");
}
