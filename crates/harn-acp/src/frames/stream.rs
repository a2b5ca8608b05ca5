//! A connection over a stream of bytes: one message a line.

use std::io;
use std::sync::Arc;

use agent_client_protocol::{Channel, ConnectionDriver};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::lines::{Line, Lines};
use super::pump::drive_into_outbox;
use super::{Counters, End, Gate, Inlet, Limits, Outbox, Verdict};

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The peer closed its end.
    EndOfInput,
    /// The peer sent what is no JSON, again and again.
    Unparsable,
    /// The peer could not be read from or written to any more, or did not read.
    PeerLost,
    /// The agent ended by itself.
    ByAgent,
}

/// Frames that are no JSON, one after the other, until the connection is closed.
const UNPARSABLE_MAX: u32 = 3;
const READ_BYTES: usize = 64 * 1024;
/// No frame is added to a write that has so many bytes already.
const WRITE_BYTES: usize = 64 * 1024;

/// Connects the agent behind `channel`, which `driver` runs, to the peer behind `input` and
/// `output` until either is done. Without a driver the agent is done when it closes its end.
///
/// `outbox` is made by the caller, who gives the agent its [`Room`](super::Room).
pub(crate) async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    (channel, driver): (Channel, Option<ConnectionDriver>),
    outbox: &Outbox,
    limits: Limits,
    counters: Arc<Counters>,
) -> Ended {
    let (from_agent, to_agent) = channel.into_parts();
    let (gate, inlet) = (Gate::new(limits, counters), Inlet::new(to_agent));
    let reading = async {
        let ended = tokio::select! {
            ended = read(input, &gate, &inlet, outbox) => ended,
            end = outbox.ended() => match end {
                End::Finished => Ended::ByAgent,
                End::Left | End::TooSlow => Ended::PeerLost,
            },
        };
        outbox.closing();
        inlet.close();
        ended
    };
    let driving = drive_into_outbox(from_agent, driver, &gate, outbox, &inlet);
    let writing = async {
        tokio::select! {
            written = write(output, outbox) => if written.is_err() { outbox.end(End::Left) },
            () = outbox.lost() => {}
            () = outbox.last_words() => {}
        }
    };
    let (ended, (), ()) = tokio::join!(reading, driving, writing);
    ended
}

async fn read(
    mut input: impl AsyncRead + Unpin,
    gate: &Gate,
    inlet: &Inlet,
    outbox: &Outbox,
) -> Ended {
    let mut lines = Lines::new(gate.limits().frame_in_bytes_max);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = match input.read(&mut buffer).await {
            Ok(count) => count,
            Err(_) => return Ended::PeerLost,
        };
        let mut too_many = false;
        let each = |line: Line<'_>| too_many = too_many || !take(line, gate, inlet, outbox);
        if count == 0 {
            lines.finish(each);
        } else {
            lines.push(&buffer[..count], each);
        }
        if too_many {
            return Ended::Unparsable;
        }
        if count == 0 {
            return Ended::EndOfInput;
        }
        inlet.ready().await;
    }
}

/// Takes one line; `false` if the connection has seen too many that are no JSON.
fn take(line: Line<'_>, gate: &Gate, inlet: &Inlet, outbox: &Outbox) -> bool {
    let frame = match line {
        Line::TooLong => {
            outbox.push(gate.refuse_large(), false);
            return true;
        }
        // Some put empty lines between their frames.
        Line::Whole(frame) if frame.trim_ascii().is_empty() => return true,
        Line::Whole(frame) => frame,
    };
    match gate.accept(frame) {
        Verdict::Pass(message) => {
            inlet.send(message);
        }
        Verdict::Answer(answer) => {
            outbox.push(answer, false);
        }
        Verdict::Dropped => {}
    }
    gate.unparsable_in_a_row() < UNPARSABLE_MAX
}

/// Frames that wait while others are written become the next write: a write may cost more than
/// making a frame does, for whoever reads as well.
async fn write(mut output: impl AsyncWrite + Unpin, outbox: &Outbox) -> io::Result<()> {
    let mut lines = String::new();
    while outbox.next_lines(&mut lines, WRITE_BYTES).await {
        output.write_all(lines.as_bytes()).await?;
        lines.clear();
        lines.shrink_to(2 * WRITE_BYTES); // One frame may have been very large.
        if outbox.is_empty() {
            output.flush().await?;
        }
    }
    output.shutdown().await
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use agent_client_protocol::{RawJsonRpcMessage, TransportFrame};
    use futures_util::StreamExt;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream};
    use tokio::task::JoinHandle;

    use super::*;

    /// A connection with the agent and the peer both in the hands of the test.
    struct Both {
        agent: Channel,
        peer: BufReader<DuplexStream>,
        outbox: Outbox,
        serving: JoinHandle<Ended>,
    }

    fn connect(limits: Limits) -> Both {
        let (agent, theirs) = Channel::duplex();
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(near);
        let counters = Arc::default();
        let outbox = Outbox::new(limits, Arc::clone(&counters));
        let serving = tokio::spawn({
            let outbox = outbox.clone();
            async move { serve(input, output, (theirs, None), &outbox, limits, counters).await }
        });
        let peer = BufReader::new(far);
        Both {
            agent,
            peer,
            outbox,
            serving,
        }
    }

    impl Both {
        async fn write(&mut self, text: &str) {
            self.peer.write_all(text.as_bytes()).await.unwrap();
        }

        async fn read(&mut self) -> Value {
            let mut line = String::new();
            self.peer.read_line(&mut line).await.unwrap();
            serde_json::from_str(&line).unwrap_or(Value::Null)
        }

        async fn agent_gets(&mut self) -> Value {
            match self.agent.rx.next().await {
                Some(TransportFrame::Single(message)) => serde_json::to_value(message).unwrap(),
                None => Value::Null,
                other => panic!("{other:?} is no message"),
            }
        }

        fn agent_says(&self, message: RawJsonRpcMessage) {
            let frame = TransportFrame::Single(message);
            self.agent.tx.unbounded_send(frame).unwrap();
        }
    }

    /// Keeps what each write had.
    #[derive(Default)]
    struct Writes(Vec<String>);

    impl AsyncWrite for Writes {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.0.push(String::from_utf8(bytes.to_vec()).unwrap());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn frames_that_wait_are_written_together_up_to_a_size() {
        let outbox = Outbox::new(Limits::default(), Arc::default());
        let large = "x".repeat(WRITE_BYTES);
        for frame in ["a", "b", &large, "c"] {
            outbox.push(frame.to_owned(), false);
        }
        outbox.end(End::Finished);
        let mut writes = Writes::default();
        write(&mut writes, &outbox).await.unwrap();
        assert_eq!(writes.0, [format!("a\nb\n{large}\n"), "c\n".to_owned()]);
    }

    #[tokio::test]
    async fn a_request_reaches_the_agent_and_its_answer_the_peer() {
        let mut both = connect(Limits::default());
        both.write("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\"}\n\n")
            .await;
        assert_eq!(both.agent_gets().await["id"], "a");
        both.agent_says(RawJsonRpcMessage::response("a".to_owned(), Ok(json!(1))));
        assert_eq!(
            both.read().await,
            json!({"jsonrpc": "2.0", "id": "a", "result": 1})
        );
    }

    #[tokio::test]
    async fn a_frame_that_is_too_large_is_refused_and_the_next_one_is_read() {
        let mut both = connect(Limits {
            frame_in_bytes_max: 100,
            ..Limits::default()
        });
        both.write(&"x".repeat(30_000)).await;
        let refusal = both.read().await;
        assert_eq!(refusal["error"]["code"], -32600);
        assert_eq!(refusal["error"]["data"]["limitBytes"], 100);
        both.write("x\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n")
            .await;
        assert_eq!(both.agent_gets().await["method"], "m");
    }

    #[tokio::test]
    async fn three_parse_failures_in_a_row_close_the_connection() {
        let mut both = connect(Limits::default());
        both.write("{\n{\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n{\n{\n")
            .await;
        for _ in 0..4 {
            assert_eq!(both.read().await["error"]["code"], -32700);
        }
        assert_eq!(both.agent_gets().await["method"], "m");
        assert!(!both.serving.is_finished(), "two in a row are forgiven");
        both.write("{\n").await;
        assert_eq!(both.read().await["error"]["code"], -32700);
        assert_eq!(
            both.agent_gets().await,
            Value::Null,
            "the agent hears of the end"
        );
        drop(both.agent);
        assert_eq!(both.serving.await.unwrap(), Ended::Unparsable);
    }

    #[tokio::test]
    async fn the_end_of_input_reaches_the_agent_and_its_last_words_the_peer() {
        let mut both = connect(Limits::default());
        both.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}")
            .await;
        both.peer.shutdown().await.unwrap();
        assert_eq!(
            both.agent_gets().await["id"],
            1,
            "the last line needs no end"
        );
        assert_eq!(both.agent_gets().await, Value::Null);
        both.agent_says(RawJsonRpcMessage::response(1, Ok(json!("cancelled"))));
        drop(both.agent.tx);
        let mut line = String::new();
        both.peer.read_line(&mut line).await.unwrap();
        assert!(line.contains("cancelled"));
        assert_eq!(both.serving.await.unwrap(), Ended::EndOfInput);
    }

    #[tokio::test]
    async fn requests_that_the_agent_left_open_are_answered() {
        let mut both = connect(Limits::default());
        both.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n")
            .await;
        both.agent_gets().await;
        both.agent = Channel::duplex().0;
        let answer = both.read().await;
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"]["code"], -32603);
        assert_eq!(both.serving.await.unwrap(), Ended::ByAgent);
    }

    #[tokio::test]
    async fn a_peer_that_left_ends_the_connection() {
        let both = connect(Limits::default());
        drop(both.peer);
        both.agent.tx.unbounded_send(update()).unwrap();
        drop(both.agent);
        both.serving.await.unwrap();
        assert!(both.outbox.reserve_place().await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_holds_back_updates_and_nobody_else() {
        let limits = Limits {
            waiting_frames_max: 8,
            ..Limits::default()
        };
        let mut both = connect(limits);
        // Fills the pipe, then the outbox; nobody reads.
        let mut sent = 0;
        while tokio::time::timeout(Duration::from_secs(5), both.outbox.reserve_place())
            .await
            .is_ok()
        {
            both.agent.tx.unbounded_send(update()).unwrap();
            sent += 1;
        }
        assert!((8..64).contains(&sent), "{sent} updates were let in");
        // The peer is still heard.
        both.write("{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n")
            .await;
        assert_eq!(both.agent_gets().await["method"], "cancel");
        // When it reads again, there is room again.
        for _ in 0..sent {
            assert_eq!(both.read().await["method"], "session/update");
        }
        assert_eq!(both.outbox.reserve_place().await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_never_reads_does_not_keep_the_process_alive() {
        let mut both = connect(Limits::default());
        for _ in 0..100 {
            both.agent.tx.unbounded_send(update()).unwrap();
        }
        both.agent_left().await;
        assert_eq!(both.serving.await.unwrap(), Ended::ByAgent);
    }

    impl Both {
        async fn agent_left(&mut self) {
            self.agent = Channel::duplex().0;
        }
    }

    fn update() -> TransportFrame {
        let text = "x".repeat(8000);
        TransportFrame::Single(
            RawJsonRpcMessage::notification("session/update".into(), json!({"text": text}))
                .unwrap(),
        )
    }
}
