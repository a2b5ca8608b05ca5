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
use std::thread;

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
        terminal.drawn.clear()?;
        Ok(terminal)
    }

    /// Writes something that is not drawn.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())
    }

    /// A panic of this thread gives the terminal back before it is told. One of another thread
    /// is told in the chat: tools that panic have only failed.
    pub(super) fn guard_against_panics(&self, told: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
        let before = panic::take_hook();
        let ours = thread::current().id();
        let (lent, output) = (Arc::clone(&self.lent), self.output.try_clone()?);
        panic::set_hook(Box::new(move |panicked| {
            if thread::current().id() == ours || !lent.0.load(Ordering::Acquire) {
                lent.give_back(&output);
                before(panicked);
            } else {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                told.push(panicked.to_string());
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
