//! Servers that lend tools: what they say, and what becomes of their tools.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use harn_agent::BoxFuture;
use harn_agent::tool_servers::{
    CallResult, Generation, Listed, ServerCall, ServerClient, ServerConfig, ServerError,
    ServerFacts, ServerNotice, ServerRequest, ToolServer, ToolServers,
};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::stage::{SESSION, Stage, calling, request, saying};

/// Servers that do what their tools are called.
#[derive(Clone, Default)]
struct Lamps {
    /// What happened to them, in order.
    log: Arc<Mutex<Vec<String>>>,
    /// Told when a task was begun, which is never done by itself.
    working: Arc<Notify>,
}

impl Lamps {
    fn happened(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl ToolServers for Lamps {
    fn server(&self, config: ServerConfig, client: Arc<dyn ServerClient>) -> Arc<dyn ToolServer> {
        Arc::new(Lamp {
            name: config.name,
            client,
            log: Arc::clone(&self.log),
            working: Arc::clone(&self.working),
            version: AtomicU64::new(1),
        })
    }

    fn card<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Value, ServerError>> {
        Box::pin(std::future::ready(Ok(json!({"source": source}))))
    }
}

struct Lamp {
    name: String,
    client: Arc<dyn ServerClient>,
    log: Arc<Mutex<Vec<String>>>,
    working: Arc<Notify>,
    version: AtomicU64,
}

impl Lamp {
    fn note(&self, what: &str) {
        self.log
            .lock()
            .unwrap()
            .push(format!("{} {what}", self.name));
    }

    fn said(&self, method: &str, params: Value, session_id: Option<String>) {
        self.client.notice(ServerNotice {
            method: method.to_owned(),
            is_request: false,
            params,
            session_id,
        });
    }

    async fn called(&self, call: ServerCall) -> Result<CallResult, ServerError> {
        let text = match &*call.tool {
            "shine" => {
                let progress = json!({"progress": 1, "key": "marked-value"});
                self.said("notifications/progress", progress, call.session_id);
                "bright".to_owned()
            }
            "grow" => {
                self.said("notifications/tools/list_changed", json!({}), None);
                self.version.fetch_add(1, Ordering::Relaxed);
                self.client.catalogue_changed(None);
                "grown".to_owned()
            }
            "ask" => {
                let schema = json!({"properties": {"api_key": {"type": "string"}}});
                let form = json!({"message": "Your key?", "requestedSchema": schema});
                let asked = ServerRequest::Elicit(form);
                let answer = self.client.answer(asked, call.session_id.as_deref()).await;
                format!("{answer:?}")
            }
            "work" => {
                let journal = call.journal.as_ref().unwrap();
                journal.task_begun("task-1").await;
                self.working.notify_one();
                std::future::pending().await
            }
            "login" => {
                self.client
                    .auth_required("https://lamp.test", Some("shine"), None);
                return Err(ServerError::AuthRequired {
                    server: self.name.clone(),
                    resource: "https://lamp.test".to_owned(),
                    scope: Some("shine".to_owned()),
                });
            }
            _ => {
                return Err(ServerError::Ended {
                    server: self.name.clone(),
                    detail: String::new(),
                });
            }
        };
        Ok(CallResult {
            content: vec![json!({"type": "text", "text": text})],
            ..CallResult::default()
        })
    }
}

impl ToolServer for Lamp {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn connect(&self) -> BoxFuture<'_, Result<ServerFacts, ServerError>> {
        self.note("connected");
        let facts = ServerFacts {
            generation: Generation::Modern,
            protocol_version: "1".to_owned(),
            server_info: None,
            capabilities: json!({}),
            instructions: None,
        };
        let is_there = self.name != "gone";
        let missing = || ServerError::Unreachable("there is no such lamp".to_owned());
        Box::pin(std::future::ready(
            is_there.then_some(facts).ok_or_else(missing),
        ))
    }

    fn list(&self, _what: Listed) -> BoxFuture<'_, Result<Arc<Vec<Value>>, ServerError>> {
        self.note("listed");
        let mut names = vec!["shine", "grow", "ask", "work", "login", "break"];
        if self.version.load(Ordering::Relaxed) > 1 {
            names.push("grown");
        }
        let tools = names
            .into_iter()
            .map(|name| json!({"name": name, "inputSchema": {}}));
        let tools = Arc::new(tools.collect());
        Box::pin(std::future::ready(Ok(tools)))
    }

    fn catalogue_version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    fn call(&self, call: ServerCall) -> BoxFuture<'_, Result<CallResult, ServerError>> {
        self.note(&format!("called {}", call.tool));
        if let Some(task_id) = call.task_id {
            let text = json!({"type": "text", "text": format!("done: {task_id}")});
            let result = CallResult {
                content: vec![text],
                ..CallResult::default()
            };
            return Box::pin(std::future::ready(Ok(result)));
        }
        Box::pin(self.called(call))
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
        self.note("closed");
        Box::pin(std::future::ready(()))
    }
}

fn config(description: Value) -> ServerConfig {
    ServerConfig::read(&description).unwrap()
}

fn lamp(name: &str) -> Value {
    json!({"name": name, "command": "lamp", "env": {"KEY": "marked-value"}})
}

/// What the model was told about its tools in a call.
fn offered(stage: &Stage, turn: usize) -> Vec<String> {
    let calls = stage
        .runtime
        .desk()
        .answer("llm_mock_calls", &[])
        .unwrap()
        .unwrap();
    let tools = calls[turn]["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.unwrap_or_default().to_owned()
    });
    names.collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_is_told_without_secrets() {
    let lamps = Lamps::default();
    let answers = [calling("desk__shine", json!({})), saying("Fine.")];
    let stage = Stage::proving_with_servers(
        &["mcp_notification"],
        &answers,
        Arc::new(lamps.clone()),
        Vec::new(),
    );
    let options = json!({"mcp_servers": [lamp("desk"), lamp("gone")], "tool_format": "native"});
    let result = stage.run(options).await;
    assert_eq!(result["status"], "done");
    let told = stage.of_type("mcp_notification");
    assert_eq!(told[0]["method"], "harn/connect_failed");
    assert_eq!(told[0]["server"], "gone");
    assert_eq!(
        told[1],
        json!({
            "type": "mcp_notification", "session_id": SESSION, "server": "desk",
            "method": "notifications/progress", "direction": "notification",
            "params": {"progress": 1, "key": "[redacted]"},
        })
    );
    let happened = lamps.happened();
    let expected = [
        "desk connected",
        "gone connected",
        "desk listed",
        "desk called shine",
        "desk closed",
    ];
    assert_eq!(happened, expected);
}

/// A tool that was not there when the server was approved goes to no model, and the others go on.
#[tokio::test(start_paused = true)]
async fn a_tool_that_is_new_in_a_list_is_withheld_and_told() {
    let answers = [
        calling("desk__grow", json!({})),
        calling("desk__grown", json!({})),
        calling("desk__break", json!({})),
        saying("Fine."),
    ];
    let lamps = Lamps::default();
    let stage = Stage::proving_with_servers(
        &["mcp_catalog_changed", "mcp_notification"],
        &answers,
        Arc::new(lamps.clone()),
        Vec::new(),
    );
    stage
        .run(json!({"mcp_servers": [lamp("desk")], "tool_format": "native"}))
        .await;
    let changes = stage.of_type("mcp_catalog_changed");
    let reasons: Vec<&Value> = changes.iter().map(|change| &change["reason"]).collect();
    assert_eq!(reasons, ["list_changed", "allowlist_updated"]);
    let told = stage.of_type("mcp_notification");
    let withheld = told
        .iter()
        .find(|one| one["method"] == "harn/tools_withheld");
    assert_eq!(
        withheld.expect("it is told")["params"],
        json!({"tools": [{"name": "desk__grown", "changed": ["new"]}]})
    );
    assert!(!offered(&stage, 1).contains(&"desk__grown".to_owned()));
    assert!(offered(&stage, 1).contains(&"desk__break".to_owned()));
    assert!(!lamps.happened().contains(&"desk called grown".to_owned()));
    let updates = stage.of_type("tool_call_update");
    let refused = updates
        .iter()
        .find(|update| update["tool_name"] == "desk__grown" && update["status"] == "failed");
    assert_eq!(
        refused.expect("it is refused")["error"],
        "tool 'desk__grown' has changed since it was approved"
    );
    let broken = updates.last().unwrap();
    assert_eq!(broken["error_category"], "mcp_server_error");
    assert_eq!(
        broken["executor"],
        json!({"kind": "mcp_server", "server_name": "desk"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_a_login_is_told_and_the_call_fails() {
    let answers = [calling("desk__login", json!({})), saying("Fine.")];
    let stage = Stage::proving_with_servers(
        &["mcp_auth_required"],
        &answers,
        Arc::new(Lamps::default()),
        vec![config(lamp("desk"))],
    );
    stage
        .run(json!({"mcp_servers": ["desk"], "tool_format": "native"}))
        .await;
    assert_eq!(
        stage.one("mcp_auth_required"),
        json!({
            "type": "mcp_auth_required", "session_id": SESSION, "server": "desk",
            "resource": "https://lamp.test", "scope": "shine",
        })
    );
    assert_eq!(
        stage.of_type("tool_call_update").last().unwrap()["status"],
        "failed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_form_that_asks_for_a_secret_reaches_nobody() {
    let answers = [calling("desk__ask", json!({})), saying("Fine.")];
    let stage = Stage::proving_with_servers(
        &["tool_call_update"],
        &answers,
        Arc::new(Lamps::default()),
        Vec::new(),
    );
    stage
        .host
        .will_answer("elicitation/create", Ok(json!({"action": "accept"})));
    stage
        .run(json!({"mcp_servers": [lamp("desk")], "tool_format": "native"}))
        .await;
    let end = stage.of_type("tool_call_update").last().unwrap().clone();
    let text = end["raw_output"]["text"].as_str().unwrap();
    assert!(text.contains("decline"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_skill_has_its_servers_as_long_as_it_is_active() {
    let lamps = Lamps::default();
    let stage = Stage::proving_with_servers(
        &["skill_activated"],
        &[saying("Fine.")],
        Arc::new(lamps.clone()),
        vec![config(
            json!({"name": "desk", "command": "lamp", "lazy": true}),
        )],
    );
    let skill = json!({"name": "do", "description": "Light", "requires_mcp": ["desk", "other"]});
    let result = stage
        .run(json!({"skills": [skill], "tool_format": "native"}))
        .await;
    let events = result["transcript"]["events"].as_array().unwrap().clone();
    let of_kind = |kind: &str| {
        let mut events = events.iter();
        events.find(|event| event["kind"] == kind).unwrap()["metadata"].clone()
    };
    assert_eq!(of_kind("skill_mcp_bound")["server"], "desk");
    let failed = of_kind("skill_mcp_bind_failed");
    let reason = "mcp: no server named 'other' is registered (check harn.toml)";
    assert_eq!(failed["error"], reason);
    assert_eq!(lamps.happened()[0], "desk connected");
}

#[tokio::test(start_paused = true)]
async fn configured_servers_are_counted_and_end_when_nobody_needs_them() {
    let lamps = Lamps::default();
    let lazy = json!({"name": "desk", "command": "lamp", "lazy": true, "keep_alive_ms": 50});
    let stage = Stage::proving_with_servers(&[], &[], Arc::new(lamps.clone()), vec![config(lazy)]);
    let status = async || {
        let status = stage.ask("mcp_registry_status", Vec::new()).await.unwrap();
        (status[0]["active"].clone(), status[0]["ref_count"].clone())
    };
    assert_eq!(status().await, (json!(false), json!(0)));
    for _ in 0..2 {
        stage
            .ask("mcp_ensure_active", vec![json!("desk")])
            .await
            .unwrap();
    }
    assert_eq!(status().await, (json!(true), json!(2)));
    stage.ask("mcp_release", vec![json!("desk")]).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    assert_eq!(status().await, (json!(true), json!(1)));
    stage.ask("mcp_release", vec![json!("desk")]).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    assert_eq!(status().await, (json!(false), json!(0)));
    assert_eq!(lamps.happened().last().unwrap(), "desk closed");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_call_that_became_a_task_is_waited_for_instead_of_made_again() {
    let in_text = "<runtime_feedback kind=\"tool_results\">\n[result of desk__work]\n\
                   done: task-1\n[end of desk__work result]\n</runtime_feedback>";
    let formats = [
        ("native", "done: task-1"),
        ("text", in_text),
        ("json", in_text),
    ];
    for (tool_format, expected) in formats {
        let lamps = Lamps::default();
        let answers = [calling("desk__work", json!({})), saying("Fine.")];
        let stage = Stage::proving_with_servers(
            &["tool_call"],
            &answers,
            Arc::new(lamps.clone()),
            vec![config(lamp("desk"))],
        );
        let options = json!({"mcp_servers": ["desk"], "tool_format": tool_format});
        tokio::select! {
            result = stage.run(options.clone()) => panic!("{result}"),
            () = lamps.working.notified() => {}
        }
        let result = stage.run_with(request(options)).await.unwrap();
        assert_eq!(result["status"], "done");
        let said = result["transcript"]["messages"].as_array().unwrap();
        let turn = said.iter().position(|one| one["role"] == "assistant");
        assert_eq!(said[turn.unwrap() + 1]["content"], expected);
        let calls = lamps.happened();
        let calls = calls.iter().filter(|one| one.ends_with("called work"));
        assert_eq!(calls.count(), 2, "once to begin it, once to wait for it");
    }
}
