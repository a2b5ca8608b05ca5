//! Agents that wait for events: `daemon_spawn` and what follows from it.
//!
//! ```text
//! daemon_trigger ─► queue ─► in flight ─► Mailbox ─► loop in daemon mode ─► idle: snapshot
//!                     ▲                                                        │
//!                     └───────────── the next one ◄── consumed ◄───────────────┘
//! ```
//!
//! The queue is written to `daemon.meta.json` before an event counts as accepted, and the state
//! of the loop to `daemon.json` whenever it idles. So a process can be killed at any moment: the
//! event that was in flight is delivered again unless the snapshot already contains it.
//!
//! What the loop does while it runs and waits is in `run`; this module feeds it.

mod config;
mod daemon;
mod files;
mod kept;
mod queue;
mod running;

pub(crate) use kept::Daemons;

use std::path::Path;
use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

use crate::builtins::Asked;
use crate::runtime::Runtime;
use config::Config;
use daemon::Daemon;

/// Answers; `None` if it is no question about daemons.
pub(crate) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    Some(match &*asked.builtin {
        "daemon_spawn" => spawn(runtime, asked).await,
        "daemon_trigger" => trigger(runtime, asked),
        "daemon_snapshot" => snapshot(runtime, asked),
        "daemon_stop" => stop(runtime, asked).await,
        "daemon_resume" => resume(runtime, asked).await,
        _ => return None,
    })
}

/// The session of the daemon whose folder that is, for those who have to know it before they
/// take the daemon up; `None` if none was ever there.
pub fn session_of_daemon(root: &Path) -> Option<String> {
    let meta = files::Folder::at(root).read_meta().ok()?;
    meta["session_id"].as_str().map(str::to_owned)
}

fn runtime_error<T>(text: impl Into<String>) -> Result<T, Thrown> {
    Err(Thrown::Runtime(text.into()))
}

async fn spawn(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let config = Config::read(runtime, asked)?;
    let folder = files::Folder::new(runtime, &config.root);
    let taken = || {
        format!(
            "daemon_spawn: a daemon is already running for '{}'",
            config.root
        )
    };
    folder.make(runtime)?;
    let hold = runtime.daemons.hold(&folder).ok_or_else(taken);
    let hold = hold.map_err(Thrown::Runtime)?;
    let left = folder.events_left();
    if left > 0 {
        return runtime_error(format!(
            "daemon_spawn: '{}' holds {left} event(s) of an earlier daemon; take it up with \
             daemon_resume, or empty the folder",
            config.root
        ));
    }
    folder.forget_snapshot();
    let daemon = Arc::new(Daemon::new(config, folder, hold));
    daemon.save_meta()?;
    start(runtime, &daemon, false).await
}

async fn resume(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let Some(root) = asked.text(0).filter(|root| !root.is_empty()) else {
        return runtime_error("daemon_resume: `path` must be a non-empty string");
    };
    let folder = files::Folder::new(runtime, root);
    folder.check(runtime)?;
    let meta = folder.read_meta()?;
    let taken = || format!("daemon_resume: daemon '{root}' is already running");
    let hold = runtime.daemons.hold(&folder).ok_or_else(taken);
    let hold = hold.map_err(Thrown::Runtime)?;
    let config = Config::restore(runtime, asked, root, &meta)?;
    let snapshot = folder.read_snapshot();
    let daemon = Daemon::new(config, folder, hold);
    daemon.restore_queue(&meta, snapshot.as_ref());
    let daemon = Arc::new(daemon);
    daemon.save_meta()?;
    start(runtime, &daemon, true).await
}

/// Lets the loop of a daemon begin, and waits a moment for its first snapshot.
async fn start(
    runtime: &Arc<Runtime>,
    daemon: &Arc<Daemon>,
    is_resumed: bool,
) -> Result<Value, Thrown> {
    running::begin(runtime, daemon, is_resumed)?;
    runtime.daemons.keep(Arc::clone(daemon));
    daemon.until_first_snapshot().await;
    Ok(daemon.handle())
}

fn trigger(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    if asked.arguments.is_empty() {
        return runtime_error("daemon_trigger: missing daemon handle");
    }
    let payload = asked.argument(1);
    if payload.is_null() || payload.as_str() == Some("") {
        return runtime_error("daemon_trigger: missing event payload");
    }
    let daemon = runtime.daemons.named(asked.argument(0))?;
    daemon.trigger(payload, runtime.now_ms())?;
    Ok(daemon.handle())
}

fn snapshot(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let daemon = runtime.daemons.named(asked.argument(0))?;
    Ok(daemon.snapshot())
}

async fn stop(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let daemon = runtime.daemons.named(asked.argument(0))?;
    daemon.stop().await?;
    Ok(daemon.handle())
}

#[cfg(test)]
mod tests;
