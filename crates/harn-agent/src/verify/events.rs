//! Whether the events of a session are in order.

use harn_events::{AgentEvent, RecordedEvent};

use super::Findings;
use super::pairs::Pairs;
use super::seams::Seams;
use super::workers::WorkerOrder;

/// An event with its place.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its index in the session.
    pub index: u64,
    /// When it was emitted, if that is known.
    pub at_ms: Option<i64>,
    /// The event; `None` for one that this version does not understand.
    pub event: Option<&'a AgentEvent>,
}

impl<'a> From<(u64, &'a AgentEvent)> for Seen<'a> {
    fn from((index, event): (u64, &'a AgentEvent)) -> Self {
        Self {
            index,
            at_ms: None,
            event: Some(event),
        }
    }
}

impl<'a> From<(u64, &'a RecordedEvent)> for Seen<'a> {
    fn from((index, event): (u64, &'a RecordedEvent)) -> Self {
        Self {
            index,
            at_ms: None,
            event: event.event(),
        }
    }
}

/// How often a session of that name was opened. After a close, or after a crash, a session can
/// be opened again under its old name, and its events go on in the same place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Openings {
    /// Once.
    #[default]
    Once,
    /// Once, and again at these times, oldest first.
    AgainAt(Vec<i64>),
    /// Nobody has noted it.
    Unknown,
}

/// Checks the events of one session, from its first to its last.
pub fn check_events<'a, E: Into<Seen<'a>>>(events: impl IntoIterator<Item = E>) -> Findings {
    let mut order = EventOrder::default();
    for event in events {
        order.see(event.into());
    }
    order.finish()
}

/// Checks events as they come.
#[derive(Default)]
pub struct EventOrder {
    findings: Findings,
    openings: Openings,
    /// Whether the beginning of the stream has been thrown away.
    is_cut: bool,
    session_id: Option<String>,
    last: Option<(u64, Option<i64>)>,
    closed_at: Option<u64>,
    pairs: Pairs,
    seams: Seams,
    /// Workers outlive the runs that start them, and the process.
    workers: WorkerOrder,
}

impl EventOrder {
    /// For a session that may have been opened more than once.
    pub fn new(openings: Openings) -> Self {
        Self {
            openings,
            ..Self::default()
        }
    }

    /// For a stream whose beginning has been thrown away: what was open there may end here.
    #[must_use]
    pub fn after_cut(mut self) -> Self {
        self.is_cut = true;
        self.pairs.forgive();
        self.workers.forgive();
        self.seams.forgive();
        self
    }

    /// Takes the next event.
    pub fn see(&mut self, seen: Seen<'_>) {
        self.place(&seen);
        self.pass_openings(&seen);
        let index = seen.index;
        self.last = Some((index, seen.at_ms.or_else(|| self.last?.1)));
        let Some(event) = seen.event else { return };
        self.belongs(index, event);
        if let Some(closed_at) = self.closed_at
            && !self.begins_again(&seen)
        {
            let tag = event.tag();
            self.findings.broken(
                index,
                format!("`{tag}` comes after the session was closed by record {closed_at}"),
                "nothing follows `session_closed`",
            );
            // Once is enough, however much follows.
            self.closed_at = None;
            return;
        }
        if self.seams.contradicts(event) {
            // If the session cannot have been opened again, the seams say what is wrong.
            self.begins_again(&seen);
        }
        self.seams.see(index, event, &mut self.findings);
        self.pairs.see(index, event, &mut self.findings);
        self.workers.see(index, event, &mut self.findings);
        if matches!(event, AgentEvent::SessionClosed { .. }) {
            self.closed_at = Some(index);
        }
    }

    /// The end of the stream.
    pub fn finish(mut self) -> Findings {
        self.note_interruption();
        self.findings
    }

    fn place(&mut self, seen: &Seen<'_>) {
        let index = seen.index;
        let expected = match self.last {
            Some((last, _)) => last + 1,
            None if self.is_cut => index,
            None => 0,
        };
        if index != expected {
            self.findings.broken(
                index,
                format!("the index is {index} where {expected} comes next"),
                "indexes begin at 0 and rise by one",
            );
        }
        if let (Some((_, Some(before))), Some(now)) = (self.last, seen.at_ms)
            && now < before
        {
            self.findings.broken(
                index,
                format!(
                    "its time is {} ms before that of the record before",
                    before - now
                ),
                "times never go back",
            );
        }
    }

    fn belongs(&mut self, index: u64, event: &AgentEvent) {
        let own = self
            .session_id
            .get_or_insert_with(|| event.session_id().to_owned());
        if own != event.session_id() {
            let other = event.session_id();
            let tag = event.tag();
            self.findings.broken(
                index,
                format!("`{tag}` belongs to session `{other}`"),
                format!("this is the stream of session `{own}`"),
            );
        }
    }

    /// The session was opened again between the last event and this one, without doubt.
    fn pass_openings(&mut self, seen: &Seen<'_>) {
        let Openings::AgainAt(times) = &mut self.openings else {
            return;
        };
        let (Some((_, Some(before))), Some(now)) = (self.last, seen.at_ms) else {
            return;
        };
        // One at the time of an event may have been before it or after it.
        let is_between = |time: &i64| before < *time && *time < now;
        if times.iter().any(is_between) {
            times.retain(|time| !is_between(time));
            self.begin_again();
        }
    }

    /// Whether this event can be the first of a session that was opened again.
    fn begins_again(&mut self, seen: &Seen<'_>) -> bool {
        let is_possible = match &mut self.openings {
            Openings::Once => false,
            Openings::Unknown => true,
            Openings::AgainAt(times) => {
                let first = times.first().copied();
                let is_past = first.is_some_and(|time| seen.at_ms.is_none_or(|now| time <= now));
                if is_past {
                    times.remove(0);
                }
                is_past
            }
        };
        if is_possible {
            self.begin_again();
        }
        is_possible
    }

    fn begin_again(&mut self) {
        self.note_interruption();
        self.closed_at = None;
        self.pairs.begin_again();
        self.seams = Seams::default();
    }

    fn note_interruption(&mut self) {
        if let (Some(doing), Some((index, _))) = (self.seams.unfinished(), self.last)
            && self.closed_at.is_none()
        {
            self.findings.interrupted(index, doing);
        }
    }
}
