//! Declarations.

use std::borrow::Cow;

use super::statement::Place;
use super::{Parse, Parser, string};
use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::{
    Attribute, AttributeArgument, AttributeValue, Block, Bound, EnumItem, EvalPack, EvalPackEntry,
    EvalPackName, Field, Function, FunctionKind, Impl, Import, Interface, InterfaceMember, Item,
    ItemKind, Name, Override, Parameter, Pipeline, Skill, SkillField, StatementKind, StructItem,
    Text, Tool, TypeAlias, Variant,
};

const AFTER_ATTRIBUTE: &str =
    "fn/tool/skill/eval_pack/pipeline/struct/enum/type/interface/impl declaration after `@attr`";
const AFTER_PUB: &str = "fn, tool, skill, eval_pack, struct, enum, pipeline, or import after pub";

impl Parser<'_> {
    pub(super) fn is_at_declaration(&self, place: Place) -> bool {
        match self.kind() {
            TokenKind::Pub
            | TokenKind::Fn
            | TokenKind::Tool
            | TokenKind::Skill
            | TokenKind::EvalPack
            | TokenKind::Struct
            | TokenKind::Enum
            | TokenKind::Type
            | TokenKind::Interface
            | TokenKind::Impl
            | TokenKind::Override => true,
            TokenKind::Import | TokenKind::Pipeline => place == Place::Top,
            _ => self.is_at_gen(),
        }
    }

    fn is_at_gen(&self) -> bool {
        self.is_word("gen") && self.ahead(1) == TokenKind::Fn
    }

    pub(super) fn attributed(&mut self, place: Place) -> Parse<StatementKind> {
        let mut attributes = Vec::new();
        while self.kind() == TokenKind::At {
            attributes.push(self.attribute()?);
            self.skip_newlines();
        }
        let is_declaration = self.is_at_declaration(place)
            && !matches!(self.kind(), TokenKind::Import | TokenKind::Override)
            && !(self.kind() == TokenKind::Pub && self.ahead(1) == TokenKind::Import);
        if is_declaration {
            return self.declaration(attributes, place);
        }
        if self.kind() == TokenKind::End {
            return self.fail(AFTER_ATTRIBUTE);
        }
        let found = Some(Cow::Borrowed("non-declaration statement"));
        self.fail_with(AFTER_ATTRIBUTE, found, self.token().span)
    }

    fn attribute(&mut self) -> Parse<Attribute> {
        let start = self.take().span.start;
        let name = self.expect_identifier("attribute name")?;
        let has_arguments = self.kind() == TokenKind::LeftParenthesis && self.is_on_same_line();
        let arguments = match has_arguments {
            true => {
                Some(self.attribute_list(TokenKind::RightParenthesis, Self::attribute_argument)?)
            }
            false => None,
        };
        Ok(Attribute {
            name,
            arguments,
            span: self.since(start),
        })
    }

    /// Here commas are compulsory.
    fn attribute_list<T>(
        &mut self,
        closer: TokenKind,
        item: fn(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        self.take();
        let mut items = Vec::new();
        loop {
            self.skip_newlines();
            if self.kind() == closer {
                break;
            }
            items.push(item(self)?);
            self.skip_newlines();
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect(closer)?;
        Ok(items)
    }

    fn attribute_argument(&mut self) -> Parse<AttributeArgument> {
        let start = self.start();
        let is_named = self.kind() == TokenKind::Identifier && self.ahead(1) == TokenKind::Colon;
        let name = match is_named {
            true => Some(self.expect_identifier("attribute name")?),
            false => None,
        };
        name.as_ref().and_then(|_| self.eat(TokenKind::Colon));
        self.skip_newlines();
        let value = self.attribute_value()?;
        Ok(AttributeArgument {
            name,
            value,
            span: self.since(start),
        })
    }

    fn attribute_value(&mut self) -> Parse<AttributeValue> {
        let token = self.token();
        let source = token.span.of(self.text);
        let value = match token.kind {
            TokenKind::String => AttributeValue::String(string::text_of(source).into()),
            TokenKind::RawString => AttributeValue::String(string::raw_text_of(source).into()),
            TokenKind::Int | TokenKind::Float => number(source),
            TokenKind::True => AttributeValue::Bool(true),
            TokenKind::False => AttributeValue::Bool(false),
            TokenKind::Nil => AttributeValue::Nil,
            TokenKind::Identifier => AttributeValue::Name(self.name(token)),
            TokenKind::Minus => {
                self.take();
                if !matches!(self.kind(), TokenKind::Int | TokenKind::Float) {
                    return self.fail("number after '-' in attribute argument");
                }
                number(&format!("-{}", self.token().span.of(self.text)))
            }
            TokenKind::LeftBracket => {
                let values = self.nested(|parser| {
                    parser.attribute_list(TokenKind::RightBracket, Self::attribute_value)
                });
                return values.map(AttributeValue::List);
            }
            _ => return self.fail("attribute argument value (literal or identifier)"),
        };
        self.take();
        Ok(value)
    }

    pub(super) fn declaration(
        &mut self,
        attributes: Vec<Attribute>,
        place: Place,
    ) -> Parse<StatementKind> {
        let yields = self.yields;
        self.declarations += 1;
        let public = self.eat(TokenKind::Pub).map(|token| token.span);
        if public.is_some() {
            self.skip_newlines();
        }
        let may_be_public = !matches!(
            self.kind(),
            TokenKind::Type
                | TokenKind::Interface
                | TokenKind::Impl
                | TokenKind::Override
                | TokenKind::Pub
        );
        if public.is_some() && !(may_be_public && self.is_at_declaration(place)) {
            return self.fail(AFTER_PUB);
        }
        let kind = match self.kind() {
            TokenKind::Import => ItemKind::Import(self.import()?),
            TokenKind::Pipeline => ItemKind::Pipeline(self.pipeline()?),
            TokenKind::Override => ItemKind::Override(self.override_()?),
            TokenKind::Tool => ItemKind::Tool(self.tool()?),
            TokenKind::Skill => ItemKind::Skill(self.skill()?),
            TokenKind::EvalPack => ItemKind::EvalPack(self.nested(Self::eval_pack)?),
            TokenKind::Struct => ItemKind::Struct(self.struct_()?),
            TokenKind::Enum => ItemKind::Enum(self.enum_()?),
            TokenKind::Type => ItemKind::Type(self.type_alias()?),
            TokenKind::Interface => ItemKind::Interface(self.interface()?),
            TokenKind::Impl => ItemKind::Impl(self.impl_()?),
            TokenKind::Fn => ItemKind::Function(self.function(FunctionKind::Plain)?),
            _ => {
                self.take();
                ItemKind::Function(self.function(FunctionKind::Stream)?)
            }
        };
        self.yields = yields;
        Ok(StatementKind::Item(Box::new(Item {
            attributes,
            public,
            kind,
        })))
    }

    fn import(&mut self) -> Parse<Import> {
        self.take();
        self.skip_newlines();
        let names = match self.eat(TokenKind::LeftBrace) {
            Some(_) => {
                let names = self.sequence(TokenKind::RightBrace, |parser| {
                    parser.expect_identifier("import name")
                })?;
                self.expect(TokenKind::From)?;
                Some(names)
            }
            None => None,
        };
        let path = self.expect_text("import path string")?;
        Ok(Import { names, path })
    }

    fn expect_text(&mut self, expected: &'static str) -> Parse<Text> {
        self.skip_newlines();
        match self.eat_text() {
            Some(text) => Ok(text),
            None => self.fail(expected),
        }
    }

    fn eat_text(&mut self) -> Option<Text> {
        let token = self.eat(TokenKind::String)?;
        Some(Text {
            text: string::text_of(token.span.of(self.text)).into(),
            span: token.span,
        })
    }

    fn names(&mut self) -> Parse<Vec<Name>> {
        self.expect(TokenKind::LeftParenthesis)?;
        self.sequence(TokenKind::RightParenthesis, |parser| {
            parser.expect_identifier("parameter name")
        })
    }

    fn pipeline(&mut self) -> Parse<Pipeline> {
        self.take();
        let name = self.expect_identifier("pipeline name")?;
        let parameters = self.names()?;
        let result = self.result()?;
        let parent = match self.eat(TokenKind::Extends) {
            Some(_) => Some(self.expect_identifier("parent pipeline name")?),
            None => None,
        };
        let body = self.block()?;
        Ok(Pipeline {
            name,
            parameters,
            result,
            parent,
            body,
        })
    }

    fn override_(&mut self) -> Parse<Override> {
        self.take();
        let name = self.expect_identifier("override name")?;
        let parameters = self.names()?;
        let body = self.block()?;
        Ok(Override {
            name,
            parameters,
            body,
        })
    }

    /// `-> type`, if it is there.
    fn result(&mut self) -> Parse<Option<crate::tree::Type>> {
        match self.eat(TokenKind::Arrow) {
            Some(_) => Ok(Some(self.ty()?)),
            None => Ok(None),
        }
    }

    fn function(&mut self, kind: FunctionKind) -> Parse<Function> {
        self.expect(TokenKind::Fn)?;
        let name = self.expect_identifier("function name")?;
        let type_parameters = self.type_parameters()?;
        self.expect(TokenKind::LeftParenthesis)?;
        let parameters = self.parameters(TokenKind::RightParenthesis)?;
        let result = self.result()?;
        let bounds = self.bounds()?;
        let body = self.block()?;
        Ok(Function {
            kind,
            name,
            type_parameters,
            parameters,
            result,
            bounds,
            body,
        })
    }

    /// `where T: A, U: B`
    fn bounds(&mut self) -> Parse<Vec<Bound>> {
        let mut bounds = Vec::new();
        if !self.is_word("where") {
            return Ok(bounds);
        }
        self.take();
        loop {
            let parameter = self.expect_identifier("type parameter name")?;
            self.expect(TokenKind::Colon)?;
            let interface = self.expect_identifier("type bound")?;
            bounds.push(Bound {
                parameter,
                interface,
            });
            let is_more = self.eat(TokenKind::Comma).is_some();
            self.skip_newlines();
            if !is_more || self.kind() != TokenKind::Identifier {
                return Ok(bounds);
            }
        }
    }

    /// Parameters up to the closer, which is taken as well.
    pub(super) fn parameters(&mut self, closer: TokenKind) -> Parse<Vec<Parameter>> {
        let (mut has_default, mut has_rest) = (false, false);
        self.sequence(closer, |parser| {
            if has_rest {
                return parser.fail("Rest parameter must be the last parameter");
            }
            let parameter = parser.parameter()?;
            has_rest = parameter.rest;
            let is_required = parameter.default.is_none() && !parameter.rest;
            if has_default && is_required {
                return parser
                    .fail("Required parameter cannot follow a parameter with a default value");
            }
            has_default |= parameter.default.is_some();
            Ok(parameter)
        })
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let rest = self.eat_dots();
        let name = self.expect_identifier("parameter name")?;
        let ty = match self.eat(TokenKind::Colon) {
            Some(_) => Some(self.ty()?),
            None => None,
        };
        let default = match rest {
            true => None,
            false => self.default_value()?,
        };
        Ok(Parameter {
            name,
            ty,
            default,
            rest,
        })
    }

    fn tool(&mut self) -> Parse<Tool> {
        self.take();
        let name = self.expect_identifier("tool name")?;
        self.expect(TokenKind::LeftParenthesis)?;
        let parameters = self.parameters(TokenKind::RightParenthesis)?;
        let result = self.result()?;
        let (description, body) = self.nested(Self::tool_body)?;
        Ok(Tool {
            name,
            parameters,
            result,
            description,
            body,
        })
    }

    fn tool_body(&mut self) -> Parse<(Option<Text>, Block)> {
        let start = self.expect(TokenKind::LeftBrace)?.span.start;
        self.skip_newlines();
        let is_description = self.is_word("description")
            && matches!(
                self.ahead(1),
                TokenKind::String | TokenKind::RawString | TokenKind::InterpolatedString
            );
        let description = match is_description {
            true => {
                self.take();
                let text = self.expect_text("description string")?;
                self.separator("tool body item")?;
                Some(text)
            }
            false => None,
        };
        let body = self.block_after(start, Place::Tool)?;
        Ok((description, body))
    }

    fn skill(&mut self) -> Parse<Skill> {
        self.take();
        let name = self.expect_identifier("skill name")?;
        let (fields, body) = self.body(|parser| {
            let name = parser.expect_identifier("skill field name")?;
            let value = parser.expression()?;
            parser.separator("skill field")?;
            Ok(SkillField { name, value })
        })?;
        Ok(Skill { name, fields, body })
    }

    fn eval_pack(&mut self) -> Parse<EvalPack> {
        self.take();
        self.skip_newlines();
        let name = match (self.eat_text(), self.kind()) {
            (Some(id), _) => EvalPackName::Id(id),
            (None, TokenKind::Identifier) => {
                let name = self.expect_identifier("eval_pack name or string id")?;
                EvalPackName::Name(name, self.eat_text())
            }
            _ => return self.fail_at_name("eval_pack name or string id"),
        };
        let mut has_summary = false;
        let (entries, body) = self.body(|parser| parser.eval_pack_entry(&mut has_summary))?;
        Ok(EvalPack {
            name,
            entries,
            body,
        })
    }

    fn eval_pack_entry(&mut self, has_summary: &mut bool) -> Parse<EvalPackEntry> {
        if self.is_word("summarize") && self.ahead(1) == TokenKind::LeftBrace {
            if std::mem::replace(has_summary, true) {
                let found = Some(Cow::Borrowed("duplicate summarize block"));
                return self.fail_with("one summarize block", found, self.token().span);
            }
            self.take();
            let block = self.block()?;
            self.separator("eval_pack item")?;
            return Ok(EvalPackEntry::Summarize(block));
        }
        if self.kind() == TokenKind::Identifier && self.ahead(1) == TokenKind::Colon {
            let name = self.expect_identifier("field name")?;
            self.take();
            let value = self.expression()?;
            self.separator("eval_pack field")?;
            return Ok(EvalPackEntry::Field(name, value));
        }
        let statement = self.statement(Place::Block)?;
        self.separator("eval_pack body statement")?;
        Ok(EvalPackEntry::Statement(statement))
    }

    /// What stands in braces, item after item, and where the braces are.
    fn body<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<(Vec<T>, Span)> {
        let start = self.expect(TokenKind::LeftBrace)?.span.start;
        let mut items = Vec::new();
        loop {
            self.skip_newlines();
            if matches!(self.kind(), TokenKind::RightBrace | TokenKind::End) {
                self.expect(TokenKind::RightBrace)?;
                return Ok((items, self.since(start)));
            }
            items.push(item(self)?);
        }
    }

    /// Like [`Self::body`], with commas between the items.
    fn listed<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<(Vec<T>, Span)> {
        let start = self.expect(TokenKind::LeftBrace)?.span.start;
        let items = self.sequence(TokenKind::RightBrace, item)?;
        Ok((items, self.since(start)))
    }

    fn struct_(&mut self) -> Parse<StructItem> {
        self.take();
        let name = self.expect_identifier("struct name")?;
        let type_parameters = self.type_parameters()?;
        let (fields, body) = self.listed(|parser| {
            let name = parser.expect_identifier("field name")?;
            let optional = parser.eat(TokenKind::Question).is_some();
            let ty = match parser.eat(TokenKind::Colon) {
                Some(_) => Some(parser.ty()?),
                None => None,
            };
            Ok(Field { name, optional, ty })
        })?;
        Ok(StructItem {
            name,
            type_parameters,
            fields,
            body,
        })
    }

    fn enum_(&mut self) -> Parse<EnumItem> {
        self.take();
        let name = self.expect_identifier("enum name")?;
        let type_parameters = self.type_parameters()?;
        let (variants, body) = self.listed(|parser| {
            let name = parser.expect_identifier("variant name")?;
            let parameters = match parser.eat(TokenKind::LeftParenthesis) {
                Some(_) => Some(parser.parameters(TokenKind::RightParenthesis)?),
                None => None,
            };
            Ok(Variant { name, parameters })
        })?;
        Ok(EnumItem {
            name,
            type_parameters,
            variants,
            body,
        })
    }

    fn type_alias(&mut self) -> Parse<TypeAlias> {
        self.take();
        let name = self.expect_identifier("type name")?;
        let type_parameters = self.type_parameters()?;
        self.expect(TokenKind::Assign)?;
        let ty = self.ty()?;
        Ok(TypeAlias {
            name,
            type_parameters,
            ty,
        })
    }

    fn interface(&mut self) -> Parse<Interface> {
        self.take();
        let name = self.expect_identifier("interface name")?;
        let type_parameters = self.type_parameters()?;
        let (members, body) = self.body(Self::interface_member)?;
        Ok(Interface {
            name,
            type_parameters,
            members,
            body,
        })
    }

    fn interface_member(&mut self) -> Parse<InterfaceMember> {
        if self.eat(TokenKind::Type).is_some() {
            let name = self.expect_identifier("associated type name")?;
            let ty = match self.eat(TokenKind::Assign) {
                Some(_) => Some(self.ty()?),
                None => None,
            };
            return Ok(InterfaceMember::Type { name, ty });
        }
        if self.eat(TokenKind::Fn).is_none() {
            return self.fail("}");
        }
        let name = self.expect_identifier("method name")?;
        let type_parameters = self.type_parameters()?;
        self.expect(TokenKind::LeftParenthesis)?;
        let parameters = self.parameters(TokenKind::RightParenthesis)?;
        let result = self.result()?;
        Ok(InterfaceMember::Method {
            name,
            type_parameters,
            parameters,
            result,
        })
    }

    fn impl_(&mut self) -> Parse<Impl> {
        self.take();
        let name = self.expect_identifier("type name")?;
        let (methods, body) = self.body(|parser| {
            let public = parser.eat(TokenKind::Pub).map(|token| token.span);
            parser.skip_newlines();
            if parser.kind() != TokenKind::Fn && public.is_none() {
                return parser.fail("}");
            }
            Ok((public, parser.function(FunctionKind::Plain)?))
        })?;
        Ok(Impl {
            name,
            methods,
            body,
        })
    }
}

fn number(source: &str) -> AttributeValue {
    match source.parse() {
        Ok(number) => AttributeValue::Int(number),
        Err(_) => AttributeValue::Float(source.parse().unwrap_or(f64::INFINITY)),
    }
}
