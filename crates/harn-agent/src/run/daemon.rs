//! A loop that waits for something to do instead of ending.
//!
//! ```text
//! text-only turn ─► idle: snapshot ─► wait ─► reason to wake? ─yes─► next iteration
//!                                      ▲            │no
//!                                      └────────────┴─► too often in vain: watchdog
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::{Duration, UNIX_EPOCH};

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use serde_json::{Map, Value, json};

use super::turn::Flow;
use super::{Delivered, Run, begin, compact};
use crate::fence::refused;
use crate::host::Seam;
use crate::loop_options::DaemonOptions;
use crate::real_path::read_text;
use crate::session::{Change, IDLE_BACKOFF_MS_FIRST, RunState};

/// What came of waiting.
pub(super) struct Waited {
    pub(super) status: &'static str,
    pub(super) flow: Flow,
}

/// The next pause after one.
fn longer(backoff_ms: u64) -> u64 {
    match backoff_ms {
        0..=100 => 500,
        101..=500 => 1000,
        _ => 2000,
    }
}

/// Waits until there is something to do.
pub(super) async fn wait(run: &Run<'_>) -> Result<Waited, Thrown> {
    let Some(options) = &run.options.daemon else {
        return Ok(Waited {
            status: "idle",
            flow: Flow::done(),
        });
    };
    set_state(run, "idle", None);
    if options.consolidate_on_idle {
        compact::after_turn(run).await?;
    }
    save(run, options).await?;
    if let Some(mailbox) = &run.mailbox {
        mailbox.idle()?;
    }
    let has_source = run.runtime.bridge.is_some()
        || run.mailbox.is_some()
        || options.wake_interval_ms.is_some()
        || !options.watch_paths.is_empty();
    if !has_source {
        return Ok(ended("idle"));
    }
    watch_first(run, options);
    let began = run.runtime.now_ms();
    let mut attempts: u64 = 0;
    loop {
        let delivered = pause(run, options).await;
        if let Some(reason) = reason(run, options, delivered) {
            wake(run, options, &reason).await;
            return Ok(Waited {
                status: "daemon_wake",
                flow: Flow::Continue,
            });
        }
        attempts += 1;
        let backoff = run.session.read(|state| state.run.idle_backoff_ms);
        set_state(run, "idle", Some(longer(backoff)));
        if options
            .idle_watchdog_attempts
            .is_some_and(|max| attempts >= max)
        {
            let elapsed = run.runtime.now_ms() - began;
            run.emit(AgentEvent::DaemonWatchdogTripped {
                session_id: run.id(),
                attempts: usize::try_from(attempts).unwrap_or(usize::MAX),
                elapsed_ms: u64::try_from(elapsed).unwrap_or(0),
            })
            .await;
            return Ok(ended("watchdog"));
        }
    }
}

fn ended(status: &'static str) -> Waited {
    Waited {
        status,
        flow: Flow::Break(status.to_owned()),
    }
}

/// Waits once; says how many messages came.
async fn pause(run: &Run<'_>, options: &DaemonOptions) -> usize {
    let (backoff, iteration) = run.session.read(|state| {
        let run = &state.run;
        (run.idle_backoff_ms, run.total_iterations)
    });
    let host = begin::deliver_host_messages(run, Seam::Idle).await;
    let delivered = Delivered {
        host,
        ..Delivered::default()
    };
    run.pass("daemon_idle_pre", 0, delivered).await;
    if let Some(bridge) = &run.runtime.bridge {
        bridge.notify(
            "agent/idle",
            json!({
                "sessionId": run.session.id(),
                "iteration": iteration,
                "backoff_ms": backoff,
                "persist_path": options.persist_path,
                "watch_paths": options.watch_paths,
            }),
        );
    }
    // What has come already is not left waiting.
    if host == 0 {
        rest(run, options, backoff).await;
    }
    let late = begin::deliver_host_messages(run, Seam::Idle).await;
    let delivered = Delivered {
        host: late,
        ..Delivered::default()
    };
    run.pass("daemon_idle_post", 0, delivered).await;
    host + late
}

/// Waits until it is time to look again, or until a message comes. Who has nothing to look at
/// sleeps until then.
async fn rest(run: &Run<'_>, options: &DaemonOptions, backoff_ms: u64) {
    let pause_ms = options.wake_interval_ms.unwrap_or(backoff_ms);
    let pause = run.runtime.sleep(Duration::from_millis(pause_ms));
    let Some(mailbox) = &run.mailbox else {
        return pause.await;
    };
    let looks_for_more = run.runtime.bridge.is_some()
        || options.wake_interval_ms.is_some()
        || options.idle_watchdog_attempts.is_some()
        || !options.watch_paths.is_empty();
    let mut arrival = mailbox.arrival();
    if !looks_for_more {
        return arrival.await;
    }
    let mut pause = std::pin::pin!(pause);
    std::future::poll_fn(|context| match arrival.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => pause.as_mut().poll(context),
    })
    .await;
}

/// Why the daemon wakes.
enum Reason {
    Message,
    Resume,
    Watch(Vec<String>),
    Timer,
}

fn reason(run: &Run<'_>, options: &DaemonOptions, delivered: usize) -> Option<Reason> {
    if delivered > 0 {
        return Some(Reason::Message);
    }
    let bridge = run.runtime.bridge.as_ref();
    let mailbox = run.mailbox.as_ref();
    if bridge.is_some_and(|bridge| bridge.take_resume(run.session.id()))
        || mailbox.is_some_and(|mailbox| mailbox.take_resume())
    {
        return Some(Reason::Resume);
    }
    let changed = changed_paths(run, options);
    if !changed.is_empty() {
        return Some(Reason::Watch(changed));
    }
    options.wake_interval_ms.map(|_| Reason::Timer)
}

async fn wake(run: &Run<'_>, options: &DaemonOptions, reason: &Reason) {
    let (word, feedback) = match reason {
        Reason::Message => ("message", None),
        Reason::Resume => ("resume", None),
        Reason::Watch(paths) => (
            "watch",
            Some(format!(
                "Daemon wake: watched paths changed: {}. Re-check the task state and act only if \
                 something actually changed.",
                paths.join(", ")
            )),
        ),
        Reason::Timer => (
            "timer",
            Some(
                "Daemon timer wake fired. Re-check for background work and only act when there \
                 is new information or a pending follow-up."
                    .to_owned(),
            ),
        ),
    };
    if let Some(feedback) = feedback {
        run.tell(word, &feedback);
    }
    let metadata = json!({
        "reason": word,
        "watch_paths": options.watch_paths,
        "resumed": options.resume_path.is_some(),
    });
    run.note("daemon_wake", "system", "internal", word, Some(metadata));
    set_state(run, "active", Some(IDLE_BACKOFF_MS_FIRST));
    run.session.record(Change::TextOnlyTurns { count: 0 });
    if let Some(mailbox) = &run.mailbox {
        mailbox.awake();
    }
}

fn set_state(run: &Run<'_>, state: &str, backoff_ms: Option<u64>) {
    let known = run.session.read(|session| session.run.idle_backoff_ms);
    run.session.record(Change::DaemonSet {
        state: state.to_owned(),
        backoff_ms: backoff_ms.unwrap_or(known),
    });
}

/// The next wait is short again.
pub(super) fn reset_backoff(run: &Run<'_>) {
    let is_first = run
        .session
        .read(|state| state.run.idle_backoff_ms == IDLE_BACKOFF_MS_FIRST);
    if run.options.daemon.is_some() && !is_first {
        let state = run.session.read(|state| state.run.daemon_state.clone());
        set_state(run, &state, Some(IDLE_BACKOFF_MS_FIRST));
    }
}

/// Notes how the watched files are, if that is not known yet.
fn watch_first(run: &Run<'_>, options: &DaemonOptions) {
    if run.session.read(|state| state.run.watch_state.is_empty()) {
        let stamps = stamps(run, options);
        run.session.record(Change::Watched { stamps });
    }
}

/// The watched files that were changed since the last look.
fn changed_paths(run: &Run<'_>, options: &DaemonOptions) -> Vec<String> {
    let known = run.session.read(|state| state.run.watch_state.clone());
    let now = stamps(run, options);
    let stamp = |stamps: &Map<String, Value>, path: &str| {
        let stamp = stamps.get(path).and_then(Value::as_u64);
        stamp.unwrap_or(0)
    };
    let paths = options.watch_paths.iter();
    let changed = paths.filter(|path| {
        let (before, after) = (stamp(&known, path), stamp(&now, path));
        before != 0 && after != 0 && before != after
    });
    let changed: Vec<String> = changed.cloned().collect();
    if now != known {
        run.session.record(Change::Watched { stamps: now });
    }
    changed
}

fn stamps(run: &Run<'_>, options: &DaemonOptions) -> Map<String, Value> {
    let stamp = |path: &String| {
        let place = run.runtime.folder.join(path);
        let is_allowed = run.runtime.fence.read(&place).is_ok();
        let metadata = is_allowed.then(|| std::fs::metadata(place).ok()).flatten();
        let modified = metadata.and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let nanos = since.map_or(0, |since| since.as_nanos());
        (
            path.clone(),
            json!(u64::try_from(nanos).unwrap_or(u64::MAX)),
        )
    };
    options.watch_paths.iter().map(stamp).collect()
}

/// Where the state of a daemon is saved.
pub(super) fn snapshot_path(run: &Run<'_>) -> Option<String> {
    let options = run.options.daemon.as_ref()?;
    options
        .persist_path
        .clone()
        .or_else(|| options.resume_path.clone())
}

/// The last snapshot, which says how the daemon ended.
pub(super) async fn finish(run: &Run<'_>, status: &str) -> Result<(), Thrown> {
    let Some(options) = &run.options.daemon else {
        return Ok(());
    };
    set_state(run, status, None);
    save(run, options).await
}

async fn save(run: &Run<'_>, options: &DaemonOptions) -> Result<(), Thrown> {
    let path = options
        .persist_path
        .as_ref()
        .or(options.resume_path.as_ref());
    let Some(path) = path else {
        return Ok(());
    };
    let place = run.runtime.folder.join(path);
    run.runtime.fence.write(&place).map_err(refused)?;
    let snapshot = snapshot(run);
    write(&place, &snapshot)?;
    if let Some(mailbox) = &run.mailbox {
        mailbox.saved(&snapshot);
    }
    run.log_snapshot("snapshot_persisted", &place);
    Ok(())
}

fn snapshot(run: &Run<'_>) -> Value {
    let saved_at = run.runtime.now_ms();
    run.session.read(|state| {
        let run = &state.run;
        json!({
            "_type": "daemon_snapshot",
            "saved_at": saved_at.to_string(),
            "daemon_state": run.daemon_state,
            "visible_messages": state.messages,
            "recorded_messages": state.recorded,
            "transcript_summary": state.summary,
            "transcript_events": state.events,
            "total_text": run.total_text,
            "last_iteration_text": run.last_raw_text,
            "all_tools_used": run.tools_used,
            "rejected_tools": run.rejected,
            "deferred_user_messages": run.deferred_user_messages,
            "total_iterations": run.total_iterations,
            "idle_backoff_ms": run.idle_backoff_ms,
            "last_run_exit_code": run.last_run_exit_code,
            "watch_state": run.watch_state,
        })
    })
}

fn write(place: &Path, snapshot: &Value) -> Result<(), Thrown> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Thrown::Runtime(format!("daemon snapshot {what} error: {error}"))
    };
    if let Some(folder) = place.parent() {
        harn_log::create_private_folder(folder).map_err(|error| failed("mkdir", &error))?;
    }
    let text = serde_json::to_string_pretty(snapshot).map_err(|error| failed("encode", &error))?;
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    // The queue of a daemon forgets an event because this file knows it, so it must not get
    // lost after that.
    let mut options = harn_log::private_options();
    let opened = options
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary);
    let written = opened.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| failed("write", &error))?;
    std::fs::rename(&temporary, place).map_err(|error| failed("finalize", &error))
}

/// Takes up what was saved; says whether there was something. The prompt is ignored then.
pub(super) async fn resumed(run: &Run<'_>) -> Result<bool, Thrown> {
    let path = run
        .options
        .daemon
        .as_ref()
        .and_then(|options| options.resume_path.as_ref());
    let Some(path) = path else {
        return Ok(false);
    };
    let place = run.runtime.folder.join(path);
    run.runtime.fence.read(&place).map_err(refused)?;
    let text = read_text(&place)
        .map_err(|error| Thrown::Runtime(format!("daemon snapshot read error: {error}")))?;
    let snapshot: Value = serde_json::from_str(&text)
        .map_err(|error| Thrown::Runtime(format!("daemon snapshot parse error: {error}")))?;
    restore(run, &snapshot);
    run.log_snapshot("snapshot_loaded", &place);
    Ok(true)
}

fn restore(run: &Run<'_>, snapshot: &Value) {
    run.session.record(Change::Restored {
        transcript: json!({
            "messages": snapshot["visible_messages"],
            "recorded_messages": snapshot["recorded_messages"],
            "events": snapshot["transcript_events"],
            "summary": snapshot["transcript_summary"],
        }),
    });
    let texts = |key: &str| {
        let list = snapshot[key].as_array();
        let list = list.into_iter().flatten().filter_map(Value::as_str);
        list.map(str::to_owned).collect::<Vec<String>>()
    };
    let text = |key: &str| snapshot[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| snapshot[key].as_u64();
    let iterations = number("total_iterations").and_then(|count| usize::try_from(count).ok());
    let iterations = iterations.unwrap_or(0);
    let restored = RunState {
        resumed_iterations: iterations,
        total_iterations: iterations,
        total_text: text("total_text"),
        last_raw_text: text("last_iteration_text"),
        tools_used: texts("all_tools_used").into_iter().collect(),
        rejected: texts("rejected_tools"),
        deferred_user_messages: texts("deferred_user_messages"),
        idle_backoff_ms: number("idle_backoff_ms").unwrap_or(IDLE_BACKOFF_MS_FIRST),
        last_run_exit_code: snapshot["last_run_exit_code"].as_i64(),
        watch_state: snapshot["watch_state"]
            .as_object()
            .cloned()
            .unwrap_or_default(),
        daemon_state: "active".to_owned(),
        ledger: run.options.ledger.clone(),
        ..RunState::default()
    };
    run.session.record(Change::RunRestored {
        run: Box::new(restored),
    });
}

impl Run<'_> {
    /// Notes in the log that the state of a daemon was saved or loaded.
    fn log_snapshot(&self, kind: &str, place: &Path) {
        let Some(keeper) = self.runtime.keeper() else {
            return;
        };
        let stem = place.file_stem().unwrap_or_default().to_string_lossy();
        let stem = harn_events::sanitize_topic_component(&stem);
        if let Ok(topic) = harn_log::Topic::new(format!("daemon.{stem}.state")) {
            let payload = json!({"path": place.display().to_string(), "session_id": self.id()});
            // A log that takes nothing says so itself.
            let _ = keeper.put_event(&topic, harn_log::LogEvent::new(kind, payload));
        }
    }
}
