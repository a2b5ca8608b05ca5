//! Performs the effects of the kind `web_server`.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use harn_machine::{Answer, EffectId, Outside};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::asked::Asked;
use super::listener::Listener;
use crate::http::Sockets;
use crate::models::TokioHandle;
use crate::world::failed;

/// Performs the effects of the kind `web_server`.
pub(crate) struct ServerPort {
    outside: Outside,
    sockets: Arc<Sockets>,
    listeners: HashMap<u64, Listener>,
    /// How many were opened.
    count: u64,
    /// Who waits for a socket, so that it can be given up.
    waiting: HashMap<EffectId, AbortHandle>,
}

impl ServerPort {
    /// Sockets that are accepted become some of `sockets`.
    pub(crate) fn new(outside: Outside, sockets: Arc<Sockets>) -> Self {
        Self {
            outside,
            sockets,
            listeners: HashMap::new(),
            count: 0,
            waiting: HashMap::new(),
        }
    }

    /// Answers at once.
    pub(crate) fn perform(&mut self, payload: &str, tokio: &TokioHandle) -> Answer {
        let answer = read(payload).and_then(|asked| match asked {
            Asked::Listen { address } => self.listen(&address, tokio),
            Asked::Route {
                server,
                path,
                route,
            } => {
                let listener = self.listeners.get(&server);
                Ok(json!(
                    listener.map(|it| it.add_route(path, route)).is_some()
                ))
            }
            Asked::Close { server } => Ok(json!(self.listeners.remove(&server).is_some())),
            Asked::Accept { .. } => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this takes time and must be begun",
            )),
        });
        match answer {
            Ok(answer) => Answer::Text(Some(answer.to_string())),
            Err(error) => failed(&error),
        }
    }

    fn listen(&mut self, address: &str, tokio: &TokioHandle) -> io::Result<Value> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let bound = listener.local_addr()?;
        let listener = {
            let _entered = tokio.enter();
            TcpListener::from_std(listener)?
        };
        self.count += 1;
        let listener = Listener::start(listener, tokio);
        self.listeners.insert(self.count, listener);
        Ok(json!({"server": self.count, "address": bound.to_string()}))
    }

    /// Begins to wait for a socket.
    pub(crate) fn begin(&mut self, id: EffectId, payload: &str, tokio: &TokioHandle) {
        let asked = read(payload);
        let Ok(Asked::Accept { server, timeout_ms }) = asked else {
            let answer = self.perform(payload, tokio);
            return self.outside.complete(id, answer);
        };
        let Some(listener) = self.listeners.get(&server) else {
            let nothing = Answer::Text(Some(Value::Null.to_string()));
            return self.outside.complete(id, nothing);
        };
        let patience = Duration::from_millis(timeout_ms);
        let accepting = listener.accept(Arc::clone(&self.sockets), patience);
        let outside = self.outside.clone();
        let waiting = tokio.spawn(async move {
            let accepted = json!(accepting.await);
            outside.complete(id, Answer::Text(Some(accepted.to_string())));
        });
        self.waiting.retain(|_, waiting| !waiting.is_finished());
        if let Some(waiting) = waiting {
            self.waiting.insert(id, waiting);
        }
    }

    /// Gives something up.
    pub(crate) fn cancel(&mut self, id: EffectId) {
        if let Some(waiting) = self.waiting.remove(&id) {
            waiting.abort();
        }
    }
}

fn read(payload: &str) -> io::Result<Asked> {
    serde_json::from_str(payload).map_err(io::Error::other)
}
