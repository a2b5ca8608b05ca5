//! What every host can do.

use std::task::Poll;

use harn_machine::{Answer, Context, Failure, Request, Value, Waiting, thrown};

use super::{Params, exec, shells};
use crate::files::root::execution_root;
use crate::templates;

/// Performs an operation that needs no host of its own.
pub(super) fn perform(
    context: &mut Context<'_>,
    capability: &str,
    operation: &str,
    params: &Params,
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let done = match (capability, operation) {
        ("process", "exec") => return exec::exec(context, params, waiting),
        ("template", "render") => return render(context, params, waiting),
        ("interaction", "ask") => return ask(context, params, waiting),
        ("process", "list_shells") => shells::list(context),
        ("process", "get_default_shell") => shells::default_shell(context).described(),
        ("process", "set_default_shell") => shells::set_default(context, params)?,
        ("process", "shell_invocation") => shells::invocation(context, params)?,
        ("runtime", "task") => variable(context, "HARN_TASK").unwrap_or_default().into(),
        ("runtime", "set_result") => Value::Nil,
        ("workspace", "project_root") => match variable(context, "HARN_PROJECT_ROOT") {
            Some(root) => root.into(),
            None => here(context),
        },
        ("workspace", "cwd") => here(context),
        _ => {
            return thrown(format!(
                "host_call: unsupported operation {capability}.{operation}"
            ));
        }
    };
    Ok(Poll::Ready(done))
}

fn variable(context: &mut Context<'_>, name: &str) -> Option<String> {
    match context.perform(&Request::Environment(name.to_owned())) {
        Answer::Text(value) => value,
        _ => None,
    }
}

fn here(context: &mut Context<'_>) -> Value {
    execution_root(context).display().to_string().into()
}

/// `template.render`
fn render(
    context: &mut Context<'_>,
    params: &Params,
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let path = params.required(&["path"])?;
    let bindings = params.get("bindings").cloned().unwrap_or_default();
    let missing = "host_call template.render: failed to read template";
    templates::render_file(context, waiting, &path, &bindings, missing)
}

/// `interaction.ask`: a person sees the question, a program that reads the output does not.
fn ask(
    context: &mut Context<'_>,
    params: &Params,
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let question = params.required(&["question"])?;
    if !waiting.is_resumed() {
        context.write_error(&format!("{question}\n"));
    }
    match waiting.effect(context, || Request::Input { line: true }) {
        None => Ok(Poll::Pending),
        Some(Answer::Text(line)) => {
            let line = line.unwrap_or_default();
            Ok(Poll::Ready(line.trim_end().into()))
        }
        Some(Answer::Failed(failure)) => {
            let reason = failure.message;
            thrown(format!("host_call interaction.ask: {reason}"))
        }
        Some(_) => Ok(Poll::Ready("".into())),
    }
}
