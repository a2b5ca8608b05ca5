//! Servers to talk with, and a client that remembers what it was told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_agent::BoxFuture;
use harn_agent::tool_servers::{
    CallJournal, Capabilities, ServerCall, ServerClient, ServerConfig, ServerNotice, ServerRequest,
    ToolServer, ToolServers,
};
use harn_mcp::{Patience, Servers, Surroundings};
use serde_json::{Value, json};
use tokio::sync::watch;

/// What a server was seen to do.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) notices: Mutex<Vec<ServerNotice>>,
    /// Told of every notice.
    news: watch::Sender<()>,
    pub(crate) changes: Mutex<usize>,
    pub(crate) warnings: Mutex<Vec<String>>,
    pub(crate) asked: Mutex<Vec<ServerRequest>>,
    /// What there is to ask for.
    pub(crate) capabilities: Capabilities,
    /// What is answered.
    pub(crate) answer: Answer,
    /// How many questions were taken back before anybody answered.
    taken_back: watch::Sender<usize>,
}

/// What a server hears when it asks.
#[derive(Clone, Debug, Default)]
pub(crate) enum Answer {
    /// Nobody is there.
    #[default]
    Nobody,
    /// This.
    Said(Value),
    /// Nothing so far.
    Later,
}

impl Seen {
    /// Somebody who fills in forms.
    pub(crate) fn person(answer: Value) -> Self {
        let capabilities = Capabilities {
            forms: true,
            ..Capabilities::default()
        };
        Self::able(capabilities, Answer::Said(answer))
    }

    /// Somebody who can be asked for these things.
    pub(crate) fn able(capabilities: Capabilities, answer: Answer) -> Self {
        Self {
            capabilities,
            answer,
            ..Self::default()
        }
    }

    /// Until a notice was heard.
    pub(crate) async fn heard(&self, method: &str) {
        let mut news = self.news.subscribe();
        let hearing = async {
            while !self.methods().iter().any(|heard| heard == method) {
                news.changed().await.unwrap();
            }
        };
        within_reason(hearing).await;
    }

    /// Until so many questions were asked.
    pub(crate) async fn was_asked(&self, count: usize) {
        let mut news = self.news.subscribe();
        let asking = async {
            while self.asked.lock().unwrap().len() < count {
                news.changed().await.unwrap();
            }
        };
        within_reason(asking).await;
    }

    /// Until a question was taken back.
    pub(crate) async fn took_back(&self) {
        let mut taken_back = self.taken_back.subscribe();
        let taking = async {
            taken_back.wait_for(|count| *count > 0).await.unwrap();
        };
        within_reason(taking).await;
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let notices = self.notices.lock().unwrap();
        notices.iter().map(|notice| notice.method.clone()).collect()
    }
}

/// Waits for what comes soon if it comes at all.
pub(crate) async fn within_reason<T>(waiting: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(30);
    let waited = tokio::time::timeout(limit, waiting).await;
    waited.unwrap_or_else(|_| panic!("it did not happen within {limit:?}"))
}

impl ServerClient for Seen {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn notice(&self, notice: ServerNotice) {
        self.notices.lock().unwrap().push(notice);
        self.news.send_replace(());
    }

    fn catalogue_changed(&self, _session_id: Option<&str>) {
        *self.changes.lock().unwrap() += 1;
        self.news.send_replace(());
    }

    fn auth_required(&self, _resource: &str, _scope: Option<&str>, _session_id: Option<&str>) {}

    fn answer<'a>(
        &'a self,
        request: ServerRequest,
        _session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>> {
        self.asked.lock().unwrap().push(request);
        self.news.send_replace(());
        match self.answer.clone() {
            Answer::Nobody => Box::pin(std::future::ready(Err("nobody is here".to_owned()))),
            Answer::Said(answer) => Box::pin(std::future::ready(Ok(answer))),
            Answer::Later => Box::pin(async {
                let _open = Open(&self.taken_back);
                std::future::pending().await
            }),
        }
    }

    fn warn(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }
}

/// A question that nobody has answered.
struct Open<'a>(&'a watch::Sender<usize>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count += 1);
    }
}

/// Time that stands still until somebody moves it. A clock that is only paused jumps whenever
/// everybody waits, though it may be for a process that works.
pub(crate) struct StoppedClock {
    /// There is work as long as this is held, as far as the clock can see.
    _held: std::sync::mpsc::Sender<()>,
}

impl StoppedClock {
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        let (held, released) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || released.recv());
        Self { _held: held }
    }
}

impl Drop for StoppedClock {
    fn drop(&mut self) {
        tokio::time::resume();
    }
}

/// What was written down, in order.
#[derive(Default)]
pub(crate) struct Written(pub(crate) Mutex<Vec<Value>>);

impl CallJournal for Written {
    fn input_required(&self, round: Value) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(round);
        Box::pin(std::future::ready(()))
    }

    fn input_given(&self, round: Value) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(round);
        Box::pin(std::future::ready(()))
    }

    fn task_begun<'a>(&'a self, task_id: &'a str) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push(json!({"task": task_id}));
        Box::pin(std::future::ready(()))
    }
}

/// A server of ours that behaves in a way, with more said about it.
pub(crate) struct Stage {
    pub(crate) server: Arc<dyn ToolServer>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) servers: Servers,
}

impl Stage {
    pub(crate) fn new(behaviour: &str, more: Value) -> Self {
        Self::with(behaviour, more, Seen::default())
    }

    pub(crate) fn with(behaviour: &str, more: Value, seen: Seen) -> Self {
        Self::of(described(behaviour, more), seen)
    }

    pub(crate) fn of(config: Value, seen: Seen) -> Self {
        Self::patient(config, seen, Patience::default())
    }

    /// The same, with so much patience for servers that do not end.
    pub(crate) fn patient(config: Value, seen: Seen, patience: Patience) -> Self {
        let servers = Servers::new(Surroundings {
            environment: [
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("OTHER", "hidden"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            patience,
            ..Surroundings::default()
        });
        let seen = Arc::new(seen);
        let config = ServerConfig::read(&config).unwrap();
        let server = servers.server(config, Arc::clone(&seen) as _);
        Self {
            server,
            seen,
            servers,
        }
    }

    /// Calls a tool and gives its text, or what went wrong.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let result = self.server.call(call(tool, arguments)).await;
        match result {
            Ok(result) if result.is_error => Err(result.text()),
            Ok(result) => Ok(result.text()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A server of ours that behaves in a way, with more said about it.
pub(crate) fn described(behaviour: &str, more: Value) -> Value {
    let file = match behaviour {
        "modern" => "modern.py",
        _ => "server.py",
    };
    let script = format!("{}/tests/servers/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut config = json!({"name": "it", "command": "python3", "args": [script, behaviour]});
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    config
}

pub(crate) fn call(tool: &str, arguments: Value) -> ServerCall {
    let mut call = ServerCall::new(tool, arguments.as_object().unwrap().clone());
    call.session_id = Some("s".to_owned());
    call
}
