//! A real NATS server on this machine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use harn_log::{AcknowledgementPolicy, NatsConfig, NatsEventLog};
use tempfile::TempDir;

use super::LIMIT;

/// A server with a folder of its own. It is killed when it is dropped.
pub(crate) struct NatsServer {
    folder: TempDir,
    port: u16,
    /// Settings besides those that every server has.
    extra: String,
    running: Mutex<Option<Running>>,
}

/// The shell that watches over the server. It kills the server when its input ends,
/// so the server goes with us however we go.
struct Running {
    shell: Child,
    input: ChildStdin,
}

/// Starts the server and waits for the end of its input to kill it. What can be heard
/// is the server alone, so it falls silent when the server ends.
const SCRIPT: &str =
    r#"nats-server -c "$0" & server=$!; exec 2>/dev/null; read -r end; kill -9 $server; wait"#;

impl NatsServer {
    /// A server for one test. It is ready within some milliseconds, so no test has to
    /// share it.
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// A server with further settings.
    pub(crate) fn start_with(extra: &str) -> Self {
        let folder = TempDir::new().expect("there is room for a folder");
        let ports = ports(folder.path());
        let mut server = Self {
            folder,
            port: 0,
            extra: extra.to_owned(),
            running: Mutex::new(None),
        };
        let mut problem = String::new();
        for port in ports {
            server.port = port;
            match server.try_start() {
                Ok(()) => return server,
                Err(said) => problem = said,
            }
            server.kill();
        }
        panic!("nats-server should start: {problem}");
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// How to open a log here. This server's acknowledgements are unsynced.
    pub(crate) fn config(&self, prefix: &str) -> NatsConfig {
        let mut config = NatsConfig::new(self.url());
        config.prefix = prefix.to_owned();
        config.acknowledgements = AcknowledgementPolicy::AcceptUnsynced;
        config
    }

    #[track_caller]
    pub(crate) fn open(&self, prefix: &str) -> Arc<NatsEventLog> {
        NatsEventLog::open(self.config(prefix)).expect("the server is there")
    }

    /// Kills the server as a crash would.
    pub(crate) fn kill(&self) {
        let running = self.lock().take();
        if let Some(Running { mut shell, input }) = running {
            drop(input);
            shell.wait().expect("the shell ends with its input");
        }
    }

    /// Starts the server where it was, and waits until it is ready.
    #[track_caller]
    pub(crate) fn restart(&self) {
        self.try_start().expect("nats-server should start again");
    }

    /// # Errors
    /// What the server said before it ended.
    fn try_start(&self) -> Result<(), String> {
        let config = self.folder.path().join("server.conf");
        let text = format!(
            "listen: \"127.0.0.1:{}\"\njetstream {{ store_dir: \"{}\" }}\n{}\n",
            self.port,
            self.folder.path().display(),
            self.extra,
        );
        std::fs::write(&config, text).expect("the folder can be written");
        let mut shell = Command::new("sh")
            .arg("-c")
            .arg(SCRIPT)
            .arg(&config)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let input = shell.stdin.take().expect("it was asked for");
        let output = shell.stderr.take().expect("it was asked for");
        *self.lock() = Some(Running { shell, input });
        wait_until_ready(output)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads what the server says until it says that it is ready, and goes on reading so
/// that it never waits for us.
#[track_caller]
fn wait_until_ready(output: ChildStderr) -> Result<(), String> {
    let (ready, wait) = mpsc::channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line.contains("Server is ready") {
                // Nobody may be waiting any more.
                let _heard = ready.send(Ok(()));
            }
            said.push(line);
        }
        let _heard = ready.send(Err(said.join("\n")));
    });
    let outcome = wait.recv_timeout(LIMIT);
    outcome.expect("nats-server (a package of that name) should start or end")
}

/// Ports to try. They are below those that the system gives to clients: one who keeps
/// connecting to a port where nobody listens could otherwise meet itself there. The
/// name of the folder is random, so tests that run at once begin at different ones.
fn ports(folder: &Path) -> impl Iterator<Item = u16> + use<> {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let first = hasher.finish() % 20_000;
    (0..20).map(move |step| 10_000 + ((first + 997 * step) % 20_000) as u16)
}
