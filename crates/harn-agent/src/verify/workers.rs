//! What is told about workers follows from what was told before.

use std::collections::BTreeMap;

use harn_events::{AgentEvent, WorkerEvent, WorkerLifecycle, WorkerStatus};

use super::Findings;

/// How far each worker has come that a session has heard of.
#[derive(Default)]
pub(super) struct WorkerOrder {
    known: BTreeMap<String, WorkerLifecycle>,
    /// Whether workers are forgiven whose beginning may have been thrown away.
    forgives: bool,
}

impl WorkerOrder {
    pub(super) fn forgive(&mut self) {
        self.forgives = true;
    }

    pub(super) fn see(&mut self, index: u64, event: &AgentEvent, findings: &mut Findings) {
        let AgentEvent::WorkerUpdate {
            worker_id,
            event,
            status,
            ..
        } = event
        else {
            return;
        };
        if *status != event.status().as_str() {
            findings.broken(
                index,
                format!("worker `{worker_id}` is told to be {status} by {event}"),
                "the status of a worker follows from its event",
            );
        }
        let forgives = self.forgives;
        let worker = self.known.entry(worker_id.clone()).or_default();
        if worker.status().is_none() && forgives {
            // It was started where the stream has been cut.
            let _an_unstarted_worker_starts = worker.apply(WorkerEvent::WorkerSpawned);
        }
        // A worker that is given another task begins anew.
        let has_ended = worker.status().is_some_and(WorkerStatus::is_terminal);
        if has_ended && *event == WorkerEvent::WorkerSpawned {
            *worker = WorkerLifecycle::default();
        }
        if has_ended && event.is_terminal() {
            findings.broken(
                index,
                format!("worker `{worker_id}` ends again with {event}"),
                "a worker that was started ends at most once",
            );
        } else if let Err(invalid) = worker.apply(*event) {
            findings.broken(
                index,
                format!("worker `{worker_id}`: {invalid}"),
                "a worker is started first, resumes before it completes, and does nothing after \
                 its end",
            );
        }
    }
}
