//! Writing instructions.
//!
//! `at` is always where in the source the instruction comes from.

use harn_syntax::tree::Name;

use super::body::ConstantKey;
use super::unit::Compiler;
use crate::code::{Instruction, Op, Raised, Site};
use crate::registry::BuiltinId;
use crate::value::{Enum, Tag, Text, Value};

const TOO_LARGE: &str = "function is too large";

/// A jump whose target is not known yet.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) struct Jump(usize);

impl Compiler<'_> {
    /// Where the next instruction will be.
    pub(super) fn here(&self) -> usize {
        self.body.code.len()
    }

    fn push(&mut self, at: u32, instruction: Instruction) {
        self.body.code.push(instruction);
        self.body.offsets.push(at);
    }

    /// An instruction with three operands.
    pub(super) fn op(&mut self, at: u32, op: Op, a: u16, b: u16, c: u16) {
        self.push(at, Instruction::new(op, 0, a, b, c));
    }

    /// An instruction with three operands and a small number.
    pub(super) fn op_n(&mut self, at: u32, op: Op, n: u8, a: u16, b: u16, c: u16) {
        self.push(at, Instruction::new(op, n, a, b, c));
    }

    /// An instruction with a wide operand.
    pub(super) fn wide(&mut self, at: u32, op: Op, a: u16, wide: u32) {
        self.push(at, Instruction::wide(op, 0, a, wide));
    }

    /// A statement begins, if anybody counts.
    pub(super) fn cover(&mut self, at: u32) {
        let source = self.unit.source.clone();
        if let Some(coverage) = &source.coverage {
            let line = source.lines.position(&source.text, at).line;
            self.wide(at, Op::Cover, 0, coverage.add(line));
        }
    }

    /// Copies a value, unless it is there already.
    pub(super) fn copy(&mut self, at: u32, to: u16, from: u16) {
        if to != from {
            self.op(at, Op::Move, to, from, 0);
        }
    }

    /// A jump with its distance in the wide operand.
    pub(super) fn jump(&mut self, at: u32, op: Op, a: u16) -> Jump {
        self.wide(at, op, a, 0);
        Jump(self.here() - 1)
    }

    /// A jump with its distance in the third operand.
    pub(super) fn branch(&mut self, at: u32, op: Op, a: u16, b: u16) -> Jump {
        self.op(at, op, a, b, 0);
        Jump(self.here() - 1)
    }

    /// Lets a jump end here.
    pub(super) fn land(&mut self, jump: Jump) {
        let here = self.here();
        self.aim(jump, here);
    }

    /// Lets jumps end here.
    pub(super) fn land_all(&mut self, jumps: Vec<Jump>) {
        let here = self.here();
        jumps.into_iter().for_each(|jump| self.aim(jump, here));
    }

    /// Lets a jump end at a place that is known.
    pub(super) fn aim(&mut self, jump: Jump, target: usize) {
        let instruction = self.body.code[jump.0];
        let distance = distance(jump.0, target);
        let (op, n, a) = (instruction.op(), instruction.n(), instruction.a());
        let patched = match op.is_wide() {
            true => distance.map(|far| Instruction::wide(op, n, a, far as u32)),
            false => distance
                .and_then(|far| i16::try_from(far).ok())
                .map(|near| Instruction::new(op, n, a, instruction.b(), near as u16)),
        };
        match patched {
            Some(patched) => self.body.code[jump.0] = patched,
            None => self.fail(TOO_LARGE),
        }
    }

    /// Jumps to a place that is known.
    pub(super) fn jump_to(&mut self, at: u32, target: usize) {
        let jump = self.jump(at, Op::Jump, 0);
        self.aim(jump, target);
    }

    /// An index that must fit into an operand.
    pub(super) fn narrow(&mut self, index: usize) -> u16 {
        u16::try_from(index).unwrap_or_else(|_| {
            self.fail(TOO_LARGE);
            0
        })
    }

    /// The number of a constant.
    pub(super) fn constant(&mut self, key: ConstantKey) -> u32 {
        if let Some(known) = self.body.constant_positions.get(&key) {
            return *known;
        }
        let value = match &key {
            ConstantKey::Int(number) => Value::Int(*number),
            ConstantKey::Float(bits) => Value::Float(f64::from_bits(*bits)),
            ConstantKey::Duration(milliseconds) => Value::Duration(*milliseconds),
            ConstantKey::Builtin(at) => BuiltinId::at(*at).map_or(Value::Nil, Value::Builtin),
            ConstantKey::Text(text) => Value::Text(self.interner.text(text)),
            ConstantKey::Tag(name, variant) => {
                let tag = Tag {
                    name: self.interner.text(name),
                    variant: self.interner.text(variant),
                };
                Value::Enum(Enum::new(tag.into(), Vec::new()).into())
            }
        };
        let at = self.constant_value(value);
        self.body.constant_positions.insert(key, at);
        at
    }

    /// The number of a constant that nothing else is the same as.
    pub(super) fn constant_value(&mut self, value: Value) -> u32 {
        self.body.constants.push(value);
        u32::try_from(self.body.constants.len() - 1).unwrap_or_else(|_| {
            self.fail(TOO_LARGE);
            0
        })
    }

    /// The number of a constant text, for an operand.
    pub(super) fn text_constant(&mut self, text: &str) -> u16 {
        let at = self.constant(ConstantKey::Text(text.into()));
        self.narrow(at as usize)
    }

    /// The number of a variant, for an operand.
    pub(super) fn tag_constant(&mut self, name: &str, variant: &str) -> u16 {
        let at = self.constant(ConstantKey::Tag(name.into(), variant.into()));
        self.narrow(at as usize)
    }

    /// a = a constant
    pub(super) fn load_constant(&mut self, at: u32, d: u16, key: ConstantKey) {
        let constant = self.constant(key);
        self.wide(at, Op::LoadConstant, d, constant);
    }

    /// a = an int
    pub(super) fn load_int(&mut self, at: u32, d: u16, number: i64) {
        match i32::try_from(number) {
            Ok(number) => self.wide(at, Op::LoadInt, d, number as u32),
            Err(_) => self.load_constant(at, d, ConstantKey::Int(number)),
        }
    }

    /// a = a text
    pub(super) fn load_text(&mut self, at: u32, d: u16, text: &str) {
        self.load_constant(at, d, ConstantKey::Text(text.into()));
    }

    /// a = nil
    pub(super) fn load_nil(&mut self, at: u32, d: u16) {
        self.op(at, Op::LoadNil, d, 0, 0);
    }

    /// Fails with a text.
    pub(super) fn raise(&mut self, at: u32, how: Raised, text: &str) {
        let constant = self.constant(ConstantKey::Text(text.into()));
        self.raise_constant(at, how, constant);
    }

    /// Fails with a constant.
    pub(super) fn raise_constant(&mut self, at: u32, how: Raised, constant: u32) {
        self.push(at, Instruction::wide(Op::Raise, how as u8, 0, constant));
    }

    /// A place that names something and remembers what it saw.
    pub(super) fn site(&mut self, name: &str) -> u16 {
        let name = self.interner.text(name);
        self.body.sites.push(Site::new(name));
        self.narrow(self.body.sites.len() - 1)
    }

    /// A list of keys, sorted, none twice.
    pub(super) fn keys(&mut self, keys: Vec<Text>) -> u16 {
        self.body.keys.push(keys);
        self.narrow(self.body.keys.len() - 1)
    }

    /// Fails because a name is bound for the second time.
    pub(super) fn raise_again(&mut self, name: &Name) {
        let text = format!(
            "Cannot redeclare immutable variable '{}' in the same scope (use 'var' for mutable bindings)",
            name.text
        );
        self.raise(name.span.start, Raised::Runtime, &text);
    }
}

/// How far it is from the instruction after a jump to a target.
fn distance(jump: usize, target: usize) -> Option<i32> {
    let target = i64::try_from(target).ok()?;
    let after = i64::try_from(jump).ok()? + 1;
    i32::try_from(target - after).ok()
}
