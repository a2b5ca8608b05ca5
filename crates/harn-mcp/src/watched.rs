//! A transport that says when nobody is at the other end any more.
//!
//! The service that reads a transport tells only those who wait for an answer. Who waits for
//! something else, such as a person, would not hear that the server has ended.

use std::borrow::Cow;

use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

/// A transport that is watched.
pub(crate) struct Watched<T> {
    transport: T,
    /// True when nothing more can be heard; closed when the transport is gone.
    has_ended: watch::Sender<bool>,
}

/// Hears when a transport has ended.
#[derive(Clone)]
pub(crate) struct Ending(watch::Receiver<bool>);

impl<T> Watched<T> {
    pub(crate) fn new(transport: T) -> (Self, Ending) {
        let (has_ended, ending) = watch::channel(false);
        let watched = Self {
            transport,
            has_ended,
        };
        (watched, Ending(ending))
    }
}

impl Ending {
    /// Until the transport has ended.
    pub(crate) async fn wait(&self) {
        let mut ending = self.0.clone();
        let _it_may_be_gone = ending.wait_for(|has_ended| *has_ended).await;
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await;
        if message.is_none() {
            self.has_ended.send_replace(true);
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.has_ended.send_replace(true);
        self.transport.close().await
    }
}
