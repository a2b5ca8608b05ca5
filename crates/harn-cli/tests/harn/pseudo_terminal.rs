//! A terminal that a test looks at.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A program on a terminal. What it writes is read by a thread, as a terminal does.
pub(crate) struct OnTerminal {
    child: Child,
    keyboard: File,
    seen: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl OnTerminal {
    /// Starts a program on a terminal of so many columns.
    pub(crate) fn start(program: &mut Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it opens");
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).expect("it can be of any size");
        let stream = || Stdio::from(terminal.try_clone().expect("a copy"));
        program.stdin(stream()).stdout(stream()).stderr(stream());
        let child = program
            .spawn()
            .expect("the program was built with the tests");
        // Otherwise the terminal stays open when the program has ended.
        program
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let seen = Arc::new(Mutex::new(String::new()));
        let master = File::from(master);
        let keyboard = master.try_clone().expect("a copy");
        let reader = read(master, Arc::clone(&seen));
        Self {
            child,
            keyboard,
            seen,
            reader: Some(reader),
        }
    }

    /// Types something; it may be early.
    pub(crate) fn typing(mut self, text: &str) -> Self {
        self.keyboard
            .write_all(text.as_bytes())
            .expect("it listens");
        self
    }

    /// Waits for its end. Gives its status, and all it has written.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it runs");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("it only reads");
        }
        let seen = self.seen.lock().expect("nobody panics").clone();
        (status.code(), seen)
    }
}

/// Reads until nobody has the terminal open.
fn read(mut master: File, seen: Arc<Mutex<String>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = master.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..length]);
            *seen.lock().expect("nobody panics") = String::from_utf8_lossy(&kept).into_owned();
        }
    })
}

impl Drop for OnTerminal {
    /// A test that fails leaves nobody behind.
    fn drop(&mut self) {
        let _it_may_have_ended = self.child.kill();
        let _it_is_ours = self.child.wait();
    }
}

/// What a terminal shows after all this was written to it, and what it has shown in the line
/// of the cursor before that was erased.
pub(crate) fn shown(written: &str) -> (Vec<String>, Vec<String>) {
    let mut lines = vec![String::new()];
    let mut erased = Vec::new();
    let mut at_start = false;
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        match character {
            '\r' => at_start = true,
            '\n' => {
                lines.push(String::new());
                at_start = false;
            }
            '\u{1b}' => {
                let sequence: String = characters
                    .by_ref()
                    .take_while(|c| !c.is_alphabetic())
                    .collect();
                assert_eq!(sequence, "[", "only `ESC [ K` is expected here");
                assert!(at_start, "a line is erased from its start");
                erased.push(std::mem::take(lines.last_mut().expect("there is one")));
            }
            other => {
                let line = lines.last_mut().expect("there is one");
                if std::mem::take(&mut at_start) && !line.is_empty() {
                    panic!("{line:?} is overwritten: {written:?}");
                }
                line.push(other);
            }
        }
    }
    (lines, erased)
}
