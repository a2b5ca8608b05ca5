//! The terminal, which the program and the view of its agents share.
//!
//! ```text
//! program ─► write ─┐
//! warnings ─► say ──┼─► take the status line away ─► write ─► bring it back
//! view ─► line ─────┘
//! ```
//!
//! The status line is the last thing on the terminal, and only there when the cursor is at the
//! start of a line: what a program has written without an end of line is never overwritten.
//! Everything of ours goes to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::machine::Stream;

use crate::columns::{fit, width};
use crate::output::Palette;

/// How wide a terminal is that does not tell.
const COLUMNS_USUAL: usize = 80;

/// The terminal. All clones are the same one.
#[derive(Clone)]
pub(super) struct Screen {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    streams: Box<dyn Streams + Send>,
    palette: Palette,
    /// What the status line says; `None`: there is none.
    status: Option<String>,
    /// Columns of the status line on the terminal; 0: it is not there.
    shown_columns: usize,
    /// Whether the program is in the middle of a line on the terminal.
    is_mid_line: bool,
    /// Lines of ours that wait until the program has ended its own.
    waiting: Vec<String>,
}

/// What a screen writes to.
pub(super) trait Streams {
    /// Writes. Nobody is there to be told if that is not possible.
    fn write(&mut self, stream: Stream, bytes: &[u8]);

    /// Whether a stream is the terminal that the status line is on.
    fn is_terminal(&self, stream: Stream) -> bool;

    /// How wide that terminal is now.
    fn columns(&self) -> Option<usize>;
}

/// The streams of the process.
struct Real {
    output_is_terminal: bool,
    errors_are_terminal: bool,
}

impl Streams for Real {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let _reader_has_gone = match stream {
            Stream::Output => {
                let mut stdout = io::stdout();
                stdout.write_all(bytes).and_then(|()| stdout.flush())
            }
            Stream::Errors => io::stderr().write_all(bytes),
        };
    }

    fn is_terminal(&self, stream: Stream) -> bool {
        match stream {
            Stream::Output => self.output_is_terminal,
            Stream::Errors => self.errors_are_terminal,
        }
    }

    fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }
}

impl Screen {
    /// The terminal of the process.
    pub(super) fn new(palette: Palette) -> Self {
        let real = Real {
            output_is_terminal: io::stdout().is_terminal(),
            errors_are_terminal: io::stderr().is_terminal(),
        };
        Self::on(Box::new(real), palette)
    }

    pub(super) fn on(streams: Box<dyn Streams + Send>, palette: Palette) -> Self {
        Self {
            shared: Arc::new(Mutex::new(Shared {
                streams,
                palette,
                status: None,
                shown_columns: 0,
                is_mid_line: false,
                waiting: Vec::new(),
            })),
        }
    }

    /// Whether what is written to a stream is seen at once.
    pub(super) fn is_terminal(&self, stream: Stream) -> bool {
        self.shared().streams.is_terminal(stream)
    }

    /// How long a line of ours may be.
    pub(super) fn columns(&self) -> usize {
        self.shared().columns()
    }

    /// Writes what the program says.
    pub(super) fn write(&self, stream: Stream, bytes: &[u8]) {
        let mut shared = self.shared();
        let is_terminal = shared.streams.is_terminal(stream);
        if !is_terminal {
            return shared.streams.write(stream, bytes);
        }
        shared.hide();
        shared.streams.write(stream, bytes);
        if let Some(last) = bytes.last() {
            shared.is_mid_line = *last != b'\n';
        }
        shared.show();
    }

    /// Writes a line of ours, for good.
    pub(super) fn line(&self, line: String) {
        let mut shared = self.shared();
        shared.waiting.push(line);
        shared.show();
    }

    /// Writes a line that cannot wait.
    pub(super) fn say(&self, line: &str) {
        let mut shared = self.shared();
        shared.hide();
        let start = if shared.is_mid_line { "\n" } else { "" };
        shared.is_mid_line = false;
        let text = format!("{start}{line}\n");
        shared.streams.write(Stream::Errors, text.as_bytes());
        shared.show();
    }

    /// Changes what the status line says, or takes it away. It is made when it is known how
    /// many columns it may have.
    pub(super) fn set_status(&self, status: Option<impl FnOnce(usize) -> String>) {
        let mut shared = self.shared();
        let columns = shared.columns();
        let status = status.map(|text| text(columns));
        if status.is_some() && status == shared.status && shared.shown_columns > 0 {
            return;
        }
        shared.status = status;
        shared.show();
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// How long a line of ours may be. The last column stays free: some terminals go to the
    /// next line as soon as it is written to.
    fn columns(&self) -> usize {
        let columns = self.streams.columns().unwrap_or(COLUMNS_USUAL);
        columns.saturating_sub(1)
    }

    /// Takes the status line away.
    fn hide(&mut self) {
        let shown = std::mem::take(&mut self.shown_columns);
        if shown > 0 {
            let erase = self.erase(shown);
            self.streams.write(Stream::Errors, erase.as_bytes());
        }
    }

    /// What takes a status line of so many columns away. On a terminal that was made narrower
    /// it has become several lines.
    fn erase(&self, shown_columns: usize) -> String {
        let columns = self.streams.columns().unwrap_or(COLUMNS_USUAL);
        let above = shown_columns.saturating_sub(1) / columns;
        match above {
            0 => "\r\u{1b}[K".to_owned(),
            above => format!("\r\u{1b}[{above}A\u{1b}[J"),
        }
    }

    /// Writes the lines that wait, and the status line below them, in one go.
    fn show(&mut self) {
        if self.is_mid_line {
            return;
        }
        let mut text = String::new();
        let shown = std::mem::take(&mut self.shown_columns);
        if shown > 0 {
            text += &self.erase(shown);
        }
        for line in self.waiting.drain(..) {
            text += &line;
            text.push('\n');
        }
        if let Some(status) = &self.status {
            let status = fit(status, self.columns());
            self.shown_columns = width(&status);
            text += &self.palette.faint(status).to_string();
        }
        if !text.is_empty() {
            self.streams.write(Stream::Errors, text.as_bytes());
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Remembers what was written to a terminal.
    #[derive(Clone)]
    pub(in super::super) struct Recorder {
        pub(in super::super) seen: Arc<Mutex<String>>,
        pub(in super::super) columns: Arc<Mutex<usize>>,
    }

    impl Recorder {
        pub(in super::super) fn new(columns: usize) -> Self {
            Self {
                seen: Arc::default(),
                columns: Arc::new(Mutex::new(columns)),
            }
        }

        pub(in super::super) fn screen(&self) -> Screen {
            Screen::on(Box::new(self.clone()), Palette::plain())
        }

        /// What was written since the last time.
        pub(in super::super) fn take(&self) -> String {
            std::mem::take(&mut self.seen.lock().unwrap())
        }
    }

    impl Streams for Recorder {
        fn write(&mut self, _stream: Stream, bytes: &[u8]) {
            let text = std::str::from_utf8(bytes).unwrap();
            self.seen.lock().unwrap().push_str(text);
        }

        fn is_terminal(&self, _stream: Stream) -> bool {
            true
        }

        fn columns(&self) -> Option<usize> {
            Some(*self.columns.lock().unwrap())
        }
    }

    const ERASED: &str = "\r\u{1b}[K";

    fn set(screen: &Screen, text: &str) {
        screen.set_status(Some(|_| text.to_owned()));
    }

    fn clear(screen: &Screen) {
        screen.set_status(None::<fn(usize) -> String>);
    }

    #[test]
    fn the_program_writes_where_the_status_line_was() {
        let recorder = Recorder::new(80);
        let screen = recorder.screen();
        set(&screen, "turn 1");
        assert_eq!(recorder.take(), "turn 1");
        screen.write(Stream::Output, b"Hello\n");
        assert_eq!(recorder.take(), format!("{ERASED}Hello\nturn 1"));
        clear(&screen);
        assert_eq!(recorder.take(), ERASED);
        screen.write(Stream::Errors, b"Bye\n");
        assert_eq!(recorder.take(), "Bye\n");
    }

    #[test]
    fn a_line_that_the_program_has_not_ended_is_left_alone() {
        let recorder = Recorder::new(80);
        let screen = recorder.screen();
        set(&screen, "turn 1");
        screen.write(Stream::Output, b"wait");
        assert_eq!(recorder.take(), format!("turn 1{ERASED}wait"));
        set(&screen, "turn 2");
        screen.line("✓ read".to_owned());
        assert_eq!(recorder.take(), "");
        screen.write(Stream::Output, b"ed\n");
        assert_eq!(recorder.take(), "ed\n✓ read\nturn 2");
        screen.write(Stream::Output, b"...");
        recorder.take();
        clear(&screen);
        screen.say("warning: odd");
        assert_eq!(recorder.take(), "\nwarning: odd\n");
    }

    #[test]
    fn the_same_status_is_drawn_once() {
        let recorder = Recorder::new(80);
        let screen = recorder.screen();
        set(&screen, "turn 1");
        set(&screen, "turn 1");
        assert_eq!(recorder.take(), "turn 1");
    }

    #[test]
    fn a_status_line_never_fills_the_last_column_and_is_wholly_erased_after_a_resize() {
        let recorder = Recorder::new(10);
        let screen = recorder.screen();
        set(&screen, "abcdefghijkl");
        assert_eq!(recorder.take(), "abcdefgh…");
        *recorder.columns.lock().unwrap() = 4;
        set(&screen, "xyz");
        assert_eq!(recorder.take(), "\r\u{1b}[2A\u{1b}[Jxyz");
    }
}
