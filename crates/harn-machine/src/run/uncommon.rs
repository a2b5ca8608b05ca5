//! Instructions that are rare, or whose work takes so long that a call does not matter.
//!
//! They neither jump nor enter frames, and they are safe: keeping them out of the loop keeps
//! the loop small.

use std::rc::Rc;

use crate::code::{Expected, Function, Instruction, Op, TAKE_B, TAKE_C};
use crate::fault::Failure;
use crate::fiber::Fiber;
use crate::machine::Machine;
use crate::value::{Enum, Range, Value};

use super::arithmetic::{Arithmetic, Operand, arithmetic, contains, negate};
use super::{access, build, deferred, loops, tasks};

/// How long `deadline` lasts if it is given something that is no time.
const DEADLINE_MS: i64 = 30_000;

/// Executes such an instruction of the frame on top.
#[inline(never)]
pub(super) fn uncommon(
    machine: &mut Machine,
    fiber: &mut Fiber,
    i: Instruction,
) -> Result<(), Failure> {
    let Some(frame) = fiber.frames.last() else {
        return Ok(());
    };
    let (base, closure) = (frame.base as usize, frame.closure.clone());
    let function = &*closure.function;
    let value = match i.op() {
        Op::Spawn => {
            let Value::Closure(body) = &fiber.stack[base + usize::from(i.b())] else {
                return Ok(());
            };
            let body = body.clone();
            machine.scheduler.budget.add(512);
            tasks::spawn(machine, fiber, body)
        }
        Op::GetSelf => Value::Closure(closure.clone()),
        Op::DeadlinePush => {
            let time = match fiber.stack[base + usize::from(i.a())] {
                Value::Duration(time) | Value::Int(time) => time.max(0),
                _ => DEADLINE_MS,
            };
            let now = machine.elapsed();
            fiber.deadlines.push(now.saturating_add(time));
            machine.budget().set_deadline(fiber.deadline());
            return Ok(());
        }
        Op::DeadlinePop => {
            fiber.deadlines.pop();
            machine.budget().set_deadline(fiber.deadline());
            return Ok(());
        }
        _ => {
            let end = base + usize::from(function.registers);
            let registers = &mut fiber.stack[base..end];
            match simple(machine, function, registers, i)? {
                Some(value) => value,
                None => return Ok(()),
            }
        }
    };
    fiber.stack[base + usize::from(i.a())] = value;
    Ok(())
}

/// Instructions that need nothing but the registers. Gives what `a` is set to, if anything.
fn simple(
    machine: &mut Machine,
    function: &Function,
    registers: &mut [Value],
    i: Instruction,
) -> Result<Option<Value>, Failure> {
    let (a, b, c) = (usize::from(i.a()), usize::from(i.b()), usize::from(i.c()));
    Ok(Some(match i.op() {
        Op::LoadAbsent => Value::Absent,
        Op::MakeLate => Value::Late(Rc::new(Value::Absent.into())),
        Op::GetLate => match &registers[b] {
            Value::Late(cell) => cell.borrow().clone(),
            other => other.clone(),
        },
        Op::Power => power(registers, i)?,
        Op::Negate => negate(&registers[b])?,
        Op::In => Value::Bool(contains(&registers[b], &registers[c])),
        Op::NotIn => Value::Bool(!contains(&registers[b], &registers[c])),
        Op::NewDict => {
            let keys = &function.keys[b];
            let budget = &mut machine.scheduler.budget;
            budget.add((keys.len() + 2) * 2 * size_of::<Value>());
            build::new_dict(keys, &mut registers[c..c + keys.len()])
        }
        Op::NewEnum => {
            let Value::Enum(tag) = &function.constants[b] else {
                return Ok(None);
            };
            let payload = &mut registers[c..c + usize::from(i.n())];
            let payload = payload.iter_mut().map(std::mem::take).collect();
            machine.scheduler.budget.add(4 * size_of::<Value>());
            Value::Enum(Rc::new(Enum::new(tag.tag.clone(), payload)))
        }
        Op::Payload => match &registers[b] {
            Value::Enum(value) => value.payload.get(c).cloned().unwrap_or_default(),
            _ => Value::Nil,
        },
        Op::EmptyDict => Value::Dict(Default::default()),
        Op::StructFrom => build::struct_from(&function.shapes[b], &registers[c]),
        Op::NewEnumSpread => {
            build::expect_list(&registers[c])?;
            let (Value::Enum(tag), Value::List(items)) = (&function.constants[b], &registers[c])
            else {
                return Ok(None);
            };
            Value::Enum(Rc::new(Enum::new(tag.tag.clone(), items.to_vec())))
        }
        Op::NewRange => Value::Range(Rc::new(Range {
            start: bound(&registers[b]),
            end: bound(&registers[c]),
            exclusive: i.n() != 0,
        })),
        Op::Slice => {
            let window = &mut registers[b..b + 3];
            let value = std::mem::take(&mut window[0]);
            let value = access::slice(value, &window[1], &window[2])?;
            window.iter_mut().for_each(|value| *value = Value::Nil);
            value
        }
        Op::CatchValue => match &registers[b] {
            Value::Fault(fault) => fault.value(),
            other => other.clone(),
        },
        Op::ListRest => build::list_rest(&registers[b], c),
        Op::DictRest => build::dict_rest(&registers[b], &function.keys[c]),
        _ => {
            changing(machine, function, registers, i, a)?;
            return Ok(None);
        }
    }))
}

/// Instructions that change a value, or only look at one.
fn changing(
    machine: &mut Machine,
    function: &Function,
    registers: &mut [Value],
    i: Instruction,
    a: usize,
) -> Result<(), Failure> {
    let (b, c) = (usize::from(i.b()), usize::from(i.c()));
    let budget = &mut machine.scheduler.budget;
    match i.op() {
        Op::Cover => {
            if let Some(coverage) = &function.source.coverage {
                coverage.hit(i.wide_bc());
            }
        }
        Op::SetLate => {
            if let Value::Late(cell) = &registers[a] {
                cell.replace(registers[b].clone());
            }
        }
        Op::ListSpread => {
            let more = read(registers, b, i.n() & TAKE_B != 0);
            budget.reserve(build::items(&more) * size_of::<Value>())?;
            build::spread_list(&mut registers[a], &more)?;
        }
        Op::DictPut => {
            let key = registers[b].to_text_within(budget)?;
            let value = read(registers, c, i.n() & TAKE_C != 0);
            if let Value::Dict(dict) = &mut registers[a] {
                dict.insert(key, value);
            }
            budget.add(4 * size_of::<Value>());
        }
        Op::DictSpread => {
            let more = registers[b].clone();
            budget.reserve(build::items(&more) * 4 * size_of::<Value>())?;
            build::spread_dict(&mut registers[a], &more)?;
        }
        Op::SetPath => {
            let value = read(registers, c, i.n() & TAKE_C != 0);
            let mut root = std::mem::take(&mut registers[a]);
            let indexes = |at: u16| registers[usize::from(at)].clone();
            let set = access::set_path(&mut root, &function.paths[b], &indexes, value);
            registers[a] = root;
            budget.add(2 * size_of::<Value>());
            set?;
        }
        Op::DefineMethod => {
            let texts = (&function.constants[b], &function.constants[c]);
            if let (Value::Text(name), Value::Text(method)) = texts
                && let Value::Closure(closure) = &registers[a]
            {
                let table = function.method_tables[0];
                let (name, method) = (name.clone(), method.clone());
                machine.methods.define(table, name, method, closure.clone());
            }
        }
        Op::ForPrepare => {
            let (first, second) = loops::prepare(&registers[a]);
            registers[a] = first;
            registers[a + 1] = second;
        }
        Op::ExpectDict => build::expect_dict(&registers[a])?,
        Op::ExpectList => build::expect_list(&registers[a])?,
        Op::DeferPush => deferred::push(function, &mut registers[a], i.b()),
        Op::DeferKeep => deferred::keep(function, registers, a, i.wide_bc()),
        Op::DeferRestore => deferred::restore(registers, a),
        Op::CheckParameter => {
            let check = &function.checks[i.wide_bc() as usize];
            let (parameter, value) = (&check.parameter, &registers[a]);
            match &check.expected {
                Expected::Schema(schema) => crate::parameters::check(parameter, schema, value)?,
                Expected::Interface(interface) => {
                    crate::parameters::check_interface(parameter, interface, value)?;
                }
            }
        }
        op => unreachable!("the loop executes {op:?} itself"),
    }
    Ok(())
}

fn read(registers: &mut [Value], at: usize, is_last_use: bool) -> Value {
    match is_last_use {
        true => std::mem::take(&mut registers[at]),
        false => registers[at].clone(),
    }
}

/// What is no int counts as 0.
fn bound(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        _ => 0,
    }
}

fn power(registers: &[Value], i: Instruction) -> Result<Value, Failure> {
    let mut left = registers[usize::from(i.b())].clone();
    let mut right = registers[usize::from(i.c())].clone();
    let operand = |value| Operand {
        value,
        is_last_use: true,
    };
    arithmetic(Arithmetic::Power, operand(&mut left), operand(&mut right))
}
