//! The loop of a daemon, in the background.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use harn_llm::desk::Thrown;
use serde_json::json;

use super::daemon::{Daemon, Ended, mailbox};
use crate::runtime::{LoopRequest, Runtime};

/// Lets the loop begin. It goes on until somebody stops the daemon or it ends by itself.
pub(super) fn begin(
    runtime: &Arc<Runtime>,
    daemon: &Arc<Daemon>,
    is_resumed: bool,
) -> Result<(), Thrown> {
    let request = request(daemon, is_resumed);
    let (runtime, daemon) = (Arc::clone(runtime), Arc::clone(daemon));
    let place = Arc::clone(&runtime);
    place.spawn(Box::pin(async move {
        let ended = unless_stopped(&daemon, runtime.run(request)).await;
        let ended = match ended {
            None => Ended::Stopped,
            Some(Ok(result)) => Ended::Done(Box::new(result)),
            Some(Err(thrown)) => Ended::Failed(thrown),
        };
        daemon.ended(ended);
    }))
}

/// What a future gives; `None` if the daemon was stopped before. It is dropped then, which
/// closes what it has opened.
async fn unless_stopped<T>(daemon: &Daemon, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut stopped = pin!(daemon.stop_requested());
    poll_fn(|context| {
        if stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}

/// What the loop is asked to do. Some options are not the program's to choose.
fn request(daemon: &Arc<Daemon>, is_resumed: bool) -> LoopRequest {
    let config = daemon.config();
    let mut options = config.options.clone();
    let snapshot_path = daemon.snapshot_path();
    for key in ["resume_path", "loop_until_done"] {
        options.remove(key);
    }
    let fixed = [
        ("daemon", json!(true)),
        ("persistent", json!(false)),
        ("persist_path", json!(snapshot_path)),
        ("session_id", json!(config.session_id)),
    ];
    options.extend(fixed.map(|(key, value)| (key.to_owned(), value)));
    // One that was stopped before it first waited has saved nothing, and begins anew.
    if is_resumed && daemon.has_snapshot() {
        options.insert("resume_path".to_owned(), json!(snapshot_path));
    }
    LoopRequest {
        prompt: config.prompt.clone(),
        system: config.system.clone(),
        options,
        functions: config.functions.clone(),
        mailbox: Some(mailbox(daemon)),
        ambient: config.ambient.clone(),
        ..LoopRequest::default()
    }
}
