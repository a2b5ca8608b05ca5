//! The type of an expression, as far as it can be told without running it.
//!
//! Inference never complains. It is asked again and again while expressions are checked
//! from the inside out, so it does no more than look.

mod blocks;
mod builtins;
mod calls;
mod methods;
mod operators;
mod postfix;
mod schemas;

use harn_syntax::tree::{
    Argument, Binary, BinaryOp, Closure, Entry, Expression, ExpressionKind, Key, Parallel,
    ParallelMode, StructLiteral, Ternary, UnaryOp,
};

pub(super) use builtins::type_parameter_count;
pub(super) use calls::paired;
pub(super) use operators::operation;
pub(super) use schemas::entry;

use smol_str::SmolStr;

use super::binding::Bindings;
use super::checker::Checker;
use super::environment::{Found, Variable};
use super::ty::{ShapeField, Ty};

impl Checker {
    /// The type of an expression; dynamic if nothing is known about it.
    pub(super) fn infer(&mut self, expression: &Expression) -> Ty {
        match &expression.kind {
            ExpressionKind::Nil => Ty::NIL,
            ExpressionKind::Bool(_) => Ty::BOOL,
            ExpressionKind::Int(_) => Ty::INT,
            ExpressionKind::Float(_) => Ty::FLOAT,
            ExpressionKind::String(_) | ExpressionKind::Interpolated(_) => Ty::STRING,
            ExpressionKind::Range(_) => Ty::named("range"),
            ExpressionKind::Name(name) => self.infer_name(&name.text),
            ExpressionKind::List(elements) => self.infer_list(elements),
            ExpressionKind::Dict(entries) => self.infer_dict(entries),
            ExpressionKind::Struct(literal) => self.infer_struct(literal),
            ExpressionKind::Closure(closure) => self.infer_closure(closure),
            ExpressionKind::Call(call) => self.infer_call(call),
            ExpressionKind::Postfix(postfix) => {
                self.infer_suffixes(postfix, postfix.suffixes.len())
            }
            ExpressionKind::Unary(UnaryOp::Not, _) => Ty::BOOL,
            ExpressionKind::Unary(UnaryOp::Negate, value) | ExpressionKind::TryStar(value) => {
                self.infer(value)
            }
            ExpressionKind::Binary(binary) => self.infer_binary(binary),
            ExpressionKind::Ternary(ternary) => self.infer_ternary(ternary),
            ExpressionKind::If(item) => self.infer_if(item),
            ExpressionKind::Try(item) if item.catch.is_none() && item.finally.is_none() => {
                self.infer_try(&item.body)
            }
            ExpressionKind::Parallel(parallel) => self.infer_parallel(parallel),
            ExpressionKind::Duration(_)
            | ExpressionKind::RawString(_)
            | ExpressionKind::Match(_)
            | ExpressionKind::Try(_)
            | ExpressionKind::Retry(_)
            | ExpressionKind::Spawn(_)
            | ExpressionKind::Deadline(_) => Ty::Dynamic,
        }
    }

    fn infer_name(&self, name: &str) -> Ty {
        match self.environment.find(name) {
            Some(Found::Variable(_, variable)) => variable.state.current.clone(),
            Some(Found::Function(signature)) => signature.as_type(),
            Some(Found::Outer(_)) | None => Ty::Dynamic,
        }
    }

    fn infer_list(&mut self, elements: &[Argument]) -> Ty {
        let mut types = Vec::with_capacity(elements.len().min(16));
        for element in elements {
            let ty = match element {
                Argument::One(element) => self.infer(element),
                Argument::Spread(_) => Ty::Dynamic,
            };
            if ty.is_unknown_part() || types.len() > Ty::MEMBERS_MAX {
                return Ty::LIST;
            }
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        if types.is_empty() {
            return Ty::LIST;
        }
        Ty::list_of(Ty::merged(types))
    }

    fn infer_dict(&mut self, entries: &[Entry]) -> Ty {
        let mut fields: Vec<ShapeField> = Vec::with_capacity(entries.len());
        let mut places = hashbrown::HashMap::new();
        for entry in entries {
            let Some((name, value)) = constant_field(entry) else {
                return Ty::DICT;
            };
            let field = ShapeField {
                name: name.clone(),
                optional: false,
                ty: self.infer(value).as_part(),
            };
            match places.insert(name.clone(), fields.len()) {
                Some(before) => {
                    places.insert(name.clone(), before);
                    fields[before] = field;
                }
                None => fields.push(field),
            }
        }
        if fields.is_empty() {
            return Ty::DICT;
        }
        Ty::shape(fields)
    }

    fn infer_struct(&mut self, literal: &StructLiteral) -> Ty {
        let name = &literal.name.text;
        let Some(declared) = self.known.declarations.structs.get(name).cloned() else {
            return Ty::Named(name.clone());
        };
        if declared.parameters.is_empty() {
            return Ty::Named(name.clone());
        }
        let mut bindings = Bindings::of(declared.parameters.iter().map(|(name, _)| name));
        self.bind_fields(&mut bindings, &declared, &literal.entries);
        Ty::applied(name.clone(), bindings.arguments())
    }

    /// Learns the type parameters of a struct from the fields of a literal. Where fields
    /// contradict each other the first one counts.
    pub(super) fn bind_fields(
        &mut self,
        bindings: &mut Bindings,
        declared: &super::declarations::StructTy,
        entries: &[Entry],
    ) {
        for entry in entries {
            if let Entry::Field(key, value) = entry
                && let Some(name) = key.name()
                && let Some(expected) = declared.field(&name.text).and_then(|one| one.ty.as_ref())
            {
                let actual = self.infer(value);
                let _ = self.known.bind(bindings, expected, &actual);
            }
        }
    }

    fn infer_closure(&mut self, closure: &Closure) -> Ty {
        let types = closure.parameters.iter().map(|one| one.ty.as_ref());
        let Some(types) = types.collect::<Option<Vec<_>>>() else {
            return Ty::CLOSURE;
        };
        if types.is_empty() {
            return Ty::CLOSURE;
        }
        let result = self.scoped(|checker| {
            for parameter in &closure.parameters {
                let name = parameter.name.text.clone();
                checker.environment.declare(name, Variable::dynamic(false));
            }
            checker.hide_bound_names(&closure.body);
            checker.infer_last(&closure.body)
        });
        if result == Ty::Dynamic {
            return Ty::CLOSURE;
        }
        Ty::function(types.into_iter().map(Ty::from).collect(), result)
    }

    fn infer_binary(&mut self, binary: &Binary) -> Ty {
        if binary.rest.iter().all(|operand| gives_bool(operand.op)) {
            return Ty::BOOL;
        }
        let mut left = self.infer(&binary.first);
        for operand in &binary.rest {
            left = match operand.op {
                op if gives_bool(op) => Ty::BOOL,
                BinaryOp::Pipe => Ty::Dynamic,
                op => {
                    let right = self.infer(&operand.value);
                    operation(op, &left, &right)
                }
            };
        }
        left
    }

    fn infer_ternary(&mut self, ternary: &Ternary) -> Ty {
        let then = self.scoped(|checker| {
            checker.assume(&ternary.condition, true);
            checker.infer(&ternary.then)
        });
        let otherwise = self.scoped(|checker| {
            checker.assume(&ternary.condition, false);
            checker.infer(&ternary.otherwise)
        });
        either(then, otherwise)
    }

    fn infer_parallel(&mut self, parallel: &Parallel) -> Ty {
        if parallel.mode == ParallelMode::Settle {
            return Ty::DICT;
        }
        let element = self.scoped(|checker| {
            if let Some(name) = &parallel.variable {
                let name = name.text.clone();
                checker.environment.declare(name, Variable::dynamic(false));
            }
            checker.infer_block(&parallel.body)
        });
        Ty::container(if parallel.as_stream { "Stream" } else { "list" }, element)
    }
}

/// Whether an operator gives a bool, whatever its operands are.
pub(super) fn gives_bool(op: BinaryOp) -> bool {
    matches!(op.level(), 4..=7)
}

/// The type of what is one or the other. A branch about which nothing is known is ignored.
pub(super) fn either(one: Ty, other: Ty) -> Ty {
    match (one, other) {
        (Ty::Dynamic, ty) | (ty, Ty::Dynamic) => ty,
        (one, other) => Ty::merged([one, other]),
    }
}

/// A field whose name is written out. `["x-y"]` is how the formatter writes `"x-y"`, so it has
/// to mean the same.
fn constant_field(entry: &Entry) -> Option<(&SmolStr, &Expression)> {
    let Entry::Field(key, value) = entry else {
        return None;
    };
    let name = match key {
        Key::Name(name) | Key::String(name) => &name.text,
        Key::Computed(key) => match &key.kind {
            ExpressionKind::String(text) => text,
            _ => return None,
        },
    };
    Some((name, value))
}
