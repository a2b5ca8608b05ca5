//! A model behind HTTP that is decided by what it is asked, and writes down everything.
//!
//! A prompt is worth two turns with calls and one that says that all is done. Each answer has the
//! number of its request in it, and so has each of its calls: an answer that was asked for twice
//! is seen to be another one.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::moment::{Happening, KillMoment, Landmark};
use super::{PATIENCE, problem};
use crate::campaign::model::{Checked, violation};

/// How the messages of editors begin.
pub(super) const PROMPT: &str = "Prompt ";
/// Turns with calls that a prompt is worth.
const TURNS: usize = 2;
/// What the number of an answer comes after.
const ANSWER: &str = "answer-";

/// Something that has reached the server, in order.
#[derive(Clone, Debug)]
pub(super) enum LedgerEntry {
    /// The model was asked. Its answer has the number of the request.
    Asked { number: u64, messages: Vec<Value> },
    /// A call took effect.
    Effect(String),
    /// An editor was told that a call of this answer runs or has run.
    Shown { number: u64 },
}

/// A call of an answer.
pub(super) struct ScriptedCall {
    pub(super) tool: &'static str,
    /// Its argument: no other call has it.
    pub(super) what: String,
}

/// The calls of an answer, if it has some.
pub(super) fn calls_of(number: u64) -> Vec<ScriptedCall> {
    let tools: &[&str] = match number % 3 {
        0 => &["look", "paint", "look", "paint"],
        1 => &["look", "look", "paint"],
        _ => &["paint", "look"],
    };
    let call = |(at, tool): (usize, &&'static str)| ScriptedCall {
        tool,
        what: format!("{number}.{at}"),
    };
    tools.iter().enumerate().map(call).collect()
}

/// The number of the answer that a call belongs to.
pub(super) fn answer_of(what: &str) -> Option<u64> {
    what.split('.').next()?.parse().ok()
}

/// The number of an answer, from its text.
pub(super) fn number_of(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(ANSWER)?;
    let digits = rest.split(|one: char| !one.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The server. Dropped, it ends.
pub(super) struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    /// How calls are written: `native` or `text`.
    format: &'static str,
    state: Mutex<ServerState>,
    changed: Condvar,
    heard: Sender<Happening>,
}

#[derive(Default)]
struct ServerState {
    ledger: Vec<LedgerEntry>,
    /// How many requests have arrived.
    asked: u64,
    /// What to look for: a landmark, how often it is passed before, and whether to stop there.
    plan: Option<(Landmark, u64, bool)>,
    /// Whether those who have stopped at the landmark may go on.
    is_released: bool,
    /// Requests that are being served. A process also opens connections ahead of need.
    served: u64,
    is_closed: bool,
}

impl ModelServer {
    /// Starts one on this machine.
    pub(super) fn start(format: &'static str, heard: Sender<Happening>) -> Checked<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(problem("no server"))?;
        let address = listener.local_addr().map_err(problem("no server"))?;
        let shared = Arc::new(Shared {
            format,
            state: Mutex::default(),
            changed: Condvar::new(),
            heard,
        });
        let ours = Arc::clone(&shared);
        Ok(Self {
            address,
            shared,
            listening: Some(thread::spawn(move || listen(&listener, &ours))),
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Looks for a landmark from now on.
    pub(super) fn watch_for(&self, moment: KillMoment) {
        let mut state = self.shared.state();
        state.plan = Some((moment.landmark, moment.passed, moment.is_held));
        state.is_released = false;
    }

    /// Lets those go on who have stopped, and waits until no request is served.
    pub(super) fn settle(&self) -> Checked {
        let mut state = self.shared.state();
        state.plan = None;
        state.is_released = true;
        self.shared.changed.notify_all();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, PATIENCE, |state| state.served > 0);
        let (state, _timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.served > 0 {
            true => violation!("a request of a dead process is served for ever"),
            false => Ok(()),
        }
    }

    /// Notes that an editor was told of a call of this answer.
    pub(super) fn note_shown(&self, number: u64) {
        self.shared
            .state()
            .ledger
            .push(LedgerEntry::Shown { number });
    }

    /// Everything that has reached the server so far.
    pub(super) fn ledger(&self) -> Vec<LedgerEntry> {
        self.shared.state().ledger.clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        // The thread waits for a connection.
        let _it_has_one = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            let _it_has_told_why = listening.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has happened that may be the landmark. Stops there, if that is planned.
    fn pass(&self, landmark: Landmark) {
        let mut state = self.state();
        let Some((planned, left, is_held)) = &mut state.plan else {
            return;
        };
        if *planned != landmark {
            return;
        }
        if *left > 0 {
            *left -= 1;
            return;
        }
        let is_held = *is_held;
        state.plan = None;
        let _the_scenario_is_over = self.heard.send(Happening::Reached);
        if is_held {
            let stopped = |state: &mut ServerState| !state.is_released;
            drop(self.changed.wait_timeout_while(state, PATIENCE, stopped));
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.state().is_closed {
            return;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // Those who ask are killed, so any of this may fail.
            let _a_broken_connection = stream.and_then(|stream| serve(stream, &shared));
        });
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some((path, body)) = read_request(&mut stream)? else {
        return Ok(());
    };
    shared.state().served += 1;
    let served = serve_request(&mut stream, &path, body, shared);
    shared.state().served -= 1;
    shared.changed.notify_all();
    served
}

fn serve_request(
    stream: &mut TcpStream,
    path: &str,
    body: String,
    shared: &Shared,
) -> io::Result<()> {
    match path {
        "/effect" => {
            shared.state().ledger.push(LedgerEntry::Effect(body));
            shared.pass(Landmark::Effect);
            stream.write_all(whole("text/plain", "noted").as_bytes())
        }
        "/between" => {
            shared.pass(Landmark::Between);
            stream.write_all(whole("text/plain", "seen").as_bytes())
        }
        _ => answer(stream, &body, shared),
    }
}

fn answer(stream: &mut TcpStream, body: &str, shared: &Shared) -> io::Result<()> {
    let body: Value = serde_json::from_str(body)?;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let turns = turns_since_prompt(&messages);
    let number = {
        let mut state = shared.state();
        state.asked += 1;
        let number = state.asked;
        state.ledger.push(LedgerEntry::Asked { number, messages });
        number
    };
    shared.pass(Landmark::Asked);
    let reply = reply(number, turns < TURNS, shared.format);
    let text = match body["stream"] == true {
        true => streamed(&reply),
        false => in_one_piece(&reply),
    };
    let (first, rest) = text.split_at(text.len() / 2);
    stream.write_all(first.as_bytes())?;
    shared.pass(Landmark::HalfAnswered);
    stream.write_all(rest.as_bytes())?;
    shared.pass(Landmark::Answered);
    Ok(())
}

fn turns_since_prompt(messages: &[Value]) -> usize {
    let is_prompt = |message: &Value| {
        let content = message["content"].as_str().unwrap_or_default();
        message["role"] == "user" && content.starts_with(PROMPT)
    };
    let since = messages.iter().rposition(is_prompt).unwrap_or(0);
    let turns = messages[since..].iter();
    turns.filter(|one| one["role"] == "assistant").count()
}

/// What the model says, and why it stops.
struct ScriptedReply {
    message: Value,
    stop: &'static str,
}

fn reply(number: u64, has_calls: bool, format: &str) -> ScriptedReply {
    let calls = match has_calls {
        true => calls_of(number),
        false => Vec::new(),
    };
    match (format, has_calls) {
        ("text", true) => {
            let call = |call: &ScriptedCall| {
                let ScriptedCall { tool, what } = call;
                format!("\n<tool_call>\n{tool}({{ what: \"{what}\" }})\n</tool_call>")
            };
            let calls: String = calls.iter().map(call).collect();
            let prose = format!("<assistant_prose>{ANSWER}{number}</assistant_prose>");
            ScriptedReply {
                message: json!({"content": format!("{prose}{calls}")}),
                stop: "stop",
            }
        }
        ("text", false) => ScriptedReply {
            message: json!({"content": format!("<user_response>{ANSWER}{number}</user_response>")}),
            stop: "stop",
        },
        (_, true) => {
            let call = |(at, call): (usize, &ScriptedCall)| {
                let arguments = json!({"what": call.what}).to_string();
                let function = json!({"name": call.tool, "arguments": arguments});
                let id = format!("id-{number}-{at}");
                json!({"index": at, "id": id, "type": "function", "function": function})
            };
            let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
            ScriptedReply {
                message: json!({"content": format!("{ANSWER}{number}"), "tool_calls": calls}),
                stop: "tool_calls",
            }
        }
        (_, false) => ScriptedReply {
            message: json!({"content": format!("{ANSWER}{number}")}),
            stop: "stop",
        },
    }
}

fn streamed(reply: &ScriptedReply) -> String {
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 3});
    let events = [
        json!({"model": "m-1", "choices": [{"delta": reply.message}]}),
        json!({"model": "m-1", "choices": [{"delta": {}, "finish_reason": reply.stop}]}),
        json!({"model": "m-1", "choices": [], "usage": usage}),
    ];
    let events = events.map(|event| format!("data: {event}\n\n")).concat();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
         {events}data: [DONE]\n\n"
    )
}

fn in_one_piece(reply: &ScriptedReply) -> String {
    let mut message = reply.message.clone();
    message["role"] = json!("assistant");
    let body = json!({
        "model": "m-1",
        "choices": [{"message": message, "finish_reason": reply.stop}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    });
    whole("application/json", &body.to_string())
}

fn whole(kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

/// The path and the body of a request; `None` if it is not whole.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut request = Vec::new();
    let mut piece = [0; 16_384];
    loop {
        if let Some(found) = split(&request) {
            return Ok(Some(found));
        }
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            length => request.extend_from_slice(&piece[..length]),
        }
    }
}

fn split(request: &[u8]) -> Option<(String, String)> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    // A request without a body may say nothing of its length.
    let length = match head.split_once("content-length: ") {
        Some((_, rest)) => rest.lines().next()?.trim().parse().ok()?,
        None => 0,
    };
    let body = request.get(end + 4..end + 4 + length)?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some((path, String::from_utf8_lossy(body).into_owned()))
}
