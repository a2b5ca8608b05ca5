//! The registry that a task works with, so that names of tools can be checked where they are
//! written.
//!
//! A task sees what it has bound itself, else what the task that started it has bound. The ids
//! of tasks tell who that is: each begins with the id of the one that started it.

use std::collections::HashMap;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, argument, take, thrown};

use crate::registries::TOOLS;

/// What tasks have bound; `None` if they want nothing to be bound.
#[derive(Default)]
struct Bound(HashMap<String, Option<Dict>>);

impl Bound {
    fn find(&self, task: &str) -> Option<&Dict> {
        let mut id = task;
        loop {
            if let Some(bound) = self.0.get(id) {
                return bound.as_ref();
            }
            (id, _) = id.rsplit_once(':')?;
        }
    }
}

/// The registry of tools that the task works with.
pub fn bound_tools(context: &mut Context<'_>) -> Option<Dict> {
    let task = context.strand().facts.id.clone();
    context.state::<Bound>().find(&task).cloned()
}

/// `tool_bind(registry | nil)`
pub(super) fn tool_bind(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let bound = match take(args, 0) {
        Value::Nil => None,
        Value::Dict(registry) if TOOLS.is_registry(&registry) => Some(registry),
        _ => return thrown("tool_bind: argument must be a tool registry or nil"),
    };
    let task = context.strand().facts.id.to_string();
    context.state::<Bound>().0.insert(task, bound.clone());
    Ok(bound.into())
}

/// `__tools_bind_loop(options)`: what the task has bound itself, in a list of one; nil if the
/// loop has no tools.
pub(super) fn bind_loop(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let Value::Dict(options) = take(args, 0) else {
        return Ok(Value::Nil);
    };
    let registry = match options.get("tools") {
        Some(Value::Dict(registry)) if TOOLS.is_registry(registry) => registry.clone(),
        Some(Value::List(entries)) => TOOLS.of_entries(entries.to_vec()),
        _ => return Ok(Value::Nil),
    };
    let task = context.strand().facts.id.to_string();
    let before = context.state::<Bound>().0.insert(task, Some(registry));
    Ok(Value::list(before.into_iter().map(Value::from).collect()))
}

/// `__tools_of_child(options)`: the options of a child, whose tools are those that are bound
/// unless it has its own, and of these the ones it is allowed. What is wrong with them is for
/// whoever reads them.
pub(super) fn of_child(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let mut options = match take(args, 0) {
        Value::Nil => Dict::default(),
        Value::Dict(options) => options,
        other => return Ok(other),
    };
    let tools = match options.get("tools") {
        None | Some(Value::Nil) => bound_tools(context),
        Some(Value::Dict(registry)) if TOOLS.is_registry(registry) => Some(registry.clone()),
        Some(_) => return Ok(options.into()),
    };
    if let Some(tools) = tools {
        let tools = match options.get("allowed_tools") {
            Some(Value::List(names)) => {
                let names = Value::List(names.clone());
                TOOLS.select("sub_agent_run", &mut [tools.into(), names])?
            }
            _ => tools.into(),
        };
        options.insert(Text::new("tools"), tools);
    }
    Ok(options.into())
}

/// `__tools_unbind_loop(bound)`
pub(super) fn unbind_loop(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let Value::List(before) = take(args, 0) else {
        return Ok(Value::Nil);
    };
    let task = context.strand().facts.id.to_string();
    let bound = &mut context.state::<Bound>().0;
    match before.first() {
        None => bound.remove(&task),
        Some(Value::Dict(registry)) => bound.insert(task, Some(registry.clone())),
        Some(_) => bound.insert(task, None),
    };
    Ok(Value::Nil)
}

/// `tool_ref(name)`
pub(super) fn tool_ref(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    entry("tool_ref", context, args)?;
    Ok(take(args, 0))
}

/// `tool_def(name)`
pub(super) fn tool_def(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let mut entry = entry("tool_def", context, args)?;
    entry.remove("handler");
    Ok(entry.into())
}

fn entry(function: &str, context: &mut Context<'_>, args: &[Value]) -> Result<Dict, Failure> {
    let Value::Text(name) = argument(args, 0) else {
        return thrown(format!("{function}: name must be a string literal"));
    };
    let Some(registry) = bound_tools(context) else {
        return thrown(format!(
            "{function}: no tool registry bound to this scope. \
             Call tool_bind(registry) first, or invoke inside an agent_loop."
        ));
    };
    match TOOLS.entry(&registry, name) {
        Some(entry) => Ok(entry.clone()),
        None => {
            let known = known(&registry);
            thrown(format!(
                "{function}: unknown tool \"{name}\". Registered tools: {known}"
            ))
        }
    }
}

fn known(registry: &Dict) -> String {
    let names = TOOLS.sorted(registry).into_iter();
    let names: Vec<String> = names.map(|(name, _)| name.to_string()).collect();
    match names.is_empty() {
        true => "(none registered)".to_owned(),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_sees_what_it_or_the_nearest_task_above_it_has_bound() {
        let marked = |mark: &str| Dict::from_iter([(Text::new(mark), Value::Nil)]);
        let mut bound = Bound::default();
        bound.0.insert("root".to_owned(), Some(marked("root")));
        bound
            .0
            .insert("root:spawn:1".to_owned(), Some(marked("one")));
        bound.0.insert("root:spawn:2".to_owned(), None);
        for (task, expected) in [
            ("root", Some("root")),
            ("root:parallel:1:0", Some("root")),
            ("root:spawn:1", Some("one")),
            ("root:spawn:1:parallel:2:0", Some("one")),
            ("root:spawn:2", None),
            ("root:spawn:2:spawn:1", None),
            ("root:spawn:11", Some("root")),
            ("rooted", None),
        ] {
            let found = bound.find(task).map(|dict| dict.keys().next().unwrap());
            assert_eq!(found.map(Text::as_str), expected, "{task}");
        }
    }
}
