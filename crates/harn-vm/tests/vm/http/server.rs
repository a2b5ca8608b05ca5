//! Small servers that do exactly what a test says.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// `GET /path`
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A server that lives as long as its process.
pub(crate) struct Server {
    pub(crate) url: String,
    connections: Arc<AtomicUsize>,
    gone: Receiver<()>,
}

/// Writes the answer to a request. An error closes the connection.
type Handler = dyn Fn(&Received, &mut TcpStream) -> io::Result<()> + Send + Sync;

impl Server {
    /// A server that answers with a function.
    pub(crate) fn start(
        handler: impl Fn(&Received, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, gone) = channel();
        let (handler, count): (Arc<Handler>, _) = (Arc::new(handler), connections.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (handler, sender) = (handler.clone(), sender.clone());
                thread::spawn(move || serve(stream, &*handler, &sender));
            }
        });
        Self {
            url,
            connections,
            gone,
        }
    }

    /// A server that always answers the same.
    pub(crate) fn fixed(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_, stream| stream.write_all(&answer))
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until a client has closed its connection.
    #[track_caller]
    pub(crate) fn await_farewell(&self) {
        self.gone.recv_timeout(PATIENCE).expect("the client goes");
    }
}

fn serve(mut stream: TcpStream, handler: &Handler, gone: &Sender<()>) {
    stream.set_nodelay(true).expect("it is open");
    let mut reader = BufReader::new(stream.try_clone().expect("there are handles left"));
    while let Ok(Some(request)) = receive(&mut reader) {
        if handler(&request, &mut stream).is_err() {
            break;
        }
    }
    let _shut_already = stream.shutdown(std::net::Shutdown::Both);
    let _nobody_may_listen = gone.send(());
}

/// Reads one request; nothing at the end of the connection.
pub(crate) fn receive(reader: &mut impl BufRead) -> io::Result<Option<Received>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers = lines[1..].iter().map(|line| {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        (name.to_lowercase(), value.to_owned())
    });
    let line = lines[0].trim_end_matches(" HTTP/1.1").to_owned();
    let mut request = Received {
        line,
        headers: headers.collect(),
        body: Vec::new(),
    };
    let length = request.header("content-length").unwrap_or("0");
    request.body = vec![0; length.parse().expect("a length is a number")];
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

/// An answer with a length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

/// Blocks until the client closes the connection.
pub(crate) fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut octet = [0];
    while stream.read(&mut octet)? > 0 {}
    Err(io::ErrorKind::UnexpectedEof.into())
}
