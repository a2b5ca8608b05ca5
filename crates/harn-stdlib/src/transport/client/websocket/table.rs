//! The web sockets of a run.

use std::collections::{BTreeMap, VecDeque};

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Holds, SocketMessage, Value, thrown};

use super::message::listed;
use crate::transport::client::mocked::Mocked;
use crate::transport::handles::new_handle;

/// How many sockets may be open.
const SOCKETS_MAX: usize = 64;

/// How many closed sockets are remembered as such; others are unknown.
const CLOSED_MAX: usize = 1024;

/// The web sockets of a run, and what stands for servers.
#[derive(Default)]
pub(super) struct Table {
    open: BTreeMap<Text, Socket>,
    closed: VecDeque<Closed>,
    pub(super) mocks: Mocked<Mock>,
}

/// A socket.
pub(super) struct Socket {
    pub(super) url: Text,
    pub(super) source: Source,
    /// How many messages the program has got.
    pub(super) messages: i64,
    pub(super) limits: SocketLimits,
    /// Whether nothing can be sent any more.
    is_mute: bool,
}

/// A socket that was open.
struct Closed {
    handle: Text,
    /// What it was, if a limit ended it and not the program, which may still close it once.
    refused: Option<Refused>,
}

/// A socket that a limit ended.
pub(super) struct Refused {
    pub(super) url: Text,
    /// Whether a mock stood for the server.
    pub(super) is_mocked: bool,
}

/// What a program may receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketLimits {
    /// How many messages.
    pub(crate) messages_max: i64,
    /// How large each may be.
    pub(crate) message_bytes_max: usize,
}

pub(super) enum Source {
    Mock(Mock),
    /// What the network calls it.
    Wire(u64),
}

impl Source {
    fn number(&self) -> Option<u64> {
        match self {
            Self::Wire(number) => Some(*number),
            Self::Mock(_) => None,
        }
    }
}

/// What stands for a server.
#[derive(Clone, Default)]
pub(super) struct Mock {
    pub(super) messages: VecDeque<SocketMessage>,
    pub(super) echoes: bool,
}

impl Mock {
    /// Takes what is sent.
    pub(super) fn echo(&mut self, message: &SocketMessage) {
        if self.echoes && !matches!(message, SocketMessage::Close(_)) {
            self.messages.push_back(message.clone());
        }
    }
}

impl Holds for Table {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        let open = self
            .open
            .values()
            .filter_map(|socket| match &socket.source {
                Source::Mock(mock) => Some(mock),
                Source::Wire(_) => None,
            });
        for message in open.chain(self.mocks.all()).flat_map(|mock| &mock.messages) {
            each(&listed(message).1);
        }
    }
}

impl Table {
    pub(super) fn of<'a>(context: &'a mut Context<'_>) -> &'a mut Self {
        context.holding::<Self>()
    }

    /// An open socket; nothing if it is closed.
    pub(super) fn find(
        &mut self,
        builtin: &str,
        handle: &Text,
    ) -> Result<Option<&mut Socket>, Failure> {
        if let Some(socket) = self.open.get_mut(handle) {
            let is_closed = builtin == "websocket_send" && socket.is_mute;
            return Ok((!is_closed).then_some(socket));
        }
        match self.closed.iter().any(|closed| closed.handle == *handle) {
            true => Ok(None),
            false => thrown(format!("{builtin}: unknown socket '{handle}'")),
        }
    }

    /// Whether there is room for another.
    pub(super) fn check_room(&self, builtin: &str) -> Result<(), Failure> {
        match self.open.len() < SOCKETS_MAX {
            true => Ok(()),
            false => thrown(format!(
                "{builtin}: maximum open sockets ({SOCKETS_MAX}) reached"
            )),
        }
    }

    pub(super) fn add(&mut self, handle: Text, url: Text, source: Source, limits: SocketLimits) {
        let socket = Socket {
            url,
            source,
            messages: 0,
            limits,
            is_mute: false,
        };
        self.open.insert(handle, socket);
    }

    /// Nothing can be sent any more, but what has arrived can be received.
    pub(super) fn stop_sending(&mut self, handle: &Text) {
        if let Some(socket) = self.open.get_mut(handle) {
            socket.is_mute = true;
        }
    }

    /// Forgets an open socket; gives what the network calls it.
    pub(super) fn close(&mut self, handle: &Text) -> Option<u64> {
        let socket = self.open.remove(handle)?;
        self.remember(handle, None);
        socket.source.number()
    }

    /// Forgets an open socket whose message was refused; gives what the network calls it.
    pub(super) fn refuse(&mut self, handle: &Text) -> Option<u64> {
        let socket = self.open.remove(handle)?;
        let number = socket.source.number();
        let refused = Refused {
            url: socket.url,
            is_mocked: number.is_none(),
        };
        self.remember(handle, Some(refused));
        number
    }

    /// Lets the program close a socket that a limit has ended; nothing for any other.
    pub(super) fn close_refused(&mut self, handle: &Text) -> Option<Refused> {
        let mut closed = self.closed.iter_mut();
        closed
            .find(|closed| closed.handle == *handle)?
            .refused
            .take()
    }

    fn remember(&mut self, handle: &Text, refused: Option<Refused>) {
        if self.closed.len() == CLOSED_MAX {
            self.closed.pop_front();
        }
        let handle = handle.clone();
        self.closed.push_back(Closed { handle, refused });
    }

    /// Forgets everything; gives the sockets of the network that were open.
    pub(super) fn clear(&mut self) -> Vec<u64> {
        let open = std::mem::take(self).open;
        let numbers = open.values().filter_map(|socket| socket.source.number());
        numbers.collect()
    }
}

/// Takes over a socket that the network knows by a number; gives its handle.
///
/// # Errors
/// Too many are open.
pub(crate) fn adopt(
    context: &mut Context<'_>,
    builtin: &str,
    url: Text,
    number: u64,
    limits: SocketLimits,
) -> Result<Text, Failure> {
    Table::of(context).check_room(builtin)?;
    let handle = new_handle(context, "websocket");
    Table::of(context).add(handle.clone(), url, Source::Wire(number), limits);
    Ok(handle)
}
