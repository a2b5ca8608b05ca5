//! A connection over a pair of byte streams: one JSON object per line.

use std::io;
use std::sync::Arc;

use agent_client_protocol::ConnectTo;
use harn_vm::agent::Principal;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::access::STDIO;
use crate::agent;
use crate::frames::{self, Counters, Ended, Outbox};
use crate::net::Network;
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
        let (ended, _counted) = self.serve_within(input, output, &Network::default()).await;
        ended
    }

    /// The same within other limits than the usual ones. Also gives how often each of them was
    /// met.
    pub async fn serve_within(
        self: &Arc<Self>,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        network: &Network,
    ) -> (io::Result<()>, Vec<(&'static str, u64)>) {
        let (limits, counters) = (network.frames, Arc::<Counters>::default());
        let outbox = Outbox::new(limits, Arc::clone(&counters));
        let room = Arc::new(outbox.clone());
        let client = Principal::operator(STDIO);
        let agent = agent::agent(self, client, room, Arc::clone(&counters));
        let agent = agent.into_channel_and_future();
        let counted = Arc::clone(&counters);
        let ended = frames::serve(input, output, agent, &outbox, limits, counters).await;
        let ended = match ended {
            Ended::EndOfInput | Ended::PeerLost | Ended::ByAgent => Ok(()),
            Ended::Unparsable => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "what the client sends is no JSON",
            )),
        };
        let counted = counted.all().into_iter().chain(self.refused.all());
        (ended, counted.collect())
    }
}
