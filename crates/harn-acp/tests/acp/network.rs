//! Clients that come and go, over a real socket.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use harn_acp::Network;
use harn_listen::Policy;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::client::{Scene, Setting};

const WAITS: &str = "[[turn]]\nwhen = \"Wait\"\ncall = [{ tool = \"run\", arguments = { command = \"sleep 30\" } }]\n\
     [[turn]]\ntext = \"Here I am.\"\nrepeat = true\n";
const RETAIN: Duration = Duration::from_secs(300);

/// A client on a web socket.
pub(crate) struct Remote {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last_id: u64,
    seen: Vec<Value>,
}

/// An agent that listens; gives its address.
async fn listen(scene: &Scene) -> String {
    let (url, _) = listen_until(scene, Network::default(), std::future::pending()).await;
    url
}

/// An agent that listens until it is stopped; gives its address, and then how often each limit
/// and rule was met.
pub(crate) async fn listen_until(
    scene: &Scene,
    network: Network,
    stop: impl Future<Output = ()> + Send + 'static,
) -> (String, JoinHandle<Vec<(&'static str, u64)>>) {
    let policy = Policy::new("127.0.0.1:0".parse().unwrap());
    let listener = policy.open(Arc::new(|| 0)).await.unwrap();
    let token = listener.token_query().unwrap();
    let url = format!("ws://{}/acp{token}", listener.address());
    let server = Arc::clone(&scene.server);
    let listening = tokio::spawn(async move { server.listen(listener, network, stop).await });
    (url, listening)
}

impl Remote {
    pub(crate) async fn connect(url: &str) -> Self {
        let mut remote = Self {
            socket: connect_async(url).await.unwrap().0,
            last_id: 0,
            seen: Vec::new(),
        };
        let parameters = json!({"protocolVersion": 1, "clientCapabilities": {}});
        remote.call("initialize", parameters).await.unwrap();
        remote
    }

    async fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        let text = request.to_string();
        self.socket.send(Message::Text(text.into())).await.unwrap();
        id
    }

    pub(crate) async fn tell(&mut self, method: &str, parameters: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": parameters});
        let text = message.to_string();
        self.socket.send(Message::Text(text.into())).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.next().await.unwrap().unwrap() {
                let message: Value = serde_json::from_str(&text).unwrap();
                self.seen.push(message.clone());
                return message;
            }
        }
    }

    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.read().await;
            if fits(&message) {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.ask(method, parameters).await;
        let answer = self.until(|one| one["id"] == id && one.get("method").is_none());
        let answer = answer.await;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(answer["error"].clone()),
        }
    }

    async fn prompt(&mut self, session: &str, text: &str) -> Result<Value, Value> {
        self.call("session/prompt", prompt(session, text)).await
    }

    /// Begins a turn in a new session, and gives its id once a tool runs.
    pub(crate) async fn begin(&mut self, scene: &Scene) -> String {
        let parameters = json!({"cwd": scene.cwd(), "mcpServers": []});
        let answer = self.call("session/new", parameters).await.unwrap();
        let session = answer["sessionId"].as_str().unwrap().to_owned();
        self.ask("session/prompt", prompt(&session, "Wait")).await;
        self.until(|one| one["params"]["update"]["status"] == "in_progress")
            .await;
        session
    }
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

fn attach(scene: &Scene, session: &str) -> Value {
    json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []})
}

fn scene() -> Scene {
    Scene::of(Setting {
        scenario: WAITS,
        retain: RETAIN,
        ..Setting::default()
    })
}

#[tokio::test]
async fn a_turn_goes_on_when_its_client_is_gone_and_another_one_finds_it() {
    let scene = scene();
    let url = listen(&scene).await;
    let mut first = Remote::connect(&url).await;
    let session = first.begin(&scene).await;
    drop(first);

    let mut second = Remote::connect(&url).await;
    let loaded = second.call("session/load", attach(&scene, &session)).await;
    loaded.unwrap();
    let mut kinds = second.seen.iter();
    assert!(kinds.any(|one| one["params"]["update"]["sessionUpdate"] == "tool_call"));
    let refused = second.prompt(&session, "More").await.unwrap_err();
    assert_eq!(refused["data"]["reason"], "turn_running");
    // It is the same turn: who follows it can stop it, and hears of its end.
    second
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    second
        .until(|one| one["params"]["update"]["status"] == "failed")
        .await;
}

#[tokio::test]
async fn several_clients_follow_one_session() {
    let scene = scene();
    let url = listen(&scene).await;
    let mut first = Remote::connect(&url).await;
    let session = first.begin(&scene).await;
    let mut second = Remote::connect(&url).await;
    let resumed = second
        .call("session/resume", attach(&scene, &session))
        .await;
    resumed.unwrap();
    // That one of them leaves changes nothing for the other.
    drop(first);
    let refused = second.prompt(&session, "More").await.unwrap_err();
    assert_eq!(refused["data"]["reason"], "turn_running");
}

#[tokio::test]
async fn after_a_while_without_clients_the_turn_ends_and_the_session_can_be_loaded() {
    let scene = scene();
    // Over a pipe, so that the end of the connection can be waited for.
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    first.begin(&session, "Wait").await;
    first
        .until(|one| one["params"]["update"]["status"] == "in_progress")
        .await;
    first.leave().await.unwrap();

    tokio::time::pause();
    tokio::time::advance(RETAIN - Duration::from_secs(1)).await;
    tokio::time::resume();
    let mut second = scene.client().await;
    let resumed = second
        .call("session/resume", attach(&scene, &session))
        .await;
    resumed.unwrap();
    let refused = second.prompt(&session, "More").await.unwrap_err();
    assert_eq!(refused["data"]["reason"], "turn_running", "it was kept");
    second.leave().await.unwrap();

    tokio::time::pause();
    tokio::time::advance(RETAIN + Duration::from_secs(1)).await;
    tokio::time::resume();
    let mut third = scene.client().await;
    let loaded = third.call("session/load", attach(&scene, &session)).await;
    loaded.unwrap();
    let ends = third.updates(&session);
    let mut ends = ends.iter().map(|one| &one["status"]);
    assert!(ends.any(|status| status == "failed"), "the call was ended");
    let answer = third.prompt(&session, "Are you there?").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(third.said(&session), "Here I am.");
}

/// A program that asks before it writes.
const ASKS: &str = r#"
pipeline answer(prompt, session_id) {
  agent_loop(prompt, "You write.", {
    session_id: session_id,
    tools: coding_tools(),
    approval_policy: {require_approval: ["write"]},
  })
}
"#;

const WRITES: &str = r#"
[[turn]]
call = [{ tool = "write", arguments = { path = "a.txt", content = "new" } }]
[[turn]]
text = "Done."
repeat = true
"#;

/// Nobody is there for so long.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_question_waits_for_whoever_comes_back_and_after_that_the_turn_is_cancelled() {
    let scene = Scene::of(Setting {
        program: ASKS,
        scenario: WRITES,
        retain: RETAIN,
        ..Setting::default()
    });
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    first.begin(&session, "Write it").await;
    let question = first.asked("session/request_permission").await;
    let call = &question["params"]["toolCall"]["toolCallId"];
    first.leave().await.unwrap();

    pass(RETAIN - Duration::from_secs(1)).await;
    let mut second = scene.client().await;
    let resumed = second
        .call("session/resume", attach(&scene, &session))
        .await;
    resumed.unwrap();
    let again = second.asked("session/request_permission").await;
    assert_eq!(&again["params"]["toolCall"]["toolCallId"], call);
    second.leave().await.unwrap();

    pass(RETAIN + Duration::from_secs(1)).await;
    let mut third = scene.client().await;
    let loaded = third.call("session/load", attach(&scene, &session)).await;
    loaded.unwrap();
    let updates = third.updates(&session);
    let ends: Vec<_> = updates
        .iter()
        .filter(|one| one["toolCallId"] == *call && one["status"] == "failed")
        .collect();
    assert_eq!(ends.len(), 1, "{updates:#?}");
    assert_eq!(ends[0]["_meta"]["harn"]["errorCategory"], "cancelled");
    assert!(!scene.file("a.txt").exists(), "nobody has agreed");
    // A turn that only heard a no would have gone on, and said so.
    assert_eq!(third.said(&session), "");
    let asked = third
        .seen
        .iter()
        .filter(|one| one["method"] == "session/request_permission");
    assert_eq!(asked.count(), 0);
}
