//! Starts servers of other people on this machine and stops them with us.
//!
//! Each test has servers of its own; most are ready within a second. A shell watches over each
//! one and kills it when its input ends, so it goes with us however we go.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// How long a server may take to start. The proxy imports for ten seconds when nothing else
/// happens on the machine.
const START_TIME_MAX: Duration = Duration::from_secs(180);

/// The master key of the proxy.
pub(crate) const PROXY_KEY: &str = "sk-harn-tests-0123456789abcdef0123456789abcdef";

/// Starts the server, and waits for the end of its input to kill it and to remove its folder.
const SCRIPT: &str = r#""$@" 2>&1 </dev/null & server=$!; exec >/dev/null; read -r end; kill -9 $server; rm -rf "$0""#;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    /// Where it is, without a slash at the end.
    pub(crate) url: String,
    /// Its end is the end of the server.
    input: Option<ChildStdin>,
    shell: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        self.shell.wait().ok();
    }
}

/// The proxy, and the servers behind it. Its models are called `llama-chat`, `mock-chat` and
/// `mock-claude`, after who answers and in which language.
pub(crate) struct Proxy {
    pub(crate) server: Server,
    _llama: Server,
    _aimock: Server,
}

/// llama.cpp with a model whose answers are written down in `scripted_gguf.py`.
pub(crate) fn llama() -> Server {
    let folder = scratch();
    let model = folder.join("scripted.gguf");
    let python = installed("models/bin/python");
    let mut writer = Command::new(&python);
    writer.arg(script("scripted_gguf.py")).arg(&model);
    let status = writer.status().expect("Python can be started");
    assert!(status.success(), "the model should be written: {status}");
    let mut command = Command::new(python);
    command.arg(script("llama_server.py")).arg(model).arg("0");
    start(&folder, command, "listening on").expect("llama.cpp should start")
}

/// The mock of every provider's API, with the answers in `aimock/answers.json`.
pub(crate) fn aimock() -> Server {
    let mut command = Command::new("node");
    command.arg(installed(
        "aimock/node_modules/@copilotkit/aimock/dist/cli.js",
    ));
    command.args(["--port", "0", "--chunk-size", "7", "--fixtures"]);
    command.arg(script("aimock"));
    start(&scratch(), command, "server listening on").expect("aimock should start")
}

impl Proxy {
    pub(crate) fn start() -> Self {
        let (llama, aimock) = (llama(), aimock());
        let mut problem = String::new();
        // It cannot be told to find a port by itself, and somebody may be faster.
        for _ in 0..3 {
            match start_proxy(&llama, &aimock) {
                Ok(server) => {
                    return Self {
                        server,
                        _llama: llama,
                        _aimock: aimock,
                    };
                }
                Err(said) => problem = said,
            }
        }
        panic!("the proxy should start: {problem}");
    }
}

fn start_proxy(llama: &Server, aimock: &Server) -> Result<Server, String> {
    let folder = scratch();
    let config = folder.join("config.yaml");
    let template = include_str!("proxy.yaml");
    let text = template
        .replace("LLAMA", &llama.url)
        .replace("AIMOCK", &aimock.url)
        .replace("MASTER_KEY", PROXY_KEY);
    std::fs::write(&config, text).expect("the folder can be written");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("there is a free port").port();
    let mut command = Command::new(installed("proxy/bin/litellm"));
    command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    command.arg("--config").arg(config);
    // It would ask the network for prices otherwise.
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    command.env("HOME", &folder);
    start(&folder, command, "Uvicorn running on")
}

/// # Errors
/// What the server said before it ended.
fn start(folder: &Path, command: Command, ready: &'static str) -> Result<Server, String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(SCRIPT).arg(folder);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    // Everything is on this machine.
    shell.env("NO_PROXY", "*").current_dir(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().expect("there is a shell");
    let input = shell.stdin.take().expect("it was asked for");
    let output = shell.stdout.take().expect("it was asked for");
    match wait_until_ready(output, ready) {
        Ok(url) => Ok(Server {
            url,
            input: Some(input),
            shell,
        }),
        Err(said) => {
            drop(input);
            shell.wait().expect("the shell ends with its input");
            Err(said)
        }
    }
}

/// Reads what a server says until it says where it is, and goes on reading so that it never
/// waits for us.
fn wait_until_ready(output: ChildStdout, ready: &'static str) -> Result<String, String> {
    let (found, wait) = mpsc::channel();
    thread::spawn(move || {
        let mut said = String::new();
        let mut lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        for line in lines.by_ref() {
            let line = String::from_utf8_lossy(&line);
            said.push_str(&line);
            said.push('\n');
            if line.contains(ready) {
                // Nobody may be waiting any more.
                let _heard = found.send(url_in(&line).ok_or_else(|| said.clone()));
                lines.by_ref().for_each(drop);
                return;
            }
        }
        let _heard = found.send(Err(said));
    });
    let outcome = wait.recv_timeout(START_TIME_MAX);
    outcome.unwrap_or_else(|_| Err("it neither starts nor ends".to_owned()))
}

fn url_in(line: &str) -> Option<String> {
    let url = &line[line.find("http://")?..];
    let url = url.split_whitespace().next()?;
    Some(url.trim_end_matches('/').to_owned())
}

impl Server {
    /// Asks for something that has nothing to do with models.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the server is there");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }
}

/// A file that `cargo xtask test` has installed.
#[track_caller]
pub(crate) fn installed(path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let file = target
        .expect("it is in the target folder")
        .join("peers")
        .join(path);
    assert!(
        file.exists(),
        "{} is missing; `cargo xtask peers` installs it",
        file.display()
    );
    file
}

/// A file beside this one.
pub(crate) fn script(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    folder.join(name)
}

/// A folder that the shell of a server removes.
fn scratch() -> PathBuf {
    TempDir::new().expect("there is room for a folder").keep()
}
