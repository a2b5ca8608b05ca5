//! Types, and what has one.

use crate::token::TokenKind;
use crate::tree::{Name, Parameter, ShapeField, Type, TypeKind, TypeParameter, Variance};

use super::Formatter;
use super::comments::Gap;
use super::extent;
use super::layout::Rule;
use super::lists::{Brackets, Element};

impl<'a> Formatter<'a> {
    pub(super) fn ty(&mut self, ty: &'a Type) {
        self.gap(ty.span.start, Gap::Free);
        match &ty.kind {
            TypeKind::Named(name, arguments) => {
                self.name(name);
                if !arguments.is_empty() {
                    self.sequence(Brackets::ANGLE, arguments.iter(), ty.span.end - 1);
                }
            }
            TypeKind::List(element) => {
                self.text("[");
                self.ty(element);
                self.text("]");
            }
            TypeKind::Shape(fields) => {
                self.sequence(Brackets::CURLY, fields.iter(), ty.span.end - 1);
            }
            TypeKind::Function(parameters, result) => {
                self.text("fn");
                let last = parameters
                    .last()
                    .map_or(ty.span.start, |last| last.span.end);
                let close = self.find(TokenKind::RightParenthesis, last);
                self.sequence(Brackets::ROUND, parameters.iter(), close);
                self.result(Some(result));
            }
            TypeKind::String(_) => self.source(ty.span),
            TypeKind::Int(number) => self.layout.text(number.to_string()),
            TypeKind::Nil => self.text("nil"),
            TypeKind::Bool(true) => self.text("true"),
            TypeKind::Bool(false) => self.text("false"),
            TypeKind::Union(members) => self.union(members),
        }
    }

    /// `A | B`. A line cannot begin with the bar.
    fn union(&mut self, members: &'a [Type]) {
        let mut rule = Rule::Chain;
        let group = self.layout.open();
        self.layout.indent_if_broken();
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.text(" |");
                if self.gap(member.span.start, Gap::Free) {
                    rule = Rule::Broken;
                }
                self.layout.line();
            }
            self.ty(member);
        }
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    /// `: type`
    pub(super) fn annotation(&mut self, ty: Option<&'a Type>) {
        if let Some(ty) = ty {
            self.text(": ");
            self.ty(ty);
        }
    }

    /// ` -> type`
    pub(super) fn result(&mut self, ty: Option<&'a Type>) {
        if let Some(ty) = ty {
            self.text(" -> ");
            self.ty(ty);
        }
    }

    /// `<A, B>` of a call, always on its line.
    pub(super) fn type_arguments(&mut self, types: &'a [Type]) {
        for (at, ty) in types.iter().enumerate() {
            self.text(if at == 0 { "<" } else { ", " });
            self.ty(ty);
        }
        if !types.is_empty() {
            self.text(">");
        }
    }

    /// `<T, in U>` of a declaration.
    pub(super) fn type_parameters(&mut self, parameters: &'a [TypeParameter]) {
        if let Some(last) = parameters.last() {
            let close = self.find(TokenKind::Greater, last.name.span.end);
            self.sequence(Brackets::ANGLE, parameters.iter(), close);
        }
    }

    /// `(a: int, b = 1)`, which begins after `start`.
    pub(super) fn parameters(&mut self, parameters: &'a [Parameter], start: u32) {
        let end = parameters.last().map_or(start, |last| (&last).end());
        let close = self.find(TokenKind::RightParenthesis, end);
        self.sequence(Brackets::ROUND, parameters.iter(), close);
    }

    /// `(a, b)`, which begins after `start`.
    pub(super) fn names(&mut self, names: &'a [Name], start: u32) {
        let end = names.last().map_or(start, |last| last.span.end);
        let close = self.find(TokenKind::RightParenthesis, end);
        self.sequence(Brackets::ROUND, names.iter(), close);
    }
}

impl<'a> Element<'a> for &'a Type {
    fn start(&self) -> u32 {
        self.span.start
    }

    fn end(&self) -> u32 {
        self.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.ty(self);
    }
}

impl<'a> Element<'a> for &'a ShapeField {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        self.ty.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.name(&self.name);
        if self.optional {
            formatter.text("?");
        }
        formatter.annotation(Some(&self.ty));
    }
}

impl<'a> Element<'a> for &'a TypeParameter {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        self.name.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.text(match self.variance {
            Variance::Invariant => "",
            Variance::Covariant => "out ",
            Variance::Contravariant => "in ",
        });
        formatter.name(&self.name);
    }
}

impl<'a> Element<'a> for &'a Parameter {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        let ty = self.ty.as_ref().map_or(self.name.span, |ty| ty.span);
        self.default.as_ref().map_or(ty.end, extent::end)
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.gap(self.name.span.start, Gap::Free);
        if self.rest {
            formatter.text("...");
        }
        formatter.name(&self.name);
        formatter.annotation(self.ty.as_ref());
        if let Some(default) = &self.default {
            formatter.text(" = ");
            formatter.expression(default);
        }
    }
}

impl<'a> Element<'a> for &'a Name {
    fn start(&self) -> u32 {
        self.span.start
    }

    fn end(&self) -> u32 {
        self.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.name(self);
    }
}
