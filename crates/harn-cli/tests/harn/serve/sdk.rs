//! The one-shot client of those who make the protocol.

use std::future::poll_fn;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification,
    SessionUpdate, StopReason, TextContent,
};
use agent_client_protocol::{Channel, Client, TransportFrame};
use futures_core::Stream;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use super::{RUNS, command, folder};

#[tokio::test]
async fn the_client_of_the_sdk_completes_a_prompt() {
    let folder = folder("", RUNS);
    let mut agent = Command::from(command(folder.path(), &["--ephemeral"]));
    agent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.spawn().expect("it starts");
    let mut input = agent.stdin.take().expect("it is piped");
    let output = agent.stdout.take().expect("it is piped");
    let (ours, theirs) = Channel::duplex();
    let (mut outgoing, incoming) = ours.into_parts();
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let frame = TransportFrame::parse_json(&line);
            assert!(matches!(frame, TransportFrame::Single(_)), "{line}");
            if incoming.unbounded_send(frame).is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut outgoing).poll_next(cx)).await {
            let line = format!("{}\n", frame.to_json().expect("it is JSON"));
            input.write_all(line.as_bytes()).await.expect("it is read");
        }
    });
    let said = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&said);
    let cwd = folder.path().canonicalize().expect("it is there");
    let stopped = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _agent| {
                if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    hears.lock().expect("nobody panics").push_str(&text.text);
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(theirs, async move |agent| {
            let introduction = InitializeRequest::new(ProtocolVersion::V1);
            agent.send_request(introduction).block_task().await?;
            let session = agent.send_request(NewSessionRequest::new(cwd));
            let session = session.block_task().await?.session_id;
            let prompt = vec![ContentBlock::Text(TextContent::new("Hello"))];
            let prompt = agent.send_request(PromptRequest::new(session, prompt));
            Ok(prompt.block_task().await?.stop_reason)
        })
        .await;
    assert_eq!(stopped.expect("it completes"), StopReason::EndTurn);
    assert_eq!(*said.lock().expect("nobody panics"), "Done.");
    assert_eq!(agent.wait().await.expect("it ends").code(), Some(0));
}
