//! Messages of web sockets, as the protocol has them and as programs do.

use harn_machine::SocketMessage;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;

pub(super) fn to_wire(message: SocketMessage) -> Message {
    match message {
        SocketMessage::Text(text) => Message::Text(Utf8Bytes::from(text)),
        SocketMessage::Binary(octets) => Message::Binary(octets.into()),
        SocketMessage::Ping(octets) => Message::Ping(octets.into()),
        SocketMessage::Pong(octets) => Message::Pong(octets.into()),
        SocketMessage::Close(why) => Message::Close(why.map(|(code, reason)| CloseFrame {
            code: code.into(),
            reason: reason.into(),
        })),
    }
}

/// `None` for what is only a part of a message.
pub(super) fn from_wire(message: Message) -> Option<SocketMessage> {
    Some(match message {
        Message::Text(text) => SocketMessage::Text(text.to_string()),
        Message::Binary(octets) => SocketMessage::Binary(octets.into()),
        Message::Ping(octets) => SocketMessage::Ping(octets.into()),
        Message::Pong(octets) => SocketMessage::Pong(octets.into()),
        Message::Close(frame) => {
            SocketMessage::Close(frame.map(|frame| (frame.code.into(), frame.reason.to_string())))
        }
        Message::Frame(_) => return None,
    })
}
