//! A client that knows nothing of us but the protocol.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_acp::{Access, Mode, Server, ServerOptions, SessionLimits};
use harn_vm::agent::log::{AnyEventLog, MemoryEventLog};
use harn_vm::machine::Entry;
use harn_vm::{AnsweringProgram, ModelOptions, NamedText, RunOptions, ScenarioUse};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// Longer than anything takes; a test that hangs ends then.
const HANGS: Duration = Duration::from_secs(60);

/// A program that talks, with the tools that a test gives it.
pub(crate) const TALKS: &str = r#"
pipeline answer(prompt, session_id) {
  agent_loop(prompt, "You talk.", {session_id: session_id, tools: coding_tools()})
}
"#;

/// An agent in a folder of its own.
pub(crate) struct Scene {
    folder: TempDir,
    pub(crate) server: Arc<Server>,
    pub(crate) printed: Arc<Mutex<String>>,
}

/// How a scene is made.
pub(crate) struct Setting<'a> {
    pub(crate) program: &'a str,
    pub(crate) scenario: &'a str,
    pub(crate) log: Arc<AnyEventLog>,
    pub(crate) is_ephemeral: bool,
    pub(crate) retain: Duration,
    pub(crate) limits: SessionLimits,
    pub(crate) modes: Vec<Mode>,
}

impl Default for Setting<'_> {
    fn default() -> Self {
        Self {
            program: TALKS,
            scenario: "[[turn]]\ntext = \"Hello.\"\nrepeat = true\n",
            log: Arc::new(AnyEventLog::Memory(MemoryEventLog::new(1024))),
            is_ephemeral: false,
            retain: Duration::ZERO,
            limits: SessionLimits::default(),
            modes: Vec::new(),
        }
    }
}

impl Scene {
    /// An agent whose model says what a scenario tells.
    pub(crate) fn new(scenario: &str) -> Self {
        Self::of(Setting {
            scenario,
            ..Setting::default()
        })
    }

    pub(crate) fn of(setting: Setting<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::in_folder(folder, setting)
    }

    pub(crate) fn in_folder(folder: TempDir, setting: Setting<'_>) -> Self {
        let path = folder.path().join("agent.harn");
        std::fs::write(&path, setting.program).unwrap();
        let printed = Arc::<Mutex<String>>::default();
        let printing = Arc::clone(&printed);
        let mut run = RunOptions::default();
        run.world.models = ModelOptions {
            scenario: Some(ScenarioUse {
                file: NamedText {
                    name: "test.scenario.toml".to_owned(),
                    text: setting.scenario.to_owned(),
                },
                in_real_time: false,
            }),
            ..ModelOptions::default()
        };
        let environment = [
            ("HARN_LLM_PROVIDER", "openai"),
            ("HARN_LLM_MODEL", "gpt-4o"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        run.world.environment = environment.into();
        let server = Server::new(ServerOptions {
            proofs: None,
            program: AnsweringProgram {
                path,
                text: None,
                entry: Entry::Named("answer".to_owned()),
            },
            run,
            modes: setting.modes,
            title: None,
            log: setting.log,
            is_ephemeral: setting.is_ephemeral,
            retain: setting.retain,
            limits: setting.limits,
            access: Access {
                roots: vec![folder.path().to_owned()],
                ..Access::default()
            },
            printed: Arc::new(move |text| printing.lock().unwrap().push_str(text)),
        });
        Self {
            folder,
            server,
            printed,
        }
    }

    /// Ends the agent, and gives its folder for another one.
    pub(crate) fn end(self) -> TempDir {
        self.folder
    }

    /// Where the agent works.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.cwd().join(name)
    }

    /// Somebody who has not said anything yet.
    pub(crate) fn stranger(&self) -> Client {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let server = Arc::clone(&self.server);
        let serving = tokio::spawn(async move { server.serve(input, output).await });
        let (reading, writing) = tokio::io::split(ours);
        Client {
            lines: BufReader::new(reading).lines(),
            writing: Some(writing),
            serving,
            last_id: 0,
            waiting: VecDeque::new(),
            seen: Vec::new(),
        }
    }

    /// Somebody who has introduced themselves and can do nothing special.
    pub(crate) async fn client(&self) -> Client {
        self.client_with(json!({})).await
    }

    /// Somebody who has introduced themselves.
    pub(crate) async fn client_with(&self, capabilities: Value) -> Client {
        let mut client = self.stranger();
        let parameters = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        client.call("initialize", parameters).await.unwrap();
        client
    }
}

/// A client.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writing: Option<WriteHalf<DuplexStream>>,
    serving: JoinHandle<std::io::Result<()>>,
    last_id: u64,
    /// Messages that came while something else was waited for.
    waiting: VecDeque<Value>,
    /// All messages that came, in order.
    pub(crate) seen: Vec<Value>,
}

impl Client {
    /// Sends a line as it is.
    pub(crate) async fn send(&mut self, line: &str) {
        let writing = self.writing.as_mut().expect("it has not left");
        writing
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// Asks something and does not wait for the answer. Gives the id of the question.
    pub(crate) async fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        self.send(&request.to_string()).await;
        id
    }

    /// Tells something.
    pub(crate) async fn tell(&mut self, method: &str, parameters: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": parameters});
        self.send(&message.to_string()).await;
    }

    /// The next message.
    pub(crate) async fn read(&mut self) -> Value {
        self.try_read().await.expect("there is another message")
    }

    /// The next message; nothing if the agent has closed its end.
    pub(crate) async fn try_read(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(HANGS, self.lines.next_line()).await;
        let line = line.expect("the agent says something").unwrap()?;
        let message: Value = serde_json::from_str(&line).expect("every line is a message");
        self.seen.push(message.clone());
        Some(message)
    }

    /// The answer to a question: its result, or its error.
    pub(crate) async fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        let message = self.until(is_answer).await;
        match message.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(message["error"].clone()),
        }
    }

    /// The first message that fits; the others wait.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at).expect("it is there");
        }
        loop {
            let message = self.read().await;
            if fits(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Asks something and waits for the answer.
    pub(crate) async fn call(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.ask(method, parameters).await;
        self.answer(id).await
    }

    /// Begins a session in a folder and gives its id.
    pub(crate) async fn session(&mut self, cwd: &Path) -> String {
        let parameters = json!({"cwd": cwd, "mcpServers": []});
        let session = self.call("session/new", parameters).await.unwrap();
        session["sessionId"].as_str().unwrap().to_owned()
    }

    /// Writes something to a session and waits until the turn has ended.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Result<Value, Value> {
        let id = self.begin(session, text).await;
        self.answer(id).await
    }

    /// Writes something to a session.
    pub(crate) async fn begin(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        let parameters = json!({"sessionId": session, "prompt": prompt});
        self.ask("session/prompt", parameters).await
    }

    /// The updates of a session that came so far.
    pub(crate) fn updates(&self, session: &str) -> Vec<Value> {
        let updates = self.seen.iter().filter(|message| {
            message["method"] == "session/update" && message["params"]["sessionId"] == session
        });
        updates
            .map(|message| message["params"]["update"].clone())
            .collect()
    }

    /// What the agent has said in a session so far.
    pub(crate) fn said(&self, session: &str) -> String {
        let updates = self.updates(session);
        let chunks = updates
            .iter()
            .filter(|one| one["sessionUpdate"] == "agent_message_chunk");
        chunks
            .map(|one| one["content"]["text"].as_str().unwrap())
            .collect()
    }

    /// The next question of the agent.
    pub(crate) async fn asked(&mut self, method: &str) -> Value {
        let is_question =
            |message: &Value| message["method"] == method && message["id"] != Value::Null;
        self.until(is_question).await
    }

    /// Answers a question of the agent.
    pub(crate) async fn reply(&mut self, question: &Value, result: Value) {
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.send(&answer.to_string()).await;
    }

    /// Closes the input of the agent, reads what it still says, and gives how it ended.
    pub(crate) async fn leave(&mut self) -> std::io::Result<()> {
        if let Some(mut writing) = self.writing.take() {
            writing.shutdown().await.unwrap();
        }
        while self.try_read().await.is_some() {}
        (&mut self.serving).await.unwrap()
    }
}
