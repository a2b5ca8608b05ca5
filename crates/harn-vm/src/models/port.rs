//! Performs the effects of the kind `llm`.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use harn_agent::llm::catalog::{Capabilities, Config, Source};
use harn_agent::llm::desk::{ByHash, Desk, Ports, Question, Recording, Setup, Thrown};
use harn_agent::llm::mock::Mock;
use harn_agent::llm::mock::by_hash::Folder;
use harn_agent::llm::transport::{Http, HttpOptions};
use harn_machine::{Answer, EffectId, Outside};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::task::AbortHandle;

use super::options::{ModelOptions, Rerun};
use super::reply::encode;
use super::runtime::Runtime;
use crate::json::from_json;

/// Performs the effects of the kind `llm`. Nothing is opened or read before the first one.
pub(crate) struct ModelPort {
    options: ModelOptions,
    environment: BTreeMap<String, String>,
    outside: Outside,
    desk: Option<Result<Arc<Desk>, String>>,
    runtime: Option<Runtime>,
    /// What is waited for, so that it can be given up.
    waiting: HashMap<EffectId, AbortHandle>,
    streams: HashMap<u64, Pieces>,
    streams_opened: u64,
}

/// The pieces of an answer that is still coming. Unbounded, and yet no longer than the answer,
/// which is kept whole anyway.
type Pieces = Arc<Mutex<mpsc::UnboundedReceiver<String>>>;

/// What a builtin asks for.
struct Asked {
    builtin: String,
    arguments: Vec<Value>,
}

impl Asked {
    fn read(payload: &str) -> Self {
        let mut asked: Value = serde_json::from_str(payload).unwrap_or_default();
        let builtin = asked["builtin"].as_str().unwrap_or_default().to_owned();
        let arguments = match asked["arguments"].take() {
            Value::Array(arguments) => arguments,
            _ => Vec::new(),
        };
        Self { builtin, arguments }
    }

    fn text(&self, at: usize) -> Option<String> {
        let text = self.arguments.get(at).and_then(Value::as_str);
        text.map(str::to_owned)
    }

    fn dict(&self, at: usize) -> Map<String, Value> {
        match self.arguments.get(at) {
            Some(Value::Object(fields)) => fields.clone(),
            _ => Map::new(),
        }
    }

    fn question(&self, system: Option<usize>, options: usize) -> Question {
        Question {
            prompt: self.text(0).unwrap_or_default(),
            system: system.and_then(|at| self.text(at)),
            options: self.dict(options),
        }
    }
}

impl ModelPort {
    pub(crate) fn new(
        options: ModelOptions,
        environment: BTreeMap<String, String>,
        outside: Outside,
    ) -> Self {
        Self {
            options,
            environment,
            outside,
            desk: None,
            runtime: None,
            waiting: HashMap::new(),
            streams: HashMap::new(),
            streams_opened: 0,
        }
    }

    /// Answers at once.
    pub(crate) fn perform(&mut self, payload: &str) -> Answer {
        let asked = Asked::read(payload);
        let outcome = self.desk().and_then(|desk| self.answer(&desk, &asked));
        Answer::Text(Some(encode(outcome)))
    }

    fn answer(&mut self, desk: &Arc<Desk>, asked: &Asked) -> Result<Value, Thrown> {
        match asked.builtin.as_str() {
            "__llm_stream_open" => self.open_stream(desk, asked),
            "enable_tracing" => {
                desk.count_calls(asked.arguments.first() != Some(&json!(false)));
                Ok(Value::Null)
            }
            builtin => desk.answer(builtin, &asked.arguments).unwrap_or_else(|| {
                let text = format!("{builtin} is not something models can be asked");
                Err(Thrown::Runtime(text))
            }),
        }
    }

    /// Begins what takes time.
    pub(crate) fn begin(&mut self, id: EffectId, payload: &str) {
        let asked = Asked::read(payload);
        let ready = self.desk().and_then(|desk| {
            self.started()?;
            Ok(desk)
        });
        let desk = match ready {
            Ok(desk) => desk,
            Err(thrown) => return self.complete(id, encode(Err(thrown))),
        };
        if asked.builtin == "__llm_stream_next" {
            return self.next_piece(id, &asked);
        }
        let outside = self.outside.clone();
        self.spawn(id, async move {
            let outcome = ask(&desk, &asked).await;
            outside.complete(id, Answer::Text(Some(encode(outcome))));
        });
    }

    /// Gives something up.
    pub(crate) fn cancel(&mut self, id: EffectId) {
        if let Some(waiting) = self.waiting.remove(&id) {
            waiting.abort();
        }
    }

    fn complete(&self, id: EffectId, text: String) {
        self.outside.complete(id, Answer::Text(Some(text)));
    }

    fn started(&mut self) -> Result<(), Thrown> {
        if self.runtime.is_none() {
            let runtime = Runtime::start()
                .map_err(|error| Thrown::Runtime(format!("models cannot be asked: {error}")))?;
            self.runtime = Some(runtime);
        }
        Ok(())
    }

    fn spawn(&mut self, id: EffectId, work: impl Future<Output = ()> + Send + 'static) {
        self.waiting.retain(|_, waiting| !waiting.is_finished());
        if let Some(runtime) = &self.runtime {
            self.waiting.insert(id, runtime.begin(work));
        }
    }

    fn open_stream(&mut self, desk: &Arc<Desk>, asked: &Asked) -> Result<Value, Thrown> {
        let call = desk.open_stream(&asked.question(Some(1), 2))?;
        self.started()?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let desk = Arc::clone(desk);
        if let Some(runtime) = &self.runtime {
            runtime.begin(async move {
                let each = |piece| {
                    let _nobody_may_listen_any_more = sender.send(piece);
                };
                desk.run_stream(&call, each).await;
            });
        }
        self.streams_opened += 1;
        let number = self.streams_opened;
        self.streams.insert(number, Arc::new(Mutex::new(receiver)));
        Ok(json!(number))
    }

    fn next_piece(&mut self, id: EffectId, asked: &Asked) {
        let number = asked.arguments.first().and_then(Value::as_u64);
        let Some(pieces) = number.and_then(|number| self.streams.get(&number)) else {
            return self.complete(id, encode(Ok(Value::Null)));
        };
        let (pieces, outside) = (Arc::clone(pieces), self.outside.clone());
        self.spawn(id, async move {
            let piece = pieces.lock().await.recv().await;
            outside.complete(id, Answer::Text(Some(encode(Ok(json!(piece))))));
        });
    }

    /// The desk, which is set up when it is first needed.
    fn desk(&mut self) -> Result<Arc<Desk>, Thrown> {
        let desk = match self.desk.take() {
            Some(desk) => desk,
            None => set_up(&self.options, &self.environment),
        };
        self.desk = Some(desk.clone());
        desk.map_err(Thrown::Plain)
    }
}

/// What takes time.
async fn ask(desk: &Desk, asked: &Asked) -> Result<Value, Thrown> {
    let schema = asked.arguments.get(1).cloned().unwrap_or_default();
    match asked.builtin.as_str() {
        "llm_call" => desk.call(&asked.question(Some(1), 2)).await,
        "llm_call_safe" => Ok(desk.call_safe(&asked.question(Some(1), 2)).await),
        "llm_call_structured" => {
            desk.call_structured(&asked.question(None, 2), &schema)
                .await
        }
        "llm_call_structured_safe" => Ok(desk
            .call_structured_safe(&asked.question(None, 2), &schema)
            .await),
        "llm_call_structured_result" => Ok(desk
            .call_structured_result(&asked.question(None, 2), &schema)
            .await),
        "llm_completion" => {
            let suffix = asked.text(1);
            desk.completion(&asked.question(Some(2), 3), suffix.as_deref())
                .await
        }
        "llm_healthcheck" => Ok(desk
            .healthcheck(&schema_or_name(asked), &asked.dict(1))
            .await),
        "__llm_permit" => {
            desk.permit(&asked.text(0).unwrap_or_default()).await;
            Ok(Value::Null)
        }
        builtin => Err(Thrown::Runtime(format!(
            "{builtin} is not something models can be asked"
        ))),
    }
}

fn schema_or_name(asked: &Asked) -> Value {
    asked.arguments.first().cloned().unwrap_or_default()
}

/// A desk as options and environment want it.
fn set_up(
    options: &ModelOptions,
    environment: &BTreeMap<String, String>,
) -> Result<Arc<Desk>, String> {
    let providers = Config::provider_file(environment);
    let is_named = environment.contains_key("HARN_PROVIDERS_CONFIG");
    let providers = match &providers {
        Some(path) => read(Path::new(path), is_named)?,
        None => None,
    };
    let manifest = match &options.manifest {
        Some(path) => read(path, true)?,
        None => None,
    };
    let config = Config::load(
        providers.as_ref().map(|(path, text)| Source { path, text }),
        manifest.as_ref().map(|(path, text)| Source { path, text }),
    );
    let config = config.map_err(|invalid| invalid.to_string())?;
    let capabilities =
        Capabilities::load(manifest.as_ref().map(|(path, text)| Source { path, text }));
    let capabilities = capabilities.map_err(|invalid| invalid.to_string())?;
    let mut mock = Mock::default();
    for file in &options.fixtures {
        mock.load_fixtures(&file.name, &file.text)?;
    }
    let variable = |names: [&str; 2]| {
        let mut set = names.iter().filter_map(|name| environment.get(*name));
        set.find(|value| !value.is_empty()).cloned()
    };
    let http = HttpOptions {
        proxy: variable(["HTTPS_PROXY", "https_proxy"]),
        no_proxy: variable(["NO_PROXY", "no_proxy"]),
    };
    Ok(Arc::new(Desk::new(Setup {
        environment: environment.clone(),
        config,
        capabilities,
        mock,
        transport: Arc::new(Http::new(http)),
        ports: ports(),
        recording: recording(options)?,
    })))
}

/// A file's path and text; `None` if it is not there and need not be.
fn read(path: &Path, must_exist: bool) -> Result<Option<(String, String)>, String> {
    let name = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some((name, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn recording(options: &ModelOptions) -> Result<Recording, String> {
    let mut recording = Recording::default();
    if let Some(path) = &options.record_fixtures {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        recording.lines = Some(Box::new(move |line: &str| {
            let _a_lost_recording_ends_no_run = writeln!(file, "{line}");
        }));
    }
    recording.by_hash = options.rerun.as_ref().map(|rerun| match rerun {
        Rerun::Record(folder) => ByHash::Record(Box::new(Folder::new(folder))),
        Rerun::Replay(folder) => ByHash::Replay(Box::new(Folder::new(folder))),
    });
    Ok(recording)
}

fn ports() -> Ports {
    Ports {
        now: Arc::new(now),
        chance: Arc::new(|| f64::from(random_u32()) / f64::from(u32::MAX)),
        new_id: Arc::new(|| harn_stdlib::uuid_of_time(now(), random_octets())),
        schema_errors: Arc::new(|schema, data| {
            harn_stdlib::schema_errors(&from_json(schema), &from_json(data))
        }),
        warn: Arc::new(|text| tracing::warn!("{text}")),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the port that everybody else asks"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map(|since| since.as_millis()).unwrap_or_default();
    i64::try_from(since).unwrap_or(i64::MAX)
}

fn random_u32() -> u32 {
    let [a, b, c, d, ..] = random_octets();
    u32::from_le_bytes([a, b, c, d])
}

fn random_octets() -> [u8; 16] {
    let mut octets = [0; 16];
    // Without chance, ids repeat and pauses are even; nothing worth failing for.
    let _ = getrandom::fill(&mut octets);
    octets
}
