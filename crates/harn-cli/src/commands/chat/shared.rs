//! What the threads of a chat share.
//!
//! ```text
//! program ─► events ──┐                              ┌─► painting
//! program ─► asks ────┼─► State, behind one lock ────┤
//! keys ───────────────┘        │                     └─► answers ─► program
//!                              └─► Bell ─► whoever draws
//! ```
//!
//! Events are folded where they are emitted, so there is no queue that could fill up: a
//! terminal that takes nothing keeps nobody waiting.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use harn_events::{AgentEvent, AgentEventSink};

use super::Message;
use super::asked::Asked;
use super::host::Always;
use super::view::View;
use crate::commands::run::live::prices::Prices;

/// What the threads of a chat share. All clones are the same.
#[derive(Clone)]
pub(super) struct Shared {
    state: Arc<Mutex<State>>,
    bell: Bell,
    started: Instant,
    prices: Arc<Prices>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) view: View,
    /// What the person is asked, the first one first.
    pub(super) asked: VecDeque<Asked>,
    /// What the person has said while the agent works, and the agent has not heard yet.
    pub(super) unheard: VecDeque<String>,
    /// What need not be asked again.
    pub(super) always: Always,
}

/// Tells whoever draws that there is something to draw. However often it rings, there is one
/// message at a time.
#[derive(Clone)]
struct Bell {
    messages: SyncSender<Message>,
    is_ringing: Arc<AtomicBool>,
}

impl Shared {
    pub(super) fn new(messages: SyncSender<Message>, prices: Prices) -> Self {
        Self {
            state: Arc::default(),
            bell: Bell {
                messages,
                is_ringing: Arc::default(),
            },
            started: Instant::now(),
            prices: Arc::new(prices),
        }
    }

    /// Looks at the state. Not to be kept waiting.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and has it drawn.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let answer = change(&mut self.state());
        self.ring();
        answer
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whoever draws begins to look: what happens from now on needs another message.
    pub(super) fn hear(&self) {
        self.bell.is_ringing.store(false, Ordering::Release);
    }

    fn ring(&self) {
        let bell = &self.bell;
        if !bell.is_ringing.swap(true, Ordering::AcqRel)
            && bell.messages.try_send(Message::Changed).is_err()
        {
            // There are so many other messages that it will be drawn anyway.
            bell.is_ringing.store(false, Ordering::Release);
        }
    }
}

impl AgentEventSink for Shared {
    fn handle_event(&self, event: &AgentEvent) {
        self.change(|state| state.view.apply(event, &self.prices));
    }
}
