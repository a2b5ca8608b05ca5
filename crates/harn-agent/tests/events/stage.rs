//! A runtime on which a model, a network, tools and a host do what the test says.
//!
//! Whatever is recorded on a stage is checked when the stage goes, so that no test can forget
//! to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use harn_agent::events::{AgentEvent, AgentEventSink};
use harn_agent::llm::catalog::{Capabilities, Config};
use harn_agent::llm::desk::{Desk, Ports, Recording, Setup, Thrown};
use harn_agent::llm::mock::Mock;
use harn_agent::llm::transport::Transport;
use harn_agent::session::{load_session, session_records};
use harn_agent::tool_servers::{ServerConfig, ToolServers};
use harn_agent::verify::{Findings, check_journal, check_topic, is_session_topic};
use harn_agent::{
    Asked, BoxFuture, Elicits, FunctionTool, HostBridge, HostError, HostInput, LoopRequest,
    Principal, Runtime, RuntimeOptions, Seam, Tool, ToolError,
};
use harn_log::{AnyEventLog, EventLog, MemoryEventLog, block_on};
use serde_json::{Map, Value, json};

use crate::network::Network;

/// The session that loops of a test run on.
pub(crate) const SESSION: &str = "s";

/// A runtime, and everything that was emitted on it.
pub(crate) struct Stage {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) network: Arc<Network>,
    pub(crate) host: Arc<Host>,
    seen: Arc<Recorder>,
    log: Arc<AnyEventLog>,
    proves: &'static [&'static str],
    clock: Arc<AtomicU64>,
}

/// What a stage is made of.
#[derive(Default)]
struct Props {
    mock: Mock,
    has_host: bool,
    tool_servers: Option<Arc<dyn ToolServers>>,
    servers: Vec<ServerConfig>,
    asks_as: Option<String>,
}

impl Stage {
    /// A stage whose model gives these answers. The test proves that these events are emitted.
    pub(crate) fn proving(events: &'static [&'static str], answers: &[Value]) -> Self {
        let mut props = Props::default();
        for answer in answers {
            props.mock.add(answer).unwrap();
        }
        Self::of(events, props)
    }

    /// The same, with a host.
    pub(crate) fn proving_with_host(events: &'static [&'static str], answers: &[Value]) -> Self {
        let mut props = Props {
            has_host: true,
            ..Props::default()
        };
        for answer in answers {
            props.mock.add(answer).unwrap();
        }
        Self::of(events, props)
    }

    /// The same, with a host and with servers of tools.
    pub(crate) fn proving_with_servers(
        events: &'static [&'static str],
        answers: &[Value],
        tool_servers: Arc<dyn ToolServers>,
        servers: Vec<ServerConfig>,
    ) -> Self {
        let mut props = Props {
            has_host: true,
            tool_servers: Some(tool_servers),
            servers,
            ..Props::default()
        };
        for answer in answers {
            props.mock.add(answer).unwrap();
        }
        Self::of(events, props)
    }

    /// With servers of tools and no host: people find in the log what they are asked.
    pub(crate) fn with_people(
        answers: &[Value],
        tool_servers: Arc<dyn ToolServers>,
        servers: Vec<ServerConfig>,
    ) -> Self {
        let mut props = Props {
            tool_servers: Some(tool_servers),
            servers,
            asks_as: Some("program".to_owned()),
            ..Props::default()
        };
        for answer in answers {
            props.mock.add(answer).unwrap();
        }
        Self::of(&[], props)
    }

    /// A stage whose providers are asked over a network.
    pub(crate) fn proving_online(events: &'static [&'static str]) -> Self {
        Self::of(events, Props::default())
    }

    /// The same, with a host.
    pub(crate) fn proving_online_with_host(events: &'static [&'static str]) -> Self {
        let props = Props {
            has_host: true,
            ..Props::default()
        };
        Self::of(events, props)
    }

    /// A stage on which a program publishes these events itself.
    pub(crate) fn publishing(events: &'static [&'static str]) -> Self {
        Self::of(events, Props::default())
    }

    fn of(proves: &'static [&'static str], props: Props) -> Self {
        let clock = Arc::new(AtomicU64::new(1_000_000));
        let network = Network::new(&clock);
        let desk = desk(props.mock, &network, &clock);
        let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
        let (seen, host) = (Arc::new(Recorder::default()), Arc::new(Host::default()));
        let bridge = Arc::clone(&host) as Arc<dyn HostBridge>;
        let observer = Arc::clone(&seen) as Arc<dyn AgentEventSink>;
        let options = RuntimeOptions {
            log: Some(Arc::clone(&log)),
            bridge: props.has_host.then_some(bridge),
            observer: Some(observer),
            tool_servers: props.tool_servers,
            servers: props.servers,
            asks_as: props.asks_as,
            ..RuntimeOptions::default()
        };
        Self {
            runtime: Runtime::new(Arc::new(desk), options),
            network,
            host,
            seen,
            log,
            proves,
            clock,
        }
    }

    /// The log, for people who look into it.
    pub(crate) fn log(&self) -> &Arc<AnyEventLog> {
        &self.log
    }

    /// The clock, for tools that take their time.
    pub(crate) fn clock(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.clock)
    }

    /// Runs a loop with the mock.
    pub(crate) async fn run(&self, options: Value) -> Value {
        self.run_with(request(options)).await.unwrap()
    }

    pub(crate) async fn run_with(&self, mut request: LoopRequest) -> Result<Value, Thrown> {
        let defaults = json!({
            "session_id": SESSION, "provider": "mock", "model": "m", "llm_retries": 0,
        });
        for (key, value) in defaults.as_object().unwrap() {
            request.options.entry(key).or_insert_with(|| value.clone());
        }
        let result = self.runtime.run(request).await?;
        Ok(result.to_value())
    }

    /// Calls a builtin.
    pub(crate) async fn ask(&self, builtin: &str, arguments: Vec<Value>) -> Result<Value, Thrown> {
        let asked = Asked {
            builtin: builtin.to_owned(),
            arguments,
            ..Asked::default()
        };
        self.runtime.answer(asked).await
    }

    /// Everything that was emitted so far.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.seen.0.lock().unwrap().clone()
    }

    /// The events of a type.
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["type"] == kind);
        events
    }

    /// The only event of a type.
    #[track_caller]
    pub(crate) fn one(&self, kind: &str) -> Value {
        let mut events = self.of_type(kind);
        assert_eq!(events.len(), 1, "{kind}: {events:?}");
        events.remove(0)
    }

    /// The events in short: their types, seams by `@kind`, updates with their status.
    pub(crate) fn story(&self) -> Vec<String> {
        let short = |event: &Value| {
            let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            match &*word("type") {
                "loop_checkpoint" => format!("@{}", word("kind")),
                "tool_call_update" => format!("tool_call_update {}", word("status")),
                kind => kind.to_owned(),
            }
        };
        self.events().iter().map(short).collect()
    }

    /// What happened inside the iterations: the story without seams and brackets.
    pub(crate) fn plot(&self) -> Vec<String> {
        let mut story = self.story();
        let is_frame = |one: &String| one.starts_with('@') || one.starts_with("iteration_");
        story.retain(|one| !is_frame(one));
        story
    }

    fn check(&self) {
        for session in self.sessions() {
            block_on(self.runtime.bus().flush_session_sinks(&session)).unwrap();
        }
        block_on(self.runtime.keeper().unwrap().sync()).unwrap();
        let topics = block_on(self.log.topics()).unwrap();
        for topic in topics.iter().filter(|topic| is_session_topic(topic)) {
            for session in block_on(check_topic(&*self.log, topic)).unwrap() {
                let of = format!("{topic}, session {}", session.session_id);
                assert_eq!(session.findings, Findings::default(), "{of}");
            }
        }
        for session in self.sessions() {
            self.check_fold(&session);
        }
        let emitted: Vec<String> = self.events().iter().map(tag).collect();
        for event in self.proves {
            assert!(
                emitted.iter().any(|one| one == event),
                "no `{event}` was emitted"
            );
        }
    }

    /// What a session is follows from its journal.
    fn check_fold(&self, session_id: &str) {
        let records = block_on(session_records(&*self.log, session_id)).unwrap();
        assert_eq!(check_journal(&records), Findings::default(), "{session_id}");
        if let Some(session) = self.runtime.session(session_id) {
            let folded = block_on(load_session(&*self.log, session_id, None)).unwrap();
            assert!(
                session.read(|state| *state == folded),
                "{session_id}: another state"
            );
        }
    }

    fn sessions(&self) -> Vec<String> {
        let ids = self.events();
        let ids = ids.iter().filter_map(|event| event["session_id"].as_str());
        let mut ids: Vec<String> = ids.map(str::to_owned).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check();
        }
    }
}

fn tag(event: &Value) -> String {
    event["type"].as_str().unwrap_or_default().to_owned()
}

fn desk(mock: Mock, network: &Arc<Network>, clock: &Arc<AtomicU64>) -> Desk {
    let ids = AtomicU64::new(0);
    let clock = Arc::clone(clock);
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    Desk::new(Setup {
        environment: BTreeMap::from(keys.map(|key| (key.to_owned(), "key".to_owned()))),
        config: Config::built_in(),
        capabilities: Capabilities::default(),
        mock,
        transport: Arc::clone(network) as Arc<dyn Transport>,
        ports: Ports {
            now: Arc::new(move || i64::try_from(clock.load(Ordering::Relaxed)).unwrap()),
            chance: Arc::new(|| 0.5),
            new_id: Arc::new(move || format!("id-{}", ids.fetch_add(1, Ordering::Relaxed))),
            schema_errors: Arc::new(|_, _| Vec::new()),
            warn: Arc::new(|_| {}),
        },
        recording: Recording::default(),
        staged: None,
    })
}

/// A loop with these options.
pub(crate) fn request(options: Value) -> LoopRequest {
    let options: Map<String, Value> = options.as_object().cloned().unwrap();
    LoopRequest {
        options,
        ..LoopRequest::new("Do it.")
    }
}

/// A tool that says what came of it.
pub(crate) fn tool(name: &str, result: Result<&str, ToolError>) -> Arc<dyn Tool> {
    let result = result.map(str::to_owned);
    tool_doing(name, move || result.clone())
}

/// A tool that does something.
pub(crate) fn tool_doing(
    name: &str,
    act: impl Fn() -> Result<String, ToolError> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let parameters = json!({"path": {"type": "string", "required": false}});
    FunctionTool::new(name, "Does something.", parameters, move |_: &Value| {
        Box::pin(std::future::ready(act())) as BoxFuture<'_, Result<String, ToolError>>
    })
}

/// A model's answer that calls a tool.
pub(crate) fn calling(name: &str, arguments: Value) -> Value {
    json!({"text": "", "tool_calls": [{"name": name, "arguments": arguments}]})
}

/// A model's answer in words.
pub(crate) fn saying(text: &str) -> Value {
    json!({"text": text})
}

/// Writes down everything that is emitted.
#[derive(Default)]
struct Recorder(Mutex<Vec<Value>>);

impl AgentEventSink for Recorder {
    fn handle_event(&self, event: &AgentEvent) {
        let event = serde_json::to_value(event).unwrap();
        self.0.lock().unwrap().push(event);
    }
}

/// A host that has messages for the model and answers what it is asked.
#[derive(Default)]
pub(crate) struct Host {
    messages: Mutex<Vec<(Seam, String)>>,
    answers: Mutex<BTreeMap<String, Result<Value, String>>>,
    /// What has an identity, and is offered until it was heard.
    inputs: Mutex<Vec<(Seam, HostInput)>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Host {
    /// Has a message for a point of the loop.
    pub(crate) fn will_say(&self, seam: Seam, message: &str) {
        let message = (seam, message.to_owned());
        self.messages.lock().unwrap().push(message);
    }

    /// Has a message with an id for a point of the loop.
    pub(crate) fn will_send(&self, seam: Seam, id: &str, message: &str) {
        let input = HostInput {
            content: json!(message),
            id: Some(id.to_owned()),
            mode: Some("finish_step"),
            actor: Some(Principal::operator("test")),
        };
        self.inputs.lock().unwrap().push((seam, input));
    }

    /// What it was asked, by method.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        let asked = asked.iter().filter(|(one, _)| one == method);
        asked.map(|(_, parameters)| parameters.clone()).collect()
    }

    /// Answers a method.
    pub(crate) fn will_answer(&self, method: &str, answer: Result<Value, &str>) {
        let answer = answer.map_err(str::to_owned);
        self.answers
            .lock()
            .unwrap()
            .insert(method.to_owned(), answer);
    }
}

impl HostBridge for Host {
    fn elicits(&self, _session_id: Option<&str>) -> Elicits {
        Elicits {
            forms: true,
            urls: false,
        }
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        let asked = (method.to_owned(), parameters);
        self.asked.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().get(method).cloned();
        let answer = answer.unwrap_or(Ok(Value::Null)).map_err(HostError::from);
        Box::pin(std::future::ready(answer))
    }

    fn notify(&self, _: &str, _: Value) {}

    fn take_messages(&self, _: &str, seam: Seam) -> Vec<String> {
        let mut messages = self.messages.lock().unwrap();
        let due = messages.extract_if(.., |(at, _)| *at == seam);
        due.map(|(_, message)| message).collect()
    }

    fn take_inputs(
        &self,
        session_id: &str,
        seam: Seam,
        was_said: &dyn Fn(&str) -> bool,
    ) -> Vec<HostInput> {
        let messages = self.take_messages(session_id, seam).into_iter();
        let mut taken: Vec<HostInput> = messages.map(HostInput::plain).collect();
        let inputs = self.inputs.lock().unwrap();
        let due = inputs
            .iter()
            .filter(|(at, input)| *at == seam && !input.id.as_deref().is_some_and(was_said));
        taken.extend(due.map(|(_, input)| input.clone()));
        taken
    }

    fn take_resume(&self, _: &str) -> bool {
        false
    }
}
