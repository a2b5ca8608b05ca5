//! What a session takes that is open and not used.

use harn_agent::Keeper;
use harn_agent::KeptSessions;
use harn_agent::events::{BusConfig, EventBus};
use harn_agent::session::SessionStore;
use harn_bench::{Effort, Table};
use std::sync::Arc;

use crate::{kept_by, turns};

const SESSIONS: usize = 10_000;
const BYTES_MAX: usize = 8 << 10;

/// Sessions whose journal and events are kept in a log, because those take more.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let count = match effort {
        Effort::Full => SESSIONS,
        Effort::Smoke => 100,
    };
    let folder = tempfile::tempdir_in("target").map_err(|why| format!("a folder: {why}"))?;
    let keeper = Keeper::new(turns::sqlite(&folder));
    let kept = KeptSessions {
        keeper: Arc::clone(&keeper),
        otherwise: None,
    };
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(kept)),
        ..BusConfig::default()
    });
    let mut store = SessionStore::new(bus, Some(keeper));
    store.set_sessions_max(count);
    // What is needed once is there already.
    store.open("first").expect("there is room");
    let (bytes, ()) = kept_by(|| {
        for number in 1..count {
            let opened = store.open(&format!("session-{number}"));
            opened.expect("there is room");
        }
    });
    let each = bytes / (count - 1);
    table.row(
        &format!("{count} idle open sessions, in SQLite: memory"),
        "–",
        &format!("{each} B each"),
        "–",
        &format!("{:.1} MB in all", bytes as f64 / 1e6),
        "≤ 8192 B",
        each <= BYTES_MAX,
    );
    Ok(())
}
