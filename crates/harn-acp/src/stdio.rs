//! A connection over a pair of byte streams: one JSON object per line.

use std::io;
use std::sync::Arc;

use agent_client_protocol::ConnectTo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::agent;
use crate::frames::{self, Counters, Ended, Limits, Outbox};
use crate::server::Server;

impl Server {
    /// Serves one client until it closes its end or nobody can write to it any more. Turns that
    /// run then are stopped; their sessions can be resumed.
    ///
    /// # Errors
    /// The client sends what is no JSON, again and again.
    pub async fn serve(
        self: &Arc<Self>,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> io::Result<()> {
        let (limits, counters) = (Limits::default(), Arc::<Counters>::default());
        let outbox = Outbox::new(limits, Arc::clone(&counters));
        let room = Arc::new(outbox.clone());
        let agent = agent::agent(self, room, Arc::clone(&counters));
        let agent = agent.into_channel_and_future();
        let ended = frames::serve(input, output, agent, &outbox, limits, counters).await;
        match ended {
            Ended::EndOfInput | Ended::PeerLost | Ended::ByAgent => Ok(()),
            Ended::Unparsable => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "what the client sends is no JSON",
            )),
        }
    }
}
