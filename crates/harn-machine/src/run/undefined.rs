//! Names that lead nowhere.

use harn_check::builtins;

use crate::compile::PREDEFINED;
use crate::fault::{Failure, Fault};
use crate::fiber::Fiber;
use crate::machine::Machine;
use crate::suggest::suggest;
use crate::value::Value;

/// There is no variable of a name. The constant is the name, or a list of the name and the
/// variable that resembles it most.
pub(crate) fn variable(constant: &Value) -> Failure {
    let (name, visible) = match constant {
        Value::List(items) => {
            let mut texts = items.iter().map(Value::show);
            (texts.next().unwrap_or_default(), texts.next())
        }
        other => (other.show(), None),
    };
    let mut candidates: Vec<&str> = PREDEFINED.into_iter().chain(builtin_names()).collect();
    candidates.extend(visible.as_deref());
    undefined("variable", &name, candidates.into_iter())
}

/// There is no function of a name.
pub fn builtin(name: &str) -> Failure {
    undefined("builtin", name, builtin_names())
}

/// There is no function in the global that is being called.
pub(crate) fn global(machine: &Machine, fiber: &Fiber) -> Failure {
    let name = fiber.frames.last().and_then(|frame| {
        let function = &frame.closure.function;
        let at = usize::try_from(frame.pc).ok()?.checked_sub(1)?;
        let global = u32::from(function.code.get(at)?.c());
        let names = machine.names.get(usize::try_from(function.module).ok()?)?;
        names.iter().find(|(_, at)| **at == global)
    });
    match name {
        Some((name, _)) => builtin(name),
        None => Fault::type_error("Cannot call nil"),
    }
}

/// The builtins that stand for themselves, not for a member of a namespace.
fn builtin_names() -> impl Iterator<Item = &'static str> {
    let names = builtins::all().iter().map(|builtin| builtin.name);
    names.filter(|name| !name.contains('.'))
}

fn undefined<'a>(what: &str, name: &str, candidates: impl Iterator<Item = &'a str>) -> Failure {
    let text = format!("Undefined {what}: {name}");
    let others = candidates.filter(|candidate| *candidate != name);
    match suggest(name, others) {
        Some(meant) => Fault::runtime(format!("{text} (did you mean `{meant}`?)")),
        None => Fault::own(text),
    }
}
