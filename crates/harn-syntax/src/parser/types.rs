//! Types.

use super::{Parse, Parser, string};
use crate::token::TokenKind;
use crate::tree::{ShapeField, Type, TypeKind, TypeParameter, Variance};

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(Self::union)
    }

    fn union(&mut self) -> Parse<Type> {
        self.skip_newlines();
        let start = self.start();
        let first = self.single_type()?;
        if self.kind() != TokenKind::Bar {
            return Ok(first);
        }
        let mut members = vec![first];
        while self.eat(TokenKind::Bar).is_some() {
            self.skip_newlines();
            members.push(self.single_type()?);
        }
        Ok(Type {
            kind: TypeKind::Union(members),
            span: self.since(start),
        })
    }

    fn single_type(&mut self) -> Parse<Type> {
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::LeftBrace => self.shape()?,
            TokenKind::LeftBracket => {
                self.take();
                let element = self.ty()?;
                self.expect(TokenKind::RightBracket)?;
                TypeKind::List(Box::new(element))
            }
            TokenKind::Fn => self.function_type()?,
            TokenKind::String => {
                let token = self.take();
                TypeKind::String(string::text_of(token.span.of(self.text)).into())
            }
            TokenKind::RawString => {
                let token = self.take();
                TypeKind::String(string::raw_text_of(token.span.of(self.text)).into())
            }
            TokenKind::Int | TokenKind::Minus => self.int_type()?,
            TokenKind::Nil => {
                self.take();
                TypeKind::Nil
            }
            TokenKind::True | TokenKind::False => {
                TypeKind::Bool(self.take().kind == TokenKind::True)
            }
            _ => self.named_type()?,
        };
        Ok(Type {
            kind,
            span: self.since(start),
        })
    }

    fn named_type(&mut self) -> Parse<TypeKind> {
        let name = self.expect_identifier("type name")?;
        let arguments = match self.kind() {
            TokenKind::Less => self.type_arguments()?,
            _ => Vec::new(),
        };
        Ok(TypeKind::Named(name, arguments))
    }

    /// `<A, B>`, one at least. Here commas are compulsory, or `a < b c > (d)` would be a call.
    pub(super) fn type_arguments(&mut self) -> Parse<Vec<Type>> {
        self.expect(TokenKind::Less)?;
        self.skip_newlines();
        if self.kind() == TokenKind::Greater {
            return self.fail("type argument");
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.ty()?);
            self.skip_newlines();
            let is_more = self.eat(TokenKind::Comma).is_some();
            self.skip_newlines();
            if !is_more || self.kind() == TokenKind::Greater {
                self.expect(TokenKind::Greater)?;
                return Ok(arguments);
            }
        }
    }

    fn int_type(&mut self) -> Parse<TypeKind> {
        let is_negative = self.eat(TokenKind::Minus).is_some();
        let digits = self.token().span.of(self.text);
        let sign = if is_negative { "-" } else { "" };
        match format!("{sign}{digits}").parse() {
            Ok(number) if self.kind() == TokenKind::Int => {
                self.take();
                Ok(TypeKind::Int(number))
            }
            _ => self.fail("type name"),
        }
    }

    fn function_type(&mut self) -> Parse<TypeKind> {
        self.take();
        self.expect(TokenKind::LeftParenthesis)?;
        let parameters = self.sequence(TokenKind::RightParenthesis, Self::ty)?;
        self.expect(TokenKind::Arrow)?;
        Ok(TypeKind::Function(parameters, Box::new(self.ty()?)))
    }

    fn shape(&mut self) -> Parse<TypeKind> {
        self.take();
        let fields = self.sequence(TokenKind::RightBrace, |parser| {
            let name = parser.expect_name("field name")?;
            let optional = parser.eat(TokenKind::Question).is_some();
            parser.expect(TokenKind::Colon)?;
            let ty = parser.ty()?;
            Ok(ShapeField { name, optional, ty })
        })?;
        Ok(TypeKind::Shape(fields))
    }

    /// `<T, in U, out V>`, if there are any.
    pub(super) fn type_parameters(&mut self) -> Parse<Vec<TypeParameter>> {
        if self.eat(TokenKind::Less).is_none() {
            return Ok(Vec::new());
        }
        self.sequence(TokenKind::Greater, |parser| {
            let variance = parser.variance();
            let name = parser.expect_identifier("type parameter name")?;
            Ok(TypeParameter { name, variance })
        })
    }

    /// `out` is a marker only before another name.
    fn variance(&mut self) -> Variance {
        if self.eat(TokenKind::In).is_some() {
            return Variance::Contravariant;
        }
        if self.is_word("out") && self.ahead(1) == TokenKind::Identifier {
            self.take();
            return Variance::Covariant;
        }
        Variance::Invariant
    }
}
