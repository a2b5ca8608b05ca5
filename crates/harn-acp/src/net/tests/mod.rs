//! Connections over a real socket, with an agent that does what it is told.

mod http;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{Channel, ConnectionDriver, RawJsonRpcMessage, TransportFrame};
use futures_util::StreamExt;
use harn_listen::Policy;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Network;
use super::hub::{Connect, Hub};
use crate::frames::Room;

/// A listener, and what the agent behind it noticed.
struct World {
    address: SocketAddr,
    hub: Arc<Hub>,
    noticed: mpsc::UnboundedReceiver<String>,
}

const KEY: &str = "0123456789abcdef";

impl World {
    async fn open(settings: Network) -> Self {
        let mut policy = Policy::new("127.0.0.1:0".parse().unwrap());
        policy.insecure_no_auth = true;
        Self::open_with(settings, policy).await
    }

    async fn open_with(settings: Network, policy: Policy) -> Self {
        let (notes, noticed) = mpsc::unbounded_channel();
        let connect: Connect = Arc::new(move |room, _, _| {
            let (ours, theirs) = Channel::duplex();
            let driver = ConnectionDriver::new(agent(theirs, room, notes.clone()));
            (ours, Some(driver))
        });
        let hub = Hub::new(connect, settings);
        let listener = policy.open(Arc::new(|| 0)).await.unwrap();
        let address = listener.address();
        tokio::spawn(listener.serve(hub.router(), std::future::pending()));
        Self {
            address,
            hub,
            noticed,
        }
    }

    async fn noticed(&mut self) -> String {
        self.noticed.recv().await.unwrap()
    }
}

/// Answers requests, and does what some of them say.
async fn agent(
    channel: Channel,
    room: Arc<dyn Room>,
    notes: mpsc::UnboundedSender<String>,
) -> Result<(), agent_client_protocol::Error> {
    let (mut incoming, outgoing) = channel.into_parts();
    let say = |message| {
        let _ = outgoing.unbounded_send(TransportFrame::Single(message));
    };
    while let Some(frame) = incoming.next().await {
        let TransportFrame::Single(message) = frame else {
            panic!("the gate lets no such frame through");
        };
        let RawJsonRpcMessage::Request(request) = message else {
            notes
                .send(serde_json::to_string(&message).unwrap())
                .unwrap();
            continue;
        };
        let id = request.id.clone();
        let params = request
            .params
            .map_or(Value::Null, |params| params.into_value());
        let session = params.get("about").unwrap_or(&params["sessionId"]).clone();
        let update = |number: u64| {
            // Long enough that the buffers of the system are full soon.
            let text = "x".repeat(if number > 9 { 100_000 } else { 0 });
            let params = json!({"sessionId": session, "number": number, "text": text});
            RawJsonRpcMessage::notification("session/update".to_owned(), params).unwrap()
        };
        let result = match &*request.method {
            "session/new" => json!({"sessionId": "s1"}),
            "session/load" => {
                say(update(1));
                say(update(2));
                json!({})
            }
            "session/prompt" => {
                say(update(3));
                json!({"stopReason": "end_turn"})
            }
            "ask" => {
                let asked = RawJsonRpcMessage::request("question".to_owned(), params, 7);
                say(asked.unwrap());
                json!({})
            }
            "flood" => {
                let mut sent = 0;
                while tokio::time::timeout(Duration::from_secs(1), room.reserve("s1"))
                    .await
                    .is_ok()
                {
                    say(update(sent));
                    sent += 1;
                }
                json!({"sent": sent})
            }
            "panic" => panic!("as it was told"),
            "large" => json!({"text": "x".repeat(200_000)}),
            method => json!({"method": method, "params": params}),
        };
        say(RawJsonRpcMessage::response(id, Ok(result)));
    }
    notes.send("left".to_owned()).unwrap();
    Ok(())
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}
