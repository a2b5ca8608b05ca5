//! One connection: what a client can call.
//!
//! ```text
//! frame ─► SDK ─► dispatch: initialised? known? ─► task ─► answer
//!                     │ session/cancel, at once
//!                     ▼
//!                  session
//! ```
//!
//! The SDK calls handlers one at a time, in the order in which messages arrive. Whatever takes
//! time goes on in a task, which has the responder.

mod connection;
mod cursor;
mod dispatch;
mod initialize;
mod methods;
mod prompt;

use std::sync::Arc;

use agent_client_protocol::{Agent, Builder, Client, ConnectTo, Dispatch};

use connection::Connection;

use crate::frames::Room;
use crate::server::Server;

/// The agent that one client talks to, as the SDK knows it. Updates of sessions ask for `room`
/// before they are sent.
pub(crate) fn agent(
    server: &Arc<Server>,
    room: Arc<dyn Room>,
) -> impl ConnectTo<Client> + 'static + use<> {
    let connection = Connection::new(Arc::clone(server), room);
    let (asked, closing) = (Arc::clone(&connection), connection);
    Builder::new(Agent)
        .name("harn")
        .on_receive_dispatch(
            async move |message: Dispatch, client| {
                asked.attach(client);
                match message {
                    Dispatch::Request(request, responder) => {
                        dispatch::request(&asked, request, responder);
                        Ok(())
                    }
                    Dispatch::Notification(notification) => {
                        dispatch::notification(&asked, notification);
                        Ok(())
                    }
                    Dispatch::Response(result, router) => router.route_with_result(result),
                }
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .on_close(async move |_client| {
            closing.close().await;
            Ok(())
        })
}
