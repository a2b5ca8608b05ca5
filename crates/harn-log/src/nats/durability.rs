//! What an acknowledgement of this server means.
//!
//! | server            | says                                       | means         |
//! |-------------------|--------------------------------------------|---------------|
//! | before 2.10       | its version                                | unsynced: it knows no `sync_interval` |
//! | 2.10 and later    | `sync_always` at its monitoring endpoint   | always or unsynced |
//! | 2.10 and later    | nothing to an ordinary client              | unknown       |
//!
//! A client sees the version when it connects and nothing else. The settings of
//! JetStream are shown at `/varz` of the monitoring endpoint, so that is where we
//! look if we are told where it is. One server is taken to speak for its cluster.

use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::config::{AcknowledgementPolicy, NatsConfig, NatsDurability};
use super::connection::unreachable;
use super::error::Result;
use crate::error::LogError;

/// The first version that can be told to sync before it acknowledges.
const FIRST_WITH_SYNC: (u64, u64) = (2, 10);
/// The page is some kilobytes; anything much longer is something else.
const PAGE_BYTES_MAX: u64 = 1 << 20;

/// Finds out what acknowledgements mean, and refuses if that is not enough.
pub(super) async fn check(version: &str, config: &NatsConfig) -> Result<NatsDurability> {
    let durability = find_out(version, config).await?;
    let problem = match (durability, config.acknowledgements) {
        (NatsDurability::Always, _) | (_, AcknowledgementPolicy::AcceptUnsynced) => {
            return Ok(durability);
        }
        (NatsDurability::Unsynced, _) if is_too_old(version) => {
            "acknowledges records before they are synced, and cannot do otherwise: use version 2.10 or later"
        }
        (NatsDurability::Unsynced, _) => "acknowledges records before they are synced",
        (NatsDurability::Unknown, _) => {
            "does not say whether it syncs records before it acknowledges them: give its monitor_url"
        }
    };
    Err(LogError::Config(format!(
        "the NATS server (version {version}) {problem}, and set `jetstream {{ sync_interval: always }}` there, or accept unsynced acknowledgements"
    )))
}

async fn find_out(version: &str, config: &NatsConfig) -> Result<NatsDurability> {
    if is_too_old(version) {
        return Ok(NatsDurability::Unsynced);
    }
    let Some(url) = &config.monitor_url else {
        return Ok(NatsDurability::Unknown);
    };
    let page = fetch(url, "/varz", config.connect_timeout).await?;
    Ok(read_page(&page))
}

fn is_too_old(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < FIRST_WITH_SYNC,
        _ => false,
    }
}

/// Reads the settings of JetStream off the monitoring page.
fn read_page(page: &[u8]) -> NatsDurability {
    #[derive(Deserialize)]
    struct Page {
        jetstream: JetStream,
    }
    #[derive(Deserialize)]
    struct JetStream {
        config: Settings,
    }
    #[derive(Deserialize)]
    struct Settings {
        #[serde(default)]
        sync_always: bool,
    }
    match serde_json::from_slice::<Page>(page) {
        Ok(page) if page.jetstream.config.sync_always => NatsDurability::Always,
        Ok(_) => NatsDurability::Unsynced,
        Err(_) => NatsDurability::Unknown,
    }
}

/// Fetches a page by the simplest HTTP there is: one answer, then the end.
async fn fetch(url: &str, path: &str, patience: Duration) -> Result<Vec<u8>> {
    let host = url
        .strip_prefix("http://")
        .map(|host| host.trim_end_matches('/'));
    let host = host.filter(|host| !host.is_empty() && !host.contains('/'));
    let Some(host) = host else {
        let problem = format!("monitor_url '{url}': wanted is http://host:port");
        return Err(LogError::Config(problem));
    };
    let exchange = async {
        let mut connection = TcpStream::connect(host).await?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
        connection.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        let mut bounded = connection.take(PAGE_BYTES_MAX);
        bounded.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    const DOING: &str = "ask the monitoring endpoint";
    let answer = match timeout(patience, exchange).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => return Err(unreachable(DOING, why).into()),
        Err(why) => return Err(unreachable(DOING, why).into()),
    };
    let end_of_headers = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = end_of_headers.map_or(0, |at| at + 4);
    Ok(answer[body..].to_vec())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Checks a server of this version, whose monitoring endpoint shows this page.
    fn checked(version: &str, page: Option<&'static str>) -> Result<NatsDurability> {
        let mut config = NatsConfig::new("nats://localhost");
        if let Some(page) = page {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            config.monitor_url = Some(format!("http://{}", listener.local_addr().unwrap()));
            thread::spawn(move || {
                let (mut asker, _) = listener.accept().unwrap();
                let mut request = [0; 512];
                let length = asker.read(&mut request).unwrap();
                assert!(request[..length].starts_with(b"GET /varz HTTP/1.0\r\n"));
                write!(asker, "HTTP/1.0 200 OK\r\nA: b\r\n\r\n{page}").unwrap();
            });
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(check(version, &config))
    }

    const SYNCS: &str = r#"{"jetstream":{"config":{"sync_always":true}}}"#;
    const SYNCS_LATER: &str = r#"{"jetstream":{"config":{"sync_interval":120000000000}}}"#;

    #[test]
    fn only_a_server_that_says_so_syncs_first() {
        let always = checked("2.10.4", Some(SYNCS)).unwrap();
        assert_eq!(always, NatsDurability::Always);
        for (version, page, advice) in [
            ("2.9.10", Some(SYNCS), "use version 2.10 or later"),
            (
                "2.10.4",
                Some(SYNCS_LATER),
                "before they are synced, and set",
            ),
            ("2.10.4", Some("nonsense"), "does not say whether it syncs"),
            ("2.12.0", None, "give its monitor_url"),
        ] {
            let refused = checked(version, page).unwrap_err();
            assert!(matches!(refused, LogError::Config(_)), "{refused}");
            let text = refused.to_string();
            assert!(text.contains(advice), "{text}");
            assert!(text.contains("sync_interval: always"), "{text}");
        }
    }

    #[test]
    fn a_monitor_url_is_checked() {
        let mut config = NatsConfig::new("nats://localhost");
        for url in [
            "",
            "localhost:8222",
            "https://localhost",
            "http://",
            "http://a/b",
        ] {
            config.monitor_url = Some(url.to_owned());
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let refused = runtime.unwrap().block_on(check("2.10.0", &config));
            assert!(matches!(refused, Err(LogError::Config(_))), "{url}");
        }
    }

    #[test]
    fn old_servers_cannot_sync_first() {
        for (version, expected) in [
            ("2.9.10", true),
            ("1.4.1", true),
            ("2.10.0", false),
            ("2.10.0-RC.1", false),
            ("2.12.1", false),
            ("3.0", false),
            ("", false),
            ("dev", false),
        ] {
            assert_eq!(is_too_old(version), expected, "{version}");
        }
    }

    #[test]
    fn the_monitoring_page_says_whether_it_syncs() {
        for (page, expected) in [
            (SYNCS, NatsDurability::Always),
            (SYNCS_LATER, NatsDurability::Unsynced),
            (r#"{"jetstream":{}}"#, NatsDurability::Unknown),
            ("not found", NatsDurability::Unknown),
        ] {
            assert_eq!(read_page(page.as_bytes()), expected);
        }
    }
}
