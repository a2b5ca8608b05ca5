//! Workers from the outside: what is asked, what is told, what is kept.

mod lifecycle;
mod policies;
mod snapshots;
mod suspension;

use std::future::Future;
use std::sync::{Arc, Mutex};

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use crate::builtins::Asked;
use crate::callback::{BoxFuture, Callback, Functions};
use crate::runtime::RuntimeOptions;
use crate::testing::Program;
use crate::workers::WorkerPlaces;

/// Runs a test on one thread, with a clock that only goes on while everybody waits.
fn run<T>(test: impl Future<Output = T>) -> T {
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    executor.expect("it needs only memory").block_on(test)
}

/// A program whose workers are kept in a folder.
fn program_in(folder: &std::path::Path) -> Program {
    Program::with(RuntimeOptions {
        worker_places: WorkerPlaces {
            state: folder.join("workers"),
            worktrees: folder.join("worktrees"),
        },
        ..RuntimeOptions::default()
    })
}

impl Program {
    /// Calls a builtin from the loop of a session, with functions among the arguments.
    async fn answer(
        &self,
        builtin: &str,
        arguments: Value,
        session_id: Option<&str>,
        functions: Functions,
    ) -> Result<Value, Thrown> {
        let Value::Array(arguments) = arguments else {
            panic!("arguments are a list");
        };
        let asked = Asked {
            builtin: builtin.to_owned(),
            arguments,
            functions,
            session_id: session_id.map(str::to_owned),
            ..Asked::default()
        };
        self.runtime.answer(asked).await
    }

    /// Calls a builtin that answers.
    async fn done(&self, builtin: &str, arguments: Value) -> Value {
        let answer = self.answer(builtin, arguments, None, Functions::default());
        answer.await.expect("the builtin answers")
    }

    /// Calls a builtin that refuses.
    async fn refused(&self, builtin: &str, arguments: Value) -> String {
        let answer = self.answer(builtin, arguments, None, Functions::default());
        match answer.await {
            Err(Thrown::Runtime(text)) => text,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// A child in the background.
    async fn start(&self, more: Value, functions: Functions) -> Value {
        let mut options = json!({
            "provider": "mock",
            "background": true,
            "tool_format": "native",
            "carry": {"persist_state": false},
        });
        for (key, value) in more.as_object().expect("options are a dict") {
            options[key] = value.clone();
        }
        let arguments = json!(["dig", options]);
        let started = self.answer("sub_agent_run", arguments, None, functions);
        started.await.expect("it starts")
    }

    /// The status of a worker.
    async fn status(&self, handle: &Value) -> String {
        let all = self.done("list_agents", json!([])).await;
        let all = all.as_array().expect("it is a list");
        let mut found = all.iter().filter(|worker| worker["id"] == handle["id"]);
        let worker = found.next().expect("it is there");
        worker["status"].as_str().expect("it is a word").to_owned()
    }

    /// The mock calls a tool next.
    fn mock_call(&self, tool: &str) {
        let entry = json!({"tool_calls": [{"name": tool, "arguments": {}}]});
        let added = self.runtime.desk().answer("llm_mock", &[entry]);
        assert!(added.is_some(), "the desk has a mock");
    }
}

/// A registry of tools without parameters.
fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"name": name, "description": "", "parameters": {}});
    let tools: Vec<Value> = names.iter().map(tool).collect();
    json!({"_type": "tool_registry", "tools": tools})
}

/// A tool that says when it was called, and waits until it may end.
#[derive(Clone)]
struct Hold {
    called: Arc<tokio::sync::Notify>,
    opened: Arc<tokio::sync::Notify>,
    dropped: Arc<Mutex<usize>>,
}

impl Hold {
    fn new() -> Self {
        Self {
            called: Arc::default(),
            opened: Arc::default(),
            dropped: Arc::default(),
        }
    }

    /// The functions of a child whose first tool this is.
    fn functions(&self) -> Functions {
        let mut functions = Functions::default();
        let here = Arc::new(self.clone()) as Arc<dyn Callback>;
        functions.insert("/1/tools/tools/0/handler", here);
        functions
    }
}

/// Counts calls that were given up.
struct GivenUp<'a>(&'a Mutex<usize>, bool);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if !self.1 {
            *self.0.lock().expect("nobody panics") += 1;
        }
    }
}

impl Callback for Hold {
    fn call(&self, _: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
        Box::pin(async move {
            let mut given_up = GivenUp(&self.dropped, false);
            self.called.notify_one();
            self.opened.notified().await;
            given_up.1 = true;
            Ok(json!("held"))
        })
    }
}
