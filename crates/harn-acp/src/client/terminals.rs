//! `terminal/*`: commands where a person can see them.
//!
//! ```text
//! create ─► shown in the tool call ─► wait for exit ─► output ─► release
//!                                        │ too long: kill ─┘        ▲
//!                                        └ nobody waits: kill ──────┘
//! ```
//!
//! A terminal that was made is released exactly once, whichever way out is taken: an error on
//! the way, a loop that is cancelled in the middle of any step, a client that goes. So a
//! terminal is a value whose end is its release. If the request that makes it is given up, the
//! client may have made it already; then the answer is awaited elsewhere, to release what it
//! names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harn_vm::agent::BoxFuture;
use harn_vm::agent::coding::{TerminalCommand, TerminalEnd, Terminals};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::announced::Announced;
use super::files::inside;
use super::{Peers, Roots, lock};
use crate::peer::{Peer, PeerError};

/// How long a client has to make a terminal, to end it, or to say what is in it.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// What `timeout` of the shell gives.
const TIMED_OUT: i32 = 124;

/// The terminals of a session, at its client.
pub(super) struct EditorTerminals {
    pub(super) session_id: String,
    pub(super) roots: Roots,
    pub(super) peers: Arc<Peers>,
    /// `None`: the client hears nothing of calls.
    pub(super) announced: Option<Arc<Announced>>,
    /// Outlives the program: what it leaves is released there.
    pub(super) executor: Option<Handle>,
}

impl Terminals for EditorTerminals {
    fn run<'a>(
        &'a self,
        command: TerminalCommand<'a>,
    ) -> BoxFuture<'a, Option<Result<TerminalEnd, String>>> {
        Box::pin(async move {
            let peer = self.peers.find(|client| client.has_terminals)?;
            Some(self.run_on(peer, command).await)
        })
    }
}

impl EditorTerminals {
    async fn run_on(
        &self,
        peer: Arc<dyn Peer>,
        command: TerminalCommand<'_>,
    ) -> Result<TerminalEnd, String> {
        let folder = inside(&lock(&self.roots).clone(), command.folder)?;
        let environment = command.environment.iter();
        let environment = environment.map(|(name, value)| json!({"name": name, "value": value}));
        let parameters = json!({
            "sessionId": self.session_id,
            "command": command.program,
            "args": command.arguments,
            "env": environment.collect::<Vec<Value>>(),
            "cwd": folder,
            "outputByteLimit": command.output_bytes_max,
        });
        let executor = self.executor.clone().unwrap_or_else(Handle::current);
        let terminal = Terminal::create(peer, &self.session_id, parameters, &executor).await?;
        if let Some(announced) = &self.announced {
            let call = announced.call(command.call_id).await;
            terminal.show(&call.id);
        }
        let waited = tokio::time::timeout(command.timeout, terminal.wait()).await;
        let timed_out = waited.is_err();
        let mut exit_code = match waited {
            Ok(status) => exit_code(&status?),
            Err(_) => {
                terminal.kill().await?;
                TIMED_OUT
            }
        };
        let seen = terminal.output().await?;
        let terminal_id = terminal.id.clone();
        terminal.release().await;
        if !timed_out && seen["exitStatus"].is_object() {
            exit_code = self::exit_code(&seen["exitStatus"]);
        }
        Ok(TerminalEnd {
            terminal_id,
            exit_code,
            timed_out,
            output: seen["output"].as_str().unwrap_or_default().to_owned(),
            is_cut: seen["truncated"] == true,
        })
    }
}

/// The code of a command that has ended. A signal has a name on the wire and a number nowhere,
/// so it counts as what a shell gives for one that it does not know.
fn exit_code(status: &Value) -> i32 {
    const SIGNALS: [(&str, i32); 6] = [
        ("SIGHUP", 1),
        ("SIGINT", 2),
        ("SIGQUIT", 3),
        ("SIGKILL", 9),
        ("SIGSEGV", 11),
        ("SIGTERM", 15),
    ];
    if let Some(code) = status["exitCode"].as_i64() {
        return i32::try_from(code).unwrap_or(-1);
    }
    let signal = status["signal"].as_str();
    let number = signal.and_then(|signal| {
        let mut known = SIGNALS.iter();
        known.find(|(name, _)| *name == signal || name[3..] == *signal)
    });
    number.map_or(-1, |(_, number)| 128 + number)
}

/// A terminal that was made and not released. Dropped, it is killed and released.
struct Terminal {
    peer: Arc<dyn Peer>,
    session_id: String,
    id: String,
    /// Where to say goodbye when nobody waits.
    executor: Handle,
    is_released: bool,
    /// Whether the command has ended, or was asked to.
    has_ended: AtomicBool,
}

impl Terminal {
    /// Makes a terminal.
    ///
    /// # Cancel safety
    /// If nobody waits for it any more, a terminal that is made nevertheless is released.
    async fn create(
        peer: Arc<dyn Peer>,
        session_id: &str,
        parameters: Value,
        executor: &Handle,
    ) -> Result<Self, String> {
        let session_id = session_id.to_owned();
        // On a task of its own, because a request that was sent may have made a terminal, and
        // only its answer says which.
        let making = executor.spawn(async move {
            let made = peer.request("terminal/create", parameters).await;
            let made = made.map_err(|error| error.to_string())?;
            let id = made["terminalId"].as_str();
            let id = id.ok_or("the client's answer names no terminal")?;
            Ok(Self {
                id: id.to_owned(),
                peer,
                session_id,
                executor: Handle::current(),
                is_released: false,
                has_ended: false.into(),
            })
        });
        match tokio::time::timeout(ANSWER_WITHIN, making).await {
            Ok(made) => made.map_err(|_| "the terminal was given up".to_owned())?,
            // Whatever is made now is released by the task.
            Err(_) => Err("the client has made no terminal".to_owned()),
        }
    }

    fn named(&self) -> Value {
        json!({"sessionId": self.session_id, "terminalId": self.id})
    }

    async fn ask(&self, method: &str) -> Result<Value, String> {
        let asked = self.peer.request(method, self.named());
        match tokio::time::timeout(ANSWER_WITHIN, asked).await {
            Ok(answer) => answer.map_err(|error: PeerError| error.to_string()),
            Err(_) => Err(format!("the client has not answered `{method}`")),
        }
    }

    /// Shows the terminal in the tool call that it belongs to.
    fn show(&self, call_id: &str) {
        let update = json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": call_id,
            "content": [{"type": "terminal", "terminalId": self.id}],
        });
        let told = json!({"sessionId": self.session_id, "update": update});
        self.peer.notify("session/update", told);
    }

    /// Waits for the end, however long it takes.
    async fn wait(&self) -> Result<Value, String> {
        let ended = self.peer.request("terminal/wait_for_exit", self.named());
        let status = ended.await.map_err(|error| error.to_string())?;
        self.set_ended();
        Ok(status)
    }

    async fn kill(&self) -> Result<(), String> {
        // Whatever comes of it: a client that does not kill is not asked again.
        self.set_ended();
        self.ask("terminal/kill").await?;
        Ok(())
    }

    fn set_ended(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    async fn output(&self) -> Result<Value, String> {
        self.ask("terminal/output").await
    }

    /// Lets the client forget the terminal. Whether it does is its own business.
    async fn release(mut self) {
        self.is_released = true;
        let (peer, named) = (Arc::clone(&self.peer), self.named());
        // On a task of its own, so that it is sent whatever becomes of who waits.
        let released = self.executor.spawn(async move {
            let _its_own_business = peer.request("terminal/release", named).await;
        });
        let _it_may_take_long = tokio::time::timeout(ANSWER_WITHIN, released).await;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.is_released {
            return;
        }
        let (peer, named) = (Arc::clone(&self.peer), self.named());
        let runs = !self.has_ended.load(Ordering::Relaxed);
        self.executor.spawn(async move {
            if runs {
                let killed = peer.request("terminal/kill", named.clone());
                let _released_anyway = tokio::time::timeout(ANSWER_WITHIN, killed).await;
            }
            let _its_own_business = peer.request("terminal/release", named).await;
        });
    }
}
