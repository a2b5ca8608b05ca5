//! Servers of web sockets, and peers that do not behave.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{Outcome, Program, RunOptions, Sink};

/// Where a program is heard to listen, others come in its way and stay.
#[derive(Clone, Default)]
struct Crowd {
    written: Arc<Mutex<String>>,
    peers: Arc<Mutex<Vec<TcpStream>>>,
}

/// What peers say that are none: nothing, nonsense, and a request for something else.
const SAYINGS: [&str; 3] = ["", "\u{0}hello\r\n\r\n", "GET /chat HTTP/1.1\r\n\r\n"];

impl Sink for Crowd {
    fn write(&mut self, _stream: Stream, text: &str) {
        let Some(address) = text.trim_end().strip_prefix("at ") else {
            let mut written = self.written.lock().expect("nobody has panicked");
            return written.push_str(text);
        };
        for saying in SAYINGS {
            let mut peer = TcpStream::connect(address).expect("somebody listens");
            peer.write_all(saying.as_bytes()).expect("it is heard");
            let mut peers = self.peers.lock().expect("nobody has panicked");
            peers.push(peer);
        }
    }

    fn flush(&mut self) {}
}

#[test]
fn peers_that_do_not_behave_keep_nobody_out() {
    let text = "\
let server = websocket_server(\"127.0.0.1:0\", {path: \"/chat\"})
println(\"at ${server.addr}\")
let guest = websocket_connect(\"${server.url}/chat\")
let host = websocket_accept(server, 20s)
websocket_send(guest, \"hello\")
println(websocket_receive(host).data)
println(websocket_accept(server, 1ms).type)
";
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", text);
    let options = RunOptions {
        timeout: Some(Duration::from_secs(60)),
        ..RunOptions::default()
    };
    let crowd = Crowd::default();
    let ended = Program::new(&mut workspace, Path::new("/main.harn"))
        .run(&options, Box::new(crowd.clone()))
        .expect("it compiles");
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    let written = crowd.written.lock().expect("nobody has panicked");
    assert_eq!(*written, "hello\ntimeout\n");
}
