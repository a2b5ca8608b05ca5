//! A server on this machine that answers every question with the same stream.
//!
//! ```text
//! POST /text        a few words
//! POST /calls       a few words and two calls
//! POST /gate/N      half of a page; the rest when N clients have come this far
//! ```

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};

use harn_llm::wire::Wire;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Barrier;

use crate::streams::Stream;

/// A page of text, frames and all.
const PAGE_BYTES: usize = 16 * 1024;

/// What llama.cpp says when it is greeted.
const TEXT: &[u8] =
    include_bytes!("../../../../crates/harn-llm/tests/fixtures/chat/peer-llama-text.sse");

/// A server in a process of its own.
pub(crate) struct Server {
    pub(crate) url: String,
    process: Child,
    /// It ends with this.
    input: Option<ChildStdin>,
}

impl Server {
    pub(crate) fn start() -> Result<Self, String> {
        let mut command = own_program("serve")?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command
            .spawn()
            .map_err(|why| format!("the server: {why}"))?;
        let input = process.stdin.take();
        let output = process.stdout.take().expect("its output is piped");
        let mut url = String::new();
        let read = BufReader::new(output).read_line(&mut url);
        read.map_err(|why| format!("the server: {why}"))?;
        Ok(Self {
            url: url.trim().to_owned(),
            process,
            input,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        self.process.wait().ok();
    }
}

/// This program in another role.
pub(crate) fn own_program(role: &str) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|why| format!("who am I? {why}"))?;
    let mut command = Command::new(program);
    command.arg(role);
    Ok(command)
}

/// As many files as the system lets us have: every stream is one.
pub(crate) fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without it, a large crowd fails to connect and says so.
    setrlimit(Resource::Nofile, limit).ok();
}

/// The role of the server.
pub(crate) fn run() -> ExitCode {
    allow_many_files();
    let runtime = Runtime::new().expect("threads can be started");
    runtime.spawn(serve());
    // Until whoever started us goes.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok();
    ExitCode::SUCCESS
}

async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    println!("http://{address}");
    std::io::stdout().flush().expect("somebody listens");
    let answers = Arc::new(Answers {
        calls: Stream::of_at_least(Wire::Chat, 0).bytes,
        page: Stream::of_at_least(Wire::Chat, PAGE_BYTES).bytes,
        gates: Mutex::default(),
    });
    while let Ok((stream, _)) = listener.accept().await {
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            // A client that goes away is none of our business.
            converse(stream, &answers).await.ok();
        });
    }
}

struct Answers {
    calls: Vec<u8>,
    page: Vec<u8>,
    /// One barrier for each number of clients.
    gates: Mutex<HashMap<usize, Arc<Barrier>>>,
}

impl Answers {
    fn gate(&self, count: usize) -> Arc<Barrier> {
        let mut gates = self.gates.lock().expect("nobody panics while holding it");
        let gate = gates.entry(count);
        Arc::clone(gate.or_insert_with(|| Arc::new(Barrier::new(count))))
    }
}

/// Answers one question after the other.
async fn converse(mut stream: TcpStream, answers: &Answers) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(path) = question(&mut stream).await? {
        let gate = path.strip_prefix("/gate/").and_then(|n| n.parse().ok());
        let Some(count) = gate else {
            let answer = match path.as_str() {
                "/text" => TEXT,
                _ => &answers.calls,
            };
            stream.write_all(&[&head(answer), answer].concat()).await?;
            continue;
        };
        let answer = &answers.page;
        let (before, after) = answer.split_at(answer.len() / 2);
        stream.write_all(&[&head(answer), before].concat()).await?;
        answers.gate(count).wait().await;
        stream.write_all(after).await?;
    }
    Ok(())
}

fn head(answer: &[u8]) -> Vec<u8> {
    let length = answer.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Reads a request and returns its path.
async fn question(stream: &mut TcpStream) -> std::io::Result<Option<String>> {
    let mut reader = tokio::io::BufReader::new(stream);
    let (mut path, mut body_bytes) = (None, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if path.is_none() {
            path = line.split(' ').nth(1).map(str::to_owned);
        }
        if let Some(length) = line.strip_prefix("content-length:") {
            body_bytes = length.trim().parse().unwrap_or(0);
        }
    }
    // Clients send their next question when they have our answer, so nothing of it is in the
    // buffer that is dropped here.
    reader.read_exact(&mut vec![0; body_bytes]).await?;
    Ok(path)
}
