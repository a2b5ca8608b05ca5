//! One small text from the network, for a runtime that has not begun yet.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use harn_machine::Route;
use tokio::runtime::Builder;

use super::clients::Clients;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long it may be.
const BYTES_MAX: usize = 64 * 1024;

/// Gets a text. Whoever asks waits, and has looked at whether it may be asked for.
///
/// # Errors
/// Why it cannot be had.
pub(crate) fn fetch_text(
    url: &str,
    environment: &BTreeMap<String, String>,
) -> Result<String, String> {
    // A thread of its own: whoever asks may be inside an executor, which must not wait.
    thread::scope(|scope| {
        let fetching = thread::Builder::new().name("harn-fetch".to_owned());
        let fetching = fetching.spawn_scoped(scope, || {
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            let limited = async { tokio::time::timeout(TIMEOUT, get(url, environment)).await };
            let got = runtime.block_on(limited);
            runtime.shutdown_background();
            got.unwrap_or_else(|_| Err("it takes too long".to_owned()))
        });
        let fetching = fetching.map_err(|error| error.to_string())?;
        let panicked = |_| Err("it cannot be fetched".to_owned());
        fetching.join().unwrap_or_else(panicked)
    })
}

async fn get(url: &str, environment: &BTreeMap<String, String>) -> Result<String, String> {
    let client = Clients::default().of(&Route::default(), url, environment);
    let client = client.map_err(|failure| failure.reason)?;
    let response = client.get(url).send().await;
    let mut response = response.map_err(|error| error.to_string())?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status().as_u16()));
    }
    let mut bytes: Vec<u8> = Vec::new();
    while let Some(more) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&more);
        if bytes.len() > BYTES_MAX {
            return Err("it is too long".to_owned());
        }
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
