//! The server of an attacker, who writes down all that arrives.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Listener {
    /// Host and port.
    pub(super) place: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    /// Answers every request with an error.
    pub(super) fn start() -> Self {
        Self::answering("500 Internal Server Error", "")
    }

    /// Answers every request with a status and one more header.
    pub(super) fn answering(status: &str, header: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("this machine has a network");
        let place = listener.local_addr().expect("it is bound").to_string();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let notes = Arc::clone(&heard);
        let answer =
            format!("HTTP/1.1 {status}\r\n{header}content-length: 0\r\nconnection: close\r\n\r\n");
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("it is bound");
                let said = read(&mut stream);
                notes
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(said);
                let _has_gone = stream.write_all(answer.as_bytes());
            }
        });
        Self { place, heard }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.place)
    }

    /// All that has arrived. It is written down before it is answered, so a program that has
    /// ended after an answer cannot have said more.
    pub(super) fn heard(&self) -> Vec<String> {
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The head of a request.
fn read(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).expect("it is one");
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    while !said.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => said.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}
