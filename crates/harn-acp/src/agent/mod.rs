//! One connection: what a client can call.
//!
//! ```text
//! link ─► dispatch: known? ─► task ─► answer
//!            │ session/cancel, at once
//!            ▼
//!         session
//! ```

mod connection;
mod cursor;
mod dispatch;
mod initialize;
mod methods;
mod prompt;

use std::sync::Arc;

use agent_client_protocol::{Client, ConnectTo, Responder};
use harn_vm::agent::{BoxFuture, Principal};
use serde_json::Value;

use connection::Connection;

use crate::frames::{Counters, Room};
use crate::link::{self, Desk, Link};
use crate::server::Server;

/// The agent that a client talks to, as the SDK knows it. Updates of sessions ask for `room`
/// before they are sent; `counters` are told what nobody knows.
pub(crate) fn agent(
    server: &Arc<Server>,
    principal: Principal,
    room: Arc<dyn Room>,
    counters: Arc<Counters>,
) -> impl ConnectTo<Client> + 'static + use<> {
    let link = Link::new(room, counters);
    link::serve_at(Connection::new(Arc::clone(server), principal, link))
}

impl Desk for Connection {
    fn link(&self) -> &Arc<Link> {
        &self.link
    }

    fn answer(self: &Arc<Self>, method: String, parameters: Value, responder: Responder) {
        dispatch::request(self, &method, parameters, responder);
    }

    fn hear(self: &Arc<Self>, method: String, parameters: Value) {
        dispatch::notification(self, method, parameters);
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { Connection::close(&self).await })
    }
}
