//! Which registers an instruction reads and writes.

use super::function::{CaptureFrom, Function, PathStep};
use super::op::{Instruction, Op, Operand};

/// What an instruction does with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is read.
    Read,
    /// It is written, whatever was in it.
    Written,
    /// It is read and emptied.
    Emptied,
    /// It is written, but only if the instruction jumps.
    WrittenIfItJumps,
}

impl Function {
    /// How many registers the window of an instruction has; 0 if it has none. `None` if it
    /// refers to something that is not there.
    pub(crate) fn window_len(&self, instruction: Instruction) -> Option<usize> {
        let n = usize::from(instruction.n());
        let count = |number: i16| usize::try_from(number).ok();
        Some(match instruction.op() {
            Op::NewList | Op::Concat => count(instruction.signed_c())?,
            Op::NewDict => self.keys.get(usize::from(instruction.b()))?.len(),
            Op::NewStruct => self.shapes.get(usize::from(instruction.b()))?.fields.len(),
            Op::Select => count(instruction.signed_c())? + usize::from(n == 1),
            Op::Slice | Op::Parallel => 3,
            Op::CallMethodSpread => 2,
            Op::CallMethod => n + 1,
            Op::NewEnum
            | Op::Call
            | Op::CallGlobal
            | Op::CallBuiltin
            | Op::TailCall
            | Op::TailCallGlobal => n,
            _ => 0,
        })
    }

    /// Calls `each` for every register that an instruction uses. What is not there is left
    /// out: the verifier says so elsewhere.
    pub(crate) fn each_use(&self, instruction: Instruction, mut each: impl FnMut(u16, Use)) {
        let op = instruction.op();
        let operands = [instruction.a(), instruction.b(), instruction.c()];
        for (register, operand) in operands.into_iter().zip(op.operands()) {
            match operand {
                Operand::Read => each(register, Use::Read),
                Operand::Change => {
                    each(register, Use::Read);
                    if matches!(op, Op::ForPrepare | Op::ForLoop) {
                        each(register.saturating_add(1), Use::Read);
                    }
                }
                Operand::Write if op == Op::ForLoop => each(register, Use::WrittenIfItJumps),
                Operand::Write => {
                    each(register, Use::Written);
                    if op == Op::Select {
                        each(register.saturating_add(1), Use::Written);
                    }
                }
                Operand::Window => {
                    let len = self.window_len(instruction).unwrap_or(0);
                    let window = (register..=u16::MAX).take(len);
                    window.for_each(|register| each(register, Use::Emptied));
                }
                _ => {}
            }
        }
        self.each_hidden_read(instruction, |register| each(register, Use::Read));
    }

    /// The registers that are read without being operands.
    fn each_hidden_read(&self, instruction: Instruction, mut each: impl FnMut(u16)) {
        match instruction.op() {
            Op::SetPath => {
                let path = self.paths.get(usize::from(instruction.b()));
                for step in path.into_iter().flatten() {
                    if let PathStep::Index(register) = step {
                        each(*register);
                    }
                }
            }
            Op::MakeClosure => {
                let function = self.functions.get(instruction.wide_bc() as usize);
                for capture in function.iter().flat_map(|function| &function.captures) {
                    if let CaptureFrom::Register(register) = capture {
                        each(*register);
                    }
                }
            }
            _ => {}
        }
    }

    /// Where an instruction jumps to, if it can jump to one place. The place may not exist.
    pub(crate) fn jump_target(&self, at: usize) -> Option<i64> {
        let instruction = *self.code.get(at)?;
        let after = i64::try_from(at).ok()? + 1;
        let op = instruction.op();
        let position = op.operands().iter().position(|one| *one == Operand::Jump)?;
        let distance = match (op.is_wide(), position) {
            (true, _) => i64::from(instruction.signed_wide()),
            (false, _) => i64::from(instruction.signed_c()),
        };
        Some(after + distance)
    }
}

/// Whether control never goes on to the next instruction.
pub(crate) fn is_end(op: Op) -> bool {
    matches!(
        op,
        Op::Return
            | Op::ReturnNil
            | Op::Jump
            | Op::Throw
            | Op::Rethrow
            | Op::Raise
            | Op::TailCall
            | Op::TailCallGlobal
            | Op::DeferNext
    )
}
