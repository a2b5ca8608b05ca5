//! Code that runs again, and the blocks in it that run at the end.
//!
//! Every round of a loop has variables of its own, but all rounds use the same registers. A
//! block that runs at the end of the function sees those of the round that reached it, so they
//! are kept for it when that round is over.

use std::ops::Range;

use super::unit::Compiler;
use crate::code::{Function, Keep, Op};

/// What was compiled before code that runs again.
pub(super) struct Before {
    blocks: usize,
    bound: usize,
}

/// Code that runs again and has blocks that run at the end.
pub(super) struct Round {
    /// The numbers of those blocks.
    blocks: Range<usize>,
    /// The variables of a round.
    bound: Vec<u16>,
}

impl Compiler<'_> {
    /// From here on code may run again.
    pub(super) fn begin_round(&mut self) -> Before {
        self.body.loops += 1;
        Before {
            blocks: self.deferred_count(),
            bound: self.body.bound.len(),
        }
    }

    /// Up to here code may run again. When control is here, a round is over.
    pub(super) fn end_round(&mut self, at: u32, before: &Before) {
        self.body.loops -= 1;
        let blocks = before.blocks..self.deferred_count();
        let Some(deferred) = &self.body.deferred else {
            return;
        };
        if blocks.is_empty() {
            return;
        }
        let list = deferred.list;
        let number = u32::try_from(self.body.rounds.len()).unwrap_or(u32::MAX);
        let bound = self.body.bound[before.bound..].to_vec();
        self.body.rounds.push(Round { blocks, bound });
        self.wide(at, Op::DeferKeep, list, number);
    }

    /// A variable is bound to what is in a register.
    pub(super) fn note_bound(&mut self, register: u16) {
        if self.body.deferred.is_some() && self.body.loops > 0 {
            self.body.bound.push(register);
        }
    }

    fn deferred_count(&self) -> usize {
        let deferred = self.body.deferred.as_ref();
        deferred.map_or(0, |deferred| deferred.blocks.len())
    }
}

/// What the blocks of a function that run at the end need of rounds that are over. The last of
/// these blocks ends at `end`.
pub(super) fn kept(function: &Function, rounds: &[Round], end: usize) -> Vec<Keep> {
    let number = |block: usize| u32::try_from(block).unwrap_or(u32::MAX);
    let kept = rounds.iter().map(|round| Keep {
        blocks: number(round.blocks.start)..number(round.blocks.end),
        registers: needed(function, round, end),
    });
    kept.collect()
}

/// The variables of a round that its blocks read, or the blocks that those have inside.
fn needed(function: &Function, round: &Round, end: usize) -> Vec<u16> {
    let start_of = |block: usize| function.defers.get(block).map_or(end, |at| *at as usize);
    let mut blocks: Vec<usize> = round.blocks.clone().collect();
    let mut needed = Vec::new();
    let mut next = 0;
    while let Some(block) = blocks.get(next).copied() {
        next += 1;
        let code = start_of(block)..start_of(block + 1);
        for instruction in function.code.get(code).unwrap_or_default() {
            let inner = usize::from(instruction.b());
            if instruction.op() == Op::DeferPush && !blocks.contains(&inner) {
                blocks.push(inner);
            }
            function.each_use(*instruction, |register, _| {
                if round.bound.contains(&register) {
                    needed.push(register);
                }
            });
        }
    }
    needed.sort_unstable();
    needed.dedup();
    needed
}
