//! What is recorded is played: bytes, boundaries, failures.

use std::io;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::tape::{self, Matching, Playing, Redaction, TapePlayer};

/// A network that answers everything with the same pieces and then maybe breaks.
struct Wires {
    status: u16,
    pieces: Vec<&'static [u8]>,
    failure: Option<Error>,
}

impl Transport for Wires {
    fn send<'a>(
        &'a self,
        _request: &'a HttpRequest,
        _limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        let answer = match (&self.failure, self.pieces.is_empty()) {
            (Some(failure), true) => Err(failure.clone()),
            _ => Ok(HttpAnswer {
                status: self.status,
                headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
                body: Box::new(Pieces(
                    self.pieces.clone().into_iter().rev().collect(),
                    self.failure.clone(),
                )),
            }),
        };
        Box::pin(std::future::ready(answer))
    }
}

struct Pieces(Vec<&'static [u8]>, Option<Error>);

impl Body for Pieces {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        let next = match (self.0.pop(), &self.1) {
            (Some(piece), _) => Ok(Some(Bytes::from_static(piece))),
            (None, Some(failure)) => Err(failure.clone()),
            (None, None) => Ok(None),
        };
        Box::pin(std::future::ready(next))
    }
}

fn wires(status: u16, pieces: &[&'static [u8]], failure: Option<Error>) -> Wires {
    Wires {
        status,
        pieces: pieces.to_vec(),
        failure,
    }
}

fn request() -> HttpRequest {
    HttpRequest {
        url: "https://a/v1/chat/completions".to_owned(),
        headers: Vec::new(),
        body: json!({"model": "m", "messages": []}),
    }
}

fn recording(path: &Path, wires: Wires) -> Recording {
    let (recorder, _) = TapeRecorder::open(path, Redaction::none()).unwrap();
    Recording::new(Arc::new(wires), recorder)
}

/// What a transport gives: the status, the pieces, and how it ended.
async fn heard(transport: &dyn Transport) -> (Option<u16>, Vec<Vec<u8>>, Option<Error>) {
    let request = request();
    let mut answer = match transport.send(&request, &TimeLimits::default()).await {
        Ok(answer) => answer,
        Err(error) => return (None, Vec::new(), Some(error)),
    };
    let mut pieces = Vec::new();
    loop {
        match answer.body.chunk().await {
            Ok(Some(chunk)) => pieces.push(chunk.to_vec()),
            Ok(None) => return (Some(answer.status), pieces, None),
            Err(error) => return (Some(answer.status), pieces, Some(error)),
        }
    }
}

fn playing(path: &Path) -> Playing {
    let tape = tape::Tape::open(path).unwrap();
    Playing::new(TapePlayer::new(tape, Matching::Strict, Redaction::none()))
}

#[tokio::test]
async fn a_tape_says_again_what_the_network_said() {
    let broken = || Some(Error::new(Category::TransientNetwork, "connection reset"));
    let rows = [
        wires(200, &[b"data: \xc3", b"\xa9\n", b"\n"], None),
        wires(429, &[b"slow down"], None),
        wires(200, &[b"data: 1"], broken()),
        wires(200, &[], broken()),
    ];
    for wires in rows {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape");
        let live = heard(&recording(&path, wires)).await;
        let player = playing(&path);
        assert_eq!(player.unused(), 1);
        assert_eq!(heard(&player).await, live);
        assert_eq!(player.unused(), 0);
        let (_, _, over) = heard(&player).await;
        assert_eq!(
            over.unwrap().message,
            "request 2 is one more than the tape has"
        );
    }
}

#[tokio::test]
async fn an_answer_that_nobody_wanted_is_marked_as_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let wires = wires(200, &[b"one", b"two"], None);
    let transport = recording(&path, wires);
    let request = request();
    let mut answer = transport
        .send(&request, &TimeLimits::default())
        .await
        .unwrap();
    answer.body.chunk().await.unwrap();
    drop(answer);
    let tape = tape::Tape::open(&path).unwrap();
    let exchange = &tape.exchanges[0];
    assert_eq!(exchange.response.as_ref().unwrap().chunks.len(), 1);
    assert_eq!(exchange.failure.as_ref().unwrap().category, "cancelled");
}

/// A disk without room.
struct Full;

impl io::Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_tape_that_cannot_be_written_is_an_error() {
    let wires = wires(200, &[b"one"], None);
    let recorder = TapeRecorder::new(Full, Redaction::none());
    let (_, pieces, error) = heard(&Recording::new(Arc::new(wires), recorder)).await;
    assert_eq!(pieces, [b"one".to_vec()]);
    assert!(
        error
            .unwrap()
            .message
            .starts_with("could not write the tape: ")
    );
}
