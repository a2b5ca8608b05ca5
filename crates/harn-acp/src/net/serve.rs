//! An agent behind a listener.

use std::future::Future;
use std::sync::Arc;

use agent_client_protocol::ConnectTo;
use harn_listen::Listener;

use super::{Hub, Network};
use crate::agent;
use crate::server::Server;

impl Server {
    /// Serves clients on the network until `stop` resolves. Then all connections and sessions
    /// are closed; sessions can be resumed. Says how often each limit and rule was met.
    pub async fn listen(
        self: &Arc<Self>,
        listener: Listener,
        network: Network,
        stop: impl Future<Output = ()>,
    ) -> Vec<(&'static str, u64)> {
        let server = Arc::clone(self);
        let connect =
            move |room, counters| agent::agent(&server, room, counters).into_channel_and_future();
        let hub = Hub::new(Arc::new(connect), network);
        let met = listener.counters();
        let stopped = async {
            stop.await;
            // Streams end, or the listener would wait for them.
            hub.stop().await;
            self.close_all().await;
        };
        listener.serve(hub.router(), stopped).await;
        let frames = hub.counters.all().into_iter();
        let sessions = self.refused.all();
        met.all()
            .into_iter()
            .chain(frames)
            .chain(sessions)
            .collect()
    }
}
