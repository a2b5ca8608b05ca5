//! The builtins that begin children and workers. The functions in their options run inside the
//! session of the child, as a part of the worker and where the worker works, so all of that has
//! to be known before they are let out.

use std::task::Poll;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Value, Waiting, argument};
use harn_stdlib::{EXECUTION, WORKER, bound_tools, scope_command_policy, worker_folders};
use serde_json::{Map, json};

use super::builtins::{answered, current, inside, request_about, session_id};
use super::question::answer;
use crate::json::to_json;

/// `__sub_agent_run(task, options)`
pub(super) fn sub_agent_run(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let options = argument(arguments, 1).clone();
    let session = match session_id(&options) {
        Some(id) => id,
        None => format!("sub_agent_session_{}", new_id(context)?),
    };
    let worker = match is_on(&options, "background") {
        true => Some(format!("worker_{}", new_id(context)?)),
        false => None,
    };
    let start = Begun {
        builtin: "sub_agent_run",
        session,
        worker,
        execution: field(&options, "execution"),
        options,
    };
    start.begin(context, arguments, waiting)
}

/// `spawn_agent(config)`
pub(super) fn spawn_agent(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let config = argument(arguments, 0).clone();
    let worker = format!("worker_{}", new_id(context)?);
    let node = match field(&field(&config, "node"), "id") {
        Value::Nil => "stage".to_owned(),
        id => id.to_text().to_string(),
    };
    let start = Begun {
        builtin: "spawn_agent",
        session: format!("worker_session_{worker}_{node}"),
        worker: Some(worker),
        execution: field(&config, "execution"),
        options: config,
    };
    start.begin(context, arguments, waiting)
}

/// `resume_agent(worker, input)`: what is bound may have the handlers of the worker's tools.
pub(super) fn resume_agent(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let bound = bound_tools(context).map_or(Value::Nil, Value::Dict);
    let arguments = [
        argument(arguments, 0).clone(),
        argument(arguments, 1).clone(),
        bound,
    ];
    let outer = current(context);
    let more = about(context, None);
    let request = request_about(context, "resume_agent", &arguments, (outer, None), more);
    answered(context, waiting, Some(request))
}

/// A child or a worker that is about to begin.
struct Begun {
    builtin: &'static str,
    session: String,
    worker: Option<String>,
    execution: Value,
    options: Value,
}

impl Begun {
    fn begin(
        self,
        context: &mut Context<'_>,
        arguments: &mut [Value],
        waiting: &mut Waiting,
    ) -> Result<Poll<Value>, Failure> {
        let outer = current(context);
        let before = context.strand().values.clone();
        if let Some(worker) = &self.worker {
            let surroundings = surroundings(context, worker, &self.execution)?;
            let values = &mut context.strand().values;
            values.insert(Text::new(WORKER), Value::from(&**worker));
            if let Value::Dict(_) = surroundings {
                values.insert(Text::new(EXECUTION), surroundings);
            }
        }
        let more = about(context, self.worker.as_deref());
        let ids = (outer, Some(&*self.session));
        let request = inside(context, &self.session, true, |context| {
            scope_command_policy(context, &self.options)?;
            let builtin = self.builtin;
            Ok(request_about(context, builtin, arguments, ids, more))
        });
        context.strand().values = before;
        answered(context, waiting, Some(request?))
    }
}

/// What the port has to know about a worker.
fn about(context: &mut Context<'_>, worker: Option<&str>) -> Map<String, serde_json::Value> {
    let folders = worker_folders(context);
    let places = json!({"state": folders.state, "worktrees": folders.worktrees});
    Map::from_iter([
        ("worker".to_owned(), json!(worker)),
        ("places".to_owned(), places),
    ])
}

/// Where the functions of a worker run.
fn surroundings(
    context: &mut Context<'_>,
    worker: &str,
    execution: &Value,
) -> Result<Value, Failure> {
    match execution {
        Value::Dict(_) => {
            let folders = worker_folders(context);
            let asked = json!([worker, to_json(execution), folders.worktrees]);
            answer(context, "__worker_surroundings", &asked)
        }
        _ => Ok(Value::Nil),
    }
}

/// The session that a worker works in, where its functions know the one it began in.
pub(super) fn session_now(context: &mut Context<'_>, session: &str) -> Result<Value, Failure> {
    answer(context, "__session_now", &json!([session]))
}

fn new_id(context: &mut Context<'_>) -> Result<String, Failure> {
    let id = answer(context, "__new_id", &json!([]))?;
    Ok(id.to_text().to_string())
}

fn field(value: &Value, key: &str) -> Value {
    match value {
        Value::Dict(dict) => dict.get(key).cloned().unwrap_or(Value::Nil),
        _ => Value::Nil,
    }
}

fn is_on(options: &Value, key: &str) -> bool {
    field(options, key).is_truthy()
}
