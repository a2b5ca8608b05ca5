//! What a program writes.

use std::borrow::Cow;
use std::cell::RefCell;

use harn_vm::Sink;
use harn_vm::machine::Stream;

use super::screen::Screen;
use crate::hidden::visible;
use crate::output::Palette;

/// How much output is held back at most.
const HELD_BACK: usize = 16 * 1024;

/// What a program writes: held back as long as that cannot be noticed.
pub(crate) struct Terminal {
    held: RefCell<Vec<u8>>,
    screen: Screen,
    is_terminal: bool,
    /// Whether a terminal gets every sequence that is in a text.
    is_raw: bool,
}

impl Terminal {
    /// A terminal that nobody shares.
    pub(crate) fn new() -> Self {
        Self::on(Screen::new(Palette::plain()))
    }

    pub(super) fn on(screen: Screen) -> Self {
        Self {
            held: RefCell::default(),
            is_terminal: screen.is_terminal(Stream::Output),
            is_raw: false,
            screen,
        }
    }

    /// The same, but a terminal gets every sequence that is in a text.
    pub(super) fn raw(mut self, is_raw: bool) -> Self {
        self.is_raw = is_raw;
        self
    }

    /// What a stream gets of a text. A file or another program gets it as it is.
    fn shown<'a>(&self, stream: Stream, text: &'a str) -> Cow<'a, str> {
        match self.is_raw || !self.screen.is_terminal(stream) {
            true => Cow::Borrowed(text),
            false => visible(text),
        }
    }

    fn release(&self) {
        let mut held = self.held.borrow_mut();
        if !held.is_empty() {
            self.screen.write(Stream::Output, &held);
            held.clear();
        }
    }
}

impl Sink for Terminal {
    fn write(&mut self, stream: Stream, text: &str) {
        let text = &*self.shown(stream, text);
        match stream {
            Stream::Output => {
                self.held.borrow_mut().extend_from_slice(text.as_bytes());
                let is_full = self.held.borrow().len() >= HELD_BACK;
                if is_full || (self.is_terminal && text.ends_with('\n')) {
                    self.release();
                }
            }
            Stream::Errors => {
                self.release();
                self.screen.write(stream, text.as_bytes());
            }
        }
    }

    fn flush(&mut self) {
        self.release();
    }
}
