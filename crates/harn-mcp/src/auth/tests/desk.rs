//! A server and its authorization server, on one port, with good or bad habits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harn_agent::BoxFuture;
use harn_agent::events::SystemClock;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::auth::{AuthorizedServer, Authorizer, Browser, Challenge, Vault};
use crate::fetcher::{FetchRequest, Fetcher};
use crate::testing::{Names, Peer, Reply, Seen, fetcher};

/// What a test changes about the answer at a path, if anything.
type Habit = Arc<dyn Fn(&str, &Seen) -> Option<Reply> + Send + Sync>;

/// Changes what the metadata of the authorization server say.
type Metadata = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// A server, its authorization server, and a person with a browser.
pub(super) struct Desk {
    pub(super) peer: Peer,
    pub(super) vault: Arc<Vault>,
    pub(super) person: Arc<Person>,
}

/// Logs in wherever they are sent.
pub(super) struct Person {
    fetcher: Fetcher,
    pub(super) visits: Mutex<Vec<Url>>,
}

impl Browser for Person {
    fn open<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<(), String>> {
        self.visits.lock().unwrap().push(page.clone());
        let fetcher = self.fetcher.clone();
        let page = page.clone();
        tokio::spawn(async move { fetcher.fetch(FetchRequest::get(page)).await });
        Box::pin(async { Ok(()) })
    }
}

impl Desk {
    pub(super) async fn open() -> Self {
        Self::with(Arc::new(|_, _| None), Arc::new(|_| {})).await
    }

    /// With an authorization server whose metadata are changed.
    pub(super) async fn saying(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::with(Arc::new(|_, _| None), Arc::new(change)).await
    }

    /// With an authorization server that answers some requests in its own way; it is told its
    /// own origin.
    pub(super) async fn behaving(
        habit: impl Fn(&str, &Seen) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        Self::with(Arc::new(habit), Arc::new(|_| {})).await
    }

    async fn with(habit: Habit, change: Metadata) -> Self {
        let challenges = Mutex::new(BTreeMap::new());
        let peer = Peer::at(|origin| {
            move |seen: &Seen| {
                habit(&origin, seen).unwrap_or_else(|| usual(&origin, seen, &change, &challenges))
            }
        })
        .await;
        let everywhere = fetcher(Names::new(&[]), "http://127.0.0.1:*");
        Self {
            peer,
            vault: Arc::default(),
            person: Arc::new(Person {
                fetcher: everywhere,
                visits: Mutex::default(),
            }),
        }
    }

    pub(super) fn url(&self) -> Url {
        self.peer.url("/mcp")
    }

    pub(super) fn server(&self) -> AuthorizedServer {
        AuthorizedServer {
            url: self.url(),
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
        }
    }

    pub(super) fn authorizer(&self) -> Authorizer {
        self.authorizer_of(self.server(), "")
    }

    pub(super) fn authorizer_of(&self, server: AuthorizedServer, named: &str) -> Authorizer {
        let names = Names::new(&[("cloud.test", &["169.254.169.254"])]);
        let browser: Arc<dyn Browser> = self.person.clone();
        Authorizer::new(
            server,
            &fetcher(names, named),
            self.vault.clone(),
            Some(browser),
            Arc::new(SystemClock),
        )
    }

    pub(super) fn without_browser(&self) -> Authorizer {
        let mut authorizer = self.authorizer();
        authorizer.browser = None;
        authorizer
    }

    /// What the server says to a request without a token.
    pub(super) fn challenge(&self, more: &str) -> Challenge {
        let header = format!(
            "Bearer resource_metadata=\"{}/metadata\"{more}",
            self.peer.origin()
        );
        Challenge::read(&header, &self.url(), None)
    }

    pub(super) fn visits(&self) -> usize {
        self.person.visits.lock().unwrap().len()
    }

    /// The parameters of the page that the person was sent to last.
    pub(super) fn asked(&self) -> BTreeMap<String, String> {
        let visits = self.person.visits.lock().unwrap();
        let page = visits.last().unwrap();
        page.query_pairs().into_owned().collect()
    }

    /// The forms that were sent to the token endpoint.
    pub(super) fn exchanges(&self) -> Vec<BTreeMap<String, String>> {
        let seen = self.peer.seen_at("/token");
        seen.iter().map(Seen::parameters).collect()
    }
}

/// What a well-behaved one answers.
fn usual(
    origin: &str,
    seen: &Seen,
    change: &Metadata,
    challenges: &Mutex<BTreeMap<String, String>>,
) -> Reply {
    match seen.path() {
        "/metadata" => Reply::json(&json!({
            "resource": format!("{origin}/mcp"), "authorization_servers": [origin],
            "scopes_supported": ["one", "two"],
        })),
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = metadata(origin);
            change(&mut metadata);
            Reply::json(&metadata)
        }
        "/register" => Reply::json(&json!({
            "client_id": "registered", "redirect_uris": [],
        })),
        "/authorize" => authorize(origin, seen, challenges),
        "/token" => exchange(seen, challenges),
        _ => Reply::new(404),
    }
}

pub(super) fn metadata(origin: &str) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "registration_endpoint": format!("{origin}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    })
}

fn authorize(origin: &str, seen: &Seen, challenges: &Mutex<BTreeMap<String, String>>) -> Reply {
    let asked = seen.parameters();
    assert_eq!(asked["code_challenge_method"], "S256");
    let mut challenges = challenges.lock().unwrap();
    let code = format!("code-{}", challenges.len() + 1);
    challenges.insert(code.clone(), asked["code_challenge"].clone());
    let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
    back.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &asked["state"])
        .append_pair("iss", origin);
    Reply::redirect(back.as_str())
}

fn exchange(seen: &Seen, challenges: &Mutex<BTreeMap<String, String>>) -> Reply {
    let form = seen.parameters();
    let refuse = || Reply::json(&json!({"error": "invalid_grant"})).status(400);
    match &*form["grant_type"] {
        "refresh_token" => token("renewed", 3600),
        _ => {
            let challenge = challenges.lock().unwrap().remove(&form["code"]);
            let digest = Sha256::digest(form["code_verifier"].as_bytes());
            match challenge == Some(URL_SAFE_NO_PAD.encode(digest)) {
                true => token(&format!("token-of-{}", form["code"]), 3600),
                false => refuse(),
            }
        }
    }
}

pub(super) fn token(text: &str, lasts_s: u64) -> Reply {
    Reply::json(&json!({
        "access_token": text, "token_type": "Bearer", "expires_in": lasts_s,
        "refresh_token": format!("renews-{text}"),
    }))
}
