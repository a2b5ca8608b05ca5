//! A transport that forgets a question which was given up.
//!
//! A server is first asked what it can do. One that is silent for long is taken for a server of
//! the handshake, which does not know that question. If it was only slow to start, it refuses the
//! question then, though the handshake has begun. That is no answer to the handshake.

use std::borrow::Cow;

use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport without refusals that come too late.
pub(crate) struct Forgetful<T> {
    transport: T,
    /// The question what a server can do.
    asked: Option<RequestId>,
    /// The same, when something else was asked since.
    given_up: Option<RequestId>,
}

impl<T> Forgetful<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self {
            transport,
            asked: None,
            given_up: None,
        }
    }

    fn note(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(sent) = message else {
            return;
        };
        match sent.request {
            ClientRequest::DiscoverRequest(_) => self.asked = Some(sent.id.clone()),
            ClientRequest::InitializeRequest(_) => self.given_up = self.asked.take(),
            _ => {}
        }
    }

    fn is_too_late(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Error(refusal) => refusal.id.is_some() && refusal.id == self.given_up,
            _ => false,
        }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Forgetful<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.note(&item);
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.transport.receive().await?;
            if !self.is_too_late(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
