//! One cycle of a worker, in the background.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::artifacts;
use super::carried::{self, Opened};
use super::execution;
use super::gate::{self, WorkerPause};
use super::job::Job;
use super::status::Status;
use super::suspension;
use super::table::{Inner, Slot, Stop};
use super::transition::Transition;
use super::worker::Worker;
use crate::moment::rfc3339;
use crate::registry::told;
use crate::runtime::{Ambient, Runtime};
use crate::session::kept;

/// What a cycle begins with.
struct Work {
    cycle: u64,
    worker_id: String,
    job: Job,
    /// What the model is told.
    prompt: String,
    task: String,
    execution: Value,
    artifacts: Vec<Value>,
    ambient: Ambient,
}

/// What came of a cycle.
struct Done {
    result: Value,
    transcript: Value,
    artifacts: Vec<Value>,
    /// Why the loop pauses instead of ending.
    suspension: Option<Value>,
}

/// Starts a cycle of a worker whose record says that it runs. The model is told the task, or
/// something else where a loop is taken up again.
///
/// # Errors
/// There is nowhere it could run.
pub(crate) fn start(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    prompt: Option<String>,
) -> Result<(), Thrown> {
    let (wanted, is_wanted) = oneshot::channel();
    let (is_over, ended) = oneshot::channel::<()>();
    let work = slot.adjust(|inner| {
        inner.cycle += 1;
        inner.thrown = None;
        inner.stop = Some(Stop { wanted, ended });
        Work {
            cycle: inner.cycle,
            worker_id: inner.worker.id.clone(),
            job: inner.job.clone(),
            prompt: prompt.unwrap_or_else(|| inner.worker.task.clone()),
            task: inner.worker.task.clone(),
            execution: inner.worker.execution.clone(),
            artifacts: inner.worker.artifacts.clone(),
            ambient: inner.ambient.clone(),
        }
    });
    slot.gate.clear();
    let (here, slot) = (Arc::clone(runtime), Arc::clone(slot));
    runtime.spawn(Box::pin(async move {
        // Dropped when nothing of the cycle is left, which is what `ended` waits for.
        let _is_over = is_over;
        unless(is_wanted, run(&here, &slot, work)).await;
    }))
}

/// Does some work, unless somebody wants it to stop; then it is dropped at once.
async fn unless(mut stop: oneshot::Receiver<()>, work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    poll_fn(|context| {
        // Whoever could stop it may be gone, which stops nothing.
        match pin!(&mut stop).poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(()),
            Poll::Ready(Err(_)) | Poll::Pending => work.as_mut().poll(context),
        }
    })
    .await;
}

async fn run(runtime: &Arc<Runtime>, slot: &Arc<Slot>, work: Work) {
    let tree = Tree {
        runtime,
        worker_id: &work.worker_id,
        execution: &work.execution,
    };
    let outcome = match execution::prepare(runtime, &work.worker_id, &work.execution) {
        Ok(_) => carry_out(runtime, slot, &work).await,
        Err(thrown) => Err(thrown),
    };
    // Nobody hears that a worker has ended before its worktree is gone.
    drop(tree);
    match outcome {
        Ok(done) => settle(runtime, slot, work.cycle, done).await,
        Err(thrown) => fail(runtime, slot, work.cycle, thrown).await,
    }
}

/// The worktree of a cycle, which is removed however the cycle ends.
struct Tree<'a> {
    runtime: &'a Runtime,
    worker_id: &'a str,
    execution: &'a Value,
}

impl Drop for Tree<'_> {
    fn drop(&mut self) {
        execution::clean_up(self.runtime, self.worker_id, self.execution);
    }
}

async fn carry_out(runtime: &Arc<Runtime>, slot: &Arc<Slot>, work: &Work) -> Result<Done, Thrown> {
    let opened = carried::open(runtime, slot, &work.job).await;
    let opened = opened.map_err(|error| error.told_by("spawn_agent"));
    let Opened {
        mut child,
        transcript_id,
    } = opened?;
    child.pause = Some(Arc::new(WorkerPause {
        runtime: Arc::downgrade(runtime),
        slot: Arc::downgrade(slot),
        cycle: work.cycle,
    }));
    let ambient = work.ambient.clone();
    let (mut result, made) = match &work.job {
        Job::SubAgent(agent) => {
            let envelope = agent.run(runtime, &work.prompt, &child, ambient).await;
            (envelope, Vec::new())
        }
        Job::Stage(stage) => {
            let inputs = &work.artifacts;
            let running = stage.run(runtime, &work.prompt, inputs, &child, ambient);
            let done = running.await?;
            let made = vec![done.artifact];
            (stage_result(work, done.result, &made), made)
        }
    };
    let session = &child.session;
    let is_suspended = session.read(|state| state.run.status == "suspended");
    let suspension = is_suspended.then(|| session.kept(kept::SUSPENSION).unwrap_or_default());
    let transcript = carried::transcript(runtime, slot, session, transcript_id.as_deref()).await?;
    if let Job::Stage(_) = work.job {
        result["transcript"] = transcript.clone();
    }
    Ok(Done {
        result,
        transcript,
        artifacts: made,
        suspension,
    })
}

fn stage_result(work: &Work, result: Value, artifacts: &[Value]) -> Value {
    json!({
        "status": "completed",
        "mode": "stage",
        "task": work.task,
        "result": result,
        "artifacts": artifacts,
        "transcript": null,
        "execution": work.execution,
    })
}

/// A cycle has ended as it should.
async fn settle(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, done: Done) {
    let keep = |worker: &mut Worker| {
        worker.transcript.clone_from(&done.transcript);
        worker.artifacts = artifacts::joined(&worker.artifacts, &done.artifacts);
    };
    if let Some(suspension) = &done.suspension {
        slot.adjust(|inner| {
            if inner.cycle == cycle {
                keep(&mut inner.worker);
            }
        });
        if gate::suspend(runtime, slot, cycle, suspension.clone()).await {
            suspension::watch(runtime, slot, cycle, suspension);
        }
        return;
    }
    let now = rfc3339(runtime.now_ms());
    let is_awaiting = slot.read(|inner| inner.worker.carry.retriggerable);
    let status = match is_awaiting {
        true => Status::Awaiting,
        false => Status::Completed,
    };
    let transition = Transition {
        event: status.event(),
        guard: move |inner: &Inner| inner.cycle == cycle,
        change: |worker: &mut Worker| {
            keep(worker);
            worker.status = status;
            worker.result.clone_from(&done.result);
            match status {
                Status::Awaiting => worker.awaiting_started_at = Some(now.clone()),
                _ => worker.finished_at = Some(now.clone()),
            }
        },
    };
    transition.make(runtime, slot, |_| {}).await;
}

/// A cycle has failed.
pub(crate) async fn fail(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, thrown: Thrown) {
    let now = rfc3339(runtime.now_ms());
    let session_id = slot.read(|inner| inner.worker.session_id.clone());
    let session = runtime.session(&session_id);
    let mut new_id = || runtime.new_id();
    let transcript = session.map(|session| session.transcript(&mut new_id));
    let transition = Transition {
        event: Status::Failed.event(),
        guard: move |inner: &Inner| inner.cycle == cycle,
        change: |worker: &mut Worker| {
            worker.status = Status::Failed;
            worker.suspension = Value::Null;
            if let Some(transcript) = &transcript {
                worker.transcript.clone_from(transcript);
            }
            worker.error = Some(told(&thrown));
            worker.finished_at = Some(now.clone());
        },
    };
    let kept = thrown.clone();
    transition
        .make(runtime, slot, move |inner| inner.thrown = Some(kept))
        .await;
}
