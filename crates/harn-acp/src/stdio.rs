//! A connection over a pair of byte streams: one JSON object per line.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use agent_client_protocol::{Channel, ConnectTo, TransportFrame};
use futures_core::Stream;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use crate::agent;
use crate::server::Server;

/// How many bytes a message of the client may have.
const LINE_BYTES_MAX: u64 = 16 << 20;

impl Server {
    /// Serves one client until it closes its end or nobody can write to it any more. Turns that
    /// run then are stopped; their sessions can be resumed.
    ///
    /// # Errors
    /// The connection failed in a way other than its end.
    pub async fn serve(
        self: &Arc<Self>,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> std::io::Result<()> {
        let (ours, theirs) = Channel::duplex();
        let (outgoing, incoming) = ours.into_parts();
        let give = move |frame| incoming.unbounded_send(frame).is_ok();
        let reading = tokio::spawn(read(input, give));
        let writing = tokio::spawn(write(output, outgoing));
        let served = agent::agent(self).connect_to(theirs).await;
        reading.abort();
        let written = writing.await.map_err(std::io::Error::other)?;
        match served {
            Ok(()) => written,
            Err(error) => Err(std::io::Error::other(error.message)),
        }
    }
}

async fn read(input: impl AsyncRead + Unpin, give: impl Fn(TransportFrame) -> bool) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut input).take(LINE_BYTES_MAX + 1);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.len() as u64 > LINE_BYTES_MAX {
            tracing::warn!(target: "acp", "a message is larger than {LINE_BYTES_MAX} bytes");
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if !give(TransportFrame::parse_json(text)) {
            return;
        }
    }
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut outgoing: impl Stream<Item = TransportFrame> + Unpin,
) -> std::io::Result<()> {
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut outgoing).poll_next(cx)).await {
        let mut line = frame
            .to_json()
            .map_err(|error| std::io::Error::other(error.message))?;
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    output.shutdown().await
}
