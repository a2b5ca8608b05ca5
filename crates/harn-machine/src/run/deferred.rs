//! Blocks that run at the end of a function.
//!
//! A register of the function holds the list of those that were reached. In most functions it
//! is a list of numbers. A block in a loop is reached once a round, and it sees the variables of
//! that round, which the next one overwrites. Its entry is a list too:
//!
//! ```text
//! DeferPush              DeferKeep at the end of a round               DeferRestore
//! [block, -1]     ──►    [block, loop, variable, …]             ──►    the variables are back
//! ```
//!
//! A variable is three items: its register, the round it is of, and what it held.
//!
//! The block that runs first was reached last. So what a round left in the registers is still
//! there when its own blocks run, and nothing is kept of a round that was not over. Blocks of
//! one round share its variables: what the first of them changes the next one sees, so only
//! the first brings them back.

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
pub(super) fn keep(function: &Function, registers: &mut [Value], list: usize, around: u32) {
    let Some(needed) = function.keeps.get(around as usize) else {
        return;
    };
    let Value::List(mut entries) = std::mem::take(&mut registers[list]) else {
        return;
    };
    let is_inside = |block| u32::try_from(block).is_ok_and(|block| needed.blocks.contains(&block));
    // Whatever is kept later was reached later, or is of another loop.
    let reached = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let round = Value::Int((reached << u16::BITS) | i64::from(around));
    for entry in entries.items_mut().iter_mut().rev() {
        let Value::List(kept) = entry else {
            break;
        };
        let kept = kept.items_mut();
        let [Value::Int(block), Value::Int(by), ..] = kept[..] else {
            break;
        };
        // Outer loops have larger numbers. What they have seen, and all before it, is complete.
        if !is_inside(block) || by >= i64::from(around) {
            break;
        }
        for register in &needed.registers {
            let name = i64::from(*register);
            let mut names = kept[2..].chunks_exact(3);
            if !names.any(|one| matches!(one[0], Value::Int(one) if one == name)) {
                let value = registers[usize::from(*register)].clone();
                kept.extend([Value::Int(name), round.clone(), value]);
            }
        }
        kept[1] = Value::Int(i64::from(around));
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
    let entries = entries.items_mut();
    let Some(Value::List(entry)) = entries.pop() else {
        return;
    };
    let kept = entry.into_items();
    if let Some(Value::List(next)) = entries.last_mut() {
        share(&kept, next.items_mut());
    }
    let mut kept = kept.into_iter().skip(2);
    while let (Some(Value::Int(register)), Some(_), Some(value)) =
        (kept.next(), kept.next(), kept.next())
    {
        let place = usize::try_from(register).ok();
        let place = place.and_then(|at| registers.get_mut(at));
        if let (Some(place), false) = (place, matches!(value, Value::Absent)) {
            *place = value;
        }
    }
}

/// The variables of a round that one block has brought back, or found, are there for the next.
fn share(kept: &[Value], next: &mut [Value]) {
    let (Some(kept), Some(next)) = (kept.get(2..), next.get_mut(2..)) else {
        return;
    };
    for variable in next.chunks_exact_mut(3) {
        let is_same = |one: &[Value]| one[0] == variable[0] && one[1] == variable[1];
        if kept.chunks_exact(3).any(is_same) {
            variable[2] = Value::Absent;
        }
    }
}
