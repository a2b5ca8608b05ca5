//! Calls over a network that does what the test says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{Desk, Ports, Question, Recording, Setup, Staged, Thrown};
use crate::catalog::{Capabilities, Config};
use crate::mock::Mock;
use crate::scenario::Scenario;
use crate::tape::Redaction;
use crate::transport::{Body, HttpAnswer, Later, TimeLimits, Transport};
use crate::wire::HttpRequest;
use crate::{Category, Error, Secret};

/// What the network says to one request.
enum Said {
    Answer(u16, Vec<(&'static str, &'static str)>, Vec<&'static str>),
    Failure(Error),
    /// The head of an answer, and then nothing for ever.
    Silence(Arc<AtomicBool>),
}

#[derive(Default)]
struct Network {
    script: Mutex<VecDeque<Said>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Transport for Network {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        _: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        let asked = (request.url.clone(), request.body.clone());
        self.asked.lock().unwrap().push(asked);
        let said = self.script.lock().unwrap().pop_front();
        Box::pin(async move {
            match said.expect("the script goes on") {
                Said::Failure(error) => Err(error),
                Said::Silence(dropped) => Ok(HttpAnswer {
                    status: 200,
                    headers: sse(),
                    body: Box::new(Silent(dropped)),
                }),
                Said::Answer(status, headers, chunks) => {
                    let named = headers
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value.to_owned()));
                    let mut headers = sse();
                    headers.extend(named);
                    Ok(HttpAnswer {
                        status,
                        headers,
                        body: Box::new(Chunks(chunks.into())),
                    })
                }
            }
        })
    }
}

fn sse() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "text/event-stream".to_owned())]
}

struct Chunks(VecDeque<&'static str>);

impl Body for Chunks {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        let chunk = self.0.pop_front();
        Box::pin(async move { Ok(chunk.map(Bytes::from)) })
    }
}

struct Silent(Arc<AtomicBool>);

impl Body for Silent {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        Box::pin(std::future::pending())
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n";

fn hello() -> Said {
    Said::Answer(200, Vec::new(), vec![HELLO])
}

fn desk(script: Vec<Said>) -> (Desk, Arc<Network>) {
    let network = Arc::new(Network {
        script: Mutex::new(script.into()),
        ..Network::default()
    });
    let environment = [
        ("OPENAI_API_KEY", "sk-marked"),
        ("GROQ_API_KEY", "gsk-marked"),
    ];
    let environment: BTreeMap<String, String> = environment
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let started = Instant::now();
    let desk = Desk::new(Setup {
        environment,
        config: Config::built_in(),
        capabilities: Capabilities::default(),
        mock: Mock::default(),
        transport: Arc::clone(&network) as Arc<dyn Transport>,
        ports: Ports {
            now: Arc::new(move || i64::try_from(started.elapsed().as_millis()).unwrap()),
            chance: Arc::new(|| 0.0),
            new_id: Arc::new(|| "id".to_owned()),
            schema_errors: Arc::new(|_, data| match data.get("ok") {
                Some(_) => Vec::new(),
                None => vec!["missing key `ok`".to_owned()],
            }),
            warn: Arc::new(|_| {}),
        },
        recording: Recording::default(),
        staged: None,
    });
    (desk, network)
}

fn question(options: Value) -> Question {
    let mut all = json!({"provider": "openai", "model": "gpt-4o"});
    for (key, value) in options.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    let options: Map<String, Value> = all.as_object().unwrap().clone();
    Question {
        prompt: "Hi".to_owned(),
        system: None,
        options,
        replies: None,
    }
}

fn dict(thrown: Thrown) -> Value {
    match thrown {
        Thrown::Dict(dict) => dict,
        other => panic!("not a dict: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_becomes_a_dict() {
    let (desk, network) = desk(vec![hello()]);
    let result = desk.call(&question(json!({}))).await.unwrap();
    assert_eq!(result["text"], "Hello");
    assert_eq!(result["provider"], "openai");
    assert_eq!(result["model"], "gpt-4o");
    assert_eq!(result["stop_reason"], "stop");
    assert_eq!(result["usage"]["input_tokens"], 10);
    assert_eq!(
        result["transcript"]["messages"][1],
        json!({"role": "assistant", "content": "Hello"})
    );
    let asked = network.asked.lock().unwrap();
    assert_eq!(asked[0].0, "https://api.openai.com/v1/chat/completions");
    assert_eq!(
        asked[0].1["messages"],
        json!([{"role": "user", "content": "Hi"}])
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_time_gets_it() {
    let slow_down = Said::Answer(429, vec![("retry-after", "2.5")], vec!["later"]);
    let broken = Said::Failure(Error::new(Category::TransientNetwork, "gone"));
    let (desk, network) = desk(vec![slow_down, broken, hello()]);
    let started = Instant::now();
    let result = desk
        .call(&question(json!({"llm_retries": 2})))
        .await
        .unwrap();
    assert_eq!(result["text"], "Hello");
    // 2.5 s as asked, then the second pause of the backoff: 250 ms twice.
    assert_eq!(started.elapsed(), Duration::from_millis(3000));
    assert_eq!(network.asked.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_told_at_once() {
    let (desk, network) = desk(vec![Said::Answer(401, Vec::new(), vec!["no such key"])]);
    let thrown = desk
        .call(&question(json!({"llm_retries": 5})))
        .await
        .unwrap_err();
    let expected = json!({
        "category": "auth", "kind": "terminal", "reason": "auth_failure",
        "message": "openai HTTP 401 Unauthorized [auth_failure]: no such key",
        "provider": "openai", "model": "gpt-4o",
    });
    assert_eq!(dict(thrown), expected);
    assert_eq!(network.asked.lock().unwrap().len(), 1);
}

/// Nothing says whom to ask, and no server runs on this machine.
#[tokio::test(start_paused = true)]
async fn without_a_key_a_provider_and_a_server_it_is_said_at_once_what_is_missing() {
    let refused = || {
        let why = "cannot connect to the provider: Connection refused (os error 111)";
        Said::Failure(Error::new(Category::TransientNetwork, why))
    };
    let (desk, network) = desk(vec![refused(), refused()]);
    let unnamed = |options: Value| Question {
        options: options.as_object().unwrap().clone(),
        ..question(json!({}))
    };
    let began = Instant::now();
    let thrown = dict(
        desk.call(&unnamed(json!({"llm_retries": 5})))
            .await
            .unwrap_err(),
    );
    let text = "there is no model to ask: no provider is named, ANTHROPIC_API_KEY is not set, and \
                nothing listens at http://localhost:11434, where Ollama would be. Set \
                ANTHROPIC_API_KEY, name a provider with the option `provider` or with \
                HARN_LLM_PROVIDER, or start Ollama; HARN_LLM_PROVIDER=mock is for offline use";
    assert_eq!(thrown["message"], text);
    assert_eq!(
        (&thrown["category"], &thrown["kind"]),
        (&json!("auth"), &json!("terminal"))
    );
    assert_eq!(network.asked.lock().unwrap().len(), 1);
    assert!(began.elapsed().is_zero(), "nobody has waited");
    // Who names Ollama means it, and may be about to start it.
    let named = unnamed(json!({"provider": "ollama", "llm_retries": 0}));
    let thrown = dict(desk.call(&named).await.unwrap_err());
    assert_eq!(thrown["category"], "transient_network");
}

#[tokio::test(start_paused = true)]
async fn others_stand_in_for_a_provider_that_fails() {
    let down = || Said::Answer(500, Vec::new(), vec!["down"]);
    let (desk, network) = desk(vec![down(), hello()]);
    let chain = json!({"fallback_chain": ["deepseek", "groq"]});
    let result = desk.call(&question(chain)).await.unwrap();
    // There is no key for DeepSeek, so it is not asked.
    assert_eq!(result["provider"], "groq");
    let asked = network.asked.lock().unwrap();
    assert_eq!(
        asked[1].0,
        "https://api.groq.com/openai/v1/chat/completions"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_is_an_error_and_never_a_call() {
    let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"rm\",\"arguments\":\"{\\\"path\\\":\\\"/\\\"}\"}}]}}]}\n\n";
    let (desk, _) = desk(vec![Said::Answer(200, Vec::new(), vec![cut])]);
    let thrown = dict(desk.call(&question(json!({}))).await.unwrap_err());
    assert_eq!(thrown["category"], "stream_truncated");
    assert_eq!(thrown["kind"], "transient");
}

#[tokio::test(start_paused = true)]
async fn giving_up_drops_the_connection_at_once() {
    let dropped = Arc::new(AtomicBool::new(false));
    let (desk, _) = desk(vec![Said::Silence(Arc::clone(&dropped))]);
    let question = question(json!({}));
    let waiting = desk.call(&question);
    let gave_up = tokio::time::timeout(Duration::from_secs(1), waiting).await;
    assert!(gave_up.is_err());
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let bad = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"no\\\":1}\"},\"finish_reason\":\"stop\"}]}\n\n";
    let good = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"ok\\\":1}\"},\"finish_reason\":\"stop\"}]}\n\n";
    let said = |text| Said::Answer(200, Vec::new(), vec![text]);
    let (desk, network) = desk(vec![said(bad), said(good)]);
    let schema = json!({"type": "object", "required": ["ok"]});
    let data = desk
        .call_structured(&question(json!({})), &schema)
        .await
        .unwrap();
    assert_eq!(data, json!({"ok": 1}));
    let asked = network.asked.lock().unwrap();
    let messages = asked[1].1["messages"].as_array().unwrap();
    // The question and what was wrong; the bad answer is not repeated.
    assert_eq!(messages.len(), 2);
    let told = messages[1]["content"].as_str().unwrap();
    assert!(
        told.contains("Validation errors: missing key `ok`."),
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_would_cost_too_much_is_not_asked() {
    let (desk, network) = desk(vec![hello()]);
    let limits = json!({"max_cost_usd": 0.000_001});
    let thrown = dict(desk.call(&question(limits)).await.unwrap_err());
    assert_eq!(thrown["category"], "budget_exceeded");
    assert_eq!(thrown["limit"], "max_cost_usd");
    assert!(network.asked.lock().unwrap().is_empty());
    // 10 tokens in and 5 out at 2.5 and 10 dollars a million.
    desk.call(&question(json!({}))).await.unwrap();
    let spent = desk.answer("llm_session_cost", &[]).unwrap().unwrap();
    assert_eq!(spent["total_cost"], json!(0.000_075));
}

#[tokio::test(start_paused = true)]
async fn a_limited_provider_is_asked_when_its_minute_is_over() {
    let (desk, _) = desk(vec![hello(), hello()]);
    let set = desk.answer("llm_rate_limit", &[json!("openai"), json!({"rpm": 1})]);
    assert_eq!(set.unwrap().unwrap(), json!(true));
    let started = Instant::now();
    desk.call(&question(json!({}))).await.unwrap();
    desk.call(&question(json!({}))).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn pieces_of_a_stream_are_handed_on_and_errors_come_last() {
    let (desk, _) = desk(vec![hello(), Said::Answer(500, Vec::new(), vec!["down"])]);
    for expected in [
        "Hello",
        "error: openai HTTP 500 Internal Server Error [http_error]: down",
    ] {
        let call = desk
            .open_stream(&question(json!({"llm_retries": 3})))
            .unwrap();
        let mut pieces = Vec::new();
        desk.run_stream(&call, |piece| pieces.push(piece)).await;
        assert_eq!(pieces, [expected]);
    }
}

/// A scenario on the desk, and a network that must not be asked.
fn staged(text: &str, in_real_time: bool) -> Desk {
    let (desk, _) = desk(Vec::new());
    let scenario = Scenario::parse("a.scenario.toml", text).unwrap();
    desk.state().staged = Some(Staged {
        scenario,
        in_real_time,
    });
    desk
}

const PACED: &str = "\
first_pause_ms = 1000
pause_ms = 100
piece_chars = 1

[[turn]]
error = { category = \"rate_limit\", retry_after_ms = 5000 }

[[turn]]
text = \"ab\"
";

/// 5 seconds until it may be asked again, 1 to begin, and twice 0.05 to 0.15.
#[tokio::test(start_paused = true)]
async fn a_scenario_takes_its_time_only_if_somebody_wants_that() {
    for (in_real_time, least_ms, most_ms) in [(true, 6100, 6300), (false, 0, 0)] {
        let desk = staged(PACED, in_real_time);
        let started = Instant::now();
        let asked = question(json!({"llm_retries": 1}));
        assert_eq!(desk.call(&asked).await.unwrap()["text"], "ab");
        let took = started.elapsed().as_millis();
        assert!((least_ms..=most_ms).contains(&took), "{took}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_tells_what_was_seen() {
    let desk = staged("[[turn]]\ntext = \"ab\"\npiece_chars = 1\n", false);
    let probed = desk.probe("openai", "gpt-4o").await.unwrap();
    assert_eq!((probed.pieces, probed.text.as_str()), (2, "ab"));
    assert_eq!(probed.first_piece_ms, Some(0));
    let over = desk.probe("openai", "gpt-4o").await.unwrap_err();
    assert!(dict(over)["message"].as_str().unwrap().contains("is over"));
}

/// Some providers repeat the key that they refuse.
#[tokio::test(start_paused = true)]
async fn no_key_is_in_an_error_or_a_log() {
    let refused = || Said::Answer(401, Vec::new(), vec!["{\"error\": \"bad key sk-marked\"}"]);
    let (desk, _) = desk(vec![refused(), refused(), refused()]);
    let written = Arc::new(Mutex::new(String::new()));
    let (lines, records) = (Arc::clone(&written), Arc::clone(&written));
    desk.state().recording = Recording {
        redaction: Redaction::none().with_secret(&Secret::new("sk-marked")),
        lines: Some(Box::new(move |line| lines.lock().unwrap().push_str(line))),
        transcript: Some(Box::new(move |line| records.lock().unwrap().push_str(line))),
        by_hash: None,
    };
    let mut shown = dict(desk.call(&question(json!({}))).await.unwrap_err()).to_string();
    let health = desk.healthcheck(&json!("openai"), &Map::new()).await;
    let completion = desk.completion(&question(json!({})), Some("!")).await;
    shown += &format!("{health}{completion:?}{}", written.lock().unwrap());
    assert_eq!(shown.matches("[redacted]").count(), 7, "{shown}");
    assert!(!shown.contains("marked"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_fits_is_thrown_as_a_dict() {
    let (desk, _) = desk(vec![hello()]);
    let options = json!({
        "output_schema": {"type": "object"}, "output_validation": "error", "schema_retries": 0,
    });
    let thrown = dict(desk.call(&question(options)).await.unwrap_err());
    assert_eq!(thrown["category"], "schema_validation");
    assert_eq!(thrown["kind"], "terminal");
    assert_eq!(thrown["provider"], "openai");
    assert_eq!(thrown["model"], "gpt-4o");
}

#[tokio::test(start_paused = true)]
async fn thoughts_in_the_text_are_taken_out_of_it() {
    let pieces = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"<thi\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"nk>hm</think>Yes <\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\" no\"},\"finish_reason\":\"stop\"}]}\n\n",
    ];
    let (desk, _) = desk(vec![Said::Answer(200, Vec::new(), pieces.to_vec())]);
    let result = desk.call(&question(json!({}))).await.unwrap();
    assert_eq!(result["text"], "Yes < no");
    assert_eq!(result["thinking"], "hm");
}
