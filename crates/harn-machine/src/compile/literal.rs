//! Lists, structs, variants and texts with interpolations.

use std::rc::Rc;

use harn_syntax::tree::{Argument, Entry, Expression, Key, Segment, StructLiteral};
use smol_str::SmolStr;

use super::unit::Compiler;
use crate::code::Op;
use crate::value::Shape;

/// How many values are collected in registers before a list is made of them.
const WINDOW_MAX: usize = 64;

impl Compiler<'_> {
    /// Evaluates expressions into consecutive registers.
    pub(super) fn fill<'e>(
        &mut self,
        window: u16,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) {
        for (register, expression) in (window..).zip(expressions) {
            self.evaluate(expression, register);
        }
    }

    /// `[a, ...b]`
    pub(super) fn list(&mut self, at: u32, elements: &[Argument], d: u16) {
        let is_one = |element: &&Argument| matches!(element, Argument::One(_));
        let first = elements.iter().take_while(is_one).count().min(WINDOW_MAX);
        let (first, rest) = elements.split_at(first);
        let mark = self.mark();
        let list = match rest.is_empty() {
            true => d,
            false => self.intermediate(d),
        };
        let inner = self.mark();
        let window = self.window_for(list, first.len());
        self.fill(window, first.iter().map(Argument::expression));
        let count = self.narrow(first.len());
        self.op(at, Op::NewList, list, window, count);
        self.release(inner);
        for element in rest {
            let value = self.operand(element.expression());
            match element {
                Argument::One(_) => self.op(at, Op::ListPush, list, value, 0),
                Argument::Spread(one) => {
                    self.op(one.span.start, Op::ListSpread, list, value, 0);
                }
            }
            self.release(inner);
        }
        self.copy(at, d, list);
        self.release(mark);
    }

    /// `"a ${b} c"`
    pub(super) fn interpolated(&mut self, at: u32, segments: &[Segment], d: u16) {
        if segments.len() <= WINDOW_MAX {
            let window = self.window_for(d, segments.len());
            for (register, segment) in (window..).zip(segments) {
                match segment {
                    Segment::Text(text) => self.load_text(at, register, text),
                    Segment::Expression(value) => self.evaluate(value, register),
                }
            }
            let count = self.narrow(segments.len());
            self.op(at, Op::Concat, d, window, count);
            return;
        }
        // A long text is put together from pieces, each from at most as many again.
        let size = segments.len().div_ceil(WINDOW_MAX);
        let pieces: Vec<&[Segment]> = segments.chunks(size).collect();
        let window = self.window(pieces.len());
        for (register, piece) in (window..).zip(&pieces) {
            self.interpolated_piece(at, piece, register);
        }
        let count = self.narrow(pieces.len());
        self.op(at, Op::Concat, d, window, count);
    }

    fn interpolated_piece(&mut self, at: u32, piece: &[Segment], d: u16) {
        let mark = self.mark();
        self.interpolated(at, piece, d);
        self.release(mark);
    }

    /// `Point {x: 1}`
    pub(super) fn struct_literal(&mut self, at: u32, literal: &StructLiteral, d: u16) {
        let fields: Option<Vec<(&SmolStr, &Expression)>> =
            literal.entries.iter().map(plain_field).collect();
        let name = &literal.name.text;
        let declared = self.declared.structs.get(name).cloned();
        let Some(fields) = fields.filter(|fields| fields.len() <= WINDOW_MAX) else {
            return self.struct_from_dict(at, literal, declared, d);
        };
        let shape = declared.unwrap_or_else(|| {
            let mut names: Vec<SmolStr> = Vec::new();
            for (field, _) in &fields {
                if !names.contains(field) {
                    names.push((*field).clone());
                }
            }
            self.open_shape(name, names)
        });
        if shape.fields.len() > WINDOW_MAX {
            return self.struct_from_dict(at, literal, Some(shape), d);
        }
        let window = self.window_for(d, shape.fields.len());
        self.struct_fields(at, &fields, &shape, window);
        let shape = self.shape(shape);
        self.op(at, Op::NewStruct, d, shape, window);
    }

    fn struct_fields(
        &mut self,
        at: u32,
        fields: &[(&SmolStr, &Expression)],
        shape: &Shape,
        window: u16,
    ) {
        let is_given = |name: &str| fields.iter().any(|(field, _)| *field == name);
        for (register, name) in (window..).zip(&shape.fields) {
            if !is_given(name) {
                self.op(at, Op::LoadAbsent, register, 0, 0);
            }
        }
        for (field, value) in fields {
            let position = shape.position(field);
            let position = position.and_then(|at| u16::try_from(at).ok());
            match position.and_then(|at| window.checked_add(at)) {
                Some(register) => self.evaluate(value, register),
                None => self.effect(value),
            }
        }
    }

    fn struct_from_dict(
        &mut self,
        at: u32,
        literal: &StructLiteral,
        declared: Option<Rc<Shape>>,
        d: u16,
    ) {
        let dict = self.intermediate(d);
        self.dict(at, &literal.entries, dict);
        let shape = declared.unwrap_or_else(|| {
            let names = literal.entries.iter().filter_map(|entry| match entry {
                Entry::Field(key, _) => key.name().map(|name| name.text.clone()),
                Entry::Spread(_) => None,
            });
            let mut names: Vec<SmolStr> = names.collect();
            names.sort();
            names.dedup();
            self.open_shape(&literal.name.text, names)
        });
        let shape = self.shape(shape);
        self.op(at, Op::StructFrom, d, shape, dict);
    }

    /// The number of a shape.
    pub(super) fn shape(&mut self, shape: Rc<Shape>) -> u16 {
        let known = self
            .body
            .shapes
            .iter()
            .rposition(|one| Rc::ptr_eq(one, &shape));
        let position = known.unwrap_or_else(|| {
            self.body.shapes.push(shape);
            self.body.shapes.len() - 1
        });
        self.narrow(position)
    }

    /// `E.V` or `E.V(a, ...b)`
    pub(super) fn variant(
        &mut self,
        at: u32,
        (name, variant): (&str, &str),
        arguments: &[Argument],
        d: u16,
    ) {
        let tag = self.tag_constant(name, variant);
        let is_one = |argument: &Argument| matches!(argument, Argument::One(_));
        match u8::try_from(arguments.len()) {
            Ok(count) if arguments.iter().all(is_one) => {
                let window = self.window_for(d, arguments.len());
                self.fill(window, arguments.iter().map(Argument::expression));
                self.op_n(at, Op::NewEnum, count, d, tag, window);
            }
            _ => {
                let list = self.temporary();
                self.list(at, arguments, list);
                self.op(at, Op::NewEnumSpread, d, tag, list);
            }
        }
    }
}

fn plain_field(entry: &Entry) -> Option<(&SmolStr, &Expression)> {
    match entry {
        Entry::Field(Key::Name(name) | Key::String(name), value) => Some((&name.text, value)),
        Entry::Field(Key::Computed(_), _) | Entry::Spread(_) => None,
    }
}
