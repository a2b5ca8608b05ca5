//! Performs the effects of the kind `llm`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use harn_agent::llm::desk::{Desk, Question, Thrown};
use harn_machine::{Answer, EffectId, Outside};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::task::AbortHandle;

use super::options::ModelOptions;
use super::reply::encode;
use super::runtime::{Runtime, TokioHandle};
use super::set_up::set_up;
use crate::policy::Policy;

/// Performs the effects of the kind `llm`. Nothing is opened or read before the first one.
pub(crate) struct ModelPort {
    options: ModelOptions,
    environment: BTreeMap<String, String>,
    /// Which hosts may be asked.
    policy: Policy,
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
    /// # Errors
    /// An argument is nested so deep that nobody should read it.
    fn read(payload: &str) -> Result<Self, Thrown> {
        let mut asked = read_payload(payload)?;
        let builtin = asked["builtin"].as_str().unwrap_or_default().to_owned();
        let arguments = match asked["arguments"].take() {
            Value::Array(arguments) => arguments,
            _ => Vec::new(),
        };
        Ok(Self { builtin, arguments })
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
            replies: None,
        }
    }
}

/// What a builtin asks for, as JSON. The machine writes it itself, so it is read unless values are
/// nested deeper than a reader goes.
///
/// # Errors
/// They are.
pub(crate) fn read_payload(payload: &str) -> Result<Value, Thrown> {
    let read = serde_json::from_str(payload);
    read.map_err(|_| Thrown::Runtime("an argument is nested too deep".to_owned()))
}

impl ModelPort {
    pub(crate) fn new(
        options: ModelOptions,
        environment: BTreeMap<String, String>,
        outside: Outside,
        policy: Policy,
    ) -> Self {
        Self {
            options,
            environment,
            policy,
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
        let desk = self.desk();
        let asked = desk.and_then(|desk| Ok((desk, Asked::read(payload)?)));
        let outcome = asked.and_then(|(desk, asked)| self.answer(&desk, &asked));
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
        let ready = self.desk().and_then(|desk| {
            self.started()?;
            Ok((desk, Asked::read(payload)?))
        });
        let (desk, asked) = match ready {
            Ok(ready) => ready,
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
        let started = self.thread().map(|_| ());
        started.map_err(|error| Thrown::Runtime(format!("models cannot be asked: {error}")))
    }

    /// The thread that waits for the network, which is started when it is first needed.
    pub(crate) fn thread(&mut self) -> io::Result<TokioHandle> {
        if self.runtime.is_none() {
            self.runtime = Some(Runtime::start()?);
        }
        Ok(self.tokio())
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

    /// The desk and the thread that waits, for those who ask models in a way of their own.
    pub(crate) fn lend(&mut self) -> (Result<Arc<Desk>, Thrown>, TokioHandle) {
        let desk = self.desk().and_then(|desk| {
            self.started()?;
            Ok(desk)
        });
        (desk, self.tokio())
    }

    /// Where futures find the clock and the network.
    pub(crate) fn tokio(&self) -> TokioHandle {
        let runtime = self.runtime.as_ref();
        runtime.map(Runtime::tokio).unwrap_or_default()
    }

    /// The desk, which is set up when it is first needed.
    fn desk(&mut self) -> Result<Arc<Desk>, Thrown> {
        let desk = match self.desk.take() {
            Some(desk) => desk,
            None => set_up(&self.options, &self.environment, &self.policy),
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
