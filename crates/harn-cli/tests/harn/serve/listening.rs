//! `harn serve acp --listen`, as an operator starts it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{RUNS, command, folder};

const PROGRAM: &str = "pipeline answer(prompt, session_id) {\n  \
    agent_loop(prompt, \"You talk.\", {session_id: session_id})\n}\n";
const KEY: &str = "0123456789abcdef";

/// An agent that listens.
struct Listening {
    child: Child,
    /// Where it listens, without a token.
    url: String,
    /// The token that stood in the address.
    token: Option<String>,
    _folder: TempDir,
}

fn listen(options: &[&str], environment: &[(&str, &str)]) -> Listening {
    let folder = folder(PROGRAM, RUNS);
    let mut command = command(folder.path(), &["agent.harn", "--listen", "127.0.0.1:0"]);
    command.args(options).envs(environment.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let output = child.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .expect("it says where");
    let shown = line.trim().strip_prefix("listening on ");
    let shown = shown.expect("it listens");
    let (url, token) = match shown.split_once("?token=") {
        Some((url, token)) => (url, Some(token.to_owned())),
        None => (shown, None),
    };
    Listening {
        url: url.to_owned(),
        token,
        child,
        _folder: folder,
    }
}

impl Listening {
    /// Sends `initialize` with the token, and gives the status and the body of the answer.
    fn initialize_with_token(&self, headers: &str) -> (u16, Value) {
        let token = self.token.as_deref().expect("a token was made");
        self.initialize(&format!("authorization: Bearer {token}\r\n{headers}"))
    }

    /// Sends `initialize`, and gives the status and the body of the answer.
    fn initialize(&self, headers: &str) -> (u16, Value) {
        let address = self.url.strip_prefix("http://").expect("it is plain");
        let address = address.strip_suffix("/acp").expect("that is the path");
        let body = json!({
            "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": 1},
        });
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST /acp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is HTTP");
        let status = head[9..12].parse().expect("it has a status");
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Asks it to stop; gives its status and what was said to the operator.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::TERM).expect("it runs");
        let mut told = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut told).expect("we print UTF-8");
        (self.child.wait().expect("it ends").code(), told)
    }
}

#[test]
fn it_says_where_it_listens_answers_and_ends_in_good_order() {
    let agent = listen(&[], &[]);
    let (status, answer) = agent.initialize_with_token("");
    assert_eq!(status, 200);
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["result"]["protocolVersion"], 1);
    let (status, _) = agent.initialize("origin: https://evil.example\r\n");
    assert_eq!(status, 403);
    let (status, told) = agent.stop();
    assert_eq!(status, Some(0));
    assert!(told.contains("origins_refused: 1"), "{told}");
}

#[test]
fn everybody_is_let_in_only_where_no_process_is_started_and_is_told() {
    let agent = listen(&["--insecure-no-auth", "--deny", "exec"], &[]);
    assert_eq!(agent.token, None);
    assert_eq!(agent.initialize("").0, 200);
    let (_, told) = agent.stop();
    assert!(
        told.contains("warning: everybody who can reach this address"),
        "{told}"
    );
    assert!(told.contains("let in without a credential"), "{told}");
}

#[test]
fn keys_come_from_the_environment() {
    let agent = listen(&[], &[("HARN_API_KEYS", "ci=0123456789abcdef")]);
    assert_eq!(agent.initialize("").0, 401);
    assert_eq!(agent.initialize("authorization: Bearer wrong\r\n").0, 401);
    let shown = format!("authorization: Bearer {KEY}\r\n");
    assert_eq!(agent.initialize(&shown).0, 200);
    let (_, told) = agent.stop();
    assert!(!told.contains(KEY) && !told.contains("wrong"), "{told}");
}

#[test]
fn limits_can_be_set() {
    let agent = listen(&["--limit", "frame_in_bytes=10"], &[]);
    let (status, refusal) = agent.initialize_with_token("");
    assert_eq!((status, &refusal["error"]["code"]), (413, &json!(-32600)));
}

#[test]
fn limits_hold_on_standard_input_too() {
    let folder = folder(PROGRAM, RUNS);
    let mut command = command(folder.path(), &["agent.harn"]);
    command.args(["--limit", "frame_in_bytes=20", "--limit", "sessions=1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let frame = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    writeln!(input, "{frame}").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let refusal: Value = serde_json::from_slice(&output.stdout).expect("it answers");
    assert_eq!(refusal["error"]["data"]["limitBytes"], 20);
    let told = String::from_utf8(output.stderr).expect("we print UTF-8");
    assert!(told.contains("too_large: 1"), "{told}");
}

impl Drop for Listening {
    fn drop(&mut self) {
        // A test that fails must not leave it behind.
        let _ = self.child.kill();
    }
}

/// Why it does not start.
#[track_caller]
fn refused(options: &[&str], environment: &[(&str, &str)]) -> String {
    let folder = folder(PROGRAM, RUNS);
    let mut command = command(folder.path(), &["agent.harn"]);
    command.args(options).envs(environment.iter().copied());
    let output = command.output().expect("it starts");
    assert_ne!(output.status.code(), Some(0));
    String::from_utf8(output.stderr).expect("we print UTF-8")
}

#[test]
fn what_would_let_strangers_in_does_not_start() {
    let told = refused(&["--listen", "0.0.0.0:0"], &[]);
    assert!(told.contains("no authentication is configured"), "{told}");
    let told = refused(&["--listen", "127.0.0.1:0", "--tls", "edge"], &[]);
    assert!(told.contains("a proxy lets other machines in"), "{told}");
    let told = refused(&["--listen", "127.0.0.1:0", "--insecure-no-auth"], &[]);
    assert!(told.contains("run commands as you"), "{told}");
    let told = refused(&["--listen", "127.0.0.1:0", "--allow-origin", "*"], &[]);
    assert!(told.contains("one by one"), "{told}");
}

#[test]
fn settings_that_make_no_sense_are_named_and_keys_are_not_repeated() {
    let local = ["--listen", "127.0.0.1:0"];
    let with = |more: &[&'static str]| [&local[..], more].concat();
    for (options, says) in [
        (with(&["--tls", "pem"]), "needs --tls-cert and --tls-key"),
        (with(&["--tls-cert", "a.pem"]), "need --tls pem"),
        (with(&["--limit", "none=1"]), "there is no limit `none`"),
        (with(&["--limit", "depth"]), "wants NAME=NUMBER"),
        (with(&["--public-url", "agents"]), "is no public URL"),
        (vec!["--tls", "edge"], "--listen"),
        (
            vec!["--limit", "connections=1"],
            "the limit `connections` needs --listen",
        ),
        (
            vec!["--limit", "acp_streams=1"],
            "the limit `acp_streams` needs --listen",
        ),
    ] {
        let told = refused(&options, &[]);
        assert!(told.contains(says), "{options:?}: {told}");
    }
    let told = refused(&local, &[("HARN_API_KEYS", "a-key-without-a-name")]);
    assert!(
        told.contains("NAME=KEY") && !told.contains("a-key"),
        "{told}"
    );
    let told = refused(&local, &[("HARN_API_KEYS", "ci=short-one")]);
    assert!(
        told.contains("9 bytes") && !told.contains("short-one"),
        "{told}"
    );
    let told = refused(&local, &[("HARN_ACP_RETAIN_SECS", "soon")]);
    assert!(told.contains("number of seconds"), "{told}");
}

#[test]
fn a_certificate_for_trying_things_out_is_shown_to_the_operator() {
    let agent = listen(&["--tls", "self-signed-dev"], &[]);
    assert!(agent.url.starts_with("https://127.0.0.1:"), "{}", agent.url);
    let (status, told) = agent.stop();
    assert_eq!(status, Some(0));
    assert!(told.contains("fingerprint"), "{told}");
}
