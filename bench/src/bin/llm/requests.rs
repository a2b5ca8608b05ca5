//! What a request costs besides what HTTP costs.

use std::time::Duration;

use harn_bench::{Effort, Goal, Table, time, versus};
use harn_llm::exchange::{Exchange, ask};
use harn_llm::transport::{Http, HttpOptions, TimeLimits};
use harn_llm::wire::{Target, Wire, encode};
use harn_llm::{Request, SharedList, ToolSpec};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::server::Server;

/// Our side and the bare client ask the same server for the same answer with the same body.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let server = Server::start()?;
    let greeting = Request {
        system: None,
        tools: SharedList::default(),
        ..request()
    };
    row(
        &Case {
            work: "ask and read an answer of 10 frames, on an open connection",
            url: format!("{}/text", server.url),
            request: greeting,
            goal: Goal::TimeAtMost(1.3),
        },
        effort,
        table,
    )?;
    row(
        &Case {
            work: "ask with four tools and read an answer of 19 frames with two calls",
            url: format!("{}/calls", server.url),
            request: request(),
            goal: Goal::Shown,
        },
        effort,
        table,
    )
}

struct Case {
    work: &'static str,
    url: String,
    request: Request,
    goal: Goal,
}

fn row(case: &Case, effort: Effort, table: &mut Table) -> Result<(), String> {
    let target = target(&case.url);
    let body = encode(Wire::Chat, &case.request, &target).body;
    let runtime = runtime()?;
    let http = Http::new(HttpOptions::default());
    let bare = bare_client()?;
    let ours = |operations| {
        time(|| runtime.block_on(ask_often(&http, &target, &case.request, operations)))
    };
    let theirs =
        |operations| time(|| runtime.block_on(post_often(&bare, &case.url, &body, operations)));
    // Connections are opened and certificates read before anything is measured.
    let _warm: (Duration, Duration) = (ours(10), theirs(10));
    let samples = versus(effort, effort.operations(1_000), ours, theirs);
    table.times(
        case.work,
        "`reqwest` alone, which sends the same JSON and drops what it reads",
        &samples,
        case.goal,
    );
    Ok(())
}

async fn ask_often(http: &Http, target: &Target, request: &Request, operations: usize) {
    for _ in 0..operations {
        let exchange = Exchange {
            wire: Wire::Chat,
            target,
            request,
            limits: TimeLimits::default(),
        };
        let reply = ask(http, exchange, &mut |_| {}).await;
        assert!(!reply.expect("the server answers").text.is_empty());
    }
}

async fn post_often(client: &reqwest::Client, url: &str, body: &Value, operations: usize) {
    for _ in 0..operations {
        let sending = client.post(url).header("content-type", "application/json");
        let response = sending.body(body.to_string()).send().await;
        let mut response = response.expect("the server answers");
        while response
            .chunk()
            .await
            .expect("the answer is whole")
            .is_some()
        {}
    }
}

/// A client as ours has it, TLS included.
fn bare_client() -> Result<reqwest::Client, String> {
    // Another benchmark of this process may have chosen before, and the same.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = reqwest::Client::builder().no_proxy().build();
    client.map_err(|why| format!("a client: {why}"))
}

pub(crate) fn runtime() -> Result<Runtime, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|why| format!("a runtime: {why}"))
}

pub(crate) fn target(url: &str) -> Target {
    Target {
        provider: "openai".to_owned(),
        url: url.to_owned(),
        ..Target::default()
    }
}

/// The beginning of a conversation with tools.
pub(crate) fn request() -> Request {
    let tools = ["read", "write", "search", "run"].map(|name| ToolSpec {
        name: name.to_owned(),
        description: format!("Does what {name} does, and says so."),
        parameters: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path"],
        }),
        ..ToolSpec::default()
    });
    Request {
        model: "some-model".to_owned(),
        system: Some("You write programs. ".repeat(50)),
        messages: vec![json!({"role": "user", "content": "What is the weather?"})].into(),
        tools: Vec::from(tools).into(),
        stream: true,
        ..Request::default()
    }
}
