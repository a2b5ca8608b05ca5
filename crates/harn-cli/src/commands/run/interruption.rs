//! Ctrl-C, or a closed terminal, while a program with agents or processes runs.
//!
//! Other programs are ended by the system, as any program is. Where sessions are kept that
//! would leave journals without an end, and processes lead groups of their own that hear
//! nothing of it. So the first signal stops the program in good order, and whoever has no
//! patience sends another one.

use std::fs;
use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use harn_vm::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::screen::Screen;

/// How long a program has to stop. One that waits for input does not hear of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Listens for signals, once it is asked to.
#[derive(Clone)]
pub(super) struct Interruption {
    pub(super) interrupt: Interrupt,
    screen: Screen,
    signal: Arc<OnceLock<i32>>,
    over: Arc<(Mutex<bool>, Condvar)>,
    is_listening: Arc<OnceLock<()>>,
}

impl Interruption {
    pub(super) fn new(screen: Screen) -> Self {
        Self {
            interrupt: Interrupt::default(),
            screen,
            signal: Arc::default(),
            over: Arc::default(),
            is_listening: Arc::default(),
        }
    }

    /// Begins to listen, if it does not already. The thread ends with the process: there is
    /// nothing it has to finish.
    pub(super) fn listen(&self) -> io::Result<()> {
        if self.is_listening.set(()).is_err() {
            return Ok(());
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        if !may_outlive_its_terminal() {
            signals.add_signal(SIGHUP)?;
        }
        let this = self.clone();
        let listener = thread::Builder::new().name("harn-signals".to_owned());
        listener.spawn(move || {
            for signal in signals.forever() {
                this.heard(signal);
            }
        })?;
        Ok(())
    }

    /// The status of a program that a signal has ended, as shells tell it.
    pub(super) fn status(&self) -> u8 {
        let signal = self.signal.get().copied().unwrap_or(SIGINT);
        status_of(signal)
    }

    /// The program has ended.
    pub(super) fn finish(&self) {
        let (over, rung) = &*self.over;
        *over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        rung.notify_all();
    }

    fn heard(&self, signal: i32) {
        if self.signal.set(signal).is_err() {
            self.give_up(signal);
        }
        self.interrupt.raise();
        let this = self.clone();
        let waiting = thread::Builder::new().name("harn-patience".to_owned());
        let _waits_for_a_second_signal = waiting.spawn(move || {
            let (over, rung) = &*this.over;
            let over = over.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = rung.wait_timeout_while(over, PATIENCE, |over| !*over);
            let (over, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !*over {
                drop(over);
                this.give_up(signal);
            }
        });
    }

    /// The program does not stop.
    fn give_up(&self, signal: i32) -> ! {
        self.screen.set_status(None::<fn(usize) -> String>);
        std::process::exit(status_of(signal).into())
    }
}

/// Whether somebody has started us so that we go on when the terminal is closed, as `nohup` does.
/// Where nobody can tell, the system does what it does to every program.
fn may_outlive_its_terminal() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

fn status_of(signal: i32) -> u8 {
    128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))
}
