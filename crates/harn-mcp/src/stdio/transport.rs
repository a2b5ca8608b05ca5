//! The transport below the protocol: messages to and from a process.

use std::io;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use harn_agent::tool_servers::{ServerClient, ServerConfig, ServerError, StdioEndpoint};
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

use super::frames::Frames;
use super::process::{Guardians, Process};
use super::stderr::{self, LastWords};
use crate::servers::Surroundings;

/// How large a message to a server may be.
const OUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many messages wait for a server that does not read. Who wants to send more waits.
const QUEUE_MESSAGES_MAX: usize = 64;

/// Why a connection was given up, if that was because of what the server did, and what it
/// wrote last.
#[derive(Clone, Default)]
pub(crate) struct Fault {
    problem: Arc<Mutex<Option<String>>>,
    last_words: LastWords,
}

impl Fault {
    /// The error for whoever waits for a server whose connection has ended.
    pub(crate) fn error(&self, server: &str) -> ServerError {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        let server = server.to_owned();
        match &*problem {
            Some(problem) => ServerError::Broken {
                server,
                problem: problem.clone(),
            },
            None => ServerError::Ended {
                server,
                detail: self.last_words.detail(),
            },
        }
    }

    fn set(&self, problem: String) {
        let mut kept = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(problem);
    }
}

/// Messages to and from a process. Dropping it ends the process.
pub(crate) struct StdioTransport {
    frames: Frames<ChildStdout>,
    /// Closed when nothing is sent any more; then the input of the process is closed.
    queue: Option<mpsc::Sender<Outgoing>>,
    process: Process,
    fault: Fault,
    client: Arc<dyn ServerClient>,
    server: String,
    /// Whether somebody was told that it prints where messages go.
    has_warned: bool,
}

struct Outgoing {
    frame: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

/// Starts the process of a server.
///
/// # Errors
/// It cannot be started.
pub(crate) fn open(
    config: &ServerConfig,
    endpoint: &StdioEndpoint,
    surroundings: &Surroundings,
    guardians: &Guardians,
    client: &Arc<dyn ServerClient>,
) -> Result<(StdioTransport, Fault), ServerError> {
    if let Some(before_start) = &surroundings.before_start {
        before_start();
    }
    let mut command = command(endpoint, surroundings);
    let failed = |error: io::Error| {
        ServerError::Unreachable(format!("failed to spawn '{}': {error}", endpoint.command))
    };
    let started = Process::start(&mut command, surroundings.patience, guardians);
    let (process, pipes) = started.map_err(failed)?;
    let fault = Fault::default();
    let piped = "both are pipes";
    let stdin = ChildStdin::from_std(pipes.stdin.expect(piped)).map_err(failed)?;
    let stdout = ChildStdout::from_std(pipes.stdout).map_err(failed)?;
    let errors = ChildStderr::from_std(pipes.stderr.expect(piped)).map_err(failed)?;
    let (queue, waiting) = mpsc::channel(QUEUE_MESSAGES_MAX);
    tokio::spawn(write(stdin, waiting));
    tokio::spawn(stderr::read(
        config.name.clone(),
        errors,
        stderr::redaction(config),
        fault.last_words.clone(),
    ));
    let transport = StdioTransport {
        frames: Frames::new(stdout, config.limits.frame_bytes_max),
        queue: Some(queue),
        process,
        fault: fault.clone(),
        client: Arc::clone(client),
        server: config.name.clone(),
        has_warned: false,
    };
    Ok((transport, fault))
}

fn command(endpoint: &StdioEndpoint, surroundings: &Surroundings) -> Command {
    let mut command = Command::new(&endpoint.command);
    command.args(&endpoint.arguments);
    command.env_clear();
    command.envs(surroundings.harmless());
    let given = endpoint.environment.iter();
    command.envs(given.map(|(name, value)| (name, value.expose())));
    let folder = endpoint.folder.as_deref().unwrap_or(&surroundings.folder);
    if !folder.as_os_str().is_empty() {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped());
    command.stderr(Stdio::piped());
    command
}

/// Writes what is sent, in order, until nobody sends any more; then the input is closed.
async fn write(mut stdin: ChildStdin, mut waiting: mpsc::Receiver<Outgoing>) {
    while let Some(Outgoing { frame, written }) = waiting.recv().await {
        let result = match stdin.write_all(&frame).await {
            Ok(()) => stdin.flush().await,
            Err(error) => Err(error),
        };
        let _nobody_may_wait = written.send(result);
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.queue.clone();
        async move {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let mut frame = serde_json::to_vec(&item)?;
            if frame.len() > OUT_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "a message of {} bytes is too large to be sent",
                    frame.len()
                )));
            }
            frame.push(b'\n');
            let (written, result) = oneshot::channel();
            let queue = queue.ok_or_else(gone)?;
            queue
                .send(Outgoing { frame, written })
                .await
                .map_err(|_| gone())?;
            result.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let next = self.frames.next().await;
            if self.frames.strays > 0 && !self.has_warned {
                self.has_warned = true;
                let text = "writes lines to its output that are no messages; they are skipped";
                self.client
                    .warn(&format!("mcp server '{}' {text}", self.server));
            }
            match next {
                Ok(Some(message)) => {
                    if let Some(message) = understood(message) {
                        return Some(message);
                    }
                }
                Ok(None) => return None,
                Err(wrong) => {
                    self.fault.set(wrong.describe());
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.queue = None;
        self.process.close();
        let mut ended = self.process.ended();
        let has_ended = async {
            let _its_guardian_has_ended = ended.wait_for(Option::is_some).await;
        };
        tokio::pin!(has_ended);
        tokio::select! {
            () = &mut has_ended => {}
            // Nothing more can come; what is left is to wait.
            () = self.frames.discard() => has_ended.await,
        }
        Ok(())
    }
}

/// A message, if it is one of the protocol. An answer that is none becomes an error, so that
/// whoever waits for it hears of it.
fn understood(message: Value) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id = message["id"].clone();
    let is_answer = message.get("method").is_none();
    match serde_json::from_value(message) {
        Ok(message) => Some(message),
        Err(error) if is_answer => {
            let id: RequestId = serde_json::from_value(id).ok()?;
            let text = format!("the answer is not one of the protocol: {error}");
            let error = ErrorData::internal_error(text, None);
            Some(RxJsonRpcMessage::<RoleClient>::Error(JsonRpcError::new(
                Some(id),
                error,
            )))
        }
        Err(error) => {
            tracing::debug!("a message of a server was dropped: {error}");
            None
        }
    }
}
