//! Taking values apart.

use harn_syntax::tree::{Binding, DictField, Expression, ListElement, Name, Pattern, PatternKind};

use super::unit::Compiler;
use crate::code::Op;
use crate::value::Text;

impl Compiler<'_> {
    /// `let pattern = value`
    pub(super) fn binding(&mut self, binding: &Binding) {
        let mark = self.mark();
        match &binding.pattern.kind {
            PatternKind::Name(name) => {
                self.bind(name, |compiler, d| compiler.evaluate(&binding.value, d));
            }
            _ => {
                let value = self.operand(&binding.value);
                self.bind_pattern(&binding.pattern, value);
            }
        }
        self.release(mark);
    }

    /// Binds the names of a pattern to the parts of what is in a register.
    pub(super) fn bind_pattern(&mut self, pattern: &Pattern, value: u16) {
        let at = pattern.span.start;
        match &pattern.kind {
            PatternKind::Name(name) => self.bind_register(name, value),
            PatternKind::Dict { fields, rest } => {
                self.op(at, Op::ExpectDict, value, 0, 0);
                fields
                    .iter()
                    .for_each(|field| self.bind_field(field, value));
                if let Some(rest) = rest {
                    self.bind_other_fields(fields, rest, value);
                }
            }
            PatternKind::List { elements, rest } => {
                self.op(at, Op::ExpectList, value, 0, 0);
                for (position, element) in elements.iter().enumerate() {
                    self.bind_element(position, element, value);
                }
                if let Some(rest) = rest {
                    let from = self.small(elements.len());
                    self.bind(rest, |compiler, d| {
                        compiler.op(rest.span.start, Op::ListRest, d, value, from);
                    });
                }
            }
        }
    }

    fn bind_field(&mut self, field: &DictField, value: u16) {
        let at = field.field.span.start;
        let site = self.site(&field.field.text);
        self.bind(field.bound(), |compiler, d| {
            compiler.op(at, Op::GetField, d, value, site);
            compiler.default(field.default.as_ref(), d);
        });
    }

    fn bind_other_fields(&mut self, fields: &[DictField], rest: &Name, value: u16) {
        let mut keys: Vec<&str> = fields.iter().map(|field| &*field.field.text).collect();
        keys.sort_unstable();
        keys.dedup();
        let keys: Vec<Text> = keys
            .into_iter()
            .map(|key| self.interner.text(key))
            .collect();
        let keys = self.keys(keys);
        self.bind(rest, |compiler, d| {
            compiler.op(rest.span.start, Op::DictRest, d, value, keys);
        });
    }

    fn bind_element(&mut self, position: usize, element: &ListElement, value: u16) {
        let at = element.name.span.start;
        self.bind(&element.name, |compiler, d| {
            compiler.element(at, d, value, position);
            compiler.default(element.default.as_ref(), d);
        });
    }

    /// a = the element of a list at a position
    pub(super) fn element(&mut self, at: u32, d: u16, list: u16, position: usize) {
        let mark = self.mark();
        let index = self.temporary();
        self.load_int(at, index, i64::try_from(position).unwrap_or(i64::MAX));
        self.op(at, Op::GetIndex, d, list, index);
        self.release(mark);
    }

    /// Replaces nil by a default.
    fn default(&mut self, default: Option<&Expression>, d: u16) {
        if let Some(default) = default {
            let given = self.jump(default.span.start, Op::JumpUnlessNil, d);
            self.evaluate(default, d);
            self.land(given);
        }
    }

    /// A count as an operand that is a signed number.
    pub(super) fn small(&mut self, count: usize) -> u16 {
        i16::try_from(count).map_or_else(
            |_| {
                self.fail("function is too large");
                0
            },
            |count| count as u16,
        )
    }
}
