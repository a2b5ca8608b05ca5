//! Whether a function can be run.
//!
//! The interpreter reads registers and instructions without asking whether they are there.
//! Here they are asked for, once per function: every operand must name something that exists,
//! every jump must stay inside the code, and control must not run past its end. So even code
//! that the compiler got wrong cannot read what is not there.

use super::function::{CaptureFrom, Function, FunctionKind, Handler, PathStep};
use super::op::{Instruction, Op, Operand, Raised};
use super::registers::is_end;
use crate::registry::BuiltinId;
use crate::value::Value;

/// Checks a function and all functions inside it. `globals` is how many globals there are.
///
/// # Errors
/// What is wrong, with the function and the instruction.
pub(crate) fn verify(function: &Function, globals: usize) -> Result<(), String> {
    let mut waiting = vec![function];
    while let Some(function) = waiting.pop() {
        let name = function.name.as_deref().unwrap_or("closure");
        let verifier = Verifier { function, globals };
        verifier
            .function()
            .map_err(|message| format!("{name}: {message}"))?;
        waiting.extend(function.functions.iter().map(|child| &**child));
    }
    Ok(())
}

struct Verifier<'a> {
    function: &'a Function,
    globals: usize,
}

impl Verifier<'_> {
    fn function(&self) -> Result<(), String> {
        let function = self.function;
        let len = function.code.len();
        ensure(function.offsets.len() == len, "offsets are missing")?;
        let last = function.code.last().ok_or("there is no code")?;
        let exists = |one: &Instruction| usize::from(one.op_number()) < Op::ALL.len();
        ensure(
            function.code.iter().all(exists),
            "there is no such instruction",
        )?;
        let parameters = function.parameters.len();
        ensure(
            parameters <= usize::from(function.registers),
            "parameters are no registers",
        )?;
        ensure(
            parameters > 0 || !function.has_rest,
            "there is nothing to take the rest",
        )?;
        for at in 0..len {
            self.instruction(at)
                .map_err(|message| format!("instruction {at}: {message}"))?;
        }
        ensure(is_end(last.op()), "control runs past the end")?;
        self.tables()?;
        self.handlers()?;
        for child in &function.functions {
            child
                .captures
                .iter()
                .try_for_each(|one| self.capture(*one))?;
        }
        Ok(())
    }

    fn tables(&self) -> Result<(), String> {
        for keys in &self.function.keys {
            let is_sorted = keys.is_sorted_by(|one, next| one < next);
            ensure(is_sorted, "keys are not sorted")?;
        }
        for path in &self.function.paths {
            ensure(!path.is_empty(), "a path has no steps")?;
            for step in path {
                if let PathStep::Index(register) = step {
                    self.registers(*register, 1)?;
                }
            }
        }
        let len = self.function.code.len();
        let mut defers = self.function.defers.iter();
        let is_inside = defers.all(|start| (*start as usize) < len);
        ensure(is_inside, "a deferred block is not in the code")?;
        for keep in &self.function.keeps {
            let is_inside = keep.blocks.end as usize <= self.function.defers.len();
            ensure(is_inside, "something is kept for no deferred block")?;
            let mut registers = keep.registers.iter();
            registers.try_for_each(|register| self.registers(*register, 1))?;
        }
        Ok(())
    }

    fn capture(&self, capture: CaptureFrom) -> Result<(), String> {
        match capture {
            CaptureFrom::Register(register) => self.registers(register, 1),
            CaptureFrom::Capture(at) => {
                within(usize::from(at), self.function.captures.len(), "capture")
            }
        }
    }

    /// They must be inside the code, and of two that overlap the inner one comes first.
    fn handlers(&self) -> Result<(), String> {
        let len = self.function.code.len();
        for handler in &self.function.handlers {
            let is_range = handler.start < handler.end && handler.end as usize <= len;
            ensure(is_range, "a handler covers nothing, or too much")?;
            ensure(
                (handler.target as usize) < len,
                "a handler leads out of the code",
            )?;
            self.registers(handler.register, 1)?;
        }
        let mut sorted: Vec<(usize, &Handler)> =
            self.function.handlers.iter().enumerate().collect();
        sorted.sort_by_key(|(number, handler)| {
            let end = std::cmp::Reverse(handler.end);
            (handler.start, end, std::cmp::Reverse(*number))
        });
        let mut around: Vec<(usize, &Handler)> = Vec::new();
        for (number, handler) in sorted {
            while around
                .last()
                .is_some_and(|(_, outer)| outer.end <= handler.start)
            {
                around.pop();
            }
            if let Some((outer_number, outer)) = around.last() {
                ensure(handler.end <= outer.end, "handlers cross each other")?;
                ensure(number < *outer_number, "an outer handler comes first")?;
            }
            around.push((number, handler));
        }
        Ok(())
    }

    fn instruction(&self, at: usize) -> Result<(), String> {
        let instruction = self.function.code[at];
        let op = instruction.op();
        let narrow = [instruction.a(), instruction.b(), instruction.c()];
        for (position, operand) in op.operands().into_iter().enumerate() {
            let index = match op.is_wide() && position == 1 {
                true => instruction.wide_bc() as usize,
                false => usize::from(narrow[position]),
            };
            self.operand(at, operand, index)?;
        }
        self.special(instruction)
    }

    fn operand(&self, at: usize, operand: Operand, index: usize) -> Result<(), String> {
        let function = self.function;
        match operand {
            Operand::None | Operand::Number => Ok(()),
            Operand::Read | Operand::Write | Operand::Change => self.window(index, 1),
            Operand::Window => {
                let len = function.window_len(function.code[at]);
                self.window(index, len.ok_or("a window has no size")?)
            }
            Operand::Jump => {
                let target = function.jump_target(at);
                let target = target.and_then(|target| usize::try_from(target).ok());
                let target = target.ok_or("a jump leads out of the code")?;
                within(target, function.code.len(), "target")
            }
            Operand::Constant => within(index, function.constants.len(), "constant"),
            Operand::Site => within(index, function.sites.len(), "site"),
            Operand::Keys => within(index, function.keys.len(), "list of keys"),
            Operand::Shape => within(index, function.shapes.len(), "shape"),
            Operand::Path => within(index, function.paths.len(), "path"),
            Operand::Builtin => {
                let position = u16::try_from(index).ok();
                let id = position.and_then(BuiltinId::at);
                id.map(|_| ()).ok_or_else(|| missing(index, "builtin"))
            }
            Operand::Global => within(index, self.globals, "global"),
            Operand::Function => within(index, function.functions.len(), "function"),
            Operand::Capture => within(index, function.captures.len(), "capture"),
            Operand::Check => within(index, function.checks.len(), "check"),
        }
    }

    /// What the table of instructions does not say.
    fn special(&self, instruction: Instruction) -> Result<(), String> {
        let constant = |at: u16| self.function.constants.get(usize::from(at));
        let is_text = |at: u16| matches!(constant(at), Some(Value::Text(_)));
        let is_tag = |at: u16| matches!(constant(at), Some(Value::Enum(_)));
        let (a, b, c, n) = (
            instruction.a(),
            instruction.b(),
            instruction.c(),
            instruction.n(),
        );
        match instruction.op() {
            Op::NewEnum | Op::NewEnumSpread | Op::JumpUnlessTag => {
                ensure(is_tag(b), "a tag is no variant")
            }
            Op::JumpUnlessCaught => ensure(is_text(b), "the name of an enum is no text"),
            Op::DefineMethod => ensure(is_text(b) && is_text(c), "a method has no name"),
            Op::Raise => {
                let constant = self.function.constants.get(instruction.wide_bc() as usize);
                let has_text = match Raised::from_number(n) {
                    Some(Raised::UndefinedVariable) => {
                        matches!(constant, Some(Value::Text(_) | Value::List(_)))
                    }
                    Some(_) => matches!(constant, Some(Value::Text(_))),
                    None => false,
                };
                ensure(has_text, "an error has no text")
            }
            Op::ForPrepare | Op::ForLoop | Op::Select => {
                self.registers(a, 2)?;
                ensure(
                    instruction.op() != Op::Select || n <= 2,
                    "there is no such way to wait",
                )
            }
            Op::Yield => {
                let is_plain = self.function.kind == FunctionKind::Plain;
                ensure(!is_plain, "it cannot pause")
            }
            Op::Parallel => ensure(n <= 3, "there is no such kind of parallel"),
            Op::Payload | Op::ListRest => {
                ensure(instruction.signed_c() >= 0, "a position is negative")
            }
            Op::JumpUnlessList => ensure(instruction.signed_b() >= 0, "a count is negative"),
            Op::DeferPush => {
                let number = usize::try_from(instruction.signed_b());
                let number = number.map_err(|_| "a number is negative")?;
                within(number, self.function.defers.len(), "deferred block")
            }
            Op::DeferKeep => {
                let number = instruction.wide_bc() as usize;
                within(number, self.function.keeps.len(), "round")
            }
            _ => Ok(()),
        }
    }

    fn registers(&self, first: u16, count: usize) -> Result<(), String> {
        self.window(usize::from(first), count)
    }

    fn window(&self, first: usize, count: usize) -> Result<(), String> {
        match first + count <= usize::from(self.function.registers) {
            true => Ok(()),
            false => Err(missing(first + count.saturating_sub(1), "register")),
        }
    }
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(message.into()),
    }
}

fn within(index: usize, len: usize, what: &str) -> Result<(), String> {
    match index < len {
        true => Ok(()),
        false => Err(missing(index, what)),
    }
}

fn missing(index: usize, what: &str) -> String {
    format!("there is no {what} {index}")
}
