//! An agent behind a listener.

use std::future::Future;
use std::sync::Arc;

use agent_client_protocol::ConnectTo;
use harn_listen::{Caller, Listener, Means};
use harn_vm::agent::{Principal, PrincipalKind};

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
        let connect = move |room, counters, caller: &Caller| {
            let agent = agent::agent(&server, principal_of(caller), room, counters);
            agent.into_channel_and_future()
        };
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

/// Who a caller is, for what it makes and does.
fn principal_of(caller: &Caller) -> Principal {
    let named = |kind, via| Principal::new(kind, caller.name.clone(), via);
    match caller.means {
        Means::Nothing => Principal::anonymous("listener"),
        // Only the operator can read it, and only who the operator gave it to knows it.
        Means::Token => Principal::operator("token"),
        Means::Key => named(PrincipalKind::Key, "key"),
        Means::Signature => named(PrincipalKind::Key, "signature"),
        Means::Claims => named(PrincipalKind::Claim, "claims"),
    }
}
