//! The events that a daemon has not handled yet.

use std::collections::VecDeque;

use harn_llm::sorted_json;
use serde_json::{Value, json};

/// How many events wait for a daemon unless something else is configured.
pub(super) const CAPACITY_DEFAULT: usize = 1024;

/// The events of a daemon. When it is full, new ones are refused: whoever sends them can wait,
/// and an event that was accepted is never dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Queue {
    pub(super) pending: VecDeque<Event>,
    /// The one that the daemon works on.
    pub(super) in_flight: Option<Event>,
    /// The number of the next event. Numbers are never used again.
    pub(super) next_seq: u64,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) seq: u64,
    enqueued_at: String,
    payload: Value,
}

impl Event {
    /// As programs see it and files keep it.
    pub(super) fn to_value(&self) -> Value {
        json!({
            "seq": self.seq,
            "enqueued_at": self.enqueued_at,
            "payload": self.payload,
        })
    }

    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            seq: value["seq"].as_u64()?,
            enqueued_at: value["enqueued_at"].as_str().unwrap_or_default().to_owned(),
            payload: value.get("payload")?.clone(),
        })
    }

    /// What the model reads: a text as it is, anything else as compact JSON.
    pub(super) fn text(&self) -> String {
        match &self.payload {
            Value::String(text) => text.clone(),
            payload => sorted_json(payload),
        }
    }
}

impl Queue {
    /// The queue of a new daemon.
    pub(super) fn new() -> Self {
        Self {
            next_seq: 1,
            ..Self::default()
        }
    }

    /// What a file has kept. What is no event is left out.
    pub(super) fn read(meta: &Value) -> Self {
        let pending = meta["pending_events"].as_array();
        let pending: VecDeque<Event> = pending
            .into_iter()
            .flatten()
            .filter_map(Event::read)
            .collect();
        let in_flight = Event::read(&meta["inflight_event"]);
        let last = pending
            .iter()
            .chain(&in_flight)
            .map(|event| event.seq)
            .max();
        let next_seq = meta["next_event_seq"].as_u64().unwrap_or(1);
        Self {
            next_seq: next_seq.max(last.map_or(1, |last| last.saturating_add(1))),
            pending,
            in_flight,
        }
    }

    /// How many there are, with the one in flight.
    pub(super) fn len(&self) -> usize {
        self.pending.len() + usize::from(self.in_flight.is_some())
    }

    pub(super) fn push(&mut self, payload: &Value, enqueued_at: String) {
        self.pending.push_back(Event {
            seq: self.next_seq,
            enqueued_at,
            payload: payload.clone(),
        });
        self.next_seq += 1;
    }

    /// Takes the next event into work; none if there is one already.
    pub(super) fn hand_over(&mut self) -> Option<&Event> {
        if self.in_flight.is_some() {
            return None;
        }
        self.in_flight = Some(self.pending.pop_front()?);
        self.in_flight.as_ref()
    }

    /// What was in work is the next one again.
    pub(super) fn requeue(&mut self) {
        if let Some(event) = self.in_flight.take() {
            self.pending.push_front(event);
        }
    }

    /// The keys that tell of it, in snapshots and in files.
    pub(super) fn pending_value(&self) -> Value {
        self.pending.iter().map(Event::to_value).collect()
    }

    pub(super) fn in_flight_value(&self) -> Value {
        self.in_flight.as_ref().map_or(Value::Null, Event::to_value)
    }
}
