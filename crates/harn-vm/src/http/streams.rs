//! Answers that are read in pieces.
//!
//! A stream is locked by whoever connects or reads, so that readers wait for the connection and
//! for each other. Closing it takes it away from under them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use bytes::Bytes;
use harn_machine::{HttpHead, HttpRequest, NetAnswer, NetFailure, NetFailureKind};
use reqwest::{Client, Response};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::AbortHandle;

use super::exchange::{Limits, head, next, send};
use super::failure::failure;
use super::save::{Destination, save};

/// The open streams of a program.
#[derive(Default)]
pub(super) struct Streams(StdMutex<Table>);

#[derive(Default)]
struct Table {
    streams: HashMap<u64, Stream>,
    /// How many were opened.
    count: u64,
}

struct Stream {
    content: Content,
    /// What connects, if nobody waits for it.
    connecting: Option<AbortHandle>,
}

/// `None` while nothing has arrived, and after the end.
type Content = Arc<Mutex<Option<Result<Open, NetFailure>>>>;

/// A stream that nobody else can use yet.
pub(super) type Reserved = OwnedMutexGuard<Option<Result<Open, NetFailure>>>;

/// An answer that is there.
pub(super) struct Open {
    head: HttpHead,
    response: Response,
    /// What arrived and was not wanted yet.
    left: Bytes,
    /// How long the whole of it may take, if it is not read in pieces.
    limits: Limits,
}

impl Open {
    /// The next octets, at most so many; `None` at the end.
    async fn read(
        &mut self,
        bytes_max: usize,
        limits: &Limits,
    ) -> Result<Option<Vec<u8>>, NetFailure> {
        while self.left.is_empty() {
            match next(&mut self.response, limits).await? {
                Some(piece) => self.left = piece,
                None => return Ok(None),
            }
        }
        let count = self.left.len().min(bytes_max);
        Ok(Some(self.left.split_to(count).to_vec()))
    }
}

/// Sends a request whose answer is read in pieces.
pub(super) async fn open(client: Client, request: HttpRequest) -> Result<Open, NetFailure> {
    let limits = Limits::new(request.timeout_ms, request.read_timeout_ms);
    let response = send(&client, request, &limits).await?;
    Ok(Open {
        head: head(&response),
        response,
        left: Bytes::new(),
        limits,
    })
}

impl Streams {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer.
    pub(super) fn add(&self, open: Open) -> NetAnswer {
        let head = open.head.clone();
        let (stream, mut reserved) = self.reserve();
        *reserved = Some(Ok(open));
        NetAnswer::Opened { stream, head }
    }

    /// A stream whose answer will come; whoever wants it waits until it does.
    pub(super) fn reserve(&self) -> (u64, Reserved) {
        let content = Content::default();
        let reserved = content.clone().try_lock_owned();
        let reserved = reserved.expect("nobody else knows it");
        let mut table = self.table();
        table.count += 1;
        let number = table.count;
        let stream = Stream {
            content,
            connecting: None,
        };
        table.streams.insert(number, stream);
        (number, reserved)
    }

    /// Remembers what connects a stream, so that closing it ends that too.
    pub(super) fn is_connected_by(&self, number: u64, connecting: AbortHandle) {
        if let Some(stream) = self.table().streams.get_mut(&number) {
            stream.connecting = Some(connecting);
        }
    }

    pub(super) fn close(&self, number: u64) {
        let stream = self.table().streams.remove(&number);
        if let Some(connecting) = stream.and_then(|stream| stream.connecting) {
            connecting.abort();
        }
    }

    fn content(&self, number: u64) -> Result<Content, NetFailure> {
        let table = self.table();
        let stream = table.streams.get(&number);
        let content = stream.map(|stream| stream.content.clone());
        content.ok_or_else(|| failure(NetFailureKind::Unknown, "it was closed"))
    }

    /// What stands before the pieces.
    pub(super) async fn head(&self, stream: u64, limits: &Limits) -> Result<NetAnswer, NetFailure> {
        let content = self.content(stream)?;
        let Ok(content) = limits.wait(content.lock()).await else {
            return Ok(NetAnswer::Nothing);
        };
        match &*content {
            Some(Ok(open)) => Ok(NetAnswer::Opened {
                stream,
                head: open.head.clone(),
            }),
            Some(Err(failure)) => Err(failure.clone()),
            None => Err(failure(NetFailureKind::Connection, "it was closed")),
        }
    }

    /// The next octets.
    pub(super) async fn read(
        &self,
        stream: u64,
        bytes_max: usize,
        limits: &Limits,
    ) -> Result<NetAnswer, NetFailure> {
        let content = self.content(stream)?;
        let Ok(mut content) = limits.wait(content.lock()).await else {
            return Ok(NetAnswer::Nothing);
        };
        let open = match &mut *content {
            Some(Ok(open)) => open,
            Some(Err(failure)) => return Err(failure.clone()),
            None => return Ok(NetAnswer::Piece(None)),
        };
        match open.read(bytes_max, limits).await {
            Ok(Some(piece)) => Ok(NetAnswer::Piece(Some(piece))),
            Ok(None) => {
                *content = None;
                Ok(NetAnswer::Piece(None))
            }
            Err(failure) if failure.kind == NetFailureKind::Timeout => Ok(NetAnswer::Nothing),
            Err(failure) => {
                *content = Some(Err(failure.clone()));
                Err(failure)
            }
        }
    }

    /// Everything that is left, into a file. The stream is closed then.
    pub(super) async fn save(
        &self,
        stream: u64,
        destination: Destination,
    ) -> Result<NetAnswer, NetFailure> {
        let content = self.content(stream)?;
        self.close(stream);
        let content = content.lock().await.take();
        let gone = || Err(failure(NetFailureKind::Connection, "it was closed"));
        let mut open = content.unwrap_or_else(gone)?;
        save(&mut open.response, destination, stream, &open.limits)
            .await
            .map(NetAnswer::Saved)
    }
}
