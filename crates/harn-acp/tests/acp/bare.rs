//! The host bridge alone.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use harn_acp::{Bridge, BridgeOptions};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::agent::log::{AnyEventLog, MemoryEventLog};
use harn_vm::machine::Stream;
use harn_vm::{Program, RunOptions, Sink};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<String>>);

impl Sink for Kept {
    fn write(&mut self, _: Stream, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }

    fn flush(&mut self) {}
}

/// A host, as the other end of a pipe sees it.
struct Host {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writing: WriteHalf<DuplexStream>,
}

impl Host {
    /// A program with a host; gives what the program writes when it has ended.
    fn of(text: &'static str) -> (Self, JoinHandle<Option<String>>) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let options = BridgeOptions {
            log: Arc::new(AnyEventLog::Memory(MemoryEventLog::new(64))),
            roots: Vec::new(),
            now: Arc::new(|| 0),
        };
        let bridge = Bridge::start(input, output, options).unwrap();
        let program = thread::spawn(move || {
            if !bridge.wait() {
                return None;
            }
            let mut options = RunOptions {
                timeout: Some(Duration::from_secs(60)),
                is_detached: true,
                ..RunOptions::default()
            };
            options.world.agents.bridge = Some(bridge.host());
            let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
            workspace.set_text("/main.harn", text);
            let kept = Kept::default();
            let ended = Program::new(&mut workspace, Path::new("/main.harn"))
                .run(&options, Box::new(kept.clone()));
            assert!(ended.is_ok());
            let written = kept.0.lock().unwrap().clone();
            Some(written)
        });
        let (reading, writing) = tokio::io::split(ours);
        let lines = BufReader::new(reading).lines();
        (Self { lines, writing }, program)
    }

    async fn send(&mut self, message: Value) {
        self.send_line(&message.to_string()).await;
    }

    async fn send_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writing.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap();
        serde_json::from_str(&line.expect("there is another line")).unwrap()
    }
}

const ADDS: &str = "println(host_call(\"math.add\", {a: 1, b: 2}))\n";

#[tokio::test]
async fn a_program_uses_what_its_host_lends() {
    let (mut host, program) = Host::of(ADDS);
    // Nothing is answered and nothing begins before the host has said what it can do.
    host.send(json!({"jsonrpc": "2.0", "id": 1, "method": "_harn/agent/resume"}))
        .await;
    assert_eq!(host.read().await["error"]["code"], -32600);
    let facts = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let initialize = json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": facts});
    host.send(initialize).await;
    let answer = host.read().await;
    assert_eq!(
        answer["result"]["agentCapabilities"]["_meta"]["harn"]["bridge"],
        1
    );
    for (method, result) in [
        ("_harn/host/capabilities", json!({"math": ["add"]})),
        ("_harn/host/call", json!(3)),
    ] {
        let asked = host.read().await;
        assert_eq!(asked["method"], method);
        host.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            .await;
    }
    let written = tokio::task::spawn_blocking(move || program.join().unwrap()).await;
    assert_eq!(written.unwrap().as_deref(), Some("3\n"));
    assert_eq!(host.lines.next_line().await.unwrap(), None);
}

#[tokio::test]
async fn a_host_that_goes_at_once_has_no_program_run() {
    let (host, program) = Host::of(ADDS);
    drop(host);
    let written = tokio::task::spawn_blocking(move || program.join().unwrap()).await;
    assert_eq!(written.unwrap(), None);
}

#[tokio::test]
async fn each_situation_has_its_code() {
    let (mut host, program) = Host::of("println(1)\nhost_call(\"math.add\", {})\n");
    let initialize = json!({"protocolVersion": 1, "clientCapabilities": {}});
    host.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}))
        .await;
    assert_eq!(host.read().await["id"], 1);
    // The program waits for the host as long as this takes.
    let asked = host.read().await;
    assert_eq!(asked["method"], "_harn/host/capabilities");
    let request = |method: &str, parameters: Value| {
        json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": parameters}).to_string()
    };
    let rows = [
        ("{nonsense".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (request("session/new", json!({})), -32601),
        (request("_harn/other", json!({})), -32601),
        (
            request("_harn/session/input", json!({"content": ""})),
            -32602,
        ),
        (
            request(
                "_harn/hitl/respond",
                json!({"requestId": "none", "approved": true}),
            ),
            -32002,
        ),
    ];
    for (line, code) in rows {
        host.send_line(&line).await;
        let answer = host.read().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    // What is told is never answered, known or not.
    for method in ["_other/thing", "_harn/session/input"] {
        host.send(json!({"jsonrpc": "2.0", "method": method, "params": {}}))
            .await;
    }
    host.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"math": ["add"]}}))
        .await;
    let asked = host.read().await;
    assert_eq!(asked["method"], "_harn/host/call");
    host.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": 3}))
        .await;
    let written = tokio::task::spawn_blocking(move || program.join().unwrap()).await;
    assert_eq!(written.unwrap().as_deref(), Some("1\n"));
}
