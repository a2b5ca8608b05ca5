//! Entering and leaving functions.
//!
//! The arguments of a call are in consecutive registers of the caller, and those registers
//! become the first ones of the frame that is entered: nothing is copied.

use std::rc::Rc;
use std::task::Poll;

use harn_check::builtins::Effect;

use crate::closure::Closure;
use crate::code::{Function, FunctionKind};
use crate::fault::{Failure, Fault};
use crate::fiber::{BOUNDARY, DEPTH_MAX, Fiber, Frame, MUTED};
use crate::iterate::{Generator, GeneratorKind, GeneratorState};
use crate::machine::Machine;
use crate::registry::{Body, BuiltinId, Receiver, not_built};
use crate::sync::Waiters;
use crate::value::Value;

use super::each;
use super::interrupt::{after_work, late, weigh};

use super::undefined;

/// What a call comes to.
pub(crate) enum Called {
    /// A value.
    Value(Value),
    /// A frame was entered.
    Entered,
    /// It has to wait. The instruction is executed again.
    Waits,
}

/// A call to be made: where its arguments are and where its result goes.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    /// The first argument, among all registers of the fiber.
    pub(crate) window: usize,
    /// How many arguments there are.
    pub(crate) argc: usize,
    /// The register of the caller that gets the result.
    pub(crate) result: u16,
    /// What is special about the frame.
    pub(crate) flags: u8,
}

/// Prepares a fiber to run a closure.
pub(crate) fn prepare(fiber: &mut Fiber, closure: Rc<Closure>, arguments: Vec<Value>) {
    let argc = arguments.len();
    fiber.grow(argc.max(usize::from(closure.function.registers)));
    for (at, argument) in arguments.into_iter().enumerate() {
        fiber.stack[at] = argument;
    }
    // What the library starts is a part of what it does, and no boundary.
    let is_library = closure.function.is_library;
    let site = Site {
        window: 0,
        argc,
        result: 0,
        flags: if is_library { 0 } else { BOUNDARY },
    };
    push_frame(fiber, closure, site);
}

/// The same for a call from outside. A function that makes generators gives one at once.
pub(crate) fn prepare_call(
    fiber: &mut Fiber,
    closure: Rc<Closure>,
    arguments: Vec<Value>,
) -> Option<Value> {
    if closure.function.kind == FunctionKind::Plain {
        prepare(fiber, closure, arguments);
        return None;
    }
    let argc = arguments.len();
    fiber.stack = arguments;
    let site = Site {
        window: 0,
        argc,
        result: 0,
        flags: 0,
    };
    Some(new_generator(fiber, closure, site))
}

/// Calls a value.
#[inline(never)]
pub(crate) fn call_value(
    machine: &mut Machine,
    fiber: &mut Fiber,
    callee: Value,
    site: Site,
) -> Result<Called, Failure> {
    match callee {
        Value::Closure(closure) => enter(fiber, closure, site),
        Value::Builtin(id) => call_builtin(machine, fiber, id, site),
        Value::Absent => Err(undefined::global(machine, fiber)),
        other => Err(Fault::type_error(format!("Cannot call {other}"))),
    }
}

/// Enters a function of the program or of the library.
pub(crate) fn enter(
    fiber: &mut Fiber,
    closure: Rc<Closure>,
    mut site: Site,
) -> Result<Called, Failure> {
    if closure.function.is_library {
        // A builtin is the same whether it is written in Harn or not.
        site.flags &= !BOUNDARY;
    } else {
        if fiber.depth >= DEPTH_MAX {
            return Err(Fault::stack_overflow());
        }
        // Whatever the library calls counts as called by a builtin.
        let caller = fiber.frames.last();
        if caller.is_some_and(|caller| caller.closure.function.is_library) {
            site.flags |= BOUNDARY;
        }
    }
    if closure.function.kind != FunctionKind::Plain {
        return Ok(Called::Value(new_generator(fiber, closure, site)));
    }
    push_frame(fiber, closure, site);
    Ok(Called::Entered)
}

pub(super) fn push_frame(fiber: &mut Fiber, closure: Rc<Closure>, site: Site) {
    let function = &*closure.function;
    let registers = usize::from(function.registers).max(site.argc);
    fiber.grow(site.window + registers);
    arrange(fiber, function, site);
    fiber.depth += u32::from(!function.is_library);
    fiber.frames.push(Frame {
        pc: 0,
        base: narrow(site.window),
        result: site.result,
        argc: site.argc.min(usize::from(u8::MAX)) as u8,
        flags: site.flags,
        generator: None,
        closure,
    });
}

/// Registers are counted by the frames of 512 calls with 65,536 registers each at most.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).expect("a stack has fewer than four billion registers")
}

/// Puts arguments where parameters are expected: what is missing is nil, what is too much is
/// dropped or collected.
fn arrange(fiber: &mut Fiber, function: &Function, site: Site) {
    let parameters = function.parameters.len();
    let plain = parameters - usize::from(function.has_rest);
    let window = site.window;
    for at in site.argc..plain {
        fiber.stack[window + at] = Value::Nil;
    }
    if function.has_rest {
        let rest = window + plain.min(site.argc)..window + site.argc;
        let rest: Value = fiber.stack[rest].iter_mut().map(std::mem::take).collect();
        fiber.stack[window + plain] = rest;
    } else {
        for extra in &mut fiber.stack[window + plain.min(site.argc)..window + site.argc] {
            *extra = Value::Nil;
        }
    }
}

fn new_generator(fiber: &mut Fiber, closure: Rc<Closure>, site: Site) -> Value {
    let function = closure.function.clone();
    let registers = usize::from(function.registers).max(site.argc);
    fiber.grow(site.window + registers);
    arrange(fiber, &function, site);
    let kept = site.window..site.window + usize::from(function.registers);
    let registers = fiber.stack[kept].iter_mut().map(std::mem::take).collect();
    Value::Generator(Rc::new(Generator {
        kind: match function.kind {
            FunctionKind::Stream => GeneratorKind::Stream,
            _ => GeneratorKind::Generator,
        },
        state: GeneratorState::Paused {
            closure,
            pc: 0,
            argc: site.argc.min(usize::from(u8::MAX)) as u8,
            registers,
        }
        .into(),
        waiters: Waiters::default(),
    }))
}

/// Goes on with a generator in a frame above all others. Gives `false` if it has ended.
pub(crate) fn resume(fiber: &mut Fiber, generator: &Rc<Generator>) -> Result<bool, Failure> {
    let state = generator.state.replace(GeneratorState::Done);
    let (closure, pc, argc, mut registers) = match state {
        GeneratorState::Paused {
            closure,
            pc,
            argc,
            registers,
        } => (closure, pc, argc, registers),
        running @ GeneratorState::Running { .. } => {
            generator.state.replace(running);
            let kind = generator.type_name();
            return Err(Fault::runtime(format!("the {kind} is running already")));
        }
        other => {
            generator.state.replace(other);
            return Ok(false);
        }
    };
    let is_library = closure.function.is_library;
    if !is_library && fiber.depth >= DEPTH_MAX {
        return Err(Fault::stack_overflow());
    }
    let top = top(fiber);
    fiber.grow(top + registers.len());
    for (at, value) in registers.drain(..).enumerate() {
        fiber.stack[top + at] = value;
    }
    generator.state.replace(GeneratorState::Running {
        fiber: fiber.strand.id,
        registers,
    });
    let flags = if is_library { 0 } else { BOUNDARY | MUTED };
    fiber.strand.muted += u32::from(flags & MUTED != 0);
    fiber.depth += u32::from(!is_library);
    fiber.frames.push(Frame {
        closure,
        pc,
        base: narrow(top),
        result: 0,
        argc,
        flags,
        generator: Some(generator.clone()),
    });
    Ok(true)
}

/// The first register that belongs to no frame.
fn top(fiber: &Fiber) -> usize {
    fiber.frames.last().map_or(0, |frame| {
        frame.base as usize + usize::from(frame.closure.function.registers)
    })
}

/// Leaves the frame on top: its registers are emptied.
pub(crate) fn leave(fiber: &mut Fiber) -> Option<Frame> {
    let frame = fiber.frames.pop()?;
    let base = frame.base as usize;
    let registers = usize::from(frame.closure.function.registers);
    for register in &mut fiber.stack[base..base + registers] {
        if register.is_counted() {
            *register = Value::Nil;
        }
    }
    fiber.depth -= u32::from(!frame.closure.function.is_library);
    fiber.strand.muted -= u32::from(frame.flags & MUTED != 0);
    Some(frame)
}

/// Pauses the generator in the frame on top and leaves the frame.
#[inline(never)]
pub(crate) fn pause(fiber: &mut Fiber) {
    let Some(frame) = fiber.frames.last_mut() else {
        return;
    };
    let Some(generator) = frame.generator.take() else {
        return;
    };
    let (pc, argc, base) = (frame.pc, frame.argc, frame.base as usize);
    let closure = frame.closure.clone();
    let kept = base..base + usize::from(closure.function.registers);
    let mut state = generator.state.borrow_mut();
    let mut registers = match &mut *state {
        GeneratorState::Running { registers, .. } => std::mem::take(registers),
        _ => Vec::new(),
    };
    registers.extend(fiber.stack[kept].iter_mut().map(std::mem::take));
    *state = GeneratorState::Paused {
        closure,
        pc,
        argc,
        registers,
    };
    drop(state);
    fiber.woken.extend(generator.waiters.take());
    leave(fiber);
}

/// Calls a builtin.
#[inline(never)]
pub(crate) fn call_builtin(
    machine: &mut Machine,
    fiber: &mut Fiber,
    id: BuiltinId,
    site: Site,
) -> Result<Called, Failure> {
    let Some(body) = machine.registry.body(id) else {
        return Err(Fault::runtime(not_built(id.name())));
    };
    if !fiber.strand.values.is_empty()
        && fiber.waiting.is_none()
        && let Some(value) = guard(machine, fiber, id, site)?
    {
        return Ok(Called::Value(value));
    }
    let arguments = &fiber.stack[site.window..][..site.argc];
    if arguments.iter().any(Value::is_container) {
        check_shown(machine, fiber, id, site)?;
    }
    call_body(machine, fiber, body, site, id.name())
}

/// Where a text is wanted a body shows whatever it is given, and what goes to the outside is
/// written out. A list that is in itself many times over is small, and what it is written as is
/// not, so that is gone through here, where it can be stopped.
#[cold]
fn check_shown(
    machine: &mut Machine,
    fiber: &Fiber,
    id: BuiltinId,
    site: Site,
) -> Result<(), Failure> {
    let texts = machine.registry.text_parameters(id);
    let goes_outside = match id.declaration().effect {
        Effect::Io | Effect::Model => true,
        Effect::Pure | Effect::Clock | Effect::Random => machine.registry.is_written_out(id),
    };
    let arguments = &fiber.stack[site.window..][..site.argc];
    for (at, argument) in arguments.iter().enumerate() {
        if goes_outside || texts.has(at) {
            argument.check_shown(&mut machine.scheduler.budget)?;
        }
    }
    Ok(())
}

/// Lets the guard look at a call, if there is one.
fn guard(
    machine: &mut Machine,
    fiber: &mut Fiber,
    id: BuiltinId,
    site: Site,
) -> Result<Option<Value>, Failure> {
    let Some(guard) = machine.registry.guard() else {
        return Ok(None);
    };
    let source = user_source(&fiber.frames);
    let mut context = machine.context(&mut fiber.strand, source, fiber.depth);
    guard(&mut context, id, &fiber.stack[site.window..][..site.argc])
}

/// Calls the body of a builtin or of a method.
pub(crate) fn call_body(
    machine: &mut Machine,
    fiber: &mut Fiber,
    body: Body,
    site: Site,
    name: &str,
) -> Result<Called, Failure> {
    let body = match body {
        Body::Each {
            each,
            file,
            function,
        } => {
            if let Some(called) = each::begin(fiber, each, site) {
                return Ok(called);
            }
            let closure = machine.library_function(file, function)?;
            return enter(fiber, closure, site);
        }
        Body::Harn { file, function } => {
            let closure = machine.library_function(file, function)?;
            return enter(fiber, closure, site);
        }
        native => native,
    };
    if machine.scheduler.budget.is_due() {
        weigh(machine, fiber)?;
    }
    let deadline = match fiber.deadlines.is_empty() {
        true => None,
        false => fiber.deadline(),
    };
    machine.scheduler.budget.set_deadline(deadline);
    let made = machine.scheduler.budget.made();
    let window = site.window..site.window + site.argc;
    let mut worked: usize = fiber.stack[window.clone()].iter().map(shallow_size).sum();
    let Fiber {
        strand,
        stack,
        waiting,
        frames,
        depth,
        ..
    } = fiber;
    let source = user_source(frames);
    let arguments = &mut stack[window];
    let called = match body {
        Body::Plain(body) => {
            let mut context = machine.context(strand, source, *depth);
            let result = body(&mut context, arguments);
            let refusal = context.refusal;
            result
                .map(Called::Value)
                .map_err(|fault| explained(fault, refusal, frames, name))
        }
        Body::Waiting(body) => {
            let mut wait = waiting.take().unwrap_or_default();
            let mut context = machine.context(strand, source, *depth);
            let result = body(&mut context, arguments, &mut wait);
            let refusal = context.refusal;
            match result.map_err(|fault| explained(fault, refusal, frames, name)) {
                Err(failure) => Err(failure),
                Ok(Poll::Ready(value)) => Ok(Called::Value(value)),
                Ok(Poll::Pending) => {
                    wait.resumed = true;
                    *waiting = Some(wait);
                    return Ok(Called::Waits);
                }
            }
        }
        Body::Harn { .. } | Body::Each { .. } => unreachable!("it was entered above"),
    };
    for argument in arguments {
        if argument.is_counted() {
            *argument = Value::Nil;
        }
    }
    match &called {
        Ok(Called::Value(value)) => {
            let bytes = shallow_size(value);
            worked += bytes;
            let budget = &mut machine.scheduler.budget;
            budget.made_at_least(made.saturating_add(bytes));
            if budget.has_worked(worked) {
                after_work(machine, fiber)?;
            }
            called
        }
        Ok(Called::Entered | Called::Waits) => called,
        Err(_) => called.map_err(|failure| late(machine, fiber).unwrap_or(failure)),
    }
}

/// The error of a builtin. If the policy of the run has forbidden what it needed, that is the
/// error, whatever the builtin made of it.
fn explained(fault: Failure, refusal: Option<String>, frames: &[Frame], name: &str) -> Failure {
    let Some(refusal) = refusal else {
        return fault;
    };
    // What is written in Harn calls other builtins; the program knows only the outermost.
    let library = frames.iter().rev();
    let library = library.take_while(|frame| frame.closure.function.is_library);
    let outermost = library
        .last()
        .and_then(|frame| frame.closure.function.name.as_deref());
    Fault::refused(outermost.unwrap_or(name), &refusal)
}

/// The file of the innermost function of the program.
fn user_source(frames: &[Frame]) -> &Rc<crate::code::Source> {
    let is_user = |frame: &&Frame| !frame.closure.function.is_library;
    let frame = frames.iter().rev().find(is_user).or(frames.last());
    let frame = frame.expect("something calls");
    &frame.closure.function.source
}

/// About how much memory a new value takes, not counting what is in it.
fn shallow_size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len() * size_of::<Value>(),
        Value::Dict(dict) => dict.len() * 4 * size_of::<Value>(),
        Value::Set(set) => set.len() * 2 * size_of::<Value>(),
        _ if value.is_counted() => 4 * size_of::<Value>(),
        _ => 0,
    }
}

/// Calls a method of the first value in the window. The arguments after it are counted.
#[inline(never)]
pub(crate) fn call_method(
    machine: &mut Machine,
    fiber: &mut Fiber,
    name: &crate::code::Site,
    tables: &[u32],
    site: Site,
) -> Result<Called, Failure> {
    let with_receiver = Site {
        argc: site.argc + 1,
        ..site
    };
    let receiver = &fiber.stack[site.window];
    if let Value::Struct(value) = receiver {
        return match machine.methods.find(tables, value, name).cloned() {
            Some(method) => enter(
                fiber,
                method,
                Site {
                    flags: BOUNDARY,
                    ..with_receiver
                },
            ),
            None => Ok(nothing(fiber, with_receiver)),
        };
    }
    if let Value::Builtin(id) = receiver
        && let Some(member) = BuiltinId::find(&format!("{}.{}", id.name(), name.name))
    {
        // `transcript` is a builtin and the namespace of others.
        let inner = Site {
            window: site.window + 1,
            flags: 0,
            ..site
        };
        return call_builtin(machine, fiber, member, inner);
    }
    let kind = Receiver::of(receiver);
    if let Value::Dict(dict) = receiver {
        let field = dict.get_text(&name.name);
        let is_member = matches!(field, Some(Value::Builtin(id)) if id.name().contains('.'));
        let method = machine.registry.find_method(Receiver::Dict, &name.name);
        match field.filter(|field| field.is_callable()) {
            Some(field) if is_member || method.is_none() => {
                let callee = field.clone();
                let receiver = std::mem::take(&mut fiber.stack[site.window]);
                // What belongs to a namespace is a builtin like any other.
                let flags = match callee {
                    Value::Closure(_) => BOUNDARY,
                    _ => 0,
                };
                let inner = Site {
                    window: site.window + 1,
                    flags,
                    ..site
                };
                let called = call_value(machine, fiber, callee, inner);
                if let Ok(Called::Waits) = called {
                    // It is called again, and finds the callee in the same way.
                    fiber.stack[site.window] = receiver;
                }
                return called;
            }
            _ => {}
        }
    }
    let found = kind.and_then(|kind| find_method(machine, kind, name));
    match found {
        Some(body) => call_body(machine, fiber, body, with_receiver, &name.name),
        None => Ok(nothing(fiber, with_receiver)),
    }
}

/// What a kind of value does under a name, remembered at the place that calls.
fn find_method(machine: &Machine, kind: Receiver, site: &crate::code::Site) -> Option<Body> {
    let registry = &machine.registry;
    if site.seen.get() == kind as usize {
        let known = u32::try_from(site.found.get()).ok()?;
        return Some(registry.method_body(crate::registry::MethodId(known)));
    }
    let method = registry.find_method(kind, &site.name)?;
    site.seen.set(kind as usize);
    site.found.set(method.0 as usize);
    Some(registry.method_body(method))
}

/// A method that nobody has gives nil.
fn nothing(fiber: &mut Fiber, site: Site) -> Called {
    for argument in &mut fiber.stack[site.window..site.window + site.argc] {
        *argument = Value::Nil;
    }
    Called::Value(Value::Nil)
}
