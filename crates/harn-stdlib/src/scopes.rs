//! Scopes: who shares a cell, a map or a mailbox.
//!
//! ```text
//! name, as a program writes it ──► scope ──► with the id of what the task belongs to
//! "workflow", "task-group"         TaskGroup   "task_group:task_root"
//! ```
//!
//! What is shared is found by scope and key; a handle holds both. See [`Handle`].

mod handle;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Facts, Failure, Fault, Registry, Value, argument};

pub(crate) use handle::{Handle, Kind};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[("shared_scope_id", shared_scope_id)]);
}

/// `shared_scope_id(scope = "task_group", options)`
fn shared_scope_id(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = match argument(arguments, 1) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    let scope = argument(arguments, 0);
    resolve("shared_scope_id", scope, &options, context).map(Value::Text)
}

/// Who shares something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope<'a> {
    Task,
    RootTask,
    TaskGroup,
    Run,
    Session,
    Tenant,
    Process,
    /// Refused: what outlives the run has functions of its own.
    Durable,
    /// Refused: what belongs to others comes from the host.
    External,
    /// Whoever uses the same word.
    Own(&'a str),
}

impl<'a> Scope<'a> {
    /// The scope of a name in which hyphens were replaced.
    fn of_name(name: &'a str) -> Self {
        match name {
            "" | "task_group" | "workflow" | "workflow_local" => Self::TaskGroup,
            "task" | "task_local" => Self::Task,
            "root_task" => Self::RootTask,
            "workflow_run" | "run" => Self::Run,
            "agent_session" | "session" => Self::Session,
            "tenant" => Self::Tenant,
            "process" | "global" => Self::Process,
            "durable" | "event_log" => Self::Durable,
            "external" | "host" => Self::External,
            name => Self::Own(name),
        }
    }

    fn name(self) -> &'a str {
        match self {
            Self::Task => "task",
            Self::RootTask => "root_task",
            Self::TaskGroup => "task_group",
            Self::Run => "workflow_run",
            Self::Session => "agent_session",
            Self::Tenant => "tenant",
            Self::Process => "process",
            Self::Durable => "durable",
            Self::External => "external",
            Self::Own(name) => name,
        }
    }
}

/// The text that stands for a scope as seen by the task that calls.
pub(crate) fn resolve(
    builtin: &str,
    scope: &Value,
    options: &Dict,
    context: &mut Context<'_>,
) -> Result<Text, Failure> {
    let name = match scope {
        Value::Nil => String::new(),
        name => name.show(),
    };
    let facts = context.strand().facts.clone();
    let tenant = options.get("tenant_id").filter(|id| !id.is_nil());
    let scope = resolve_name(&name, &facts, tenant.map(Value::to_text));
    scope.map_err(|refusal| Fault::runtime(format!("{builtin}: {refusal}")))
}

/// Why a scope cannot be used.
const DURABLE: &str = "durable shared state is explicit; use store_* or agent_state_* APIs";
const EXTERNAL: &str = "external shared state must be provided by a host/connector builtin";
const TENANT: &str = "tenant scope requires tenant_id in options or runtime context";

fn resolve_name(name: &str, facts: &Facts, tenant: Option<Text>) -> Result<Text, &'static str> {
    // What was resolved once stays as it is.
    if name.contains(':') {
        return Ok(Text::new(name));
    }
    let name = name.replace('-', "_");
    let scope = Scope::of_name(&name);
    let root = root_task(facts);
    let id = match scope {
        Scope::Task => &facts.id,
        Scope::TaskGroup => facts.group.as_deref().unwrap_or(root),
        // Outside of workflows and sessions the program is the only run and session.
        Scope::RootTask | Scope::Run | Scope::Session => root,
        Scope::Tenant => tenant.as_deref().ok_or(TENANT)?,
        Scope::Process => "process",
        Scope::Durable => return Err(DURABLE),
        Scope::External => return Err(EXTERNAL),
        Scope::Own(name) => name,
    };
    Ok(Text::from(format!("{}:{id}", scope.name())))
}

/// The id of the task that all others descend from: what their ids begin with.
pub(crate) fn root_task(facts: &Facts) -> &str {
    facts.id.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(id: &str, group: Option<&str>) -> Facts {
        Facts {
            id: Text::new(id),
            group: group.map(Text::new),
            ..Facts::default()
        }
    }

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let facts = facts("task_root:parallel:1:0", Some("task_root:parallel:1"));
        let tenant = Some(Text::new("acme"));
        assert_eq!(&*resolve_name(name, &facts, tenant).unwrap(), expected);
    }

    #[test]
    fn a_scope_has_the_id_of_what_the_task_belongs_to() {
        check("", "task_group:task_root:parallel:1");
        check("workflow", "task_group:task_root:parallel:1");
        check("task-group", "task_group:task_root:parallel:1");
        check("task", "task:task_root:parallel:1:0");
        check("task_local", "task:task_root:parallel:1:0");
        check("root-task", "root_task:task_root");
        check("run", "workflow_run:task_root");
        check("session", "agent_session:task_root");
        check("tenant", "tenant:acme");
        check("global", "process:process");
        check("build", "build:build");
        check("process:process", "process:process");
    }

    #[test]
    fn without_a_group_the_root_task_is_the_group() {
        let facts = facts("task_root:spawn:1", None);
        let scope = resolve_name("task_group", &facts, None).unwrap();
        assert_eq!(&*scope, "task_group:task_root");
    }

    #[test]
    fn some_scopes_are_refused() {
        let facts = facts("task_root", None);
        for (name, refusal) in [
            ("durable", DURABLE),
            ("event-log", DURABLE),
            ("external", EXTERNAL),
            ("host", EXTERNAL),
            ("tenant", TENANT),
        ] {
            assert_eq!(resolve_name(name, &facts, None), Err(refusal), "{name}");
        }
    }
}
