//! Answers that go to a file.

use std::path::PathBuf;
use std::task::Poll;

use harn_machine::{
    Answer, Context, Failure, FileRequest, NetAnswer, NetFailureKind, NetRequest, Registry,
    Request, Value, Waiting, argument, thrown,
};

use super::journey::{Arrived, Journey};
use super::reply::Head;
use super::requests::required_url;
use super::streams::opening;
use crate::expect::text;
use crate::files::{perform, root};

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(&[("http_download", http_download)]);
}

/// How far a download is.
enum Download {
    Coming(Box<Journey>),
    Saving { stream: u64, head: Head },
}

/// `http_download(url, path, options)`
fn http_download(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let known = waiting.note.take().and_then(|note| note.downcast().ok());
    let download: Box<Download> = match known {
        Some(download) => download,
        None => Box::new(begin(context, arguments)?),
    };
    waiting.stops_at_once = true;
    let path = Destination::of(context, arguments);
    let (stream, head) = match *download {
        Download::Saving { stream, head } => (stream, head),
        Download::Coming(mut journey) => match journey.go_on(context, waiting)? {
            Poll::Pending => {
                waiting.note = Some(Box::new(Download::Coming(journey)));
                return Ok(Poll::Pending);
            }
            Poll::Ready(Arrived::Whole(reply)) => {
                let body = reply.body.as_bytes().to_vec();
                return path.write(context, reply.head, body).map(Poll::Ready);
            }
            Poll::Ready(Arrived::Opened { stream, head }) => (stream, head),
        },
    };
    let saved = waiting.effect(context, || {
        Request::Net(NetRequest::Save {
            stream,
            path: path.resolved.clone(),
        })
    });
    match saved {
        None => {
            waiting.note = Some(Box::new(Download::Saving { stream, head }));
            Ok(Poll::Pending)
        }
        Some(answer) => path.saved(head, answer).map(Poll::Ready),
    }
}

fn begin(context: &mut Context<'_>, arguments: &[Value]) -> Result<Download, Failure> {
    required_url("http_download", arguments, 0)?;
    if argument(arguments, 1).is_nil() || text(arguments, 1).is_empty() {
        return thrown("http_download: destination path is required");
    }
    let journey = opening(context, "http_download", arguments, argument(arguments, 2))?;
    Ok(Download::Coming(Box::new(journey)))
}

/// The file of a download.
struct Destination {
    shown: String,
    resolved: PathBuf,
}

impl Destination {
    fn of(context: &mut Context<'_>, arguments: &[Value]) -> Self {
        let shown = text(arguments, 1).to_string();
        let resolved = root::resolve(context, &shown);
        Self { shown, resolved }
    }

    /// Writes the body of a mock.
    fn write(
        &self,
        context: &mut Context<'_>,
        head: Head,
        body: Vec<u8>,
    ) -> Result<Value, Failure> {
        let count = body.len() as u64;
        match perform(context, FileRequest::Write(self.resolved.clone(), body)) {
            Ok(_) => Ok(described(head, count)),
            Err(reason) => self.unwritten(&reason),
        }
    }

    fn saved(&self, head: Head, answer: Answer) -> Result<Value, Failure> {
        match answer {
            Answer::Net(NetAnswer::Saved(count)) => Ok(described(head, count)),
            Answer::Net(NetAnswer::Failed(failure)) if failure.kind == NetFailureKind::File => {
                self.unwritten(&failure.reason)
            }
            Answer::Net(NetAnswer::Failed(failure)) if failure.kind == NetFailureKind::Timeout => {
                thrown(format!("http_download: request failed: {}", failure.reason))
            }
            Answer::Net(NetAnswer::Failed(failure)) => {
                let reason = failure.reason;
                thrown(format!(
                    "http_download: failed to read response body: {reason}"
                ))
            }
            _ => thrown("http_download: request failed: the world does not know HTTP"),
        }
    }

    fn unwritten<T>(&self, reason: &str) -> Result<T, Failure> {
        let path = &self.shown;
        thrown(format!("http_download: failed to write {path}: {reason}"))
    }
}

fn described(head: Head, count: u64) -> Value {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    head.described([("bytes_written", Value::Int(count))])
}
