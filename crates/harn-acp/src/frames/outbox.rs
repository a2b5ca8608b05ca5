//! Frames that wait for a peer.
//!
//! Two bounds. Above the lower one, [`Room::reserve`] waits, which holds back the updates of
//! sessions: they are read from the journal again when there is room. Answers and questions
//! are let in above it, because somebody waits for them; at the upper bound the peer is cut
//! off, because it does not read at all.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::{Counters, Limits};

const LAST_WORDS: Duration = Duration::from_secs(5);

/// The frames that wait for one peer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Shared>);

/// Where updates of sessions ask before they are sent.
pub(crate) trait Room: Send + Sync {
    /// Waits until one more update of the session may be sent.
    ///
    /// # Errors
    /// The peer is gone, and there will never be room.
    fn reserve<'a>(
        &'a self,
        session: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), Gone>> + Send + 'a>>;
}

/// The peer does not take anything any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Why an outbox takes nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The agent has said its last word. What waits is still written.
    Finished,
    /// The peer has left.
    Left,
    /// The peer did not read.
    TooSlow,
}

struct Shared {
    limits: Limits,
    counters: Arc<Counters>,
    state: Mutex<State>,
    /// There is something to write, or there never will be.
    filled: Notify,
    /// There is room, or there never will be.
    drained: Notify,
    /// The end has come.
    ended: Notify,
}

#[derive(Default)]
struct State {
    frames: VecDeque<String>,
    bytes: usize,
    /// Places that were given to updates which are still on their way through the SDK.
    promised: usize,
    /// Whether updates need not wait any more.
    is_closing: bool,
    end: Option<End>,
}

impl State {
    fn pop(&mut self) -> Option<String> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }
}

impl Outbox {
    pub(crate) fn new(limits: Limits, counters: Arc<Counters>) -> Self {
        Self(Arc::new(Shared {
            limits,
            counters,
            state: Mutex::default(),
            filled: Notify::new(),
            drained: Notify::new(),
            ended: Notify::new(),
        }))
    }

    /// Adds a frame; an update gives back the place it was promised. Says whether it had one.
    /// A frame for a peer that is gone vanishes.
    pub(crate) fn push(&self, frame: String, is_update: bool) -> bool {
        let mut state = self.state();
        let had_place = is_update && state.promised > 0;
        state.promised -= usize::from(had_place);
        if state.end.is_some() {
            return had_place;
        }
        state.bytes += frame.len();
        state.frames.push_back(frame);
        let Limits {
            backlog_frames_max,
            backlog_bytes_max,
            ..
        } = self.0.limits;
        if state.frames.len() > backlog_frames_max || state.bytes > backlog_bytes_max {
            drop(state);
            self.0.counters.cut_off.add();
            self.end(End::TooSlow);
            return had_place;
        }
        drop(state);
        self.0.filled.notify_one();
        had_place
    }

    /// An update that had a place was not sent after all.
    pub(crate) fn give_up_place(&self) {
        let mut state = self.state();
        state.promised = state.promised.saturating_sub(1);
        drop(state);
        self.0.drained.notify_waiters();
    }

    /// The next frame to write, in order; `None` after the last.
    ///
    /// # Cancel safety
    /// Dropping this future loses no frame.
    pub(crate) async fn next(&self) -> Option<String> {
        self.take(State::pop).await
    }

    /// Adds the next frames to `lines`, each with the end of a line, until there are no more or
    /// `lines` has so many bytes; `false` after the last. Whoever writes them pays for a write,
    /// not for a frame.
    ///
    /// # Cancel safety
    /// Dropping this future loses no frame.
    pub(crate) async fn next_lines(&self, lines: &mut String, bytes_max: usize) -> bool {
        let add = |state: &mut State| {
            let mut added = None;
            while added.is_none() || lines.len() < bytes_max {
                let Some(frame) = state.pop() else { break };
                lines.push_str(&frame);
                lines.push('\n');
                added = Some(());
            }
            added
        };
        self.take(add).await.is_some()
    }

    /// Takes something out as soon as there is something; `None` after the last.
    async fn take<T>(&self, mut take: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        loop {
            {
                let mut state = self.state();
                if let Some(taken) = take(&mut state) {
                    drop(state);
                    self.0.drained.notify_waiters();
                    return Some(taken);
                }
                if state.end.is_some() {
                    return None;
                }
            }
            self.0.filled.notified().await;
        }
    }

    /// The peer says nothing any more, so the agent comes to its end, and must not wait for
    /// room to get there. What it still says is bounded by the backlog.
    pub(crate) fn closing(&self) {
        self.state().is_closing = true;
        self.0.drained.notify_waiters();
    }

    /// Takes nothing any more. Unless it is [`End::Finished`], what waits is thrown away.
    /// The first end counts, except that a peer may still leave while the rest is written.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.state();
        if state.end.is_none() || state.end == Some(End::Finished) {
            state.end = Some(end);
        }
        if end != End::Finished {
            state.frames.clear();
            state.bytes = 0;
        }
        drop(state);
        self.0.filled.notify_one();
        self.0.drained.notify_waiters();
        self.0.ended.notify_waiters();
    }

    /// Resolves when the outbox has come to its end.
    pub(crate) async fn ended(&self) -> End {
        loop {
            let mut woken = std::pin::pin!(self.0.ended.notified());
            woken.as_mut().enable();
            if let Some(end) = self.state().end {
                return end;
            }
            woken.await;
        }
    }

    /// Whether the peer takes nothing any more.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state().end, Some(End::Left | End::TooSlow))
    }

    /// Resolves when the peer takes nothing any more, not even what waits.
    pub(crate) async fn lost(&self) {
        loop {
            let mut woken = std::pin::pin!(self.0.ended.notified());
            woken.as_mut().enable();
            if self.is_lost() {
                return;
            }
            woken.await;
        }
    }

    /// Resolves some time after the end. A peer that does not read what was said last must not
    /// keep its connection, or the process, for ever.
    pub(crate) async fn last_words(&self) {
        self.ended().await;
        tokio::time::sleep(LAST_WORDS).await;
    }

    /// Waits for room for one more update.
    pub(crate) async fn reserve_place(&self) -> Result<(), Gone> {
        let mut has_waited = false;
        loop {
            let mut woken = std::pin::pin!(self.0.drained.notified());
            woken.as_mut().enable();
            {
                let mut state = self.state();
                if state.end.is_some() {
                    return Err(Gone);
                }
                if self.has_room(&state) {
                    state.promised += 1;
                    return Ok(());
                }
            }
            if !has_waited {
                has_waited = true;
                self.0.counters.held_back.add();
            }
            woken.await;
        }
    }

    /// Whether an update would have to wait.
    #[cfg(test)]
    pub(crate) fn has_no_room(&self) -> bool {
        !self.has_room(&self.state())
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.state().frames.is_empty()
    }

    fn has_room(&self, state: &State) -> bool {
        let Limits {
            waiting_frames_max,
            waiting_bytes_max,
            ..
        } = self.0.limits;
        let is_short = state.frames.len() + state.promised < waiting_frames_max;
        state.is_closing || is_short && state.bytes < waiting_bytes_max
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room for Outbox {
    fn reserve<'a>(
        &'a self,
        _session: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), Gone>> + Send + 'a>> {
        Box::pin(self.reserve_place())
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinHandle;

    use super::*;

    fn outbox(limits: Limits) -> Outbox {
        Outbox::new(limits, Arc::default())
    }

    fn small() -> Limits {
        Limits {
            waiting_frames_max: 2,
            backlog_frames_max: 4,
            ..Limits::default()
        }
    }

    /// An outbox that is full, and an update that waits for room in it.
    async fn full() -> (Outbox, JoinHandle<Result<(), Gone>>) {
        let outbox = outbox(small());
        outbox.push("a".to_owned(), false);
        outbox.push("b".to_owned(), false);
        let waiter = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.reserve_place().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        (outbox, waiter)
    }

    #[tokio::test]
    async fn frames_come_out_in_order_and_the_rest_is_written_after_the_end() {
        let outbox = outbox(small());
        for frame in ["a", "b", "c"] {
            outbox.push(frame.to_owned(), false);
        }
        outbox.end(End::Finished);
        outbox.push("late".to_owned(), false);
        let mut seen = Vec::new();
        while let Some(frame) = outbox.next().await {
            seen.push(frame);
        }
        assert_eq!(seen, ["a", "b", "c"]);
    }

    #[tokio::test]
    async fn lines_hold_what_waits_and_not_much_more_than_they_may() {
        let outbox = outbox(small());
        for frame in ["one", "two", "three"] {
            outbox.push(frame.to_owned(), false);
        }
        outbox.end(End::Finished);
        let mut lines = String::new();
        assert!(outbox.next_lines(&mut lines, 5).await);
        assert_eq!(lines, "one\ntwo\n", "a frame is never cut");
        lines.clear();
        assert!(outbox.next_lines(&mut lines, 5).await);
        assert_eq!(lines, "three\n");
        assert!(!outbox.next_lines(&mut lines, 5).await);
    }

    #[tokio::test]
    async fn lines_that_are_taken_make_room() {
        let (outbox, waiter) = full().await;
        outbox.next_lines(&mut String::new(), 100).await;
        assert_eq!(waiter.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn an_update_waits_for_room_and_a_promise_takes_it() {
        let outbox = outbox(small());
        outbox.reserve_place().await.unwrap();
        outbox.reserve_place().await.unwrap();
        assert!(outbox.has_no_room(), "two places were promised");
        let waiter = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.reserve_place().await }
        });
        outbox.push("a".to_owned(), true);
        outbox.push("b".to_owned(), true);
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        assert_eq!(outbox.next().await.as_deref(), Some("a"));
        assert_eq!(waiter.await.unwrap(), Ok(()));
        assert_eq!(outbox.0.counters.held_back.get(), 1);
    }

    #[tokio::test]
    async fn bytes_count_too() {
        let outbox = outbox(Limits {
            waiting_bytes_max: 10,
            ..Limits::default()
        });
        outbox.push("x".repeat(10), false);
        assert!(outbox.has_no_room());
        outbox.next().await.unwrap();
        assert!(!outbox.has_no_room());
    }

    #[tokio::test]
    async fn answers_do_not_wait_but_a_peer_that_never_reads_is_cut_off() {
        let outbox = outbox(small());
        for _ in 0..4 {
            outbox.push("answer".to_owned(), false);
        }
        assert!(!outbox.is_empty());
        outbox.push("one too many".to_owned(), false);
        assert_eq!(outbox.ended().await, End::TooSlow);
        assert!(outbox.is_empty(), "what waited is let go");
        assert_eq!(outbox.next().await, None);
        assert_eq!(outbox.0.counters.cut_off.get(), 1);
    }

    #[tokio::test]
    async fn whoever_waits_for_room_hears_that_the_peer_left() {
        let (outbox, waiter) = full().await;
        outbox.end(End::Left);
        assert_eq!(waiter.await.unwrap(), Err(Gone));
    }

    #[tokio::test]
    async fn nobody_waits_for_room_while_the_agent_comes_to_its_end() {
        let (outbox, waiter) = full().await;
        outbox.closing();
        assert_eq!(waiter.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn an_update_that_was_not_sent_gives_its_place_back() {
        let outbox = outbox(small());
        outbox.reserve_place().await.unwrap();
        outbox.reserve_place().await.unwrap();
        outbox.give_up_place();
        assert_eq!(outbox.reserve_place().await, Ok(()));
    }
}
