//! Blocks that run at the end of a function.
//!
//! A register of the function holds the list of those that were reached. In most functions it
//! is a list of numbers. A block in a loop is reached once a round, and it sees the variables of
//! that round, which the next one overwrites. Its entry is a list too:
//!
//! ```text
//! DeferPush              DeferKeep at the end of a round               DeferRestore
//! [block, -1]     ──►    [block, round, register, value, …]     ──►    the values are back
//! ```
//!
//! The block that runs first was reached last. So what a round left in the registers is still
//! there when its own blocks run, and nothing is kept of a round that was not over.

use crate::code::{Function, Op};
use crate::value::Value;

/// Nothing is kept yet.
const NEVER: i64 = -1;

/// A block was reached.
pub(super) fn push(function: &Function, list: &mut Value, block: u16) {
    let number = Value::Int(i64::from(block));
    let start = function.defers.get(usize::from(block));
    let first = start.and_then(|start| function.code.get(*start as usize));
    let entry = match first.map(|instruction| instruction.op()) {
        Some(Op::DeferRestore) => Value::list(vec![number, Value::Int(NEVER)]),
        _ => number,
    };
    match list {
        Value::List(list) => list.items_mut().push(entry),
        other => *other = Value::list(vec![entry]),
    }
}

/// A round is over: the blocks that were reached in it keep what they need of it.
pub(super) fn keep(function: &Function, registers: &mut [Value], list: usize, round: u32) {
    let Some(needs) = function.keeps.get(round as usize) else {
        return;
    };
    let Value::List(mut entries) = std::mem::take(&mut registers[list]) else {
        return;
    };
    for entry in entries.items_mut().iter_mut().rev() {
        let Value::List(kept) = entry else {
            break;
        };
        let kept = kept.items_mut();
        let [Value::Int(block), Value::Int(by), ..] = kept[..] else {
            break;
        };
        let needed = usize::try_from(block).ok();
        let Some(needed) = needed.and_then(|block| needs.registers_of(block)) else {
            break;
        };
        // Outer loops have larger numbers. What they have seen, and all before it, is complete.
        if by >= i64::from(round) {
            break;
        }
        for register in needed {
            let name = i64::from(*register);
            let mut names = kept[2..].iter().step_by(2);
            if !names.any(|one| matches!(one, Value::Int(one) if *one == name)) {
                kept.push(Value::Int(name));
                kept.push(registers[usize::from(*register)].clone());
            }
        }
        kept[1] = Value::Int(i64::from(round));
    }
    registers[list] = Value::List(entries);
}

/// Where the next block begins. It is removed from the list, unless it does that itself.
#[inline(never)]
pub(super) fn next(function: &Function, list: &mut Value) -> Option<usize> {
    let Value::List(list) = list else {
        return None;
    };
    let block = match list.last()? {
        Value::Int(block) => {
            let block = *block;
            list.items_mut().pop();
            block
        }
        Value::List(entry) => match entry.first() {
            Some(Value::Int(block)) => *block,
            _ => return None,
        },
        _ => return None,
    };
    let block = usize::try_from(block).ok()?;
    function.defers.get(block).map(|target| *target as usize)
}

/// A block begins that was reached in a loop: what was kept for it comes back.
pub(super) fn restore(registers: &mut [Value], list: usize) {
    let Value::List(entries) = &mut registers[list] else {
        return;
    };
    let Some(Value::List(entry)) = entries.items_mut().pop() else {
        return;
    };
    let mut kept = entry.into_items().into_iter().skip(2);
    while let (Some(Value::Int(register)), Some(value)) = (kept.next(), kept.next()) {
        if let Some(place) = usize::try_from(register)
            .ok()
            .and_then(|at| registers.get_mut(at))
        {
            *place = value;
        }
    }
}
