//! The client against servers that other people wrote, unmodified and pinned.
//!
//! `cargo xtask test` installs them, and `cargo xtask peers` does nothing else. They run on this
//! machine and talk with nobody.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../client/stage.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod stage;

use std::path::{Path, PathBuf};

use harn_agent::tool_servers::{Generation, Listed};
use serde_json::{Value, json};

use stage::{Seen, Stage, call};

/// Something that `cargo xtask peers` installs.
fn installed(path: &str) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let file: PathBuf = target
        .expect("the folder for tests is inside the target folder")
        .join("peers")
        .join(path);
    assert!(
        file.exists(),
        "{} is missing; `cargo xtask peers` installs it",
        file.display()
    );
    file.to_string_lossy().into_owned()
}

fn names(entries: &[Value]) -> Vec<&str> {
    let names = entries.iter().map(|entry| entry["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn everything_works_over_the_handshake() {
    let program = installed("tool-servers/node_modules/.bin/mcp-server-everything");
    let config = json!({"name": "everything", "command": program, "args": ["stdio"]});
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let stage = Stage::of(config, Seen::person(answer));
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Handshake);
    assert_eq!(facts.protocol_version, "2025-11-25");
    let tools = stage.server.list(Listed::Tools).await.unwrap();
    for name in ["echo", "get-sum", "get-structured-content"] {
        assert!(
            names(&tools).contains(&name),
            "{name} of {:?}",
            names(&tools)
        );
    }
    let echo = stage.call("echo", json!({"message": "hello"})).await;
    assert_eq!(echo, Ok("Echo: hello".to_owned()));
    let weather = call("get-structured-content", json!({"location": "Chicago"}));
    let weather = stage.server.call(weather).await.unwrap();
    assert!(weather.structured.unwrap()["temperature"].is_number());
    let wrong = stage
        .call("get-sum", json!({"a": "one", "b": 2}))
        .await
        .unwrap_err();
    assert!(
        wrong.starts_with("the arguments of 'get-sum' do not fit"),
        "{wrong}"
    );
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
    let prompts = stage.server.list(Listed::Prompts).await.unwrap();
    assert!(!prompts.is_empty());
    stage.server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn files_are_read_and_written_where_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let program = installed("tool-servers/node_modules/.bin/mcp-server-filesystem");
    let config = json!({"name": "files", "command": program, "args": [root]});
    let stage = Stage::of(config, Seen::default());
    let file = root.join("a.txt");
    let written = json!({"path": file, "content": "from a server"});
    stage.call("write_file", written).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "from a server");
    let read = stage
        .call("read_text_file", json!({"path": file}))
        .await
        .unwrap();
    assert_eq!(read, "from a server");
    let outside = stage
        .call("read_text_file", json!({"path": "/etc/hostname"}))
        .await;
    assert!(outside.unwrap_err().contains("Access denied"));
    stage.server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_in_python_speaks_the_modern_way() {
    let program = installed("python-tool-servers/bin/mcp-server-time");
    // The first start after it was installed can take long.
    let config = json!({
        "name": "time", "command": program, "args": ["--local-timezone", "UTC"],
        "connect_timeout_ms": 60_000,
    });
    let stage = Stage::of(config, Seen::default());
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Modern);
    let tools = stage.server.list(Listed::Tools).await.unwrap();
    assert_eq!(names(&tools), ["get_current_time", "convert_time"]);
    let asked = json!({
        "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo",
    });
    let converted = stage.call("convert_time", asked).await.unwrap();
    assert!(converted.contains("21:00"), "{converted}");
    let wrong = stage
        .call("get_current_time", json!({"timezone": "Mars/Base"}))
        .await;
    assert!(wrong.unwrap_err().contains("Mars/Base"));
    stage.server.close().await;
}
