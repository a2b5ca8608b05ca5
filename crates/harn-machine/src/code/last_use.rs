//! Which operands are read for the last time.
//!
//! A value that only one register holds can be changed in place. So an instruction that reads
//! a register whose value nobody reads afterwards may take it: `xs = xs + [x]` then appends to
//! the list instead of copying it.
//!
//! ```text
//! code ─► blocks ─► which registers are read after each block, backwards, until nothing changes
//!                     └─► per instruction: what is not read afterwards may be taken
//! ```
//!
//! Control goes on to the next instruction, to where a jump leads, from every instruction that
//! a handler covers to that handler, and at the end of a function with deferred blocks to each
//! of them.

use super::function::{Function, Handler};
use super::op::{Instruction, Op, Operand, TAKE_B, TAKE_C};
use super::registers::{Use, is_end};

/// How many bits all sets together may have. A function that needs more is left as it is: it
/// runs just as well, only slower.
const BITS_MAX: usize = 1 << 27;

/// Which operands of an instruction may be taken.
pub(crate) fn takes(op: Op) -> u8 {
    match op {
        Op::Move
        | Op::AddInt
        | Op::SubtractInt
        | Op::MultiplyInt
        | Op::DivideInt
        | Op::RemainderInt
        | Op::ListPush
        | Op::ListSpread
        | Op::DictSpread
        | Op::GetField
        | Op::GetIndex => TAKE_B,
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder | Op::Power => {
            TAKE_B | TAKE_C
        }
        Op::DictPut => TAKE_B | TAKE_C,
        Op::SetField | Op::SetIndex | Op::SetPath | Op::StructFrom | Op::NewEnumSpread => TAKE_C,
        _ => 0,
    }
}

/// Whether an instruction reads a part of what it takes, and drops the rest. That is for
/// temporaries: a list that is changed in place must not be in one as well. A variable keeps
/// its value.
fn drops(op: Op) -> bool {
    matches!(op, Op::GetField | Op::GetIndex)
}

/// Whether an instruction takes operands only when it cannot fail any more.
fn is_safe(op: Op) -> bool {
    matches!(
        op,
        Op::Move
            | Op::Add
            | Op::Subtract
            | Op::Multiply
            | Op::Divide
            | Op::Remainder
            | Op::Power
            | Op::AddInt
            | Op::SubtractInt
            | Op::MultiplyInt
            | Op::DivideInt
            | Op::RemainderInt
    )
}

/// Marks the operands that may be taken. The registers before `temporaries` are variables.
pub(crate) fn mark_last_uses(function: &mut Function, temporaries: u16) {
    let Some(flow) = Flow::of(function) else {
        return;
    };
    let mut marked = function.code.clone();
    let mut live = Set::new(flow.words);
    for block in 0..flow.blocks.len() {
        flow.live_at_end(function, block, &mut live);
        let range = flow.blocks[block].start..flow.blocks[block].end;
        let handled = flow.handled(block);
        for at in range.rev() {
            let instruction = function.code[at];
            let after = |register: u16| {
                if drops(instruction.op()) && register < temporaries {
                    return true;
                }
                let kept = handled.filter(|_| !is_safe(instruction.op()));
                live.contains(register) || kept.is_some_and(|kept| kept.contains(register))
            };
            marked[at] = mark(function, instruction, &after);
            flow.step_back(function, block, at, &mut live);
        }
    }
    function.code = marked;
}

/// The instruction with marks for what is not used after it.
fn mark(
    function: &Function,
    instruction: Instruction,
    is_live: &dyn Fn(u16) -> bool,
) -> Instruction {
    let op = instruction.op();
    let allowed = takes(op);
    if allowed == 0 {
        return instruction;
    }
    let writes_a = op.operands()[0] == Operand::Write && !drops(op);
    let is_dead = |register: u16| match register == instruction.a() {
        true => writes_a,
        false => !is_live(register),
    };
    // What is read twice cannot be taken: the other one would find nothing.
    let is_read_once = |register: u16| {
        let mut reads = 0;
        function.each_use(instruction, |read, used| {
            reads += u32::from(read == register && used == Use::Read);
        });
        reads == 1
    };
    let mut taken = 0;
    for (flag, register) in [(TAKE_B, instruction.b()), (TAKE_C, instruction.c())] {
        if allowed & flag != 0 && is_dead(register) && is_read_once(register) {
            taken |= flag;
        }
    }
    instruction.with_n(instruction.n() | taken)
}

/// How control goes through a function, and which registers are read later on.
struct Flow {
    blocks: Vec<Block>,
    /// The block that begins with each instruction, for those that begin one.
    block_at: Vec<u32>,
    words: usize,
    /// For each block, the registers that are read before they are written, in it or later.
    live: Vec<Set>,
}

struct Block {
    start: usize,
    end: usize,
    /// The handler that errors in it go to.
    handler: Option<usize>,
}

const NO_BLOCK: u32 = u32::MAX;

impl Flow {
    fn of(function: &Function) -> Option<Self> {
        let starts = block_starts(function);
        let count = starts.iter().filter(|is_start| **is_start).count();
        let words = usize::from(function.registers).div_ceil(64);
        if count.checked_mul(words * 64)? > BITS_MAX {
            return None;
        }
        let mut flow = Self {
            blocks: Vec::with_capacity(count),
            block_at: vec![NO_BLOCK; function.code.len()],
            words,
            live: (0..count).map(|_| Set::new(words)).collect(),
        };
        flow.find_blocks(function, &starts);
        flow.solve(function);
        Some(flow)
    }

    fn find_blocks(&mut self, function: &Function, starts: &[bool]) {
        let handlers = innermost_handlers(function);
        let mut positions = (0..starts.len()).filter(|at| starts[*at]).peekable();
        while let Some(start) = positions.next() {
            let end = positions.peek().copied().unwrap_or(starts.len());
            self.block_at[start] = u32::try_from(self.blocks.len()).unwrap_or(NO_BLOCK);
            self.blocks.push(Block {
                start,
                end,
                handler: handlers[start],
            });
        }
    }

    /// Goes backwards through all blocks until nothing changes.
    fn solve(&mut self, function: &Function) {
        let mut live = Set::new(self.words);
        loop {
            let mut changed = false;
            for block in (0..self.blocks.len()).rev() {
                self.live_at_end(function, block, &mut live);
                for at in (self.blocks[block].start..self.blocks[block].end).rev() {
                    self.step_back(function, block, at, &mut live);
                }
                changed |= self.live[block].add_all(&live);
            }
            if !changed {
                return;
            }
        }
    }

    /// What is read after a block.
    fn live_at_end(&self, function: &Function, block: usize, live: &mut Set) {
        live.clear();
        let Some(last) = self.blocks[block].end.checked_sub(1) else {
            return;
        };
        let instruction = function.code[last];
        let target = function.jump_target(last);
        let target = target.and_then(|target| usize::try_from(target).ok());
        if let Some(target) = target.and_then(|target| self.starting_at(target)) {
            live.add_all(target);
            function.each_use(instruction, |register, used| {
                if used == Use::WrittenIfItJumps {
                    live.remove(register);
                }
            });
        }
        if !is_end(instruction.op())
            && let Some(next) = self.starting_at(last + 1)
        {
            live.add_all(next);
        }
        if instruction.op() == Op::DeferNext {
            for start in &function.defers {
                if let Some(deferred) = self.starting_at(*start as usize) {
                    live.add_all(deferred);
                }
            }
        }
    }

    fn starting_at(&self, at: usize) -> Option<&Set> {
        let block = *self.block_at.get(at)?;
        self.live.get(usize::try_from(block).ok()?)
    }

    /// What is read by the handler that errors of a block go to.
    fn handled(&self, block: usize) -> Option<&Set> {
        let target = self.blocks[block].handler?;
        self.starting_at(target)
    }

    /// From after an instruction to before it.
    fn step_back(&self, function: &Function, block: usize, at: usize, live: &mut Set) {
        let instruction = function.code[at];
        let handled = self.handled(block);
        // What the handler reads is read before every instruction of the block.
        if let Some(handled) = handled
            && at + 1 == self.blocks[block].end
        {
            live.add_all(handled);
        }
        function.each_use(instruction, |register, used| {
            let is_handled = handled.is_some_and(|handled| handled.contains(register));
            if matches!(used, Use::Written | Use::Emptied) && !is_handled {
                live.remove(register);
            }
        });
        function.each_use(instruction, |register, used| {
            if matches!(used, Use::Read | Use::Emptied) {
                live.add(register);
            }
        });
    }
}

/// Which instructions begin a block.
fn block_starts(function: &Function) -> Vec<bool> {
    let len = function.code.len();
    let mut starts = vec![false; len];
    let mut start = |at: usize| {
        if let Some(is_start) = starts.get_mut(at) {
            *is_start = true;
        }
    };
    start(0);
    for at in 0..len {
        let target = function.jump_target(at);
        if let Some(target) = target.and_then(|target| usize::try_from(target).ok()) {
            start(target);
            start(at + 1);
        }
        if is_end(function.code[at].op()) {
            start(at + 1);
        }
    }
    for handler in &function.handlers {
        let places = [handler.start, handler.end, handler.target];
        places.into_iter().for_each(|at| start(at as usize));
    }
    function.defers.iter().for_each(|at| start(*at as usize));
    starts
}

/// Where errors of each instruction go, if they go anywhere in the function. The first handler
/// that covers an instruction counts; they are nested, the inner ones first.
fn innermost_handlers(function: &Function) -> Vec<Option<usize>> {
    let mut targets = vec![None; function.code.len()];
    // The outer ones first, so that the inner ones replace them.
    let mut handlers: Vec<(usize, &Handler)> = function.handlers.iter().enumerate().collect();
    handlers.sort_by_key(|(number, handler)| {
        (
            handler.start,
            std::cmp::Reverse(handler.end),
            std::cmp::Reverse(*number),
        )
    });
    let mut around: Vec<&Handler> = Vec::new();
    let mut handlers = handlers.into_iter().peekable();
    for (at, target) in targets.iter_mut().enumerate() {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        while around.last().is_some_and(|handler| handler.end <= at) {
            around.pop();
        }
        while let Some((_, handler)) = handlers.next_if(|(_, handler)| handler.start <= at) {
            if handler.end > at {
                around.push(handler);
            }
        }
        *target = around.last().map(|handler| handler.target as usize);
    }
    targets
}

/// A set of registers.
struct Set(Vec<u64>);

impl Set {
    fn new(words: usize) -> Self {
        Self(vec![0; words])
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn contains(&self, register: u16) -> bool {
        let word = self.0.get(usize::from(register / 64));
        word.is_some_and(|word| word & (1 << (register % 64)) != 0)
    }

    fn add(&mut self, register: u16) {
        if let Some(word) = self.0.get_mut(usize::from(register / 64)) {
            *word |= 1 << (register % 64);
        }
    }

    fn remove(&mut self, register: u16) {
        if let Some(word) = self.0.get_mut(usize::from(register / 64)) {
            *word &= !(1 << (register % 64));
        }
    }

    /// Adds all of another set. Gives whether there was anything new.
    fn add_all(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }
}
