//! Logins, with authorization servers that behave and with ones that do not.

mod desk;
mod hostile;

use serde_json::json;

use super::*;
use crate::testing::{Reply, Seen};
use desk::{Desk, token};

#[tokio::test]
async fn a_login_gives_a_token_that_is_kept() {
    let desk = Desk::open().await;
    let authorizer = desk.authorizer();
    assert!(authorizer.token().await.unwrap().is_none());
    let given = authorizer.login(&desk.challenge("")).await.unwrap();
    assert_eq!(given.expose(), "token-of-code-1");
    assert_eq!(authorizer.token().await.unwrap(), Some(given));
    let asked = desk.asked();
    let resource = desk.url().to_string();
    assert_eq!(asked["resource"], resource);
    assert_eq!(asked["client_id"], "registered");
    assert_eq!(asked["scope"], "one two");
    let exchange = &desk.exchanges()[0];
    assert_eq!(exchange["resource"], resource);
    assert_eq!(exchange["redirect_uri"], asked["redirect_uri"]);
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn nothing_begins_before_a_server_has_refused() {
    let desk = Desk::open().await;
    assert!(desk.authorizer().token().await.unwrap().is_none());
    assert!(desk.peer.seen().is_empty());
}

#[tokio::test]
async fn without_anybody_there_nothing_is_waited_for() {
    let desk = Desk::open().await;
    let login = desk.without_browser();
    let failure = login.login(&desk.challenge("")).await.unwrap_err();
    assert!(failure.is_nobody_there());
    assert!(desk.peer.seen().is_empty());
}

#[tokio::test]
async fn the_challenge_says_which_scopes_are_asked_for() {
    let desk = Desk::open().await;
    let challenge = desk.challenge(", scope=\"three\"");
    desk.authorizer().login(&challenge).await.unwrap();
    assert_eq!(desk.asked()["scope"], "three");
}

#[tokio::test]
async fn configured_scopes_come_before_those_of_the_metadata() {
    let desk = Desk::saying(|metadata| {
        metadata["scopes_supported"] = json!(["mine", "offline_access"]);
    })
    .await;
    let mut server = desk.server();
    server.scopes = vec!["mine".to_owned()];
    let authorizer = desk.authorizer_of(server, "");
    authorizer.login(&desk.challenge("")).await.unwrap();
    assert_eq!(desk.asked()["scope"], "mine offline_access");
}

#[tokio::test]
async fn a_server_that_wants_more_gets_what_was_granted_and_more() {
    let desk = Desk::open().await;
    let authorizer = desk.authorizer();
    let first = authorizer.login(&desk.challenge("")).await.unwrap();
    let header = format!(
        "Bearer error=\"insufficient_scope\", scope=\"write\", resource_metadata=\"{}/metadata\"",
        desk.peer.origin()
    );
    let challenge = Challenge::read(&header, &desk.url(), Some(&first));
    let silent = authorizer.silently(&challenge, Some(&first)).await;
    assert!(silent.unwrap().is_none());
    authorizer.login(&challenge).await.unwrap();
    assert_eq!(desk.asked()["scope"], "one two write");
    let again = Challenge::read(
        &header,
        &desk.url(),
        authorizer.token().await.unwrap().as_ref(),
    );
    let failure = authorizer.login(&again).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "it wants scopes that were granted already"
    );
    // The client of the first time is still known, since its port was free again.
    assert_eq!(desk.peer.seen_at("/register").len(), 1);
}

#[tokio::test]
async fn who_we_are_is_configured_or_in_a_document_or_registered() {
    for (id, reads, expected) in [
        ("agreed", false, "agreed"),
        (
            "https://h.test/client.json",
            true,
            "https://h.test/client.json",
        ),
        ("https://h.test/client.json", false, "registered"),
    ] {
        let desk = Desk::saying(move |metadata| {
            metadata["client_id_metadata_document_supported"] = json!(reads);
        })
        .await;
        let mut server = desk.server();
        server.client_id = Some(id.to_owned());
        let authorizer = desk.authorizer_of(server, "");
        authorizer.login(&desk.challenge("")).await.unwrap();
        assert_eq!(desk.asked()["client_id"], expected);
        let registered = usize::from(expected == "registered");
        assert_eq!(desk.peer.seen_at("/register").len(), registered);
    }
}

#[tokio::test]
async fn a_configured_secret_proves_who_we_are() {
    let desk = Desk::open().await;
    let mut server = desk.server();
    server.client_id = Some("agreed".to_owned());
    server.client_secret = Some(Secret::new("proof"));
    let authorizer = desk.authorizer_of(server, "");
    authorizer.login(&desk.challenge("")).await.unwrap();
    let seen = &desk.peer.seen_at("/token")[0];
    assert_eq!(seen.header("authorization"), Some("Basic YWdyZWVkOnByb29m"));
    let shown = desk.person.visits.lock().unwrap()[0].to_string();
    assert!(!shown.contains("proof"));
}

/// Gives tokens that end at once, and renews them for longer.
async fn with_short_tokens() -> Desk {
    Desk::behaving(|_, seen: &Seen| {
        let is_first = seen.path() == "/token" && !seen.body.contains("grant_type=refresh_token");
        is_first.then(|| token("short", 1))
    })
    .await
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_once_for_everybody() {
    let desk = with_short_tokens().await;
    let (one, other) = (desk.authorizer(), desk.authorizer());
    one.login(&desk.challenge("")).await.unwrap();
    let (first, second) = tokio::join!(one.token(), other.token());
    assert_eq!(first.unwrap().unwrap().expose(), "renewed");
    assert_eq!(second.unwrap().unwrap().expose(), "renewed");
    let exchanges = desk.exchanges();
    assert_eq!(exchanges.len(), 2, "the login and one renewal");
    assert_eq!(exchanges[1]["refresh_token"], "renews-short");
    assert_eq!(exchanges[1]["resource"], desk.url().to_string());
    assert_eq!(desk.visits(), 1);
}

#[tokio::test]
async fn a_token_that_was_refused_is_renewed_without_anybody() {
    let desk = Desk::open().await;
    let sent = desk.authorizer().login(&desk.challenge("")).await.unwrap();
    let authorizer = desk.without_browser();
    let renewed = authorizer.silently(&desk.challenge(""), Some(&sent)).await;
    assert_eq!(renewed.unwrap().unwrap().expose(), "renewed");
    // Whoever was refused with the old one finds the new one.
    let found = authorizer.silently(&desk.challenge(""), Some(&sent)).await;
    assert_eq!(found.unwrap().unwrap().expose(), "renewed");
    assert_eq!(desk.exchanges().len(), 2);
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_needs_a_login() {
    let desk = Desk::behaving(|_, seen: &Seen| {
        let is_renewal = seen.body.contains("grant_type=refresh_token");
        is_renewal.then(|| Reply::json(&json!({"error": "invalid_grant"})).status(400))
    })
    .await;
    let authorizer = desk.authorizer();
    let sent = authorizer.login(&desk.challenge("")).await.unwrap();
    let renewed = authorizer.silently(&desk.challenge(""), Some(&sent)).await;
    assert!(renewed.unwrap().is_none());
}

#[tokio::test]
async fn a_logout_forgets_the_token() {
    let desk = Desk::open().await;
    let authorizer = desk.authorizer();
    assert!(!authorizer.logout().await.unwrap());
    authorizer.login(&desk.challenge("")).await.unwrap();
    assert!(authorizer.logout().await.unwrap());
    assert!(authorizer.token().await.unwrap().is_none());
}

#[tokio::test]
async fn a_token_is_for_the_server_it_was_given_for() {
    let (desk, other) = (Desk::open().await, Desk::open().await);
    desk.authorizer().login(&desk.challenge("")).await.unwrap();
    let mut elsewhere = desk.server();
    elsewhere.url = other.url();
    let authorizer = desk.authorizer_of(elsewhere, "");
    assert!(authorizer.token().await.unwrap().is_none());
}
