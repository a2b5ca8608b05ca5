//! What a program wants of the network, and what the network says.
//!
//! ```text
//! Exchange ─────────────────────────────► Response   a request and its whole answer
//! Open, or OpenLater and Head ─► Opened ─► Read …     an answer that is read in pieces
//!                                        └► Save      … or goes to a file
//! ConnectSocket ─► Connected ─► SendMessage, ReceiveMessage … CloseSocket
//! ```
//!
//! One request is one hop: nobody below follows a redirect or tries again. Whoever asks does
//! that, so that it can look at every URL before anything is sent to it.

use std::path::PathBuf;
use std::sync::Arc;

/// What a program wants of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum NetRequest {
    /// A request and its whole answer.
    Exchange(Box<HttpRequest>),
    /// A request whose answer is read in pieces; begins with what stands before them.
    Open(Box<HttpRequest>),
    /// The same without waiting: gives the number of the stream at once.
    OpenLater(Box<HttpRequest>),
    /// What stands before the pieces of a stream.
    Head {
        /// The stream.
        stream: u64,
        /// How long to wait for it.
        timeout_ms: Option<u64>,
    },
    /// The next octets of a stream.
    Read {
        /// The stream.
        stream: u64,
        /// How many at most.
        bytes_max: usize,
        /// How long to wait for them.
        timeout_ms: Option<u64>,
    },
    /// The rest of a stream goes to a file, in the time that its request has.
    Save {
        /// The stream.
        stream: u64,
        /// The file, which is replaced.
        path: PathBuf,
    },
    /// Nobody reads a stream any more.
    Close(u64),
    /// Nobody sends anything in a session any more.
    EndSession(u64),
    /// Opens a web socket.
    ConnectSocket(Box<SocketRequest>),
    /// Sends a message; waits for room unless there is none at all.
    SendMessage {
        /// The socket.
        socket: u64,
        /// What is sent.
        message: SocketMessage,
    },
    /// The next message of a socket.
    ReceiveMessage {
        /// The socket.
        socket: u64,
        /// How long to wait for it.
        timeout_ms: Option<u64>,
    },
    /// Nobody uses a socket any more.
    CloseSocket(u64),
}

/// An HTTP request, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// Where it goes.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// What it carries.
    pub body: Option<Vec<u8>>,
    /// How long everything may take; `None`: for ever.
    pub timeout_ms: Option<u64>,
    /// How long nothing may arrive.
    pub read_timeout_ms: Option<u64>,
    /// How the connection is made. Requests with the same share connections.
    pub route: Arc<Route>,
}

/// How connections are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route {
    /// The session that they belong to.
    pub session: Option<u64>,
    /// How long making one may take.
    pub connect_timeout_ms: Option<u64>,
    /// Through whom.
    pub proxy: Option<HttpProxy>,
    /// Whom to trust and as whom to speak.
    pub tls: TlsOptions,
    /// Whether what arrives compressed is unpacked.
    pub decompresses: bool,
}

/// Through whom connections are made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpProxy {
    /// Where it is.
    pub url: String,
    /// The hosts that are reached without it, separated by commas.
    pub except: Option<String>,
    /// The name and password that it wants.
    pub login: Option<(String, String)>,
}

/// Whom to trust and as whom to speak.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TlsOptions {
    /// Certificates to trust besides those of the machine.
    pub authorities: Option<PathBuf>,
    /// Our own certificate.
    pub certificate: Option<PathBuf>,
    /// Its key.
    pub key: Option<PathBuf>,
    /// Both in one file.
    pub identity: Option<PathBuf>,
    /// The only keys that a server may have, as digests in base64 or hexadecimal digits.
    pub pins: Vec<String>,
}

/// A web socket to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketRequest {
    /// Where it goes.
    pub url: String,
    /// The headers of the request that opens it.
    pub headers: Vec<(String, String)>,
    /// How long that may take.
    pub timeout_ms: u64,
    /// How large a message may be that arrives.
    pub message_bytes_max: usize,
    /// Through whom the connection is made.
    pub proxy: Option<HttpProxy>,
    /// Whom to trust and as whom to speak.
    pub tls: TlsOptions,
}

/// A message of a web socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketMessage {
    /// Text.
    Text(String),
    /// Octets.
    Binary(Vec<u8>),
    /// A question whether the other side is there.
    Ping(Vec<u8>),
    /// The answer to that.
    Pong(Vec<u8>),
    /// The end, with a code and a reason.
    Close(Option<(u16, String)>),
}

/// What stands before the body of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpHead {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case, each as often as it was sent.
    pub headers: Vec<(String, String)>,
}

/// What the network says.
#[derive(Clone, Debug, PartialEq)]
pub enum NetAnswer {
    /// A whole answer.
    Response(HttpHead, Vec<u8>),
    /// An answer that can be read in pieces.
    Opened {
        /// The stream.
        stream: u64,
        /// What stands before the pieces.
        head: HttpHead,
    },
    /// The next octets of a stream; `None` at its end.
    Piece(Option<Vec<u8>>),
    /// So many octets went to a file.
    Saved(u64),
    /// A web socket is open.
    Connected(u64),
    /// A message; `None` if none will come any more.
    Message(Option<SocketMessage>),
    /// Whether a message was sent.
    Sent(bool),
    /// Nothing arrived in the time that was given.
    Nothing,
    /// It failed.
    Failed(NetFailure),
}

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetFailure {
    /// What failed.
    pub kind: NetFailureKind,
    /// Why.
    pub reason: String,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetFailureKind {
    /// Its time was over.
    Timeout,
    /// There is no connection, or it broke before an answer came.
    Connection,
    /// What was wanted is impossible, so that trying again would not help.
    Impossible,
    /// The proxy is none.
    Proxy,
    /// The server does not have the key it should have.
    Pin,
    /// The body of an answer broke off, or is too large.
    Body,
    /// A message was too large.
    Message,
    /// There is no room for another message.
    Full,
    /// A file cannot be written.
    File,
    /// There is no such stream or socket.
    Unknown,
}
