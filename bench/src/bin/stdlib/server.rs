//! A server on this machine that answers everything with the same page.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\r\nHello, world!";

/// Its threads end with the process.
pub(crate) struct Server {
    address: SocketAddr,
}

impl Server {
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::Builder::new().spawn(move || {
            for connection in listener.incoming().flatten() {
                let serving = thread::Builder::new().stack_size(128 * 1024);
                // Whoever is not served will say so.
                let _no_thread_left = serving.spawn(move || serve(&connection));
            }
        })?;
        Ok(Self { address })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Answers requests without a body until the other side has enough.
fn serve(connection: &TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            let mut connection = connection;
            connection.write_all(ANSWER)?;
        }
    }
}
