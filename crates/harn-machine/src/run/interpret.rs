//! The loop over instructions.
//!
//! Registers and instructions are read without checks. What makes that sound:
//!
//! - Only functions that [`verify`](crate::code::verify) has accepted are ever run. It makes
//!   sure that every register an instruction names is below `Function::registers`, that every
//!   jump stays inside the code, and that the code cannot run past its end.
//! - A frame is only entered after the stack has grown to hold all its registers, and every
//!   register of the stack holds a value at all times.
//! - `ip`, `registers` and `function` are read again after everything that can enter or leave
//!   a frame or move the stack: whatever takes `fiber` as a whole.
//! - The function of the frame on top lives as long as the frame, which holds its closure.

#![allow(
    unsafe_code,
    reason = "the loop of the interpreter; the head of this file says why it is sound"
)]

use std::rc::Rc;

use crate::closure::Closure;
use crate::code::{CaptureFrom, Function, Instruction, OPTIONAL, Op, TAKE_B, TAKE_C};
use crate::fault::{Failure, Fault};
use crate::fiber::{BOUNDARY, DEPTH_MAX, Fiber};
use crate::machine::Machine;
use crate::registry::BuiltinId;
use crate::value::{List, Struct, Value};

use super::arithmetic::{Arithmetic, Operand, arithmetic, copied, is_less, is_less_equal};
use super::call::{Called, Site, call_builtin, call_method, call_value, pause};
use super::control::{call_with_list, fits, give_back, raise, rethrown, tail_call, waits, yielded};
use super::each::EACH;
use super::interrupt::{Interrupt, before_going_on, between, fail, make_room};
use super::loops::{self, Next};
use super::register::{copy, give, lift, put, put_bool, put_float, put_int, take, transfer};
use super::uncommon::uncommon;
use super::{access, build, deferred, each, tasks};

/// How many jumps back and calls a fiber may make before others have their turn: about a
/// millisecond.
const SLICE: i32 = 50_000;

/// Why a fiber stopped running.
pub(crate) enum Stop {
    /// It has ended.
    Done(Result<Value, Failure>),
    /// It has had its turn.
    Spent,
    /// It waits, at the latest until then.
    Waits(Option<i64>),
}

/// Runs a fiber until it ends, has to wait, or has had its turn.
#[expect(
    clippy::too_many_lines,
    clippy::cognitive_complexity,
    reason = "one arm per instruction; the long ones are functions"
)]
pub(crate) fn run(machine: &mut Machine, fiber: &mut Fiber) -> Stop {
    let mut fuel = SLICE;
    let mut failure = match before_going_on(machine, fiber) {
        Interrupt::Failed(failure) => Some(failure),
        _ => None,
    };
    loop {
        if let Some(failure) = failure.take()
            && let Err(failure) = fail(machine, fiber, failure)
        {
            return Stop::Done(Err(failure));
        }
        let failed: Failure = 'failed: {
            // SAFETY: see the head of this file.
            unsafe {
                let mut function: *const Function;
                let mut registers: *mut Value;
                let mut ip: *const Instruction;

                macro_rules! reload {
                    () => {{
                        let frame = fiber.frames.last().unwrap_unchecked();
                        function = Rc::as_ptr(&frame.closure.function);
                        registers = fiber.stack.as_mut_ptr().add(frame.base as usize);
                        ip = (&*function).code.as_ptr().add(frame.pc as usize);
                    }};
                }
                macro_rules! save {
                    () => {{
                        let pc = ip.offset_from((&*function).code.as_ptr());
                        fiber.frames.last_mut().unwrap_unchecked().pc = pc as u32;
                    }};
                }
                macro_rules! register {
                    ($at:expr) => {
                        registers.add(usize::from($at))
                    };
                }
                macro_rules! fail {
                    ($failure:expr) => {{
                        let failure = $failure;
                        save!();
                        break 'failed failure;
                    }};
                }
                macro_rules! attempt {
                    ($result:expr) => {
                        match $result {
                            Ok(value) => value,
                            Err(failure) => fail!(failure),
                        }
                    };
                }
                // A turn is over after so many jumps back and calls. The counter of the frame
                // must be right.
                macro_rules! spend {
                    () => {
                        fuel -= 1;
                        if fuel <= 0 {
                            match between(machine, fiber) {
                                Interrupt::Failed(failure) => break 'failed failure,
                                _ => return Stop::Spent,
                            }
                        }
                    };
                }
                macro_rules! jump {
                    ($distance:expr) => {{
                        let distance = $distance as isize;
                        ip = ip.offset(distance);
                        if distance < 0 {
                            if fuel <= 1 {
                                save!();
                            }
                            spend!();
                        }
                    }};
                }
                // So much is made, of what must still be in registers: there it is measured.
                macro_rules! charge {
                    ($bytes:expr) => {
                        let bytes = $bytes;
                        if machine.scheduler.budget.takes(bytes) {
                            save!();
                            attempt!(make_room(machine, fiber, bytes));
                        }
                    };
                }
                macro_rules! number {
                    ($instruction:expr, $op:ident, $ints:expr, $floats:expr) => {{
                        let i = $instruction;
                        let (left, right) = (register!(i.b()), register!(i.c()));
                        match (&*left, &*right) {
                            (Value::Int(left), Value::Int(right)) => {
                                put_int(register!(i.a()), $ints(*left, *right));
                            }
                            (Value::Float(left), Value::Float(right)) => {
                                put_float(register!(i.a()), $floats(*left, *right));
                            }
                            _ => slow!(i, $op),
                        }
                    }};
                }
                macro_rules! slow {
                    ($instruction:expr, $op:ident) => {{
                        let i = $instruction;
                        let mut same;
                        let left = register!(i.b());
                        // `x + x`: two operands in one register cannot both be borrowed.
                        let right = if i.b() == i.c() {
                            same = (*left).clone();
                            &raw mut same
                        } else {
                            register!(i.c())
                        };
                        let is_last_use = i.n() & TAKE_B != 0 && i.b() != i.c();
                        charge!(copied(Arithmetic::$op, &*left, &*right, is_last_use));
                        let left = Operand {
                            value: &mut *left,
                            is_last_use,
                        };
                        let right = Operand {
                            value: &mut *right,
                            is_last_use: i.n() & TAKE_C != 0,
                        };
                        let value = attempt!(arithmetic(Arithmetic::$op, left, right));
                        put(register!(i.a()), value);
                    }};
                }
                macro_rules! number_with {
                    ($instruction:expr, $op:ident, $ints:expr, $floats:expr) => {{
                        let i = $instruction;
                        let right = i64::from(i.signed_c());
                        match &*register!(i.b()) {
                            Value::Int(left) => {
                                put_int(register!(i.a()), $ints(*left, right));
                            }
                            Value::Float(left) => {
                                put_float(register!(i.a()), $floats(*left, right as f64));
                            }
                            _ => slow_with!(i, $op),
                        }
                    }};
                }
                macro_rules! slow_with {
                    ($instruction:expr, $op:ident) => {{
                        let i = $instruction;
                        let mut right = Value::Int(i64::from(i.signed_c()));
                        charge!(copied(Arithmetic::$op, &*register!(i.b()), &right, false));
                        let left = Operand {
                            value: &mut *register!(i.b()),
                            is_last_use: false,
                        };
                        let right = Operand {
                            value: &mut right,
                            is_last_use: true,
                        };
                        let value = attempt!(arithmetic(Arithmetic::$op, left, right));
                        put(register!(i.a()), value);
                    }};
                }
                macro_rules! compare {
                    ($left:expr, $right:expr, $numbers:tt, $other:expr) => {
                        match (&*$left, &*$right) {
                            (Value::Int(left), Value::Int(right)) => left $numbers right,
                            (Value::Float(left), Value::Float(right)) => left $numbers right,
                            (left, right) => $other(left, right),
                        }
                    };
                }
                macro_rules! compare_with {
                    ($instruction:expr, $numbers:tt, $other:expr) => {{
                        let right = i64::from($instruction.signed_b());
                        match &*register!($instruction.a()) {
                            Value::Int(left) => *left $numbers right,
                            Value::Float(left) => *left $numbers right as f64,
                            left => $other(left, &Value::Int(right)),
                        }
                    }};
                }
                macro_rules! jump_if {
                    ($condition:expr, $instruction:expr) => {
                        if $condition {
                            jump!($instruction.signed_c());
                        }
                    };
                }
                macro_rules! jump_wide_if {
                    ($condition:expr, $instruction:expr) => {
                        if $condition {
                            jump!($instruction.signed_wide());
                        }
                    };
                }
                // After something that may have entered a frame.
                macro_rules! called {
                    ($result:expr, $target:expr) => {
                        match $result {
                            Ok(Called::Value(value)) => {
                                // A body may have moved the stack, though no frame changed.
                                let frame = fiber.frames.last().unwrap_unchecked();
                                registers = fiber.stack.as_mut_ptr().add(frame.base as usize);
                                put(register!($target), value);
                            }
                            Ok(Called::Entered) => {
                                reload!();
                                spend!();
                            }
                            Ok(Called::Waits) => return waits(fiber),
                            Err(failure) => break 'failed failure,
                        }
                    };
                }
                macro_rules! site {
                    ($instruction:expr) => {{
                        let base = fiber.frames.last().unwrap_unchecked().base as usize;
                        Site {
                            window: base + usize::from($instruction.b()),
                            argc: usize::from($instruction.n()),
                            result: $instruction.a(),
                            flags: 0,
                        }
                    }};
                }
                // A function that takes exactly what it is given is entered right here.
                macro_rules! enter_here {
                    ($closure:expr, $window:expr, $result:expr, $argc:expr, $flags:expr) => {{
                        let closure: Rc<Closure> = $closure;
                        let callee = Rc::as_ptr(&closure.function);
                        let base = fiber.frames.last().unwrap_unchecked().base;
                        let base = base + u32::from($window);
                        let needed = base as usize + usize::from((&*callee).registers);
                        if fiber.stack.len() < needed {
                            fiber.grow(needed);
                        }
                        fiber.depth += 1;
                        // Written where it belongs: a frame that is made and then moved is
                        // read as a whole right after its parts were written.
                        let count = fiber.frames.len();
                        if count == fiber.frames.capacity() {
                            fiber.frames.reserve(1);
                        }
                        let frame = fiber.frames.as_mut_ptr().add(count);
                        (&raw mut (*frame).closure).write(closure);
                        (&raw mut (*frame).pc).write(0);
                        (&raw mut (*frame).base).write(base);
                        (&raw mut (*frame).result).write($result);
                        (&raw mut (*frame).argc).write($argc);
                        (&raw mut (*frame).flags).write($flags);
                        (&raw mut (*frame).generator).write(None);
                        fiber.frames.set_len(count + 1);
                        function = callee;
                        registers = fiber.stack.as_mut_ptr().add(base as usize);
                        ip = (&*callee).code.as_ptr();
                        spend!();
                    }};
                }
                macro_rules! call_register {
                    ($instruction:expr, $callee:expr) => {{
                        let i = $instruction;
                        match &*$callee {
                            Value::Closure(closure)
                                if closure.function.is_simple
                                    && closure.function.parameters.len() == usize::from(i.n())
                                    && fiber.depth < DEPTH_MAX =>
                            {
                                // Whatever the library calls counts as called by a builtin.
                                let is_library = (&*function).is_library;
                                let flags = if is_library { BOUNDARY } else { 0 };
                                let closure = closure.clone();
                                enter_here!(closure, i.b(), i.a(), i.n(), flags);
                            }
                            callee => {
                                let callee = callee.clone();
                                let site = site!(i);
                                called!(call_value(machine, fiber, callee, site), i.a());
                            }
                        }
                    }};
                }
                // Back to whoever called, with a value.
                macro_rules! return_value {
                    ($value:expr) => {{
                        let value: *mut Value = $value;
                        let frame = fiber.frames.last().unwrap_unchecked();
                        if frame.flags & EACH != 0 {
                            each::returned(fiber, value);
                            reload!();
                            spend!();
                        } else if frame.generator.is_some() || fiber.frames.len() == 1 {
                            match give_back(fiber, std::mem::take(&mut *value)) {
                                Some(value) => return Stop::Done(Ok(value)),
                                None => reload!(),
                            }
                        } else {
                            let result = frame.result;
                            let value = lift(value);
                            for at in 0..(&*function).registers {
                                let register = register!(at);
                                if (*register).is_counted() {
                                    std::ptr::drop_in_place(register);
                                    std::ptr::write(register, Value::Nil);
                                }
                            }
                            fiber.depth -= u32::from(!(&*function).is_library);
                            drop(fiber.frames.pop().unwrap_unchecked());
                            reload!();
                            // It may be one of the registers that were emptied just now.
                            give(register!(result), value);
                        }
                    }};
                }
                macro_rules! window {
                    ($first:expr, $count:expr) => {
                        std::slice::from_raw_parts_mut(register!($first), $count)
                    };
                }
                macro_rules! take_or_clone {
                    ($register:expr, $taken:expr) => {{
                        let register = $register;
                        if $taken {
                            take(register)
                        } else {
                            (*register).clone()
                        }
                    }};
                }

                reload!();
                loop {
                    let i = *ip;
                    ip = ip.add(1);
                    match i.op() {
                        Op::LoadNil => put(register!(i.a()), Value::Nil),
                        Op::LoadTrue => put_bool(register!(i.a()), true),
                        Op::LoadFalse => put_bool(register!(i.a()), false),
                        Op::LoadInt => {
                            put_int(register!(i.a()), i64::from(i.signed_wide()));
                        }
                        Op::LoadConstant => {
                            let constant =
                                (&*function).constants.get_unchecked(i.wide_bc() as usize);
                            copy(register!(i.a()), constant);
                        }
                        Op::Move => {
                            // A variable keeps a permit until its scope ends.
                            let from = register!(i.b());
                            let is_taken = i.n() & TAKE_B != 0 && (*from).is_counted();
                            if is_taken && !matches!(*from, Value::Permit(_)) {
                                transfer(register!(i.a()), from);
                            } else {
                                copy(register!(i.a()), from);
                            }
                        }
                        Op::GetCapture => {
                            let frame = fiber.frames.last().unwrap_unchecked();
                            let captures = &frame.closure.captures;
                            copy(register!(i.a()), captures.get_unchecked(usize::from(i.b())));
                        }
                        Op::GetGlobal => {
                            let global = machine.globals.get_unchecked(i.wide_bc() as usize);
                            copy(register!(i.a()), global);
                        }
                        Op::SetGlobal => {
                            let value = (*register!(i.a())).clone();
                            *machine.globals.get_unchecked_mut(i.wide_bc() as usize) = value;
                        }
                        Op::Add => number!(i, Add, i64::wrapping_add, std::ops::Add::<f64>::add),
                        Op::Subtract => {
                            number!(i, Subtract, i64::wrapping_sub, std::ops::Sub::<f64>::sub);
                        }
                        Op::Multiply => {
                            number!(i, Multiply, i64::wrapping_mul, std::ops::Mul::<f64>::mul);
                        }
                        Op::Divide => match (&*register!(i.b()), &*register!(i.c())) {
                            (Value::Float(left), Value::Float(right)) => {
                                put_float(register!(i.a()), left / right);
                            }
                            (Value::Int(left), Value::Int(right)) if *right > 0 => {
                                put_int(register!(i.a()), left / right);
                            }
                            _ => slow!(i, Divide),
                        },
                        Op::Remainder => match (&*register!(i.b()), &*register!(i.c())) {
                            (Value::Int(left), Value::Int(right)) if *right > 0 => {
                                put_int(register!(i.a()), left % right);
                            }
                            _ => slow!(i, Remainder),
                        },
                        Op::AddInt => {
                            number_with!(i, Add, i64::wrapping_add, std::ops::Add::<f64>::add);
                        }
                        Op::SubtractInt => {
                            number_with!(i, Subtract, i64::wrapping_sub, std::ops::Sub::<f64>::sub);
                        }
                        Op::MultiplyInt => {
                            number_with!(i, Multiply, i64::wrapping_mul, std::ops::Mul::<f64>::mul);
                        }
                        Op::DivideInt => match &*register!(i.b()) {
                            Value::Int(left) if i.signed_c() > 0 => {
                                let value = left / i64::from(i.signed_c());
                                put_int(register!(i.a()), value);
                            }
                            _ => slow_with!(i, Divide),
                        },
                        Op::RemainderInt => match &*register!(i.b()) {
                            Value::Int(left) if i.signed_c() > 0 => {
                                let value = left % i64::from(i.signed_c());
                                put_int(register!(i.a()), value);
                            }
                            _ => slow_with!(i, Remainder),
                        },
                        Op::Not => {
                            let value = !(*register!(i.b())).is_truthy();
                            put_bool(register!(i.a()), value);
                        }
                        Op::Truth => {
                            let value = (*register!(i.b())).is_truthy();
                            put_bool(register!(i.a()), value);
                        }
                        Op::Equal => {
                            let value = *register!(i.b()) == *register!(i.c());
                            put_bool(register!(i.a()), value);
                        }
                        Op::NotEqual => {
                            let value = *register!(i.b()) != *register!(i.c());
                            put_bool(register!(i.a()), value);
                        }
                        Op::Less => {
                            let value = compare!(register!(i.b()), register!(i.c()), <, is_less);
                            put_bool(register!(i.a()), value);
                        }
                        Op::LessEqual => {
                            let value =
                                compare!(register!(i.b()), register!(i.c()), <=, is_less_equal);
                            put_bool(register!(i.a()), value);
                        }
                        Op::JumpLess => {
                            jump_if!(compare!(register!(i.a()), register!(i.b()), <, is_less), i);
                        }
                        Op::JumpNotLess => {
                            jump_if!(!compare!(register!(i.a()), register!(i.b()), <, is_less), i);
                        }
                        Op::JumpLessEqual => jump_if!(
                            compare!(register!(i.a()), register!(i.b()), <=, is_less_equal),
                            i
                        ),
                        Op::JumpNotLessEqual => jump_if!(
                            !compare!(register!(i.a()), register!(i.b()), <=, is_less_equal),
                            i
                        ),
                        Op::JumpEqual => {
                            jump_if!(*register!(i.a()) == *register!(i.b()), i);
                        }
                        Op::JumpNotEqual => {
                            jump_if!(*register!(i.a()) != *register!(i.b()), i);
                        }
                        Op::JumpLessInt => jump_if!(compare_with!(i, <, is_less), i),
                        Op::JumpNotLessInt => jump_if!(!compare_with!(i, <, is_less), i),
                        Op::JumpLessEqualInt => jump_if!(compare_with!(i, <=, is_less_equal), i),
                        Op::JumpNotLessEqualInt => {
                            jump_if!(!compare_with!(i, <=, is_less_equal), i);
                        }
                        Op::JumpGreaterInt => {
                            jump_if!(compare_with!(i, >, |left, right| is_less(right, left)), i);
                        }
                        Op::JumpNotGreaterInt => {
                            jump_if!(!compare_with!(i, >, |left, right| is_less(right, left)), i);
                        }
                        Op::JumpGreaterEqualInt => jump_if!(
                            compare_with!(i, >=, |left, right| is_less_equal(right, left)),
                            i
                        ),
                        Op::JumpNotGreaterEqualInt => jump_if!(
                            !compare_with!(i, >=, |left, right| is_less_equal(right, left)),
                            i
                        ),
                        Op::JumpEqualInt => {
                            jump_if!(compare_with!(i, ==, |_: &Value, _: &Value| false), i);
                        }
                        Op::JumpNotEqualInt => {
                            jump_if!(compare_with!(i, !=, |_: &Value, _: &Value| true), i);
                        }
                        Op::Jump => jump!(i.signed_wide()),
                        Op::JumpIf => jump_wide_if!(holds(&*register!(i.a())), i),
                        Op::JumpUnless => jump_wide_if!(!holds(&*register!(i.a())), i),
                        Op::JumpIfNil => jump_wide_if!((*register!(i.a())).is_nil(), i),
                        Op::JumpUnlessNil => jump_wide_if!(!(*register!(i.a())).is_nil(), i),
                        Op::JumpIfAbsent => {
                            jump_wide_if!(matches!(*register!(i.a()), Value::Absent), i);
                        }
                        Op::JumpUnlessCallable => {
                            jump_wide_if!(!(*register!(i.a())).is_callable(), i);
                        }
                        Op::JumpUnlessDict => {
                            jump_wide_if!(!matches!(*register!(i.a()), Value::Dict(_)), i);
                        }
                        Op::JumpIfPassed => {
                            let argc = u16::from(fiber.frames.last().unwrap_unchecked().argc);
                            if argc > i.a() && !matches!(*register!(i.a()), Value::Absent) {
                                jump!(i.signed_wide());
                            }
                        }
                        Op::Raise => {
                            let text = &(&(&*function).constants)[i.wide_bc() as usize];
                            fail!(raise(i.n(), text));
                        }

                        Op::NewList => {
                            let count = usize::from(i.c());
                            charge!((count + 4) * size_of::<Value>());
                            let items: Vec<Value> = window!(i.b(), count)
                                .iter_mut()
                                .map(|value| take(value))
                                .collect();
                            put(register!(i.a()), Value::List(List::from(items)));
                        }
                        Op::ListPush => {
                            charge!(size_of::<Value>());
                            let value = take_or_clone!(register!(i.b()), i.n() & TAKE_B != 0);
                            if let Value::List(list) = &mut *register!(i.a()) {
                                list.items_mut().push(value);
                            }
                        }
                        Op::NewStruct => {
                            let shape = (&*function).shapes.get_unchecked(usize::from(i.b()));
                            charge!((shape.fields.len() + 4) * size_of::<Value>());
                            let values = window!(i.c(), shape.fields.len());
                            let values: Vec<_> = values.iter_mut().map(|at| take(at)).collect();
                            let value = Rc::new(Struct {
                                shape: shape.clone(),
                                values,
                            });
                            put(register!(i.a()), Value::Struct(value));
                        }
                        Op::Concat => {
                            charge!(build::joined_bytes(window!(i.b(), usize::from(i.c()))));
                            let parts = window!(i.b(), usize::from(i.c()));
                            let text = attempt!(build::concat(parts, machine.budget()));
                            put(register!(i.a()), Value::Text(text));
                        }
                        Op::GetField => {
                            let object = register!(i.b());
                            let site = (&*function).sites.get_unchecked(usize::from(i.c()));
                            if let Value::Struct(body) = &*object
                                && site.seen.get() == Rc::as_ptr(&body.shape).addr()
                                && let Some(value) = body.values.get(site.found.get())
                                && !matches!(value, Value::Absent)
                            {
                                let value: *const Value = value;
                                copy_within(register!(i.a()), value, i.a() == i.b());
                                if i.n() & TAKE_B != 0 && i.a() != i.b() {
                                    put(object, Value::Nil);
                                }
                            } else {
                                let value = match access::field(&*object, site) {
                                    Ok(value) => value,
                                    Err(_) if i.n() & OPTIONAL != 0 => Value::Nil,
                                    Err(failure) => fail!(failure),
                                };
                                if i.n() & TAKE_B != 0 {
                                    put(object, Value::Nil);
                                }
                                put(register!(i.a()), value);
                            }
                        }
                        Op::GetIndex => {
                            let (object, index) = (&*register!(i.b()), &*register!(i.c()));
                            match (object, index) {
                                (Value::List(items), Value::Int(at))
                                    if (*at as usize) < items.len() && *at >= 0 =>
                                {
                                    let item: *const Value = items.get_unchecked(*at as usize);
                                    copy_within(register!(i.a()), item, i.a() == i.b());
                                }
                                (Value::Dict(dict), Value::Text(key)) => match dict.get_text(key) {
                                    Some(value) => {
                                        let value: *const Value = value;
                                        let is_inside = i.a() == i.b() || i.a() == i.c();
                                        copy_within(register!(i.a()), value, is_inside);
                                    }
                                    None => put(register!(i.a()), Value::Nil),
                                },
                                (Value::Nil, _) if i.n() & OPTIONAL != 0 => {
                                    put(register!(i.a()), Value::Nil);
                                }
                                _ => {
                                    let value = attempt!(access::index(object, index));
                                    put(register!(i.a()), value);
                                }
                            }
                            if i.n() & TAKE_B != 0 && i.a() != i.b() {
                                put(register!(i.b()), Value::Nil);
                            }
                        }
                        Op::SetField => {
                            let site = (&*function).sites.get_unchecked(usize::from(i.b()));
                            let target = &mut *register!(i.a());
                            charge!(size_of::<Value>() + access::copied(target));
                            let value = take_or_clone!(register!(i.c()), i.n() & TAKE_C != 0);
                            attempt!(access::set_field(target, &site.name, value));
                        }
                        Op::SetIndex => {
                            let index = (*register!(i.b())).clone();
                            let target = &mut *register!(i.a());
                            charge!(2 * size_of::<Value>() + access::copied(target));
                            let value = take_or_clone!(register!(i.c()), i.n() & TAKE_C != 0);
                            attempt!(access::set_index(target, &index, value));
                        }
                        Op::Call => {
                            save!();
                            let callee: *const Value = register!(i.c());
                            call_register!(i, callee);
                        }
                        Op::CallGlobal => {
                            save!();
                            let callee: *const Value =
                                machine.globals.get_unchecked(usize::from(i.c()));
                            call_register!(i, callee);
                        }
                        Op::CallBuiltin => {
                            save!();
                            let id = BuiltinId::at(i.c()).unwrap_unchecked();
                            let site = site!(i);
                            called!(call_builtin(machine, fiber, id, site), i.a());
                        }
                        Op::CallMethod => {
                            let name = (&*function).sites.get_unchecked(usize::from(i.c()));
                            // Lists are built by `push`, so it is done right here.
                            if name.is_push
                                && i.n() == 1
                                && let Value::List(list) = &mut *register!(i.b())
                            {
                                charge!((1 + list.copied()) * size_of::<Value>());
                                let item = take(register!(i.b() + 1));
                                list.items_mut().push(item);
                                transfer(register!(i.a()), register!(i.b()));
                                continue;
                            }
                            save!();
                            if let Value::Struct(body) = &*register!(i.b())
                                && let tables = &*(&*function).method_tables
                                && let Some(method) = machine.methods.find(tables, body, name)
                                && method.function.is_simple
                                && method.function.parameters.len() == usize::from(i.n()) + 1
                                && fiber.depth < DEPTH_MAX
                            {
                                let method = method.clone();
                                enter_here!(
                                    method,
                                    i.b(),
                                    i.a(),
                                    i.n().saturating_add(1),
                                    BOUNDARY
                                );
                                continue;
                            }
                            let name = (&*function).sites.get_unchecked(usize::from(i.c()));
                            let tables = &*(&*function).method_tables;
                            let site = site!(i);
                            called!(call_method(machine, fiber, name, tables, site), i.a());
                        }
                        Op::CallSpread
                        | Op::CallBuiltinSpread
                        | Op::CallMethodSpread
                        | Op::Pipe => {
                            save!();
                            called!(call_with_list(machine, fiber, i), i.a());
                        }
                        Op::TailCall | Op::TailCallGlobal => {
                            save!();
                            let callee = match i.op() {
                                Op::TailCall => (*register!(i.c())).clone(),
                                _ => machine.globals.get_unchecked(usize::from(i.c())).clone(),
                            };
                            let site = site!(i);
                            match tail_call(machine, fiber, callee, site) {
                                Ok(Called::Entered) => {
                                    reload!();
                                    spend!();
                                }
                                Ok(Called::Value(value)) => match give_back(fiber, value) {
                                    Some(value) => return Stop::Done(Ok(value)),
                                    None => reload!(),
                                },
                                Ok(Called::Waits) => return waits(fiber),
                                Err(failure) => break 'failed failure,
                            }
                        }
                        Op::Return | Op::ReturnNil => {
                            let mut nil = Value::Nil;
                            return_value!(match i.op() {
                                Op::Return => register!(i.a()),
                                _ => &raw mut nil,
                            });
                        }
                        Op::MakeClosure => {
                            let inner = (&*function).functions.get_unchecked(i.wide_bc() as usize);
                            let frame = fiber.frames.last().unwrap_unchecked();
                            let captures = inner.captures.iter().map(|from| match from {
                                CaptureFrom::Register(at) => (*register!(*at)).clone(),
                                CaptureFrom::Capture(at) => {
                                    frame.closure.captures[usize::from(*at)].clone()
                                }
                            });
                            let closure = Closure {
                                captures: captures.collect(),
                                function: inner.clone(),
                            };
                            charge!((closure.captures.len() + 4) * size_of::<Value>());
                            put(register!(i.a()), Value::Closure(Rc::new(closure)));
                        }
                        Op::Yield => {
                            let value = (*register!(i.a())).clone();
                            save!();
                            pause(fiber);
                            yielded(fiber, Some(value));
                            reload!();
                        }

                        Op::Parallel | Op::Select => {
                            save!();
                            match tasks::wait(machine, fiber, i) {
                                Ok(true) => {}
                                Ok(false) => return waits(fiber),
                                Err(failure) => break 'failed failure,
                            }
                        }

                        Op::Throw => fail!(Fault::thrown((*register!(i.a())).clone())),
                        Op::Rethrow => {
                            let value = std::mem::take(&mut *register!(i.a()));
                            fail!(rethrown(value));
                        }
                        Op::Unwrap => {
                            let value = &*register!(i.b());
                            match value.as_result() {
                                Some(Ok(payload)) => {
                                    let payload = payload.clone();
                                    put(register!(i.a()), payload);
                                }
                                Some(Err(_)) => {
                                    let value = value.clone();
                                    put(register!(i.a()), value);
                                    jump!(i.signed_c());
                                }
                                None => fail!(Fault::type_error(format!(
                                    "? operator requires a Result value, got {}",
                                    value.type_name()
                                ))),
                            }
                        }

                        Op::ForLoop => {
                            let state = register!(i.a());
                            match (&mut *state, &mut *state.add(1)) {
                                (Value::Int(next), Value::Int(last)) => {
                                    let item = *next;
                                    if item <= *last {
                                        // The last int that there is must not come again.
                                        match item.checked_add(1) {
                                            Some(after) => *next = after,
                                            None => *last = i64::MIN,
                                        }
                                        put_int(register!(i.b()), item);
                                        jump!(i.signed_c());
                                    }
                                }
                                (Value::List(items), Value::Int(at)) => {
                                    if let Some(item) = items.get(*at as usize) {
                                        let item: *const Value = item;
                                        *at += 1;
                                        copy(register!(i.b()), item);
                                        jump!(i.signed_c());
                                    }
                                }
                                _ => {
                                    save!();
                                    let base = fiber.frames.last().unwrap_unchecked().base as usize;
                                    let state = base + usize::from(i.a());
                                    match loops::next(machine, fiber, state) {
                                        Ok(Next::Item(item)) => {
                                            put(register!(i.b()), item);
                                            jump!(i.signed_c());
                                        }
                                        Ok(Next::End) => {}
                                        Ok(Next::Entered) => reload!(),
                                        Ok(Next::Waits) => return waits(fiber),
                                        Err(failure) => break 'failed failure,
                                    }
                                }
                            }
                        }
                        Op::JumpUnlessTag | Op::JumpUnlessList | Op::JumpUnlessCaught => {
                            if !fits(&*function, &*register!(i.a()), i) {
                                jump!(i.signed_c());
                            }
                        }
                        Op::DeferNext => match deferred::next(&*function, &mut *register!(i.a())) {
                            Some(target) => ip = (&*function).code.as_ptr().add(target),
                            None => jump!(i.signed_wide()),
                        },
                        _ => {
                            save!();
                            if let Err(failure) = uncommon(machine, fiber, i) {
                                break 'failed failure;
                            }
                        }
                    }
                }
            }
        };
        failure = Some(failed);
    }
}

/// Whether a condition holds, which is mostly a bool.
#[inline(always)]
fn holds(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        other => other.is_truthy(),
    }
}

/// Copies a value that may be inside the one that the register holds.
///
/// # Safety
///
/// Both must hold values.
#[inline(always)]
unsafe fn copy_within(register: *mut Value, from: *const Value, is_inside: bool) {
    // SAFETY: what is inside is cloned before what is around it can be dropped.
    unsafe {
        if is_inside {
            let value = (*from).clone();
            put(register, value);
        } else {
            copy(register, from);
        }
    }
}
