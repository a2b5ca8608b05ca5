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
use std::time::{Duration, Instant};

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

    fn project(&self) -> PathBuf {
        let project = self.folder.path().canonicalize();
        project.expect("the folder was made")
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

/// A caller with a key, on a connection of its own.
struct Caller<'a> {
    listener: &'a Listener,
    /// Its key and its connection.
    headers: String,
    stream: BufReader<TcpStream>,
    last_id: u64,
}

impl<'a> Caller<'a> {
    fn connect(listener: &'a Listener, key: &str) -> Self {
        let answer = listener.initialize(&bearer(key));
        let mut lines = answer.head.lines();
        let id = lines.find_map(|line| line.strip_prefix("acp-connection-id: "));
        let id = id.unwrap_or_else(|| panic!("it is let in: {answer:?}"));
        let headers = format!("{}acp-connection-id: {id}\r\n", bearer(key));
        let mut stream = listener.connect();
        let asked = format!(
            "GET /acp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n{headers}\r\n"
        );
        stream.write_all(asked.as_bytes()).expect("it reads");
        // An answer that goes elsewhere fails the test instead of holding it up.
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).expect("it is open");
        Self {
            listener,
            headers,
            stream: BufReader::new(stream),
            last_id: 1,
        }
    }

    /// Calls a method; gives the result, or the error.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.last_id += 1;
        let mut message = request(method, params);
        message["id"] = json!(self.last_id);
        let taken = self.listener.post(&self.headers, &message);
        assert_eq!(taken.status, 202, "{taken:?}");
        let mut line = String::new();
        let began = Instant::now();
        loop {
            line.clear();
            let count = self.stream.read_line(&mut line);
            let count = count.unwrap_or_else(|why| panic!("no answer to {method}: {why}"));
            assert_ne!(count, 0, "the stream goes on");
            let frame = line.strip_prefix("data: ").unwrap_or("null");
            let frame: Value = serde_json::from_str(frame).unwrap_or_default();
            assert!(began.elapsed() < HANGS, "no answer to {method}");
            if frame["id"] == message["id"] {
                return match frame.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(frame["result"].clone()),
                };
            }
        }
    }

    /// Begins a session in the project; gives its id.
    fn begin(&mut self) -> String {
        let params = json!({"cwd": self.listener.project(), "mcpServers": []});
        let begun = self.call("session/new", &params).expect("it may");
        begun["sessionId"]
            .as_str()
            .expect("it has an id")
            .to_owned()
    }
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

const KEYS: &str = "ada=0123456789abcdef,bob=fedcba9876543210";
const ADA: &str = "0123456789abcdef";
const BOB: &str = "fedcba9876543210";

/// Whose session it is not is told that there is none, with the words for one that never was.
#[test]
fn asi03_caller_isolation() {
    let listener = Listener::start(Some(KEYS));
    let (mut ada, mut bob) = (
        Caller::connect(&listener, ADA),
        Caller::connect(&listener, BOB),
    );
    let id = ada.begin();
    let own = bob.begin();
    let listed = |caller: &mut Caller<'_>| {
        let listed = caller.call("session/list", &json!({})).expect("it may");
        let sessions = listed["sessions"].as_array().expect("it is a list").clone();
        let ids = sessions.iter().map(|one| one["sessionId"].clone());
        ids.collect::<Vec<Value>>()
    };
    assert_eq!(listed(&mut ada), [json!(id)]);
    assert_eq!(listed(&mut bob), [json!(own)]);

    let cwd = listener.project();
    for (method, more) in [
        ("session/load", json!({"cwd": cwd, "mcpServers": []})),
        ("session/resume", json!({"cwd": cwd, "mcpServers": []})),
        ("session/fork", json!({"cwd": cwd, "mcpServers": []})),
        ("session/close", json!({})),
        (
            "session/set_config_option",
            json!({"configId": "model", "value": "m"}),
        ),
        ("_harn/session/input", json!({"content": "Stop."})),
        (
            "_harn/hitl/respond",
            json!({"requestId": "q", "answer": "yes"}),
        ),
    ] {
        let mut refused = |id: &str| {
            let mut params = more.clone();
            params["sessionId"] = json!(id);
            let refused = bob.call(method, &params).expect_err(method);
            refused.to_string().replace(id, "ID")
        };
        assert_eq!(refused(&id), refused("acp_none"), "{method}");
    }
    // One that is not there is gone, and this one is not there for Bob.
    let gone = bob.call("session/delete", &json!({"sessionId": id}));
    assert_eq!(gone, Ok(json!({})));
    assert_eq!(listed(&mut ada), [json!(id)]);
}

/// A caller names folders and programs of the machine in `session/new`, and gets none of them.
#[test]
fn a_caller_works_in_the_project_and_starts_nothing() {
    let listener = Listener::start(Some(KEYS));
    let mut ada = Caller::connect(&listener, ADA);
    let elsewhere = tempfile::tempdir().expect("a scratch folder");
    let project = listener.project();
    let marker = elsewhere.path().join("marker");
    let mut refused = |params: Value| {
        let refused = ada.call("session/new", &params).expect_err("it may not");
        refused["data"]["reason"].clone()
    };
    let outside = json!({"cwd": elsewhere.path(), "mcpServers": []});
    assert_eq!(refused(outside), "outside_roots");
    let none = json!({"cwd": elsewhere.path().join("none"), "mcpServers": []});
    assert_eq!(refused(none), "outside_roots", "also where nothing is");
    let more = json!({
        "cwd": project, "additionalDirectories": [elsewhere.path()], "mcpServers": [],
    });
    assert_eq!(refused(more), "outside_roots");
    let process = json!({
        "cwd": project,
        "mcpServers": [{"name": "m", "command": "/usr/bin/touch", "args": [marker], "env": []}],
    });
    assert_eq!(refused(process), "not_allowed");
    assert!(!marker.exists());
    ada.begin();
}
