//! Callers of listeners: without a credential, with another's, or far too many.
//!
//! Each test drives a listener of the real program as somebody does who can reach it: with bytes
//! on a socket.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::program;

const PROGRAM: &str = "pipeline answer(prompt, session_id) {\n  \
    agent_loop(prompt, \"You talk.\", {session_id: session_id})\n}\n";
const SCENARIO: &str = "[[turn]]\ntext = \"Here I am.\"\nrepeat = true\n";

/// Longer than anything takes that is answered at all.
const HANGS: Duration = Duration::from_secs(60);

/// An agent that listens on this machine.
struct Listener {
    child: Child,
    address: String,
    token: Option<String>,
    folder: TempDir,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

impl Listener {
    /// Starts it with these keys, as `HARN_API_KEYS` has them, or with none.
    fn start(keys: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::write(folder.path().join("agent.harn"), PROGRAM).expect("it can be written");
        fs::write(folder.path().join("s.toml"), SCENARIO).expect("it can be written");
        let mut command = program();
        command.args(["serve", "acp", "agent.harn", "--scenario", "s.toml"]);
        command.args(["--listen", "127.0.0.1:0"]);
        command.envs(keys.map(|keys| ("HARN_API_KEYS", keys)));
        command.env("HARN_LLM_PROVIDER", "openai");
        command.env("HARN_LLM_MODEL", "gpt-4o");
        command.current_dir(folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let output = child.stdout.take().expect("it is piped");
        let mut line = String::new();
        let said = BufReader::new(output).read_line(&mut line);
        said.expect("it says where it listens");
        let url = line.trim().strip_prefix("listening on http://");
        let url = url.expect("it listens");
        let (url, token) = match url.split_once("?token=") {
            Some((url, token)) => (url, Some(token.to_owned())),
            None => (url, None),
        };
        let address = url.strip_suffix("/acp").expect("that is the path");
        Self {
            address: address.to_owned(),
            token,
            child,
            folder,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        let limited = stream.set_read_timeout(Some(HANGS));
        limited.expect("a limit can be set");
        stream
    }

    /// Sends `initialize` with these headers and reads the answer.
    fn initialize(&self, headers: &str) -> Answer {
        let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
        self.post(headers, &request("initialize", &params))
    }

    fn post(&self, headers: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let head = head(headers, body.len());
        let mut stream = self.connect();
        stream
            .write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes())
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        Answer::read(&answer)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // A test that fails must not leave it behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("it is HTTP");
        Self {
            status: head[9..12].parse().expect("it has a status"),
            head: head.to_owned(),
            body: serde_json::from_str(body).unwrap_or_default(),
        }
    }
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// The head of a request, without the empty line at its end.
fn head(headers: &str, length: usize) -> String {
    format!(
        "POST /acp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}"
    )
}

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}\r\n")
}

fn mode(path: &Path) -> u32 {
    let metadata = fs::metadata(path).expect("it is there");
    metadata.permissions().mode() & 0o777
}

/// Every local user reaches a loopback address. Only who can read the token file of the operator,
/// or was shown the address, gets further.
#[test]
fn asi07_loopback_needs_token() {
    let listener = Listener::start(None);
    let token = listener.token.clone().expect("a token was made");
    assert_eq!(token.len(), 64, "256 bits");
    assert_eq!(listener.initialize("").status, 401);
    let wrong = "0".repeat(64);
    assert_eq!(listener.initialize(&bearer(&wrong)).status, 401);
    let answer = listener.initialize(&bearer(&token));
    assert_eq!(answer.body["result"]["protocolVersion"], 1, "{answer:?}");

    let folder = listener.path(".harn/listeners");
    let file = folder.join(format!("{}.token", listener.address));
    let kept = fs::read_to_string(&file).expect("it is kept");
    assert_eq!(kept.trim(), token);
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
}

/// Ten wrong keys of one minute slow down those who send them. The honest client comes from the
/// same address.
#[test]
fn wrong_keys_keep_no_honest_client_out() {
    let listener = Listener::start(Some("ci=0123456789abcdef"));
    let wrong = bearer("fedcba9876543210");
    for _ in 0..10 {
        assert_eq!(listener.initialize(&wrong).status, 401);
    }
    let slowed = listener.initialize(&wrong);
    assert_eq!(slowed.status, 429);
    assert!(slowed.head.contains("retry-after: "), "{slowed:?}");
    let honest = listener.initialize(&bearer("0123456789abcdef"));
    assert_eq!(honest.status, 200);
}

#[test]
fn idle_sockets_keep_no_honest_client_out() {
    let listener = Listener::start(Some("ci=0123456789abcdef"));
    let _idle: Vec<TcpStream> = (0..256).map(|_| listener.connect()).collect();
    let honest = listener.initialize(&bearer("0123456789abcdef"));
    assert_eq!(honest.status, 200);
}

/// A caller may hold its own connections with bodies that do not come, and nobody else's.
#[test]
fn slow_bodies_of_one_caller_keep_no_other_out() {
    let listener = Listener::start(Some("slow=fedcba9876543210,ci=0123456789abcdef"));
    let slow = bearer("fedcba9876543210");
    let _held: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = listener.connect();
            let sent = format!("{}\r\n{{", head(&slow, 1000));
            // Beyond its bound it may be refused before it has said all.
            let _ = stream.write_all(sent.as_bytes());
            stream
        })
        .collect();
    let honest = listener.initialize(&bearer("0123456789abcdef"));
    assert_eq!(honest.status, 200);
}
