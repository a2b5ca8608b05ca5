//! The types of members, subscripts and what else follows a value.

use harn_syntax::tree::{Argument, Expression, ExpressionKind, Postfix, SuffixKind};

use super::blocks::result_of;
use crate::builtins;
use crate::types::binding::Bindings;
use crate::types::checker::Checker;
use crate::types::ty::Ty;

impl Checker {
    /// The type of a value and so many of its suffixes.
    pub(in crate::types) fn infer_suffixes(&mut self, postfix: &Postfix, count: usize) -> Ty {
        let (mut ty, first) = match self.infer_constructed(postfix) {
            Some(ty) if count > 0 => (ty, 1),
            _ => (self.infer(&postfix.base), 0),
        };
        for suffix in postfix.suffixes.iter().take(count).skip(first) {
            ty = self.infer_suffix(&ty, &suffix.kind);
        }
        ty
    }

    /// The type of the name before the first suffix together with that suffix, if the name is
    /// that of an enum or a namespace.
    pub(in crate::types) fn infer_constructed(&mut self, postfix: &Postfix) -> Option<Ty> {
        let ExpressionKind::Name(base) = &postfix.base.kind else {
            return None;
        };
        let (member, arguments): (_, &[Argument]) = match &postfix.suffixes.first()?.kind {
            SuffixKind::Member {
                name,
                optional: false,
            } => (name, &[]),
            SuffixKind::Method {
                name,
                optional: false,
                arguments,
            } => (name, arguments),
            _ => return None,
        };
        if self.known.declarations.is_enum(&base.text) {
            return Some(self.infer_variant(&base.text, &member.text, arguments));
        }
        if self.environment.find(&base.text).is_some() {
            return None;
        }
        let builtin = builtins::find(&format!("{}.{}", base.text, member.text))?;
        Some(super::builtins::result_of(builtin))
    }

    fn infer_variant(&mut self, name: &str, variant: &str, arguments: &[Argument]) -> Ty {
        let Some(declared) = self.known.declarations.enums.get(name).cloned() else {
            let argument = self.infer_first(arguments);
            return match variant {
                "Ok" => result_of(argument, Ty::Wildcard),
                "Err" => result_of(Ty::Wildcard, argument),
                _ => result_of(Ty::Wildcard, Ty::Wildcard),
            };
        };
        let mut bindings = Bindings::of(declared.parameters.iter().map(|(name, _)| name));
        if bindings.len() > 0
            && let Some((_, carried)) = declared.variants.iter().find(|(own, _)| own == variant)
        {
            for (expected, argument) in carried.iter().zip(arguments) {
                if let (Some(expected), Argument::One(argument)) = (expected, argument) {
                    let actual = self.infer(argument);
                    let _ = self.known.bind(&mut bindings, expected, &actual);
                }
            }
        }
        Ty::applied(name, bindings.arguments())
    }

    /// The type of the first argument, dynamic if there is none.
    pub(super) fn infer_first(&mut self, arguments: &[Argument]) -> Ty {
        match arguments.first() {
            Some(Argument::One(argument)) => self.infer(argument),
            Some(Argument::Spread(_)) | None => Ty::Dynamic,
        }
    }

    /// The type of a suffix after a value of that type.
    pub(in crate::types) fn infer_suffix(&self, ty: &Ty, suffix: &SuffixKind) -> Ty {
        match suffix {
            SuffixKind::Member { optional: true, .. }
            | SuffixKind::Method { optional: true, .. }
            | SuffixKind::Index { optional: true, .. } => Ty::Dynamic,
            SuffixKind::Member { name, .. } => self.infer_member(ty, &name.text),
            SuffixKind::Method { name, .. } => self.infer_method(ty, &name.text),
            SuffixKind::Index { index, .. } => infer_index(ty, index),
            SuffixKind::Slice { .. } => infer_slice(ty),
            SuffixKind::Try => match ty.arguments_of("Result") {
                Some([value, _]) => value.clone().as_whole(),
                None => Ty::Dynamic,
            },
        }
    }

    fn infer_member(&self, ty: &Ty, name: &str) -> Ty {
        if let Ty::Shape(shape) = ty {
            let field = shape.field(name).map(|field| field.ty.clone());
            return field.map_or(Ty::Dynamic, Ty::as_whole);
        }
        if let Some([first, second]) = ty.arguments_of("Pair") {
            return match name {
                "first" => first.clone().as_whole(),
                "second" => second.clone().as_whole(),
                _ => Ty::Dynamic,
            };
        }
        let is_enum = |head: &_| self.known.declarations.is_enum(head);
        if name == "variant" && ty.head().is_some_and(|head| is_enum(head)) {
            return Ty::STRING;
        }
        Ty::Dynamic
    }
}

fn infer_index(ty: &Ty, index: &Expression) -> Ty {
    if let Some([element]) = ty.arguments_of("list") {
        return element.clone().as_whole();
    }
    if let Some([_, value]) = ty.arguments_of("dict") {
        return value.clone().as_whole();
    }
    match (ty, &index.kind) {
        (Ty::Shape(shape), ExpressionKind::String(key)) => {
            let field = shape.field(key).map(|field| field.ty.clone());
            field.map_or(Ty::Dynamic, Ty::as_whole)
        }
        _ if *ty == Ty::STRING => Ty::STRING,
        _ => Ty::Dynamic,
    }
}

fn infer_slice(ty: &Ty) -> Ty {
    let is_list = ty.head().is_some_and(|name| name == "list");
    if is_list || *ty == Ty::STRING {
        ty.clone()
    } else {
        Ty::Dynamic
    }
}
