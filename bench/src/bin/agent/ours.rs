//! Our side: a runtime whose model follows a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harn_agent::events::{Clock, SystemClock};
use harn_agent::llm::catalog::{Capabilities, Config};
use harn_agent::llm::desk::{Desk, Ports, Recording, Setup, Staged};
use harn_agent::llm::mock::Mock;
use harn_agent::llm::scenario::Scenario;
use harn_agent::llm::transport::{Http, HttpOptions};
use harn_agent::{FunctionTool, LoopRequest, PreparedLoop, Runtime, RuntimeOptions, Tool};
use serde_json::json;

/// One call, and a text when its result is there. Pieces are as long as an answer, because
/// those of the peers come whole.
pub(crate) const ONE_CALL: &str = r#"
piece_chars = 1000

[[turn]]
when = "add*"
repeat = true
call = [{ tool = "add", arguments = { a = 2, b = 3 } }]

[[turn]]
when = "5"
repeat = true
text = "The sum is 5."
"#;

/// What the user says.
pub(crate) const ASKED: &str = "add 2 and 3";

/// What the model says in the end.
const ANSWER: &str = "The sum is 5.";

/// A runtime whose model follows a script.
pub(crate) fn runtime(script: &str, options: RuntimeOptions) -> Arc<Runtime> {
    let scenario = Scenario::parse("bench.scenario.toml", script).expect("the script is right");
    let ids = AtomicU64::new(0);
    let desk = Desk::new(Setup {
        environment: Default::default(),
        config: Config::built_in(),
        capabilities: Capabilities::load(None).expect("the built-in table is right"),
        mock: Mock::default(),
        transport: Arc::new(Http::new(HttpOptions::default())),
        ports: Ports {
            now: Arc::new(|| SystemClock.now_ms()),
            chance: Arc::new(|| 0.0),
            new_id: Arc::new(move || format!("{:032x}", ids.fetch_add(1, Ordering::Relaxed))),
            schema_errors: Arc::new(|_, _| Vec::new()),
            // That the tool says nothing of what it does to the world.
            warn: Arc::new(|_| {}),
        },
        recording: Recording::default(),
        staged: Some(Staged {
            scenario,
            in_real_time: false,
        }),
    });
    Runtime::new(Arc::new(desk), options)
}

/// The tool that adds two numbers.
pub(crate) fn add() -> Arc<dyn Tool> {
    let parameters = json!({"a": "int", "b": "int"});
    FunctionTool::new("add", "Adds two numbers.", parameters, |arguments| {
        let number = |key: &str| arguments[key].as_i64().unwrap_or(0);
        let sum = (number("a") + number("b")).to_string();
        Box::pin(async move { Ok(sum) })
    })
}

/// An agent with one tool.
pub(crate) fn agent(tool: Arc<dyn Tool>) -> LoopRequest {
    LoopRequest::new(ASKED)
        .option("provider", "openai")
        .option("model", "gpt-4o")
        .option("tool_format", "native")
        .tool(tool)
}

/// The same, made ready to be run many times.
pub(crate) fn prepared(runtime: &Arc<Runtime>) -> PreparedLoop {
    let prepared = runtime.prepare(agent(add()));
    prepared.expect("the options are right")
}

/// One run, from what the user says to the last answer.
pub(crate) async fn run(agent: &PreparedLoop) {
    let result = agent.run(ASKED).await;
    let result = result.expect("the script has an answer");
    assert_eq!(result.text, ANSWER);
    assert_eq!(result.successful, ["add"]);
}
