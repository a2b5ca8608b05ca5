//! The terminal while a chat has it, and giving it back whatever happens.
//!
//! Everything is written to the file itself and not through the standard output of Rust: whoever
//! panics or hears a signal must not wait for a lock that somebody else holds.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use harn_events::KnownSecrets;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, event, queue};

use super::Message;

/// The terminal that is drawn on.
pub(super) type Drawn = ratatui::Terminal<CrosstermBackend<BufWriter<File>>>;

/// The terminal while a chat has it.
pub(super) struct Terminal {
    pub(super) drawn: Drawn,
    output: File,
    lent: Arc<Lent>,
}

/// Whether the terminal is ours.
#[derive(Default)]
struct Lent(AtomicBool);

/// Whether a chat can be shown: somebody types, and somebody sees.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It is none, or does not do what we want.
    pub(super) fn take() -> io::Result<Self> {
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let lent = Arc::new(Lent::default());
        enable_raw_mode()?;
        lent.0.store(true, Ordering::Release);
        let drawn = BufWriter::new(output.try_clone()?);
        let mut terminal = Self {
            drawn: ratatui::Terminal::new(CrosstermBackend::new(drawn))?,
            output,
            lent,
        };
        let output = &mut terminal.output;
        queue!(output, EnterAlternateScreen, EnableBracketedPaste)?;
        output.flush()?;
        terminal.redraw()?;
        Ok(terminal)
    }

    /// Has everything drawn again. Ratatui can clear as well, but asks the terminal where the
    /// cursor is first, and the answer would have to wait for whoever reads keys.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        let area = self.drawn.size()?.into();
        self.drawn.resize(area)
    }

    /// Writes something that is not drawn.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())
    }

    /// A panic of this thread gives the terminal back before it is told. One of another thread
    /// is told in the chat: tools that panic have only failed.
    pub(super) fn guard_against_panics(&self, told: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
        let before = panic::take_hook();
        let on_panic = Panicked {
            lent: Arc::clone(&self.lent),
            output: self.output.try_clone()?,
            told,
            ours: thread::current().id(),
        };
        panic::set_hook(Box::new(move |panicked| {
            if !on_panic
                .is_told_in_the_chat(&KnownSecrets::of_process().redact(&panicked.to_string()))
            {
                before(panicked);
            }
        }));
        Ok(())
    }

    /// Gives the terminal back from another thread.
    pub(super) fn giver(&self) -> io::Result<impl Fn() + Send + 'static> {
        let (lent, output) = (Arc::clone(&self.lent), self.output.try_clone()?);
        Ok(move || lent.give_back(&output))
    }

    /// Begins to read keys. The thread ends with the process.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn read_keys(messages: SyncSender<Message>) -> io::Result<()> {
        let thread = thread::Builder::new().name("harn-keys".to_owned());
        thread.spawn(move || {
            loop {
                let message = match event::read() {
                    Ok(event) => Message::Input(event),
                    Err(_) => Message::Hangup,
                };
                let is_over = matches!(message, Message::Hangup);
                if messages.send(message).is_err() || is_over {
                    return;
                }
            }
        })?;
        Ok(())
    }
}

/// What is done about a panic.
struct Panicked {
    lent: Arc<Lent>,
    output: File,
    told: Arc<Mutex<Vec<String>>>,
    /// The thread that draws.
    ours: ThreadId,
}

impl Panicked {
    /// Notes a panic to be told in the chat. `false` if the chat is what panics, or is over: then
    /// the terminal is given back, so that it can be told there.
    fn is_told_in_the_chat(&self, text: &str) -> bool {
        if thread::current().id() == self.ours || !self.lent.0.load(Ordering::Acquire) {
            self.lent.give_back(&self.output);
            return false;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.push(text.to_owned());
        true
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.lent.give_back(&self.output);
    }
}

impl Lent {
    /// Gives the terminal back as it was, once.
    fn give_back(&self, mut output: &File) {
        if !self.0.swap(false, Ordering::AcqRel) {
            return;
        }
        let _it_may_be_gone = queue!(
            output,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _likewise = output.flush();
        let _likewise = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn the_terminal_is_given_back_once() {
        let mut output = tempfile::tempfile().unwrap();
        let lent = Lent(AtomicBool::new(true));
        lent.give_back(&output);
        lent.give_back(&output);
        let mut written = String::new();
        output.rewind().unwrap();
        output.read_to_string(&mut written).unwrap();
        assert_eq!(written, "\u{1b}[?2004l\u{1b}[?1049l\u{1b}[?25h");
    }

    #[test]
    fn a_panic_of_another_thread_leaves_the_terminal_alone() {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let lent = Arc::new(Lent(AtomicBool::new(true)));
        let on_panic = Panicked {
            lent: Arc::clone(&lent),
            output: tempfile::tempfile().unwrap(),
            told: Arc::clone(&told),
            ours: thread::current().id(),
        };
        thread::scope(|scope| {
            let elsewhere = scope.spawn(|| on_panic.is_told_in_the_chat("a tool"));
            assert!(elsewhere.join().unwrap());
        });
        assert!(lent.0.load(Ordering::Acquire));
        assert_eq!(*told.lock().unwrap(), ["a tool"]);
        assert!(!on_panic.is_told_in_the_chat("the chat"));
        assert!(!lent.0.load(Ordering::Acquire), "it was given back");
        assert!(!on_panic.is_told_in_the_chat("later"));
    }
}
