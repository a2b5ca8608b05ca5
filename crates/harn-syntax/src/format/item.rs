//! Declarations.

use crate::lexer::lex;
use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::{
    Attribute, AttributeArgument, Bound, EvalPack, EvalPackEntry, EvalPackName, Field, Function,
    FunctionKind, Interface, InterfaceMember, Item, ItemKind, Pipeline, SkillField, Statement,
    Text, Tool, Variant,
};

use super::Formatter;
use super::comments::{Gap, Place};
use super::extent;
use super::lists::{Body, Brackets, Element};

impl<'a> Formatter<'a> {
    pub(super) fn item(&mut self, item: &'a Item) {
        for attribute in &item.attributes {
            self.attribute(attribute);
            let next = self.next_token(attribute.span.end);
            self.trailing_comments(attribute.span.end, next);
            self.layout.hard_line();
            self.leading_comments(next, Place::Import);
        }
        if item.public.is_some() {
            self.text("pub ");
        }
        match &item.kind {
            ItemKind::Import(import) => self.import(import),
            ItemKind::Pipeline(pipeline) => self.pipeline(pipeline),
            ItemKind::Override(item) => {
                self.text("override ");
                self.name(&item.name);
                self.names(&item.parameters, item.name.span.end);
                self.layout.space();
                self.block(&item.body);
            }
            ItemKind::Function(function) => self.function(function),
            ItemKind::Tool(tool) => self.tool(tool),
            ItemKind::Skill(skill) => {
                self.text("skill ");
                self.name(&skill.name);
                self.text(" {");
                self.body(Body::block(skill.body.end), skill.fields.iter());
            }
            ItemKind::EvalPack(pack) => self.eval_pack(pack),
            ItemKind::Struct(item) => {
                self.text("struct ");
                self.name(&item.name);
                self.type_parameters(&item.type_parameters);
                self.text(" {");
                self.body(Body::fields(item.body.end), item.fields.iter());
            }
            ItemKind::Enum(item) => {
                self.text("enum ");
                self.name(&item.name);
                self.type_parameters(&item.type_parameters);
                self.text(" {");
                self.body(Body::fields(item.body.end), item.variants.iter());
            }
            ItemKind::Type(alias) => {
                self.text("type ");
                self.name(&alias.name);
                self.type_parameters(&alias.type_parameters);
                self.text(" = ");
                self.ty(&alias.ty);
            }
            ItemKind::Interface(interface) => self.interface(interface),
            ItemKind::Impl(item) => {
                self.text("impl ");
                self.name(&item.name);
                self.text(" {");
                let methods = item.methods.iter().map(|(public, method)| Method {
                    public: *public,
                    method,
                });
                self.body(Body::block(item.body.end), methods);
            }
        }
    }

    fn attribute(&mut self, attribute: &'a Attribute) {
        self.text("@");
        self.name(&attribute.name);
        if let Some(arguments) = &attribute.arguments {
            self.sequence(Brackets::ROUND, arguments.iter(), attribute.span.end - 1);
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        self.text("pipeline ");
        self.name(&pipeline.name);
        self.names(&pipeline.parameters, pipeline.name.span.end);
        self.result(pipeline.result.as_ref());
        if let Some(parent) = &pipeline.parent {
            self.text(" extends ");
            self.name(parent);
        }
        self.layout.space();
        self.block(&pipeline.body);
    }

    fn function(&mut self, function: &'a Function) {
        if function.kind == FunctionKind::Stream {
            self.text("gen ");
        }
        self.text("fn ");
        self.name(&function.name);
        self.type_parameters(&function.type_parameters);
        let last = function.type_parameters.last();
        let start = last.map_or(function.name.span.end, |last| last.name.span.end);
        self.parameters(&function.parameters, start);
        self.result(function.result.as_ref());
        self.bounds(&function.bounds);
        self.layout.space();
        self.block(&function.body);
    }

    fn bounds(&mut self, bounds: &'a [Bound]) {
        for (at, bound) in bounds.iter().enumerate() {
            self.text(if at == 0 { " where " } else { ", " });
            self.name(&bound.parameter);
            self.text(": ");
            self.name(&bound.interface);
        }
    }

    fn tool(&mut self, tool: &'a Tool) {
        self.text("tool ");
        self.name(&tool.name);
        self.parameters(&tool.parameters, tool.name.span.end);
        self.result(tool.result.as_ref());
        self.text(" {");
        let description = tool.description.iter().map(ToolEntry::Description);
        let statements = tool.body.statements.iter().map(ToolEntry::Statement);
        let body = Body::block(tool.body.span.end);
        self.body(body, description.chain(statements));
    }

    fn eval_pack(&mut self, pack: &'a EvalPack) {
        self.text("eval_pack ");
        match &pack.name {
            EvalPackName::Id(id) => self.source(id.span),
            EvalPackName::Name(name, id) => {
                self.name(name);
                if let Some(id) = id {
                    self.layout.space();
                    self.glued_source(id.span);
                }
            }
        }
        self.text(" {");
        self.body(Body::block(pack.body.end), pack.entries.iter());
    }

    /// Copies what must stand on the line of what precedes it.
    fn glued_source(&mut self, span: Span) {
        self.gap(span.start, Gap::Glued);
        self.source(span);
    }

    fn interface(&mut self, interface: &'a Interface) {
        self.text("interface ");
        self.name(&interface.name);
        self.type_parameters(&interface.type_parameters);
        self.text(" {");
        self.body(Body::block(interface.body.end), interface.members.iter());
    }
}

impl<'a> Element<'a> for &'a AttributeArgument {
    fn start(&self) -> u32 {
        self.span.start
    }

    fn end(&self) -> u32 {
        self.span.end
    }

    /// Its tokens, which are literals and names in brackets, with one space after commas
    /// and colons.
    fn write(&self, formatter: &mut Formatter<'a>) {
        let source = self.span.of(formatter.text);
        let tokens = lex(source).tokens;
        let tokens = tokens
            .iter()
            .filter(|token| token.kind != TokenKind::Newline);
        let mut tokens = tokens
            .take_while(|token| token.kind != TokenKind::End)
            .peekable();
        while let Some(token) = tokens.next() {
            let next = tokens.peek().map(|next| next.kind);
            let is_closing = next == Some(TokenKind::RightBracket);
            match token.kind {
                TokenKind::Comma if is_closing => {}
                TokenKind::Comma => formatter.text(", "),
                TokenKind::Colon => formatter.text(": "),
                _ => formatter.layout.text(token.span.of(source)),
            }
        }
    }
}

impl<'a> Element<'a> for &'a SkillField {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        extent::end(&self.value)
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.name(&self.name);
        formatter.layout.space();
        formatter.expression(&self.value);
    }
}

impl<'a> Element<'a> for &'a EvalPackEntry {
    fn start(&self) -> u32 {
        match self {
            EvalPackEntry::Field(name, _) => name.span.start,
            EvalPackEntry::Summarize(block) => block.span.start,
            EvalPackEntry::Statement(statement) => Element::start(&statement),
        }
    }

    fn end(&self) -> u32 {
        match self {
            EvalPackEntry::Field(_, value) => extent::end(value),
            EvalPackEntry::Summarize(block) => block.span.end,
            EvalPackEntry::Statement(statement) => statement.span.end,
        }
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self {
            EvalPackEntry::Field(name, value) => {
                formatter.name(name);
                formatter.text(": ");
                formatter.expression(value);
            }
            EvalPackEntry::Summarize(block) => {
                formatter.text("summarize ");
                formatter.block(block);
            }
            EvalPackEntry::Statement(statement) => Element::write(&statement, formatter),
        }
    }
}

/// What stands in the braces of a tool.
enum ToolEntry<'a> {
    Description(&'a Text),
    Statement(&'a Statement),
}

impl<'a> Element<'a> for ToolEntry<'a> {
    fn start(&self) -> u32 {
        match self {
            Self::Description(text) => text.span.start,
            Self::Statement(statement) => Element::start(statement),
        }
    }

    fn end(&self) -> u32 {
        match self {
            Self::Description(text) => text.span.end,
            Self::Statement(statement) => statement.span.end,
        }
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self {
            Self::Description(text) => {
                formatter.text("description ");
                formatter.glued_source(text.span);
            }
            Self::Statement(statement) => Element::write(statement, formatter),
        }
    }
}

impl<'a> Element<'a> for &'a Field {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        self.ty
            .as_ref()
            .map_or(self.name.span.end, |ty| ty.span.end)
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.name(&self.name);
        if self.optional {
            formatter.text("?");
        }
        formatter.annotation(self.ty.as_ref());
    }
}

impl<'a> Element<'a> for &'a Variant {
    fn start(&self) -> u32 {
        self.name.span.start
    }

    fn end(&self) -> u32 {
        let last = self.parameters.as_ref().and_then(|all| all.last());
        last.map_or(self.name.span.end, |last| Element::end(&last))
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.name(&self.name);
        if let Some(parameters) = &self.parameters {
            formatter.parameters(parameters, self.name.span.end);
        }
    }
}

impl<'a> Element<'a> for &'a InterfaceMember {
    fn start(&self) -> u32 {
        match self {
            InterfaceMember::Type { name, .. } | InterfaceMember::Method { name, .. } => {
                name.span.start
            }
        }
    }

    fn end(&self) -> u32 {
        match self {
            InterfaceMember::Type { name, ty } => {
                ty.as_ref().map_or(name.span.end, |ty| ty.span.end)
            }
            InterfaceMember::Method {
                name,
                parameters,
                result,
                ..
            } => {
                let last = parameters.last().map(|last| Element::end(&last));
                let result = result.as_ref().map(|ty| ty.span.end);
                result.or(last).unwrap_or(name.span.end)
            }
        }
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self {
            InterfaceMember::Type { name, ty } => {
                formatter.text("type ");
                formatter.name(name);
                if let Some(ty) = ty {
                    formatter.text(" = ");
                    formatter.ty(ty);
                }
            }
            InterfaceMember::Method {
                name,
                type_parameters,
                parameters,
                result,
            } => {
                formatter.text("fn ");
                formatter.name(name);
                formatter.type_parameters(type_parameters);
                let last = type_parameters.last();
                let start = last.map_or(name.span.end, |last| last.name.span.end);
                formatter.parameters(parameters, start);
                formatter.result(result.as_ref());
            }
        }
    }
}

/// A method of an `impl`.
struct Method<'a> {
    public: Option<Span>,
    method: &'a Function,
}

impl<'a> Element<'a> for Method<'a> {
    fn start(&self) -> u32 {
        self.method.name.span.start
    }

    fn end(&self) -> u32 {
        self.method.body.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        if self.public.is_some() {
            formatter.text("pub ");
        }
        formatter.function(self.method);
    }
}
