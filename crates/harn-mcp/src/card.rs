//! What a server says about itself without being connected to.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use http::header::ACCEPT;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::fetcher::{FetchError, FetchRequest, Fetcher, origin};

/// How long a card is believed.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// Cards are small, also those in files.
const BYTES_MAX: u64 = 1024 * 1024;

/// How many cards are remembered; when there are more, all are forgotten.
const CARDS_MAX: usize = 256;

/// Cards, each asked for once in a while.
#[derive(Default)]
pub(crate) struct Cards {
    known: Mutex<HashMap<String, (Instant, Value)>>,
}

/// Why there is no card.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CardError {
    /// It could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It is not there.
    #[error("{origin} answered with HTTP {status}")]
    Status {
        /// Who.
        origin: String,
        /// What.
        status: u16,
    },
    /// It could not be read.
    #[error("{path}: {why}")]
    File {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// It is no object.
    #[error("the card is not a JSON object")]
    NoCard,
}

impl Cards {
    /// The card at a URL or in a file, which is looked for in `folder`.
    ///
    /// # Errors
    /// When it is not there or is no card.
    pub(crate) async fn card(
        &self,
        source: &str,
        folder: &Path,
        fetcher: &Fetcher,
    ) -> Result<Value, CardError> {
        let now = Instant::now();
        let known = self.known().get(source).cloned();
        if let Some((since, card)) = known
            && now.duration_since(since) < FRESH
        {
            return Ok(card);
        }
        let card = match Url::parse(source) {
            Ok(url) if source.contains("://") => fetch(url, fetcher).await?,
            _ => parse(&read(&folder.join(source))?)?,
        };
        let mut known = self.known();
        if known.len() >= CARDS_MAX {
            known.clear();
        }
        known.insert(source.to_owned(), (now, card.clone()));
        Ok(card)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, Value)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fetch(url: Url, fetcher: &Fetcher) -> Result<Value, CardError> {
    let mut request = FetchRequest::get(url.clone());
    let json = HeaderValue::from_static("application/json");
    request.headers.insert(ACCEPT, json);
    let fetched = fetcher.fetch(request).await?;
    match fetched.status.is_success() {
        true => parse(&fetched.body),
        false => Err(CardError::Status {
            origin: origin(&url),
            status: fetched.status.as_u16(),
        }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CardError> {
    let failed = |error: std::io::Error| CardError::File {
        path: path.display().to_string(),
        why: error.to_string(),
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Value, CardError> {
    let card: Value = serde_json::from_slice(bytes).map_err(|_| CardError::NoCard)?;
    match card.is_object() {
        true => Ok(card),
        false => Err(CardError::NoCard),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::testing::{Names, Peer, Reply, fetcher};

    #[tokio::test(start_paused = true)]
    async fn a_card_is_asked_for_once_in_five_minutes() {
        let peer = Peer::start(|_| Reply::json(&json!({"name": "s"}))).await;
        let fetcher = fetcher(Names::new(&[]), &peer.origin());
        let cards = Cards::default();
        let source = peer.url("/card").to_string();
        for (pause_s, requests) in [(0, 1), (299, 1), (1, 2)] {
            tokio::time::advance(Duration::from_secs(pause_s)).await;
            let card = cards.card(&source, Path::new("."), &fetcher).await;
            assert_eq!(card.unwrap(), json!({"name": "s"}));
            assert_eq!(peer.seen().len(), requests);
        }
    }

    #[tokio::test]
    async fn a_card_can_be_a_file_of_the_project() {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("card.json"), r#"{"name": "f"}"#).unwrap();
        let fetcher = fetcher(Names::new(&[]), "");
        let card = Cards::default();
        let found = card.card("card.json", folder.path(), &fetcher).await;
        assert_eq!(found.unwrap(), json!({"name": "f"}));
        let missing = card.card("no.json", folder.path(), &fetcher).await;
        let missing = missing.unwrap_err().to_string();
        assert!(
            missing.ends_with("no.json: No such file or directory (os error 2)"),
            "{missing}"
        );
    }

    #[tokio::test]
    async fn a_card_cannot_be_where_nobody_may_be_sent() {
        let peer = Peer::start(|_| Reply::json(&json!({}))).await;
        let names = Names::new(&[("cards.test", &["127.0.0.1"])]);
        let fetcher = fetcher(names, "");
        let source = format!("https://cards.test:{}/card.json", peer.address.port());
        let refused = Cards::default()
            .card(&source, Path::new("."), &fetcher)
            .await;
        assert!(matches!(
            refused,
            Err(CardError::Fetch(FetchError::Address { .. }))
        ));
        assert!(peer.seen().is_empty());
    }

    #[tokio::test]
    async fn what_is_no_card_is_refused_and_not_remembered() {
        let peer = Peer::start(|seen| match seen.path() {
            "/list" => Reply::json(&json!([1])),
            "/text" => Reply::new(200).body("<html>"),
            _ => Reply::new(404),
        })
        .await;
        let fetcher = fetcher(Names::new(&[]), &peer.origin());
        let cards = Cards::default();
        let ask = async |path: &str| {
            let source = peer.url(path).to_string();
            let refused = cards.card(&source, Path::new("."), &fetcher).await;
            refused.unwrap_err().to_string()
        };
        assert_eq!(ask("/list").await, "the card is not a JSON object");
        assert_eq!(ask("/text").await, "the card is not a JSON object");
        let missing = format!("{} answered with HTTP 404", peer.origin());
        assert_eq!(ask("/none").await, missing);
        assert_eq!(ask("/none").await, missing);
        assert_eq!(peer.seen_at("/none").len(), 2);
    }
}
