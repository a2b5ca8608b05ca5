//! The client against services that other people wrote, unmodified and pinned, over HTTP.
//!
//! `cargo xtask test` installs them, and `cargo xtask peers` does nothing else. They run on this
//! machine and talk with nobody.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../client/stage.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod stage;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use harn_agent::tool_servers::{Generation, Listed};
use serde_json::{Value, json};

use stage::{Seen, Stage};

/// A service that ends with the test.
struct Service {
    process: Child,
    port: u16,
}

impl Service {
    /// Starts a service and waits until it says that it listens.
    fn start(make: impl FnOnce(u16) -> Command, listening: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut process = make(port)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let said = lines.by_ref().map_while(Result::ok);
        let said: Vec<String> = said.take_while(|line| !line.contains(listening)).collect();
        // Whoever is not read any more could stop at a full pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        if let Some(status) = process.try_wait().unwrap() {
            panic!("it ended with {status}: {said:?}");
        }
        Self { process, port }
    }

    fn stage(&self, protocol: &str) -> Stage {
        let url = format!("http://127.0.0.1:{}/mcp", self.port);
        let config = json!({"name": "service", "url": url, "protocol": protocol});
        Stage::of(config, Seen::default())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _likewise = self.process.wait();
    }
}

/// Something that `cargo xtask peers` installs.
fn installed(path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("the folder for tests is inside the target folder");
    let file = target.join("peers").join(path);
    assert!(
        file.exists(),
        "{} is missing; `cargo xtask peers` installs it",
        file.display()
    );
    file
}

fn names(entries: &[Value]) -> Vec<&str> {
    let names = entries.iter().map(|entry| entry["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test]
async fn everything_works_over_http() {
    let program = installed("tool-servers/node_modules/.bin/mcp-server-everything");
    let make = |port: u16| {
        let mut command = Command::new(program);
        command.arg("streamableHttp").env("PORT", port.to_string());
        command
    };
    let service = Service::start(make, "listening");
    let stage = service.stage("auto");
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Handshake);
    let tools = stage.server.list(Listed::Tools).await.unwrap();
    assert!(names(&tools).contains(&"echo"));
    let echo = stage.call("echo", json!({"message": "hello"})).await;
    assert_eq!(echo, Ok("Echo: hello".to_owned()));
    let long = json!({"duration": 0.2, "steps": 2});
    stage
        .call("trigger-long-running-operation", long)
        .await
        .unwrap();
    stage.seen.heard("notifications/progress").await;
    let resources = stage.server.list(Listed::Resources).await.unwrap();
    let uri = resources[0]["uri"].as_str().unwrap();
    let read = stage.server.read_resource(uri, None).await.unwrap();
    assert_eq!(read[0]["uri"], uri);
    stage.server.close().await;
}

#[tokio::test]
async fn a_service_in_python_speaks_both_generations() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/over_http.py");
    let python = installed("python-tool-servers/bin/python");
    let make = |port: u16| {
        let mut command = Command::new(python);
        command.arg(script).arg(port.to_string());
        command
    };
    let service = Service::start(make, "Uvicorn running");
    for (protocol, generation) in [
        ("auto", Generation::Modern),
        ("2025-11-25", Generation::Handshake),
    ] {
        let stage = service.stage(protocol);
        let facts = stage.server.connect().await.unwrap();
        assert_eq!(facts.generation, generation);
        let sum = stage.call("add", json!({"a": 2, "b": 3})).await;
        assert_eq!(sum, Ok("5".to_owned()));
        let read = stage.server.read_resource("res://x", None).await.unwrap();
        assert_eq!(read[0]["text"], "X");
        let arguments = json!({"code": "1"}).as_object().unwrap().clone();
        let prompt = stage
            .server
            .get_prompt("review", arguments, None)
            .await
            .unwrap();
        assert_eq!(prompt["messages"][0]["content"]["text"], "review 1");
        stage.server.close().await;
    }
}
