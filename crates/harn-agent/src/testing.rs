//! A runtime for unit tests: a mock instead of models, a clock that stands still, and ids that
//! count.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use harn_events::{AgentEventSubscriber, SubscriberCall, SubscriberFuture, SubscriberOutcome};
use harn_llm::catalog::{Capabilities, Config};
use harn_llm::desk::{Desk, Ports, Recording, Setup, Thrown};
use harn_llm::mock::Mock;
use harn_llm::transport::{HttpAnswer, Later, TimeLimits, Transport};
use harn_llm::wire::HttpRequest;
use harn_log::block_on;
use serde_json::{Value, json};

use crate::builtins::Asked;
use crate::callback::{Callback, Functions};
use crate::runtime::{Runtime, RuntimeOptions};

/// When it is in tests.
pub(crate) const NOW_MS: i64 = 1_769_860_799_999;

/// There is no network in tests.
struct NoNetwork;

impl Transport for NoNetwork {
    fn send<'a>(
        &'a self,
        _: &'a HttpRequest,
        _: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, harn_llm::Error>> {
        panic!("a test asks the network")
    }
}

/// A program in a test.
pub(crate) struct Program {
    pub(crate) runtime: Arc<Runtime>,
    clock_ms: Arc<AtomicU64>,
}

impl Default for Program {
    fn default() -> Self {
        Self::with(RuntimeOptions::default())
    }
}

impl Program {
    pub(crate) fn with(options: RuntimeOptions) -> Self {
        let ids = AtomicU64::new(0);
        let clock_ms = Arc::new(AtomicU64::new(NOW_MS.unsigned_abs()));
        let clock = Arc::clone(&clock_ms);
        let desk = Desk::new(Setup {
            environment: BTreeMap::new(),
            config: Config::built_in(),
            capabilities: Capabilities::default(),
            mock: Mock::default(),
            transport: Arc::new(NoNetwork),
            ports: Ports {
                now: Arc::new(move || i64::try_from(clock.load(Ordering::SeqCst)).unwrap()),
                chance: Arc::new(|| 0.0),
                new_id: Arc::new(move || format!("id-{}", ids.fetch_add(1, Ordering::SeqCst))),
                schema_errors: Arc::new(|_, _| Vec::new()),
                warn: Arc::new(|_| {}),
            },
            recording: Recording::default(),
            staged: None,
        });
        Self {
            runtime: Runtime::new(Arc::new(desk), options),
            clock_ms,
        }
    }

    /// Time passes.
    pub(crate) fn wait(&self, ms: u64) {
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Calls a builtin.
    pub(crate) fn call(&self, builtin: &str, arguments: Value) -> Result<Value, Thrown> {
        self.ask(builtin, arguments, None, Functions::default())
    }

    /// Calls a builtin from the loop of a session, with functions among the arguments.
    pub(crate) fn ask(
        &self,
        builtin: &str,
        arguments: Value,
        session_id: Option<&str>,
        functions: Functions,
    ) -> Result<Value, Thrown> {
        let Value::Array(arguments) = arguments else {
            panic!("arguments are a list");
        };
        block_on(self.runtime.answer(Asked {
            builtin: builtin.to_owned(),
            arguments,
            functions,
            session_id: session_id.map(str::to_owned),
            ..Asked::default()
        }))
    }

    /// Calls a builtin that answers.
    #[track_caller]
    pub(crate) fn get(&self, builtin: &str, arguments: Value) -> Value {
        self.call(builtin, arguments).unwrap()
    }

    /// Calls a builtin that refuses with a text.
    #[track_caller]
    pub(crate) fn refusal(&self, builtin: &str, arguments: Value) -> String {
        match self.call(builtin, arguments) {
            Err(Thrown::Plain(text)) => text,
            other => panic!("not refused with a text: {other:?}"),
        }
    }

    /// The mock answers so next.
    pub(crate) fn mock(&self, text: &str) {
        let entry = json!({"text": text});
        let added = self.runtime.desk().answer("llm_mock", &[entry]);
        assert!(added.is_some(), "the desk has a mock");
    }

    /// Runs a loop on a session with the mock.
    pub(crate) fn run(&self, prompt: &str, session_id: &str) -> Value {
        let options = json!({"provider": "mock", "session_id": session_id});
        self.get("agent_loop", json!([prompt, null, options]))
    }

    /// The events of a session from now on.
    pub(crate) fn watch(&self, session_id: &str) -> Arc<Watch> {
        let watch = Arc::new(Watch::default());
        let subscriber = Arc::clone(&watch) as Arc<dyn AgentEventSubscriber>;
        self.runtime.bus().subscribe(session_id, subscriber);
        watch
    }
}

/// Remembers the events of a session.
#[derive(Default)]
pub(crate) struct Watch(Mutex<Vec<Value>>);

impl Watch {
    /// The events so far.
    pub(crate) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl AgentEventSubscriber for Watch {
    fn name(&self) -> std::borrow::Cow<'_, str> {
        "watch".into()
    }

    fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> SubscriberFuture<'a> {
        let event = serde_json::to_value(call.event).unwrap();
        self.0.lock().unwrap().push(event);
        Box::pin(async { Ok(SubscriberOutcome::Ran) })
    }
}

/// One function among arguments.
pub(crate) fn function(
    path: &str,
    body: impl Fn(Vec<Value>) -> Result<Value, Thrown> + Send + Sync + 'static,
) -> Functions {
    let mut functions = Functions::default();
    functions.insert(path, Arc::new(body) as Arc<dyn Callback>);
    functions
}
