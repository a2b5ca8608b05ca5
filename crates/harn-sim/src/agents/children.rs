//! Agents that are started by agents, wait for each other, and are given up.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use harn_agent::events::AgentEvent;
use harn_agent::llm::desk::Thrown;
use harn_agent::verify::check_events;
use harn_agent::{Asked, BoxFuture, Callback, Declaration, Functions, Tool, ToolCall, ToolError};
use serde_json::{Value, json};

use super::Shared;
use super::model::mark;
use super::readers::Seen;
use super::world::{World, lock};

/// How many children a simulation may have, so that it comes to an end.
const CHILDREN_MAX: usize = 12;

/// A tool that starts an agent.
struct Launch {
    declaration: Declaration,
    world: Weak<World>,
}

/// The tool. Models ask for it now and then; without children nobody has it.
pub(super) fn launch(world: &Shared) -> Arc<dyn Tool> {
    Arc::new(Launch {
        declaration: Declaration {
            name: "launch".to_owned(),
            description: "Lets somebody else do it.".to_owned(),
            parameters: json!({"path": {"type": "string", "required": false}}),
            annotations: None,
        },
        world: Arc::downgrade(world),
    })
}

impl Tool for Launch {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        let world = self.world.upgrade().expect("the world outlives its tools");
        Box::pin(async move {
            let told = start(&world, call.session_id).await;
            Ok(told.to_string())
        })
    }
}

/// The same, where a child has it.
struct LaunchAgain {
    world: Weak<World>,
    session_id: String,
}

impl Callback for LaunchAgain {
    fn call(&self, _: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
        Box::pin(async move {
            match self.world.upgrade() {
                Some(world) => Ok(start(&world, &self.session_id).await),
                None => Ok(Value::Null),
            }
        })
    }
}

/// Starts an agent and does something with it.
async fn start(world: &Shared, parent: &str) -> Value {
    let Some(id) = next(world) else {
        return json!("there are enough");
    };
    // Where a log has threads, nothing may go on beside the run that is looked at.
    let is_background = world.log.is_none() && world.choose(|random| random.percent(60));
    world.tell(|| format!("{parent} starts {id}, in the background: {is_background}"));
    let (options, functions) = options(world, &id, is_background);
    let arguments = vec![json!(format!("help {parent}")), options];
    let started = ask(world, "sub_agent_run", arguments, functions, parent).await;
    let Ok(handle) = started else {
        world.count("child refused");
        return json!("refused");
    };
    match is_background {
        false => {
            world.count(format!("child ok {}", handle["ok"]));
            handle["summary"].clone()
        }
        true => play(world, parent, &handle).await,
    }
}

/// The name of the next child, if there may be one.
fn next(world: &World) -> Option<String> {
    let mut children = lock(&world.children);
    if world.is_calm() || children.len() >= CHILDREN_MAX {
        return None;
    }
    let id = format!("kid{}", children.len());
    children.push(id.clone());
    Some(id)
}

fn options(world: &Shared, id: &str, is_background: bool) -> (Value, Functions) {
    let (provider, model) = world.choose(|random| {
        *random.pick(&[
            ("openai", "gpt-4o"),
            ("anthropic", "claude-sonnet-4-5"),
            ("ollama", "llama3.2"),
        ])
    });
    let format = world.choose(|random| *random.pick(&["native", "text", "json"]));
    let is_lasting = world.choose(|random| random.percent(25));
    let transcript = ["inherit", "fork", "reset", "compact"];
    let transcript = world.choose(|random| *random.pick(&transcript));
    let tool = |name: &str| json!({"name": name, "description": "Does it.", "parameters": {}, "handler": null});
    let options = json!({
        "session_id": id,
        "provider": provider,
        "model": model,
        "system": mark(id, "run", format),
        "tool_format": format,
        "tool_format_override_reason": "to see what happens",
        "persistent": world.choose(|random| random.percent(50)),
        "max_iterations": world.choose(|random| random.between(1, 5)),
        "max_nudges": 1,
        "background": is_background,
        "carry": {
            "persist_state": false,
            "retriggerable": is_lasting,
            "transcript_mode": transcript,
        },
        "tools": {"_type": "tool_registry", "tools": [tool("look"), tool("launch")]},
    });
    let mut functions = Functions::default();
    let weak = Arc::downgrade(world);
    let look = move |_: Vec<Value>| match weak.upgrade() {
        Some(world) if world.wild(20) => Err(Thrown::Plain("it is dark".to_owned())),
        _ => Ok(json!("nothing to be seen")),
    };
    functions.insert("/1/tools/tools/0/handler", Arc::new(look));
    let again = LaunchAgain {
        world: Arc::downgrade(world),
        session_id: id.to_owned(),
    };
    functions.insert("/1/tools/tools/1/handler", Arc::new(again));
    (options, functions)
}

/// Does with a worker what comes to mind.
async fn play(world: &Shared, parent: &str, handle: &Value) -> Value {
    let steps = world.choose(|random| random.below(4));
    for _ in 0..steps {
        let builtin = world.choose(|random| {
            *random.pick(&[
                "close_agent",
                "suspend_agent",
                "resume_agent",
                "send_input",
                "worker_trigger",
                "list_agents",
            ])
        });
        world.pause().await;
        let arguments = match builtin {
            "list_agents" => Vec::new(),
            "send_input" | "worker_trigger" => vec![handle.clone(), json!("more")],
            _ => vec![handle.clone()],
        };
        let answer = ask(world, builtin, arguments, Functions::default(), parent).await;
        let word = if answer.is_ok() { "done" } else { "refused" };
        world.count(format!("{builtin} {word}"));
    }
    json!(handle["id"])
}

async fn ask(
    world: &Shared,
    builtin: &str,
    arguments: Vec<Value>,
    functions: Functions,
    session_id: &str,
) -> Result<Value, Thrown> {
    let asked = Asked {
        builtin: builtin.to_owned(),
        arguments,
        functions,
        session_id: (!session_id.is_empty()).then(|| session_id.to_owned()),
        ..Asked::default()
    };
    world.runtime().answer(asked).await
}

/// Closes all workers. None of them works any more then.
pub(super) async fn end_all(world: &Shared) {
    let none = Functions::default;
    let all = ask(world, "list_agents", Vec::new(), none(), "").await;
    let all = all.ok().and_then(|all| all.as_array().cloned());
    for handle in all.unwrap_or_default() {
        let status = handle["status"].as_str().unwrap_or_default().to_owned();
        world.count(format!("worker was {status}"));
        let closed = ask(world, "close_agent", vec![handle.clone()], none(), "").await;
        let closed = closed.unwrap_or_default();
        if closed["status"] != "cancelled" {
            world.complain(format!("a closed worker is {}", closed["status"]));
        }
        let waited = ask(world, "wait_agent", vec![handle], none(), "").await;
        if waited.is_err() {
            world.complain("waiting for a closed worker throws");
        }
    }
}

/// Closes the sessions of all children.
pub(super) async fn close_all(world: &Shared) {
    let bus = world.runtime().bus().clone();
    for id in sessions_of_children(world) {
        let closing = harn_agent::events::CloseSession::because("done");
        bus.close_session_and_await(&id, closing).await;
    }
}

/// The sessions that children have worked in: another cycle may have had another one.
pub(super) fn sessions_of_children(world: &World) -> BTreeSet<String> {
    let own = lock(&world.begun).clone();
    let seen = world.seen.seen();
    let all = seen.iter().map(|seen| seen.event.session_id().to_owned());
    let named = lock(&world.children).clone();
    let all = all.chain(named);
    all.filter(|id| !own.contains(id)).collect()
}

/// Checks what was seen of children and workers: every session keeps its promises, and every
/// run of a child that began has ended.
pub(super) fn check(world: &World, seen: &[Seen]) {
    let mut of_session: BTreeMap<&str, Vec<AgentEvent>> = BTreeMap::new();
    for one in seen {
        let events = of_session.entry(one.event.session_id()).or_default();
        events.push(one.event.clone());
    }
    let ends = lock(&world.ends).clone();
    let children = sessions_of_children(world);
    for (id, events) in of_session {
        for violation in check_events((0..).zip(&events)).violations {
            world.complain(format!("{id}: {violation}"));
        }
        if children.contains(id) {
            let is_exit = |event: &&AgentEvent| matches!(event, AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit");
            let exits = events.iter().filter(is_exit).count();
            let told = ends.iter().filter(|ended| *ended == id).count();
            if exits != told {
                world.complain(format!("{id} exited {exits} times, hooks heard of {told}"));
            }
        }
        let updates = events.iter();
        let updates = updates.filter(|event| matches!(event, AgentEvent::WorkerUpdate { .. }));
        for _ in updates {
            world.count("worker update");
        }
    }
}
