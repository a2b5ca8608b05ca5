//! Servers on this machine that do exactly what a test tells them, and names that lead there.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harn_agent::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use url::Url;

use crate::fetcher::{FetchLimits, Fetcher, NamedOrigins, Resolver};

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The parameters of the query or of a form.
    pub(crate) fn parameters(&self) -> BTreeMap<String, String> {
        let query = self.target.split_once('?').map(|(_, query)| query);
        let text = query.unwrap_or(&self.body);
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        pairs.into_owned().collect()
    }
}

/// What a server says.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    ends: bool,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            ends: true,
        }
    }

    pub(crate) fn json(body: &serde_json::Value) -> Self {
        Self::new(200)
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    /// Events; the stream stays open.
    pub(crate) fn events(text: &str) -> Self {
        let mut reply = Self::new(200)
            .header("content-type", "text/event-stream")
            .body(text);
        reply.ends = false;
        reply
    }

    pub(crate) fn redirect(location: &str) -> Self {
        Self::new(302).header("location", location)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// A server that stops when it is dropped.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Connections whose other end went away before the answer had ended.
    pub(crate) abandoned: tokio::sync::watch::Receiver<usize>,
    task: JoinHandle<()>,
}

type Answer = dyn Fn(&Seen) -> Reply + Send + Sync;

impl Peer {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::with(listener, Arc::new(answer))
    }

    /// For servers whose answers name their own address.
    pub(crate) async fn at<A>(make: impl FnOnce(String) -> A) -> Self
    where
        A: Fn(&Seen) -> Reply + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        Self::with(listener, Arc::new(make(origin)))
    }

    fn with(listener: TcpListener, answer: Arc<Answer>) -> Self {
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (gone, abandoned) = tokio::sync::watch::channel(0);
        let task = tokio::spawn(accept(listener, answer, seen.clone(), Arc::new(gone)));
        Self {
            address,
            seen,
            abandoned,
            task,
        }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn seen_at(&self, path: &str) -> Vec<Seen> {
        let mut seen = self.seen();
        seen.retain(|one| one.path() == path);
        seen
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    listener: TcpListener,
    answer: Arc<Answer>,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<tokio::sync::watch::Sender<usize>>,
) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let (answer, seen, gone) = (answer.clone(), seen.clone(), gone.clone());
        tokio::spawn(async move {
            let Some(request) = read(&mut stream).await else {
                return;
            };
            seen.lock().unwrap().push(request.clone());
            let reply = answer(&request);
            let ends = reply.ends;
            let written = write(&mut stream, reply).await;
            if written.is_ok() && !ends {
                // Only the other end can end this.
                let mut byte = [0; 1];
                let _ = stream.read(&mut byte).await;
                gone.send_modify(|count| *count += 1);
            }
        });
    }
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&chunk[..count]);
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ');
    let method = first.next().unwrap().to_owned();
    let target = first.next().unwrap().to_owned();
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut body = bytes[head_end..].to_vec();
    while body.len() < length {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok()?;
        if count == 0 {
            return None;
        }
        body.extend_from_slice(&chunk[..count]);
    }
    Some(Seen {
        method,
        target,
        headers,
        body: String::from_utf8(body).unwrap(),
    })
}

async fn write(stream: &mut TcpStream, reply: Reply) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if reply.ends {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&reply.body).await?;
    stream.flush().await
}

/// Knows the names of a test; counts how often it was asked.
#[derive(Default)]
pub(crate) struct Names {
    known: BTreeMap<String, Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    pub(crate) fn new(known: &[(&str, &[&str])]) -> Arc<Self> {
        let known = known.iter().map(|(name, addresses)| {
            let addresses = addresses.iter().map(|one| one.parse().unwrap());
            ((*name).to_owned(), addresses.collect())
        });
        Arc::new(Self {
            known: known.collect(),
            asked: AtomicUsize::new(0),
        })
    }
}

impl Resolver for Names {
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.known.get(host).cloned();
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such name");
        Box::pin(async move {
            let found = found.ok_or_else(unknown)?;
            Ok(found
                .into_iter()
                .map(|ip| SocketAddr::new(ip, port))
                .collect())
        })
    }
}

/// A fetcher that knows `names` and whose exceptions are `named`.
pub(crate) fn fetcher(names: Arc<Names>, named: &str) -> Fetcher {
    let named = NamedOrigins::parse(named).unwrap();
    Fetcher::new(names, named, FetchLimits::default())
}
