//! Measures an agent with a sink of our own: `cargo run -q -p rust-sink`.
//!
//! The agent has two tools of Rust, of which one fails once. A script stands for the model, so
//! that everybody sees the same; `Desk::online(std::env::vars().collect())` asks a real one.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

mod meter;

use std::error::Error;
use std::sync::Arc;

use harn_agent::llm::{desk::Desk, scenario::Scenario};
use harn_agent::{FunctionTool, LoopRequest, LoopResult, Runtime, RuntimeOptions, Tool, ToolError};
use serde_json::json;

use meter::Meter;

/// What the model says.
const SCRIPT: &str = include_str!("../main.scenario.toml");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let meter = Arc::new(Meter::default());
    let result = ask(Arc::clone(&meter)).await?;
    println!("{}: {}\n", result.status, result.visible_text);
    print!("{}", meter.report());
    Ok(())
}

/// Asks the agent something, while the meter watches all sessions of the runtime.
async fn ask(meter: Arc<Meter>) -> Result<LoopResult, Box<dyn Error>> {
    let desk = Desk::staged(Scenario::parse("rust-sink", SCRIPT)?);
    let options = RuntimeOptions {
        observer: Some(meter),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(desk), options);
    let request = LoopRequest::new("Do we have milk, and what does it cost?");
    Ok(runtime.run(request.tool(stock()).tool(price())).await?)
}

/// Knows how many there are, but only of what the shop has.
fn stock() -> Arc<dyn Tool> {
    let parameters = json!({"item": "string"});
    FunctionTool::new("stock", "How many are left.", parameters, |call| {
        Box::pin(async move {
            match call["item"].as_str() {
                Some("milk") => Ok("2 bottles".to_owned()),
                _ => Err(ToolError::Failed("there is no such item".to_owned())),
            }
        })
    })
}

fn price() -> Arc<dyn Tool> {
    let parameters = json!({"item": "string"});
    FunctionTool::new("price", "What one costs.", parameters, |_| {
        Box::pin(async { Ok("1.20".to_owned()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn the_meter_counts_turns_calls_and_failures() {
        let meter = Arc::new(Meter::default());
        let result = ask(Arc::clone(&meter)).await.unwrap();
        assert_eq!(result.status, "done");
        let report = meter.report();
        for line in [
            "agent_turns_total 3",
            "agent_tool_calls_total{tool=\"stock\"} 2",
            "agent_tool_failures_total{tool=\"stock\"} 1",
            "agent_tool_calls_total{tool=\"price\"} 1",
            "agent_tool_failures_total{tool=\"price\"} 0",
        ] {
            assert!(report.lines().any(|one| one == line), "{report}");
        }
    }
}
