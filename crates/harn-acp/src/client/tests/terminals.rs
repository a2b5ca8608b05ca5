//! Terminals, and every way out of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use harn_vm::agent::HostBridge;
use harn_vm::agent::coding::{TerminalCommand, TerminalEnd, Terminals};
use serde_json::{Value, json};

use super::{FakePeer, Reply, facts, host_with, settle};

/// What goes wrong at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Error,
    Gone,
    Never,
}

const STEPS: [&str; 5] = [
    "terminal/create",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/output",
    "terminal/release",
];

/// A client whose terminals work, but for one step.
fn client(step: &'static str, fault: Fault, is_slow: bool) -> Arc<FakePeer> {
    FakePeer::new(json!({"terminal": true}), move |method, _| {
        if method == step {
            match fault {
                Fault::None => {}
                Fault::Error => return Reply::Err(-32603),
                Fault::Gone => return Reply::Gone,
                Fault::Never => return Reply::Never,
            }
        }
        match method {
            "terminal/create" => Reply::Ok(json!({"terminalId": "t1"})),
            "terminal/wait_for_exit" if is_slow => Reply::Never,
            "terminal/wait_for_exit" => Reply::Ok(json!({"exitCode": 3, "signal": null})),
            "terminal/output" => Reply::Ok(json!({"output": "out\n", "truncated": false})),
            _ => Reply::Ok(json!({})),
        }
    })
}

struct Scene {
    peer: Arc<FakePeer>,
    terminals: Arc<dyn Terminals>,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn new(peer: Arc<FakePeer>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let host = host_with(&peer, facts(vec![root.clone()])).await;
        host.said(&json!({"sessionUpdate": "tool_call", "toolCallId": "c1"}));
        Self {
            terminals: host.terminals().expect("an editor has terminals"),
            peer,
            root,
            _folder: folder,
        }
    }

    async fn run(&self) -> Option<Result<TerminalEnd, String>> {
        run_in(&*self.terminals, self.root.clone()).await
    }

    fn count(&self, method: &str) -> usize {
        self.peer
            .methods()
            .iter()
            .filter(|one| *one == method)
            .count()
    }
}

async fn run_in(terminals: &dyn Terminals, folder: PathBuf) -> Option<Result<TerminalEnd, String>> {
    let environment = [("CI".to_owned(), "1".to_owned())];
    terminals
        .run(TerminalCommand {
            call_id: "c1",
            session_id: "s",
            program: "/bin/sh",
            arguments: &["-c", "make"],
            environment: &environment,
            folder: &folder,
            timeout: Duration::from_secs(10),
            output_bytes_max: 1000,
        })
        .await
}

#[tokio::test(start_paused = true)]
async fn a_command_is_shown_in_its_call_before_its_terminal_is_released() {
    let scene = Scene::new(client("", Fault::None, false)).await;
    let end = scene.run().await;
    let expected = TerminalEnd {
        terminal_id: "t1".to_owned(),
        exit_code: 3,
        timed_out: false,
        output: "out\n".to_owned(),
        is_cut: false,
    };
    assert_eq!(end, Some(Ok(expected)));
    let steps = [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ];
    assert_eq!(scene.peer.methods(), steps);
    assert_eq!(
        scene.peer.last(),
        json!({"sessionId": "s", "terminalId": "t1"})
    );
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c1",
        "content": [{"type": "terminal", "terminalId": "t1"}],
    });
    let told = (
        "session/update".to_owned(),
        json!({"sessionId": "s", "update": update}),
    );
    assert_eq!(scene.peer.told(), [told]);
}

#[tokio::test(start_paused = true)]
async fn a_command_gets_its_folder_and_its_environment() {
    let seen: Arc<std::sync::Mutex<Value>> = Arc::default();
    let peer = FakePeer::new(json!({"terminal": true}), {
        let seen = Arc::clone(&seen);
        move |method, parameters| {
            if method == "terminal/create" {
                *super::lock(&seen) = parameters.clone();
            }
            Reply::Err(-32603)
        }
    });
    let scene = Scene::new(peer).await;
    assert!(scene.run().await.is_some_and(|end| end.is_err()));
    let expected = json!({
        "sessionId": "s", "command": "/bin/sh", "args": ["-c", "make"],
        "env": [{"name": "CI", "value": "1"}], "cwd": scene.root, "outputByteLimit": 1000,
    });
    assert_eq!(*super::lock(&seen), expected);
    let outside = run_in(&*scene.terminals, PathBuf::from("/")).await;
    assert!(outside.is_some_and(|end| end.is_err()));
    assert_eq!(scene.count("terminal/create"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_without_terminals_is_asked_for_none() {
    let scene = Scene::new(FakePeer::new(json!({}), |_, _| Reply::Never)).await;
    assert_eq!(scene.run().await, None);
    assert_eq!(scene.peer.methods(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_killed() {
    let scene = Scene::new(client("", Fault::None, true)).await;
    let end = scene.run().await.unwrap().unwrap();
    assert!(end.timed_out && end.exit_code == 124);
    assert_eq!(
        (
            scene.count("terminal/kill"),
            scene.count("terminal/release")
        ),
        (1, 1)
    );
}

/// Every step fails in every way, with a command that ends and one that does not.
#[tokio::test(start_paused = true)]
async fn a_terminal_is_released_once_whatever_goes_wrong() {
    for step in STEPS {
        for fault in [Fault::None, Fault::Error, Fault::Gone, Fault::Never] {
            for is_slow in [false, true] {
                let scene = Scene::new(client(step, fault, is_slow)).await;
                let ended = scene.run().await;
                assert!(ended.is_some());
                settle().await;
                let is_made = step != "terminal/create" || fault == Fault::None;
                let released = scene.count("terminal/release");
                let case = format!("{step} {fault:?} {is_slow} {:?}", scene.peer.methods());
                assert_eq!(released, usize::from(is_made), "{case}");
            }
        }
    }
}

/// Whoever waits gives up after every number of steps that the run can take.
#[tokio::test(start_paused = true)]
async fn a_terminal_is_released_once_wherever_a_turn_is_cancelled() {
    let mut has_ended = false;
    let mut polls = 0;
    while !has_ended {
        let scene = Scene::new(client("", Fault::None, false)).await;
        let mut run = Box::pin(scene.run());
        for _ in 0..polls {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            has_ended = has_ended || run.as_mut().poll(&mut context).is_ready();
            if has_ended {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(run);
        settle().await;
        let made = scene.count("terminal/create");
        assert_eq!(scene.count("terminal/release"), made, "after {polls} polls");
        assert!(scene.count("terminal/kill") <= made, "after {polls} polls");
        polls += 1;
        assert!(polls < 200, "the run does not end");
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_of_a_cancelled_turn_is_killed_first() {
    let scene = Scene::new(client("", Fault::None, true)).await;
    let running = tokio::spawn({
        let (terminals, root) = (Arc::clone(&scene.terminals), scene.root.clone());
        async move { run_in(&*terminals, root).await }
    });
    settle().await;
    running.abort();
    settle().await;
    let methods = scene.peer.methods();
    let expected = [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
    ];
    assert_eq!(methods, expected);
    assert_eq!(scene.peer.withdrawn(), ["terminal/wait_for_exit"]);
}
