//! What a person sees of agents while they run.
//!
//! ```text
//! events ─► activity: which loops run, and what they do ─► wording ─► screen
//! ticker, once a second ─────────────────────────────────────┘
//! ```
//!
//! On a terminal there is one line that changes in place, and one that stays for each call of
//! a tool. Elsewhere there are plain lines. What agents say is not shown: the program prints what
//! it wants.

mod activity;
pub(in crate::commands) mod prices;
pub(in crate::commands) mod wording;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use harn_events::{AgentEvent, AgentEventSink};
use harn_vm::machine::Stream;

use super::screen::Screen;
use activity::{Activity, News};
use prices::Prices;

/// A loop that takes less than this is over before anybody could read a line about it.
const SHOWN_AFTER_MS: u64 = 500;

/// How much is told about agents while they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Progress {
    /// A line that changes in place on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// Plain lines, wherever standard error goes
    Plain,
    /// Nothing
    None,
}

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    InPlace,
    Plain,
}

/// Shows what agents do. It ends with the run.
pub(super) struct Live {
    shared: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    screen: Screen,
    started: Instant,
    prices: Prices,
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    activity: Activity,
    is_over: bool,
    ticker: Option<JoinHandle<()>>,
    /// Whether the ticker waits for a loop to begin.
    is_resting: bool,
}

impl Live {
    /// A view, unless nobody wants it. A terminal that is `dumb` cannot change a line.
    pub(super) fn new(
        progress: Progress,
        is_dumb: bool,
        screen: &Screen,
        prices: impl FnOnce() -> Prices,
    ) -> Option<Self> {
        let manner = match progress {
            Progress::None => return None,
            Progress::Plain => Manner::Plain,
            Progress::Auto if is_dumb || !screen.is_terminal(Stream::Errors) => Manner::Plain,
            Progress::Auto => Manner::InPlace,
        };
        Some(Self {
            shared: Arc::new(Shared {
                manner,
                screen: screen.clone(),
                started: Instant::now(),
                prices: prices(),
                state: Mutex::default(),
                rung: Condvar::new(),
            }),
        })
    }

    /// What sees the events.
    pub(super) fn observer(&self) -> Arc<dyn AgentEventSink> {
        Arc::new(Observer(Arc::clone(&self.shared)))
    }
}

impl Drop for Live {
    /// Leaves nothing behind.
    fn drop(&mut self) {
        let ticker = {
            let mut state = self.shared.state();
            state.is_over = true;
            state.ticker.take()
        };
        self.shared.rung.notify_all();
        if let Some(ticker) = ticker {
            let _a_panic_was_reported_there = ticker.join();
        }
        self.shared.take_status_away();
    }
}

/// Sees the events of all sessions.
struct Observer(Arc<Shared>);

impl AgentEventSink for Observer {
    fn handle_event(&self, event: &AgentEvent) {
        let shared = &self.0;
        let mut state = shared.state();
        if state.is_over {
            return;
        }
        let now_ms = shared.now_ms();
        let Some(news) = state.activity.apply(event, now_ms, &shared.prices) else {
            return;
        };
        match shared.manner {
            Manner::Plain => {
                if let Some(line) = wording::plain(&news) {
                    shared.screen.line(line);
                }
            }
            Manner::InPlace => {
                let columns = shared.screen.columns();
                match &news {
                    News::CallEnded(call) => shared.screen.line(wording::call(call, columns)),
                    News::Asked { request_id, prompt } => {
                        shared
                            .screen
                            .line(wording::asked(request_id, prompt, columns));
                    }
                    _ => {}
                }
                shared.draw(&state.activity, now_ms);
                shared.tick(&mut state, now_ms);
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn draw(&self, activity: &Activity, now_ms: u64) {
        let current = activity.current(now_ms);
        match current.filter(|current| current.ran_ms >= SHOWN_AFTER_MS) {
            Some(current) => {
                let status = |columns| wording::status(&current, columns);
                self.screen.set_status(Some(status));
            }
            None => self.take_status_away(),
        }
    }

    fn take_status_away(&self) {
        self.screen.set_status(None::<fn(usize) -> String>);
    }

    /// Has the line drawn again as time goes by. The thread starts with the first loop.
    fn tick(self: &Arc<Self>, state: &mut State, now_ms: u64) {
        if state.activity.current(now_ms).is_none() {
            return;
        }
        if state.ticker.is_some() {
            if state.is_resting {
                self.rung.notify_all();
            }
            return;
        }
        let shared = Arc::clone(self);
        let ticker = std::thread::Builder::new().name("harn-progress".to_owned());
        // Without it the line changes with every event and not in between.
        state.ticker = ticker.spawn(move || shared.keep_ticking()).ok();
    }

    fn keep_ticking(&self) {
        let mut state = self.state();
        while !state.is_over {
            let now_ms = self.now_ms();
            let wait = state
                .activity
                .current(now_ms)
                .map(|one| next_tick(one.ran_ms));
            state.is_resting = wait.is_none();
            state = match wait {
                None => self
                    .rung
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(wait) => {
                    let waited = self.rung.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            if !state.is_over {
                self.draw(&state.activity, self.now_ms());
            }
        }
    }
}

/// How long the line stays as it is: until it appears, then to the next whole second.
fn next_tick(ran_ms: u64) -> Duration {
    let until_ms = match ran_ms < SHOWN_AFTER_MS {
        true => SHOWN_AFTER_MS,
        false => (ran_ms / 1000 + 1) * 1000,
    };
    Duration::from_millis(until_ms - ran_ms)
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::Recorder;
    use super::*;
    use serde_json::json;

    fn live(progress: Progress, recorder: &Recorder) -> Live {
        Live::new(progress, false, &recorder.screen(), Prices::none).unwrap()
    }

    fn events() -> [AgentEvent; 3] {
        let session_id = "s".to_owned();
        [
            AgentEvent::IterationStart {
                session_id: session_id.clone(),
                iteration: 1,
                provider: "mock".to_owned(),
                model: "m".to_owned(),
            },
            AgentEvent::IterationEnd {
                session_id: session_id.clone(),
                iteration: 1,
                iteration_info: json!({"input_tokens": 12, "output_tokens": 3}).into(),
            },
            AgentEvent::LoopCheckpoint {
                session_id,
                iteration: 1,
                kind: "loop_exit".to_owned(),
                delivered: 0,
                inbox_delivered: 0,
                dispatch_skipped: false,
            },
        ]
    }

    #[test]
    fn a_loop_that_is_over_at_once_shows_nothing_on_a_terminal() {
        let recorder = Recorder::new(80);
        let live = live(Progress::Auto, &recorder);
        let observer = live.observer();
        for event in &events() {
            observer.handle_event(event);
        }
        drop(live);
        assert_eq!(recorder.take(), "");
    }

    #[test]
    fn plain_lines_come_at_once_and_need_no_thread() {
        let recorder = Recorder::new(80);
        let live = live(Progress::Plain, &recorder);
        let observer = live.observer();
        for event in &events() {
            observer.handle_event(event);
        }
        assert!(live.shared.state().ticker.is_none());
        let seen = recorder.take();
        let lines: Vec<&str> = seen.lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("turn 1 · "), "{lines:?}");
        assert!(lines[1].starts_with("ended after 1 turn · "), "{lines:?}");
    }

    #[test]
    fn the_manner_is_that_of_the_terminal_unless_somebody_wants_another() {
        let recorder = Recorder::new(80);
        let manner = |progress, is_dumb| {
            let live = Live::new(progress, is_dumb, &recorder.screen(), Prices::none);
            live.map(|live| live.shared.manner)
        };
        assert_eq!(manner(Progress::None, false), None);
        assert_eq!(manner(Progress::Auto, false), Some(Manner::InPlace));
        assert_eq!(manner(Progress::Auto, true), Some(Manner::Plain));
        assert_eq!(manner(Progress::Plain, false), Some(Manner::Plain));
    }

    #[test]
    fn the_time_changes_on_whole_seconds() {
        for (ran_ms, wait_ms) in [(0, 500), (499, 1), (500, 500), (1000, 1000), (1999, 1)] {
            assert_eq!(next_tick(ran_ms), Duration::from_millis(wait_ms));
        }
    }
}
