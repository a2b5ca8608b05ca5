//! A real terminal that a test looks at: a window of tmux.
//!
//! ```text
//! test ─► send-keys, resize ─► tmux ─► program
//!   ▲                            │
//!   └── capture-pane ◄── %output ┘   a client in control mode tells when to look again
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What does not appear within this time never will. A machine that tests run on may be busy.
const PATIENCE: Duration = Duration::from_secs(40);

/// A window of a tmux server that nobody else uses.
pub(crate) struct Window {
    /// The socket of the server.
    server: PathBuf,
    folder: PathBuf,
    /// A client that is told whenever the window changes.
    watcher: Child,
    /// The watcher leaves when this is closed.
    _watching: ChildStdin,
    changes: Receiver<()>,
}

impl Window {
    /// Runs a shell command in a window of this size, in a folder. The window stays when it has
    /// ended.
    pub(crate) fn open(folder: &Path, command: &str, columns: u16, rows: u16) -> Self {
        let (server, settings) = new_server(folder);
        let text = "set -g status off\nset -g set-clipboard on\n\
                    set -g escape-time 0\nset -g default-terminal tmux-256color\n";
        std::fs::write(&settings, text).expect("the folder is ours");
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let started = tmux(&server)
            .arg("-f")
            .arg(&settings)
            .args(["new-session", "-d", "-s", "t", "-x", &columns, "-y", &rows])
            .arg(format!("{command}; exec cat"))
            // From then on the size is not that of whoever looks.
            .args([";", "resize-window", "-x", &columns, "-y", &rows])
            .current_dir(folder)
            .env("HOME", folder)
            .status();
        assert!(started.expect("tmux is installed").success());
        let mut watcher = tmux(&server)
            .args(["-C", "attach-session", "-t", "t"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tmux is installed");
        let watching = watcher.stdin.take().expect("it is a pipe");
        let told = BufReader::new(watcher.stdout.take().expect("it is a pipe"));
        let (ring, changes) = channel();
        std::thread::spawn(move || {
            for line in told.split(b'\n') {
                if line.is_err() || ring.send(()).is_err() {
                    return;
                }
            }
        });
        Self {
            server,
            folder: folder.to_owned(),
            watcher,
            _watching: watching,
            changes,
        }
    }

    /// Presses keys, by their names in tmux: `Enter`, `C-c`, `PageUp`.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys", "-t", "t"], keys].concat());
    }

    /// Types a text.
    pub(crate) fn write(&self, text: &str) {
        self.tell(&["send-keys", "-t", "t", "-l", text]);
    }

    /// Types a text and sends it.
    pub(crate) fn say(&self, text: &str) {
        self.write(text);
        self.press(&["Enter"]);
    }

    /// Pastes a text, as a terminal does that knows about pasting.
    pub(crate) fn paste(&self, text: &str) {
        let file = self.folder.join("pasted");
        let mut written = std::fs::File::create(&file).expect("the folder is ours");
        written.write_all(text.as_bytes()).expect("it has room");
        let file = file.display().to_string();
        self.tell(&["load-buffer", "-b", "pasted", &file]);
        self.tell(&["paste-buffer", "-p", "-r", "-b", "pasted", "-t", "t"]);
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tell(&["resize-window", "-t", "t", "-x", &columns, "-y", &rows]);
    }

    /// What the window shows.
    pub(crate) fn screen(&self) -> String {
        self.tell(&["capture-pane", "-p", "-t", "t"])
    }

    /// The same with the sequences for colours.
    pub(crate) fn coloured_screen(&self) -> String {
        self.tell(&["capture-pane", "-p", "-e", "-t", "t"])
    }

    /// What was copied last; nothing if nothing was.
    pub(crate) fn clipboard(&self) -> Option<String> {
        let shown = tmux(&self.server).arg("show-buffer").output();
        let shown = shown.expect("tmux is installed");
        let text = || String::from_utf8_lossy(&shown.stdout).into_owned();
        shown.status.success().then(text)
    }

    /// Something that tmux knows about the window, such as `#{pane_title}`.
    pub(crate) fn ask(&self, what: &str) -> String {
        self.tell(&["display-message", "-p", "-t", "t", what])
    }

    /// Waits until the window shows a text. Gives what it shows then.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.shows_that(text, |screen| screen.contains(text))
    }

    /// Waits until what the window shows is as wanted. Gives what it shows then.
    #[track_caller]
    pub(crate) fn shows_that(&self, wanted: &str, is_fine: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_fine(&screen) {
                return screen;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.changes.recv_timeout(left) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => panic!("{wanted:?} is not shown:\n{screen}"),
                Err(RecvTimeoutError::Disconnected) => {
                    let screen = self.screen();
                    assert!(is_fine(&screen), "{wanted:?} is not shown:\n{screen}");
                    return screen;
                }
            }
        }
    }

    fn tell(&self, words: &[&str]) -> String {
        let told = tmux(&self.server).args(words).output();
        let told = told.expect("tmux is installed");
        let why = String::from_utf8_lossy(&told.stderr);
        assert!(told.status.success(), "tmux {words:?}: {why}");
        String::from_utf8_lossy(&told.stdout).into_owned()
    }
}

impl Drop for Window {
    /// A test that fails leaves nobody behind.
    fn drop(&mut self) {
        let _it_may_have_ended = tmux(&self.server).arg("kill-server").output();
        let _it_may_have_ended = self.watcher.kill();
        let _it_is_ours = self.watcher.wait();
    }
}

/// Where a server and its settings are that was not there before. One that ends may still have
/// its socket.
fn new_server(folder: &Path) -> (PathBuf, PathBuf) {
    let names = (0..).map(|number| folder.join(format!("tmux-{number}")));
    let mut names = names.map(|server| (server.with_extension("conf"), server));
    let unused = names.find(|(settings, _)| !settings.exists());
    let (settings, server) = unused.expect("there are enough numbers");
    (server, settings)
}

fn tmux(server: &Path) -> Command {
    let mut tmux = Command::new("tmux");
    // Nothing of the person who runs the tests; all texts are UTF-8.
    tmux.arg("-u").arg("-S").arg(server).env_clear();
    tmux.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    tmux
}
