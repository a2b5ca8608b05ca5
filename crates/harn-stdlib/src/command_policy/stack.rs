//! The policies that a program has put in force, and who is inside a hook of one.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Holds, Registry, Value, argument};

use super::config::policy;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("command_policy_pop", |context, _| {
            context.holding::<Policies>().0.pop();
            Ok(Value::Nil)
        }),
        ("command_policy_push", command_policy_push),
        ("__command_policy", |context, _| Ok(in_force(context))),
        ("__command_hook_begun", |context, _| {
            let task = context.strand().facts.id.to_string();
            context.state::<Hooks>().0.push(task);
            Ok(Value::Nil)
        }),
        ("__command_hook_ended", hook_ended),
        ("__command_in_hook", |context, _| {
            let task = context.strand().facts.id.clone();
            Ok(context.state::<Hooks>().has(&task).into())
        }),
    ]);
}

/// The policies that a program has put in force. The last one decides.
#[derive(Default)]
struct Policies(Vec<Dict>);

impl Holds for Policies {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for policy in &self.0 {
            policy.values().for_each(&mut *each);
        }
    }
}

/// The value of a task that runs inside a loop with a policy: the policy, and how many a program
/// had put in force when the loop began.
const SCOPED: &str = "__command_policy";

/// Lets the policy that the options of a loop have hold in what is let out from now on: `pre` and
/// `post` are functions, so it travels with the task and not with the loop.
///
/// # Errors
/// It is no policy.
pub fn scope_command_policy(context: &mut Context<'_>, options: &Value) -> Result<(), Failure> {
    let field = |of: &Value, key: &str| match of {
        Value::Dict(fields) => fields.get(key).cloned().unwrap_or(Value::Nil),
        _ => Value::Nil,
    };
    let given = match field(options, "command_policy") {
        Value::Nil => field(&field(options, "policy"), "command_policy"),
        given => given,
    };
    let policy = match given {
        Value::Nil => return Ok(()),
        Value::Dict(given) => policy(&given)?,
        _ => return Err(Fault::runtime("command_policy: config dict is required")),
    };
    let pushed = context.holding::<Policies>().0.len();
    let pushed = i64::try_from(pushed).unwrap_or(i64::MAX);
    let scoped = Value::list(vec![Value::Dict(policy), Value::Int(pushed)]);
    context.strand().values.insert(Text::new(SCOPED), scoped);
    Ok(())
}

/// The options of a loop with the policy that decides about its commands, for the tools of the
/// runtime: they start commands without calling the program.
pub fn with_command_policy(context: &mut Context<'_>, options: &Value) -> Value {
    let Value::Dict(policy) = in_force(context) else {
        return options.clone();
    };
    let mut options = match options {
        Value::Dict(options) => options.clone(),
        Value::Nil => Dict::default(),
        other => return other.clone(),
    };
    options.insert(Text::new("command_policy"), Value::Dict(policy));
    Value::Dict(options)
}

/// The policy that decides: that of the loop, unless a program has put one in force since.
fn in_force(context: &mut Context<'_>) -> Value {
    let scoped = context.strand().values.get(SCOPED).cloned();
    let pushed = &context.holding::<Policies>().0;
    if let Some(Value::List(scoped)) = scoped
        && let [policy, Value::Int(before)] = &*scoped
        && usize::try_from(*before).is_ok_and(|before| pushed.len() <= before)
    {
        return policy.clone();
    }
    pushed.last().cloned().map_or(Value::Nil, Value::Dict)
}

/// `command_policy_push(policy)`
fn command_policy_push(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let Value::Dict(given) = argument(arguments, 0) else {
        return Err(Fault::runtime("command_policy_push: policy is required"));
    };
    let policy = policy(given)?;
    context.holding::<Policies>().0.push(policy);
    Ok(Value::Nil)
}

/// The tasks that run a hook, once for each hook they run.
#[derive(Default)]
struct Hooks(Vec<String>);

impl Hooks {
    /// Whether a task runs a hook, or was started by one. Ids of tasks begin with that of the
    /// task that started them.
    fn has(&self, task: &str) -> bool {
        self.0.iter().any(|running| {
            let rest = task.strip_prefix(running.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
    }
}

fn hook_ended(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let task = context.strand().facts.id.clone();
    let running = &mut context.state::<Hooks>().0;
    if let Some(at) = running.iter().rposition(|running| *running == *task) {
        running.remove(at);
    }
    Ok(Value::Nil)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_a_hook_are_inside_it() {
        let hooks = Hooks(vec!["task_root:spawn:1".to_owned()]);
        assert!(hooks.has("task_root:spawn:1"));
        assert!(hooks.has("task_root:spawn:1:spawn:1"));
        assert!(!hooks.has("task_root:spawn:10"));
        assert!(!hooks.has("task_root"));
    }
}
