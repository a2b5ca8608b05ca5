//! Whether a loop passes its seams in order.
//!
//! ```text
//! iteration_start ► iteration_start ► pre_compact ► post_compact ► pre_tool_dispatch ► iteration_end
//!     (event)           (seam)           (seam)        (seam)            (seam)            (event)
//!                                                                                             │
//! next iteration ◄─┬─ idle pre ► idle post ◄───── post_tool_dispatch or iteration_end (seams) ◄┘
//!                  └─ terminal event ► loop_exit (seam)
//! ```
//!
//! A run that fails goes from anywhere to the end of its iteration and to `loop_exit`. Logs of
//! earlier versions have no seams, so a seam that is missing at the end of an iteration is
//! forgiven, and one that is missed out in the middle is not.

use harn_events::AgentEvent;

use super::Findings;

/// Feedback of these kinds is published by programs, whenever they like.
const PUBLISHED_FEEDBACK: &[&str] = &[
    "completion_confirmation_nudge",
    "fenced_call_attempt_nudge",
    "missing_tool_call_nudge",
    "no_progress_streak_nudge",
    "tool_parse_error_feedback",
    "tool_call_blank_name_dropped",
    "llm_auto_continue",
    "context_overflow_recovery",
];

/// How far a run has come.
#[derive(Default)]
pub(super) struct Seams {
    place: Place,
    /// The iteration that is open.
    iteration: Option<usize>,
    /// The one that began last.
    last_iteration: Option<usize>,
    /// Whether calls of this iteration may have been made.
    has_dispatched: bool,
    /// The event that ended the run, with its index.
    terminal: Option<(u64, &'static str)>,
    /// Feedback that no seam has counted yet.
    feedback: usize,
    /// Whether this run has passed a seam.
    has_seams: bool,
    /// Whether ends without a beginning are forgiven: the beginning may have been thrown away.
    forgives: bool,
}

/// Between which seams a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first iteration, or between two runs.
    #[default]
    Outside,
    Begun,
    Started,
    PreCompact,
    PostCompact,
    PreDispatch,
    /// The iteration has ended.
    Ended,
    /// That was noted by its seam.
    Concluded,
    IdlePre,
    IdlePost,
}

impl Place {
    /// Where it is, for people.
    fn words(self) -> &'static str {
        match self {
            Self::Outside => "no iteration has begun",
            Self::Begun => "an iteration has just begun",
            Self::Started => "the run is after the seam `iteration_start`",
            Self::PreCompact => "the run is after the seam `pre_compact`",
            Self::PostCompact => "the run is after the seam `post_compact`",
            Self::PreDispatch => "the run is after the seam `pre_tool_dispatch`",
            Self::Ended => "the iteration has just ended",
            Self::Concluded => "the run is between two iterations",
            Self::IdlePre => "the daemon waits",
            Self::IdlePost => "the daemon has waited",
        }
    }
}

impl Seams {
    pub(super) fn forgive(&mut self) {
        self.forgives = true;
    }

    /// Whether an event cannot belong to the run that is open: its process has died, or the
    /// stream is wrong.
    pub(super) fn contradicts(&self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::IterationStart { iteration, .. } => {
                let goes_on = self
                    .last_iteration
                    .is_none_or(|last| *iteration == last + 1);
                self.iteration.is_some() || !goes_on
            }
            _ => false,
        }
    }

    /// What a run without an end was doing.
    pub(super) fn unfinished(&self) -> Option<String> {
        match (self.iteration, self.last_iteration) {
            (Some(iteration), _) => Some(format!("iteration {iteration} has no end")),
            (None, Some(last)) if self.has_seams => Some(format!(
                "nothing follows iteration {last}, not even `loop_exit`"
            )),
            _ => None,
        }
    }

    pub(super) fn see(&mut self, index: u64, event: &AgentEvent, findings: &mut Findings) {
        match event {
            AgentEvent::IterationStart { iteration, .. } => {
                self.begin(index, *iteration, findings);
            }
            AgentEvent::IterationEnd { iteration, .. } => self.end(index, *iteration, findings),
            AgentEvent::LoopCheckpoint { .. } => self.pass(index, event, findings),
            AgentEvent::FeedbackInjected { kind, .. } => self.feedback(index, kind, findings),
            AgentEvent::TranscriptCompacted { mode, .. } => self.compacted(index, mode, findings),
            AgentEvent::BudgetExhausted { .. }
            | AgentEvent::LoopStuck { .. }
            | AgentEvent::DaemonWatchdogTripped { .. } => {
                self.terminate(index, event.tag(), findings);
            }
            AgentEvent::SessionClosed { .. } => self.close(index, findings),
            _ => {}
        }
    }

    fn begin(&mut self, index: u64, iteration: usize, findings: &mut Findings) {
        if let Some(open) = self.iteration {
            findings.broken(
                index,
                format!("iteration {iteration} begins inside iteration {open}"),
                "an iteration ends before the next one begins",
            );
        }
        if let Some((at, tag)) = self.terminal {
            findings.broken(
                index,
                format!("iteration {iteration} begins after `{tag}` of record {at}"),
                "a run that was stopped does not go on",
            );
        }
        if self.place == Place::IdlePre {
            findings.broken(
                index,
                format!("iteration {iteration} begins while the daemon waits"),
                "`daemon_idle_pre` is followed by `daemon_idle_post`",
            );
        }
        let is_next = match self.last_iteration {
            Some(last) => iteration == last + 1,
            None => iteration <= 1 || self.forgives,
        };
        if !is_next {
            let last = self.last_iteration;
            let after = last.map_or("the beginning".to_owned(), |last| {
                format!("iteration {last}")
            });
            findings.broken(
                index,
                format!("iteration {iteration} comes after {after}"),
                "the iterations of a run are counted from 1, one by one",
            );
        }
        self.iteration = Some(iteration);
        self.last_iteration = Some(iteration);
        self.place = Place::Begun;
        self.has_dispatched = false;
        self.forgives = false;
    }

    fn end(&mut self, index: u64, iteration: usize, findings: &mut Findings) {
        if self.iteration != Some(iteration) && !self.forgives {
            let open = match self.iteration {
                Some(open) => format!("iteration {open} is open"),
                None => "none is open".to_owned(),
            };
            findings.broken(
                index,
                format!("iteration {iteration} ends while {open}"),
                "an iteration that has begun ends once",
            );
        }
        self.has_dispatched = self.place == Place::PreDispatch;
        self.iteration = None;
        self.last_iteration = Some(iteration);
        self.place = Place::Ended;
        self.forgives = false;
    }

    fn pass(&mut self, index: u64, event: &AgentEvent, findings: &mut Findings) {
        let AgentEvent::LoopCheckpoint {
            kind,
            iteration,
            inbox_delivered,
            ..
        } = event
        else {
            return;
        };
        if kind == "loop_exit" {
            return self.exit(index, findings);
        }
        let Some((next, may_follow)) = self.step(kind) else {
            // A seam of a later version: nothing is known about its place.
            return;
        };
        if !may_follow && !self.forgives {
            findings.broken(
                index,
                format!("the seam `{kind}` is passed while {}", self.place.words()),
                "a run passes its seams in one order and leaves none out",
            );
        }
        let is_of_iteration = !matches!(next, Place::IdlePre | Place::IdlePost);
        if is_of_iteration && self.last_iteration.is_some_and(|last| last != *iteration) {
            let last = self.last_iteration.unwrap_or_default();
            findings.broken(
                index,
                format!("the seam `{kind}` of iteration {iteration} is passed in iteration {last}"),
                "a seam belongs to the iteration it is passed in",
            );
        }
        if *inbox_delivered > self.feedback {
            findings.broken(
                index,
                format!(
                    "the seam `{kind}` has delivered {inbox_delivered} of the inbox, and {} \
                     `feedback_injected` came before it",
                    self.feedback
                ),
                "a seam follows what it has delivered",
            );
        }
        self.feedback = 0;
        self.place = next;
        self.has_seams = true;
    }

    /// Where a seam leads to, and whether it may be passed from here.
    fn step(&self, kind: &str) -> Option<(Place, bool)> {
        let place = self.place;
        Some(match kind {
            "iteration_start" => (Place::Started, place == Place::Begun),
            "pre_compact" => (Place::PreCompact, place == Place::Started),
            "post_compact" => (Place::PostCompact, place == Place::PreCompact),
            "pre_tool_dispatch" => (Place::PreDispatch, place == Place::PostCompact),
            "post_tool_dispatch" => (
                Place::Concluded,
                place == Place::Ended && self.has_dispatched,
            ),
            "iteration_end" => (Place::Concluded, place == Place::Ended),
            "daemon_idle_pre" => (
                Place::IdlePre,
                // A daemon that goes on from a snapshot begins with waiting.
                matches!(place, Place::Outside | Place::Concluded | Place::IdlePost),
            ),
            "daemon_idle_post" => (Place::IdlePost, place == Place::IdlePre),
            _ => return None,
        })
    }

    fn exit(&mut self, index: u64, findings: &mut Findings) {
        if let Some(open) = self.iteration {
            findings.broken(
                index,
                format!("the run exits inside iteration {open}"),
                "the last iteration ends before `loop_exit`, which is the last seam",
            );
        }
        *self = Self::default();
    }

    fn feedback(&mut self, index: u64, kind: &str, findings: &mut Findings) {
        if PUBLISHED_FEEDBACK.contains(&kind) {
            return;
        }
        self.feedback += 1;
        if matches!(self.place, Place::PostCompact | Place::PreDispatch) {
            findings.broken(
                index,
                format!("feedback `{kind}` arrives while {}", self.place.words()),
                "feedback arrives before the model is asked or after the iteration",
            );
        }
    }

    fn compacted(&mut self, index: u64, mode: &str, findings: &mut Findings) {
        let is_in_place = match mode {
            "preflight" => !matches!(
                self.place,
                Place::Started | Place::PostCompact | Place::PreDispatch
            ),
            "auto" => self.iteration.is_none(),
            _ => true,
        };
        if !is_in_place {
            findings.broken(
                index,
                format!("the conversation is compacted while {}", self.place.words()),
                "a loop compacts between `pre_compact` and `post_compact`, or between iterations",
            );
        }
    }

    fn terminate(&mut self, index: u64, tag: &'static str, findings: &mut Findings) {
        if let Some((at, first)) = self.terminal {
            findings.broken(
                index,
                format!("`{tag}` follows `{first}` of record {at}"),
                "a run is stopped once",
            );
        }
        if let Some(open) = self.iteration {
            findings.broken(
                index,
                format!("`{tag}` comes inside iteration {open}"),
                "an iteration ends before the run is stopped",
            );
        }
        self.terminal = Some((index, tag));
    }

    fn close(&mut self, index: u64, findings: &mut Findings) {
        if let Some(open) = self.iteration {
            findings.broken(
                index,
                format!("the session is closed inside iteration {open}"),
                "the last iteration ends before the session does",
            );
        }
        *self = Self::default();
    }
}
