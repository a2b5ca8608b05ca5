//! Signals while a chat runs: they end it in good order.

use std::io;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Message;

/// How long the program has to close what it has opened.
const PATIENCE: Duration = Duration::from_secs(2);

/// Begins to listen. The thread ends with the process; `give_back` is called if that takes too
/// long, or if somebody sends a second signal.
///
/// # Errors
/// The system does not let us.
pub(super) fn listen(
    messages: SyncSender<Message>,
    give_back: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let thread = thread::Builder::new().name("harn-signals".to_owned());
    thread.spawn(move || {
        let mut first = None;
        for signal in signals.forever() {
            if first.is_some() {
                break;
            }
            first = Some(signal);
            if messages.try_send(Message::Signal(signal)).is_err() {
                break;
            }
            have_a_second_one_come(signal);
        }
        give_back();
        std::process::exit(i32::from(status_of(first.unwrap_or(SIGTERM))));
    })?;
    Ok(())
}

/// Has the signal come again when the time is over: the listener waits for nothing else.
fn have_a_second_one_come(signal: i32) {
    let thread = thread::Builder::new().name("harn-patience".to_owned());
    let _only_a_person_can_send_one = thread.spawn(move || {
        thread::park_timeout(PATIENCE);
        let _it_is_over_anyway = signal_hook::low_level::raise(signal);
    });
}

/// The status of a program that a signal has ended, as shells tell it.
pub(super) fn status_of(signal: i32) -> u8 {
    128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))
}
