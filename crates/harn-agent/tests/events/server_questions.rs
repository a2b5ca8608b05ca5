//! What servers ask of us: a model, our folders, a person. Nothing is given that nobody allowed.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::Stream;
use harn_agent::people::{
    Given, Outcome, RequestState, Requests, Response, headers, respond, this_process,
};
use harn_agent::tool_servers::{
    CallResult, Capabilities, Generation, Listed, ServerCall, ServerClient, ServerConfig,
    ServerError, ServerFacts, ServerRequest, ToolServer, ToolServers,
};
use harn_agent::{BoxFuture, Principal};
use harn_log::{EventLog, LogEvent, Topic};
use serde_json::{Map, Value, json};

use crate::stage::{SESSION, Stage, calling, saying};

/// What is said beside an answer: the name it is given in, and who gives it.
fn given<'a>(reviewer: Option<&'a str>, actor: &'a Principal) -> Given<'a> {
    Given {
        reviewer,
        reason: None,
        actor,
    }
}

/// Servers with one tool, `ask`, which asks what the test says.
#[derive(Clone, Default)]
struct Curious {
    asks: Option<ServerRequest>,
    /// Those who answer the servers that were made.
    clients: Arc<Mutex<Vec<Arc<dyn ServerClient>>>>,
}

impl Curious {
    fn asking(request: ServerRequest) -> Self {
        Self {
            asks: Some(request),
            ..Self::default()
        }
    }

    fn client(&self) -> Arc<dyn ServerClient> {
        Arc::clone(self.clients.lock().unwrap().last().unwrap())
    }
}

struct Server {
    name: String,
    asks: Option<ServerRequest>,
    client: Arc<dyn ServerClient>,
}

impl ToolServers for Curious {
    fn server(&self, config: ServerConfig, client: Arc<dyn ServerClient>) -> Arc<dyn ToolServer> {
        self.clients.lock().unwrap().push(Arc::clone(&client));
        Arc::new(Server {
            name: config.name,
            asks: self.asks.clone(),
            client,
        })
    }

    fn card<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(std::future::ready(Ok(json!({"source": source}))))
    }
}

impl ToolServer for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn connect(&self) -> BoxFuture<'_, Result<ServerFacts, ServerError>> {
        Box::pin(std::future::ready(Ok(ServerFacts {
            generation: Generation::Handshake,
            protocol_version: "1".to_owned(),
            server_info: None,
            capabilities: json!({}),
            instructions: None,
        })))
    }

    fn list(&self, _what: Listed) -> BoxFuture<'_, Result<Arc<Vec<Value>>, ServerError>> {
        let tools = vec![json!({"name": "ask", "inputSchema": {}})];
        Box::pin(std::future::ready(Ok(Arc::new(tools))))
    }

    fn catalogue_version(&self) -> u64 {
        1
    }

    fn call(&self, call: ServerCall) -> BoxFuture<'_, Result<CallResult, ServerError>> {
        Box::pin(async move {
            let asked = self.asks.clone().unwrap();
            let answer = self.client.answer(asked, call.session_id.as_deref()).await;
            let text = match answer {
                Ok(answer) => answer.to_string(),
                Err(reason) => format!("refused: {reason}"),
            };
            Ok(CallResult {
                content: vec![json!({"type": "text", "text": text})],
                ..CallResult::default()
            })
        })
    }

    fn read_resource<'a>(
        &'a self,
        _uri: &'a str,
        _session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Value>, ServerError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn get_prompt<'a>(
        &'a self,
        _name: &'a str,
        _arguments: Map<String, Value>,
        _session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(std::future::ready(Ok(Value::Null)))
    }

    fn complete<'a>(
        &'a self,
        _reference: Value,
        _argument: &'a str,
        _value: &'a str,
    ) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(std::future::ready(Ok(Value::Null)))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A server of the project with more said about it.
fn config(more: Value) -> ServerConfig {
    let mut described = json!({"name": "it", "command": "x", "lazy": true});
    for (key, value) in more.as_object().unwrap() {
        described[key] = value.clone();
    }
    ServerConfig::read(&described).unwrap()
}

/// It may ask a model for so many tokens.
fn sampling(tokens_max: u64) -> ServerConfig {
    config(json!({
        "sampling": true, "sampling_model": "gpt-4o", "sampling_tokens_max": tokens_max,
    }))
}

fn hello() -> ServerRequest {
    let said = json!({"role": "user", "content": {"type": "text", "text": "Hello?"}});
    let params = json!({"messages": [said], "systemPrompt": "Be brief.", "maxTokens": 50});
    ServerRequest::Sample(params)
}

fn form() -> ServerRequest {
    let schema = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
    });
    ServerRequest::Elicit(json!({"message": "Who?", "requestedSchema": schema}))
}

/// Who answers a server of the project.
async fn client(stage: &Stage, servers: &Curious) -> Arc<dyn ServerClient> {
    let named = vec![json!("it")];
    stage.ask("mcp_ensure_active", named).await.unwrap();
    servers.client()
}

/// What the server heard whose tool a loop has called.
async fn heard(stage: &Stage, more: Value) -> String {
    let mut options = json!({"mcp_servers": ["it"], "tool_format": "native"});
    for (key, value) in more.as_object().unwrap() {
        options[key] = value.clone();
    }
    let result = stage.run(options).await;
    let messages = result["transcript"]["messages"].as_array().unwrap();
    let mut said = messages.iter().filter(|one| one["role"] == "tool");
    said.next().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_server_may_ask_for_what_it_was_given_and_nothing_else() {
    let nothing = Capabilities::default();
    let both = Capabilities {
        sampling: true,
        roots: true,
        ..nothing
    };
    let given = json!({
        "sampling": true, "sampling_model": "m", "sampling_tokens_max": 1, "roots": true,
    });
    for (more, expected) in [(json!({}), nothing), (given, both)] {
        let servers = Curious::default();
        let asked = Arc::new(servers.clone());
        let stage = Stage::proving_with_servers(&[], &[], asked, vec![config(more)]);
        let client = client(&stage, &servers).await;
        let forms = true; // The host of the stage shows them.
        assert_eq!(client.capabilities(), Capabilities { forms, ..expected });
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_answers_a_server_until_its_tokens_are_used_up() {
    let servers = Curious::default();
    let answer = json!({"text": "Hi.", "output_tokens": 10});
    let stage = Stage::proving_with_servers(
        &[],
        &[answer],
        Arc::new(servers.clone()),
        vec![sampling(10)],
    );
    let client = client(&stage, &servers).await;
    let said = client.answer(hello(), None).await.unwrap();
    assert_eq!(said["role"], "assistant");
    assert_eq!(said["content"], json!({"type": "text", "text": "Hi."}));
    let calls = stage.runtime.desk().answer("llm_mock_calls", &[]);
    let calls = calls.unwrap().unwrap();
    assert_eq!(
        calls[0]["messages"],
        json!([{"role": "user", "content": "Hello?"}])
    );
    assert_eq!(calls[0]["system"], "Be brief.");
    let refused = client.answer(hello(), None).await.unwrap_err();
    assert_eq!(refused, "the tokens for this server are used up");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cancels_what_it_asks_a_model_has_used_its_tokens() {
    let servers = Curious::default();
    let stage =
        Stage::proving_with_servers(&[], &[], Arc::new(servers.clone()), vec![sampling(10)]);
    stage.network.fall_silent();
    let client = client(&stage, &servers).await;
    // A question that is refused costs nothing.
    let image = json!({"role": "user", "content": {"type": "image", "data": "AA=="}});
    let image = ServerRequest::Sample(json!({"messages": [image], "maxTokens": 50}));
    let refused = client.answer(image, None).await.unwrap_err();
    assert_eq!(refused, "a model is passed on text and nothing else");
    let while_it_waits = Duration::from_millis(10);
    let ask = || tokio::time::timeout(while_it_waits, client.answer(hello(), None));
    let cancelled = ask().await;
    assert!(cancelled.is_err(), "{cancelled:?}");
    let refused = ask().await.unwrap().unwrap_err();
    assert_eq!(refused, "the tokens for this server are used up");
}

#[tokio::test(start_paused = true)]
async fn a_model_is_not_asked_by_a_server_that_was_not_allowed_to() {
    let servers = Curious::default();
    let stage = Stage::proving_with_servers(
        &[],
        &[saying("Hi.")],
        Arc::new(servers.clone()),
        vec![config(json!({}))],
    );
    let client = client(&stage, &servers).await;
    let refused = client.answer(hello(), None).await.unwrap_err();
    assert_eq!(refused, "no model may be asked");
    let calls = stage.runtime.desk().answer("llm_mock_calls", &[]);
    assert_eq!(calls.unwrap().unwrap(), json!([]));
}

#[tokio::test(start_paused = true)]
async fn asking_a_model_is_shown_to_the_policy_like_a_call() {
    for (policy, expected) in [
        (
            json!({"require_approval": ["it__sampling"]}),
            "refused: 'it__sampling' needs an approval",
        ),
        (json!({"auto_approve": ["*"]}), "Hi."),
    ] {
        let answers = [
            calling("it__ask", json!({})),
            saying("Hi."),
            saying("Fine."),
        ];
        let servers = Curious::asking(hello());
        let stage =
            Stage::proving_with_servers(&[], &answers, Arc::new(servers), vec![sampling(10)]);
        let heard = heard(&stage, json!({"approval_policy": policy})).await;
        assert!(heard.contains(expected), "{policy}: {heard}");
    }
    let answers = [calling("it__ask", json!({})), saying("Fine.")];
    let servers = Curious::asking(hello());
    let stage = Stage::proving_with_servers(&[], &answers, Arc::new(servers), vec![sampling(10)]);
    let denied = json!({"approval_policy": {"auto_deny": ["*__sampling"]}});
    let heard = heard(&stage, denied).await;
    assert!(heard.starts_with("refused: "), "{heard}");
}

#[tokio::test(start_paused = true)]
async fn folders_are_told_to_servers_that_may_know_them() {
    let here = std::env::current_dir().unwrap();
    let told = json!({"roots": [{"uri": format!("file://{}", here.display())}]});
    let refused = Err("the folders are not told".to_owned());
    for (more, expected) in [(json!({"roots": true}), Ok(told)), (json!({}), refused)] {
        let servers = Curious::default();
        let asked = Arc::new(servers.clone());
        let stage = Stage::proving_with_servers(&[], &[], asked, vec![config(more)]);
        let client = client(&stage, &servers).await;
        assert_eq!(client.answer(ServerRequest::Roots, None).await, expected);
    }
}

/// The id of the first question in the log, once there is one.
async fn asked(stage: &Stage) -> String {
    asked_again(stage, 1).await
}

/// The id of a later question in the log, once there are so many.
async fn asked_again(stage: &Stage, mut count: usize) -> String {
    let topic = Topic::new("hitl.questions").unwrap();
    let log = Arc::clone(stage.log());
    let mut questions = log.subscribe(&topic, None).await.unwrap();
    loop {
        let next = poll_fn(|context| Pin::new(&mut questions).poll_next(context)).await;
        let (_, record) = next.unwrap().unwrap();
        count -= usize::from(record.kind == "hitl.question_asked");
        if count == 0 {
            return record.payload["request_id"].as_str().unwrap().to_owned();
        }
    }
}

/// How it stands with the only question.
async fn state(stage: &Stage) -> RequestState {
    stage.runtime.keeper().unwrap().sync().await.unwrap();
    let mut requests = Requests::default();
    requests.read(stage.log()).await.unwrap();
    assert_eq!(requests.all().len(), 1);
    requests.all()[0].state
}

/// What the session heard: the outcomes of its questions.
fn outcomes(stage: &Stage) -> Vec<Value> {
    let resolved = stage.of_type("hitl_resolved");
    resolved.iter().map(|one| one["outcome"].clone()).collect()
}

#[tokio::test]
async fn without_a_host_people_find_in_the_log_what_a_server_asks() {
    let servers = Curious::default();
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config(json!({}))]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let client = client(&stage, &servers).await;
    assert!(client.capabilities().forms && client.capabilities().urls);
    let answering = async {
        let id = asked(&stage).await;
        let answer = Response::Answer(json!({"name": "Ada"}));
        let now = stage.runtime.now_ms();
        respond(
            stage.log(),
            &id,
            answer,
            given(Some("bob"), &Principal::operator("test")),
            now,
        )
        .await
    };
    let (answer, answered) = tokio::join!(client.answer(form(), Some(SESSION)), answering);
    answered.unwrap();
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    assert_eq!(answer, Ok(accepted));
    assert_eq!(state(&stage).await, RequestState::Over(Outcome::Answered));
    assert_eq!(outcomes(&stage), ["answered"]);
    assert_eq!(stage.one("hitl_requested")["payload"]["agent"], SESSION);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_cancelled_after_a_day() {
    let servers = Curious::default();
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config(json!({}))]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let client = client(&stage, &servers).await;
    let begin = tokio::time::Instant::now();
    let answer = client.answer(form(), Some(SESSION)).await;
    assert_eq!(answer, Ok(json!({"action": "cancel"})));
    assert_eq!(begin.elapsed().as_secs(), 24 * 60 * 60);
    assert_eq!(state(&stage).await, RequestState::Over(Outcome::TimedOut));
    assert_eq!(outcomes(&stage), ["timeout"]);
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_is_taken_back() {
    let servers = Curious::default();
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config(json!({}))]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let client = client(&stage, &servers).await;
    tokio::select! {
        answer = client.answer(form(), Some(SESSION)) => panic!("{answer:?}"),
        _ = asked(&stage) => {}
    }
    assert_eq!(state(&stage).await, RequestState::Over(Outcome::Cancelled));
    assert_eq!(outcomes(&stage), ["cancelled"]);
}

/// The questions in the log as they were asked.
async fn questions(stage: &Stage) -> Vec<LogEvent> {
    let topic = Topic::new("hitl.questions").unwrap();
    let records = stage.log().read_range(&topic, None, 100).await.unwrap();
    let records = records.into_iter().map(|(_, record)| record);
    let asked = records.filter(|record| record.kind == "hitl.question_asked");
    asked.collect()
}

#[tokio::test]
async fn what_a_server_was_told_in_confidence_is_not_in_its_questions() {
    let servers = Curious::default();
    let config = config(json!({"env": {"KEY": "marked-value"}}));
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config]);
    let client = client(&stage, &servers).await;
    let field = json!({"title": "Is it marked-value?", "enum": ["marked-value"]});
    let schema = json!({"type": "object", "properties": {"of marked-value": field}});
    let form = json!({"message": "marked-value?", "requestedSchema": schema});
    let page = json!({"mode": "url", "message": "?", "url": "https://x.test/marked-value"});
    for (number, params) in [(1, form), (2, page)] {
        tokio::select! {
            answer = client.answer(ServerRequest::Elicit(params), None) => panic!("{answer:?}"),
            _ = asked_again(&stage, number) => {}
        }
    }
    let questions = questions(&stage).await;
    assert_eq!(questions.len(), 2);
    for question in &questions {
        let text = format!("{question:?}");
        assert!(!text.contains("marked-value"), "{text}");
        assert!(text.contains("[redacted]"), "{text}");
    }
}

#[tokio::test]
async fn of_two_equal_questions_one_goes_on_with_that_of_a_process_that_is_gone() {
    let servers = Curious::default();
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config(json!({}))]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let client = client(&stage, &servers).await;
    tokio::select! {
        answer = client.answer(form(), Some(SESSION)) => panic!("{answer:?}"),
        _ = asked(&stage) => {}
    }
    // The same of a process whose number no process can have.
    let mut left = questions(&stage).await.remove(0);
    left.payload["request_id"] = json!("hitl_question_old");
    let gone = this_process().replace(&format!("/{}/", std::process::id()), "/999999999/");
    let left = left.with_header(headers::PROCESS, gone);
    let topic = Topic::new("hitl.questions").unwrap();
    stage.log().append(&topic, left).await.unwrap();
    let ask = || client.answer(form(), Some(SESSION));
    let answering = async {
        for id in [asked_again(&stage, 3).await, "hitl_question_old".to_owned()] {
            let answer = Response::Answer(json!({"name": "Ada"}));
            let now = stage.runtime.now_ms();
            let answered = respond(
                stage.log(),
                &id,
                answer,
                given(None, &Principal::operator("test")),
                now,
            )
            .await;
            answered.unwrap();
        }
    };
    let both = async { tokio::join!(ask(), ask(), answering) };
    let both = tokio::time::timeout(Duration::from_secs(30), both).await;
    let (one, other, ()) = both.unwrap();
    let accepted = Ok(json!({"action": "accept", "content": {"name": "Ada"}}));
    assert_eq!((&one, &other), (&accepted, &accepted));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_for_a_secret_in_the_log_either() {
    let servers = Curious::default();
    let stage = Stage::with_people(&[], Arc::new(servers.clone()), vec![config(json!({}))]);
    let client = client(&stage, &servers).await;
    let schema = json!({"type": "object", "properties": {"pin": {"title": "Your password"}}});
    let asked = json!({"message": "Log in", "requestedSchema": schema});
    let answer = client.answer(ServerRequest::Elicit(asked), None).await;
    assert_eq!(answer, Ok(json!({"action": "decline"})));
    let mut requests = Requests::default();
    requests.read(stage.log()).await.unwrap();
    assert_eq!(requests.all(), Vec::<&harn_agent::people::Request>::new());
}

#[tokio::test(start_paused = true)]
async fn where_nobody_looks_into_the_log_nobody_is_asked() {
    // The host of this stage shows forms and opens no pages.
    let servers = Curious::default();
    let stage =
        Stage::proving_with_servers(&[], &[], Arc::new(servers.clone()), vec![config(json!({}))]);
    let client = client(&stage, &servers).await;
    assert!(!client.capabilities().urls);
    let page = json!({"mode": "url", "message": "Pay", "url": "https://pay.test"});
    let refused = client.answer(ServerRequest::Elicit(page), None).await;
    assert_eq!(refused, Err("nobody can be asked this way".to_owned()));
}
