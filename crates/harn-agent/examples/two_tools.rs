//! An agent with two tools and a scripted model: `cargo run -p harn-agent --example two_tools`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use harn_agent::llm::{desk::Desk, scenario::Scenario};
use harn_agent::{FunctionTool, LoopRequest, Runtime, RuntimeOptions};
use serde_json::json;

const SCRIPT: &str = r#"
[[turn]]
text = "Let me look."
call = [{ tool = "stock", arguments = { item = "milk" } }, { tool = "price", arguments = { item = "milk" } }]
[[turn]]
text = "Two bottles are left, at 1.20 each."
"#;

/// Asks once and shows every event.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let item = json!({"item": "string"});
    let stock = FunctionTool::new("stock", "How many are left.", item.clone(), |call| {
        Box::pin(async move { Ok(format!("2 of {}", call["item"])) })
    });
    let price = FunctionTool::new("price", "What one costs.", item, |_| {
        Box::pin(async { Ok("1.20".to_owned()) })
    });
    // `Desk::online(std::env::vars().collect())` asks a real model instead.
    let desk = Desk::staged(Scenario::parse("two_tools", SCRIPT)?);
    let runtime = Runtime::new(Arc::new(desk), RuntimeOptions::default());
    let request = LoopRequest::new("Do we have milk?").tool(stock).tool(price);
    let request = request.watch(|event| println!("{}", event.tag()));
    let result = runtime.run(request).await?;
    println!("{}: {}", result.status, result.visible_text);
    Ok(())
}
