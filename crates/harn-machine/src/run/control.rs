//! Where control goes when it neither goes on nor jumps: back, up, elsewhere.

use std::rc::Rc;

use crate::code::{Function, FunctionKind, Instruction, Op, Raised};
use crate::fault::{Failure, Fault};
use crate::fiber::{Fiber, Frame};
use crate::iterate::{GeneratorState, IterSource};
use crate::machine::Machine;
use crate::registry::BuiltinId;
use crate::value::Value;

use super::call::{Called, Site, call_builtin, call_method, call_value, enter, leave};
use super::interpret::Stop;
use super::{build, each, undefined};

/// How `Raise` fails.
#[cold]
#[inline(never)]
pub(super) fn raise(how: u8, constant: &Value) -> Failure {
    let text = constant.show();
    match Raised::from_number(how) {
        Some(Raised::Runtime) => Fault::runtime(text),
        Some(Raised::Type) => Fault::type_error(text),
        Some(Raised::Thrown) => Fault::thrown(text),
        Some(Raised::UndefinedVariable) => undefined::variable(constant),
        Some(Raised::UndefinedBuiltin) => undefined::builtin(&text),
        Some(Raised::Own) | None => Fault::own(text),
    }
}

/// An error that goes on after it was held up.
#[cold]
#[inline(never)]
pub(super) fn rethrown(value: Value) -> Failure {
    match value {
        Value::Fault(fault) => Box::new(Rc::unwrap_or_clone(fault)),
        other => Fault::thrown(other),
    }
}

/// Whether a value is what a pattern wants.
#[inline(never)]
pub(super) fn fits(function: &Function, value: &Value, i: Instruction) -> bool {
    match i.op() {
        Op::JumpUnlessList => {
            let least = usize::from(i.b());
            matches!(value, Value::List(items) if items.len() >= least)
        }
        Op::JumpUnlessCaught => is_caught(value, &function.constants[usize::from(i.b())]),
        _ => has_tag(value, &function.constants[usize::from(i.b())]),
    }
}

/// Whether an error is an enum of that name.
fn is_caught(fault: &Value, name: &Value) -> bool {
    let Value::Fault(fault) = fault else {
        return false;
    };
    match (fault.value(), name) {
        (Value::Enum(value), Value::Text(name)) => value.tag.name == *name,
        _ => false,
    }
}

fn has_tag(value: &Value, tag: &Value) -> bool {
    match (value, tag) {
        (Value::Enum(value), Value::Enum(tag)) => {
            Rc::ptr_eq(&value.tag, &tag.tag) || value.tag == tag.tag
        }
        _ => false,
    }
}

/// Parks a fiber whose instruction has to be executed again.
#[inline(never)]
pub(super) fn waits(fiber: &mut Fiber) -> Stop {
    if let Some(frame) = fiber.frames.last_mut() {
        frame.pc -= 1;
    }
    let waiting = fiber.waiting.get_or_insert_default();
    let mut until = waiting.until;
    if waiting.stops_at_once && fiber.strand.must_stop() {
        until = Some(i64::MIN);
    }
    for other in [
        fiber.deadlines.iter().copied().min(),
        fiber.strand.grace.map(|grace| grace.until),
    ] {
        until = [until, other].into_iter().flatten().min();
    }
    Stop::Waits(until)
}

/// Hands a value to whoever called the frame on top. Gives it back if nobody did.
#[inline(never)]
pub(super) fn give_back(fiber: &mut Fiber, value: Value) -> Option<Value> {
    let is_each = |frame: &Frame| frame.flags & each::EACH != 0;
    if fiber.frames.last().is_some_and(is_each) {
        each::returned_value(fiber, value);
        return None;
    }
    let Some(frame) = leave(fiber) else {
        return Some(value);
    };
    if let Some(generator) = frame.generator {
        generator.state.replace(GeneratorState::Done);
        fiber.woken.extend(generator.waiters.take());
        yielded(fiber, None);
        return None;
    }
    let Some(caller) = fiber.frames.last() else {
        return Some(value);
    };
    fiber.stack[caller.base as usize + usize::from(frame.result)] = value;
    None
}

/// A generator gave an item, or ended: the loop below it goes on.
#[inline(never)]
pub(super) fn yielded(fiber: &mut Fiber, item: Option<Value>) {
    let Some(frame) = fiber.frames.last_mut() else {
        return;
    };
    let function = &frame.closure.function;
    let i = function.code[frame.pc as usize - 1];
    let base = frame.base as usize;
    match item {
        Some(item) => {
            let target = i64::from(frame.pc) + i64::from(i.signed_c());
            frame.pc = u32::try_from(target).unwrap_or(frame.pc);
            fiber.stack[base + usize::from(i.b())] = item;
        }
        None => {
            if let Value::Iter(iter) = &fiber.stack[base + usize::from(i.a())] {
                iter.source.replace(IterSource::Done);
            }
        }
    }
}

/// Calls with arguments that are not in a window: the items of a list, or what is piped.
#[inline(never)]
pub(super) fn call_with_list(
    machine: &mut Machine,
    fiber: &mut Fiber,
    i: Instruction,
) -> Result<Called, Failure> {
    let frame = fiber.frames.last().expect("something calls");
    let closure = frame.closure.clone();
    let function = &*closure.function;
    let base = frame.base as usize;
    let register = |at: u16| fiber.stack[base + usize::from(at)].clone();
    match i.op() {
        Op::CallSpread => {
            let (arguments, callee) = (register(i.b()), register(i.c()));
            spread(machine, fiber, arguments, i.a(), |machine, fiber, site| {
                call_value(machine, fiber, callee, site)
            })
        }
        Op::CallMethodSpread => {
            let arguments = with_receiver(&register(i.b()), &register(i.b() + 1))?;
            let name = &function.sites[usize::from(i.c())];
            spread(machine, fiber, arguments, i.a(), |machine, fiber, site| {
                let site = Site {
                    argc: site.argc - 1,
                    ..site
                };
                call_method(machine, fiber, name, &function.method_tables, site)
            })
        }
        Op::Pipe => {
            let arguments = Value::list(vec![register(i.b())]);
            let callee = pipe_target(machine, function, &register(i.c()))?;
            spread(machine, fiber, arguments, i.a(), |machine, fiber, site| {
                call_value(machine, fiber, callee, site)
            })
        }
        _ => {
            let id = BuiltinId::at(i.c()).expect("the verifier has seen that there is one");
            let arguments = register(i.b());
            spread(machine, fiber, arguments, i.a(), |machine, fiber, site| {
                call_builtin(machine, fiber, id, site)
            })
        }
    }
}

/// Calls with the items of a list, which are put above the frame.
fn spread(
    machine: &mut Machine,
    fiber: &mut Fiber,
    arguments: Value,
    result: u16,
    call: impl FnOnce(&mut Machine, &mut Fiber, Site) -> Result<Called, Failure>,
) -> Result<Called, Failure> {
    build::expect_list(&arguments)?;
    let Value::List(arguments) = arguments else {
        return Ok(Called::Value(Value::Nil));
    };
    let frame = fiber.frames.last().expect("something calls");
    let window = frame.base as usize + usize::from(frame.closure.function.registers);
    fiber.grow(window + arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        fiber.stack[window + at] = argument.clone();
    }
    let site = Site {
        window,
        argc: arguments.len(),
        result,
        flags: 0,
    };
    call(machine, fiber, site)
}

fn with_receiver(receiver: &Value, arguments: &Value) -> Result<Value, Failure> {
    build::expect_list(arguments)?;
    let mut all = vec![receiver.clone()];
    if let Value::List(arguments) = arguments {
        all.extend_from_slice(arguments);
    }
    Ok(Value::list(all))
}

/// Calls in place of the frame on top.
#[inline(never)]
pub(super) fn tail_call(
    machine: &mut Machine,
    fiber: &mut Fiber,
    callee: Value,
    site: Site,
) -> Result<Called, Failure> {
    let closure = match callee {
        Value::Closure(closure) if closure.function.kind == FunctionKind::Plain => closure,
        other => return call_value(machine, fiber, other, site),
    };
    let frame = fiber.frames.last().expect("something calls");
    let (base, flags, result) = (frame.base as usize, frame.flags, frame.result);
    let registers = usize::from(frame.closure.function.registers);
    for at in 0..site.argc {
        fiber.stack.swap(base + at, site.window + at);
    }
    for register in &mut fiber.stack[base + site.argc..base + registers.max(site.argc)] {
        if register.is_counted() {
            *register = Value::Nil;
        }
    }
    let old = fiber.frames.pop().expect("something calls");
    fiber.depth -= u32::from(!old.closure.function.is_library);
    let site = Site {
        window: base,
        result,
        flags,
        ..site
    };
    enter(fiber, closure, site)
}

/// What a value is piped into.
fn pipe_target(machine: &Machine, function: &Function, target: &Value) -> Result<Value, Failure> {
    match target {
        Value::Closure(_) | Value::Builtin(_) => Ok(target.clone()),
        Value::Text(name) => {
            let names = machine.names.get(function.module as usize);
            let global = names.and_then(|names| names.get(name.as_str()));
            let global = global.map(|at| machine.globals[*at as usize].clone());
            let builtin = BuiltinId::find(name).filter(|id| !id.is_intrinsic());
            let builtin = || builtin.map(Value::Builtin);
            let callable = global.filter(Value::is_callable).or_else(builtin);
            callable.ok_or_else(|| Fault::own(format!("Undefined builtin: {name}")))
        }
        other => Err(Fault::type_error(format!(
            "cannot pipe into {}",
            other.type_name()
        ))),
    }
}
