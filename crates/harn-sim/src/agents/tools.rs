//! Tools that do as the seed says.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use harn_agent::events::{ToolAnnotations, ToolKind};
use harn_agent::llm::Category;
use harn_agent::{BoxFuture, Declaration, Tool, ToolCall, ToolError};
use serde_json::json;

use super::Shared;
use super::world::World;

/// What panics of a simulation begin with.
pub(super) const PANIC: &str = "simulated:";

/// How much a tool says that says too much, in characters.
const GIANT_CHARS: usize = 20_000;

/// A tool that does as the seed says.
struct SimTool {
    declaration: Declaration,
    world: Weak<World>,
    is_steady: bool,
}

/// All tools of a run. `steady` always works.
pub(super) fn tools(world: &Shared) -> Vec<Arc<dyn Tool>> {
    let rows = [
        ("look", Some(ToolKind::Read)),
        ("peek", Some(ToolKind::Search)),
        ("change", Some(ToolKind::Edit)),
        ("run", Some(ToolKind::Execute)),
        ("steady", None),
    ];
    let tool = |(name, kind): (&str, Option<ToolKind>)| {
        let annotations = kind.map(|kind| ToolAnnotations {
            kind,
            inline_result: true,
            ..ToolAnnotations::default()
        });
        Arc::new(SimTool {
            declaration: Declaration {
                name: name.to_owned(),
                description: format!("Does what `{name}` says."),
                parameters: json!({"path": "string"}),
                annotations,
            },
            world: Arc::downgrade(world),
            is_steady: name == "steady",
        }) as Arc<dyn Tool>
    };
    let tools = rows.into_iter().map(tool);
    let launch = world.has_children.then(|| super::children::launch(world));
    tools.chain(launch).collect()
}

impl Tool for SimTool {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        let world = self.world.upgrade().expect("the world outlives its tools");
        world.tell(|| format!("tool {} {} of {}", call.name, call.id, call.session_id));
        if self.is_steady || world.is_calm() {
            return Box::pin(std::future::ready(Ok("steady as ever".to_owned())));
        }
        let choice = world.choose(|random| random.below(100));
        if choice < 4 {
            world.count("tool panicked at once");
            panic!("{PANIC} {} broke at once", call.name);
        }
        Box::pin(async move {
            if choice.is_multiple_of(3) {
                world.pause().await;
                world.pause().await;
            }
            perform(&world, call, choice).await
        })
    }
}

async fn perform(world: &World, call: ToolCall<'_>, choice: u64) -> Result<String, ToolError> {
    match choice {
        4..=7 => {
            world.count("tool panicked later");
            panic!("{PANIC} {} broke", call.name);
        }
        8..=15 => {
            world.count("tool failed");
            Err(ToolError::Failed("it does not work".to_owned()))
        }
        16..=20 => {
            world.count("tool rejected");
            Err(ToolError::Rejected("this may not be done".to_owned()))
        }
        21..=26 => {
            world.count("tool unreachable");
            Err(ToolError::Backend {
                category: Category::TransientNetwork,
                message: "nobody there".to_owned(),
            })
        }
        27..=30 => {
            world.count("tool said too much");
            Ok("line of output\n".repeat(GIANT_CHARS / 15))
        }
        31..=36 => {
            world.count("tool slow");
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Ok("at last".to_owned())
        }
        37..=40 => Ok(String::new()),
        _ if call.name == "run" => Ok("exit_code=0\nCommand succeeded".to_owned()),
        _ => Ok(format!("{} says {}", call.name, call.arguments)),
    }
}
