//! What a condition tells about the variables in it.
//!
//! [`Checker::assume`] changes what the environment knows; whoever calls it decides how long
//! that holds by going back to a mark.

use harn_syntax::tree::{
    Argument, BinaryOp, Call, Expression, ExpressionKind, Postfix, SuffixKind, UnaryOp,
};
use smol_str::SmolStr;

use super::checker::Checker;
use super::environment::State;
use super::literals::literal_type;
use super::ty::{ShapeField, Ty};

/// The kinds of value that can be ruled out one by one.
pub(super) const KINDS: [&str; 9] = [
    "int", "string", "float", "bool", "nil", "list", "dict", "closure", "bytes",
];

impl Checker {
    /// Takes a condition for true or for false.
    pub(super) fn assume(&mut self, condition: &Expression, holds: bool) {
        match &condition.kind {
            ExpressionKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !holds),
            ExpressionKind::Binary(binary) => {
                let operands = binary.rest.iter().map(|operand| &operand.value);
                match (binary.rest[0].op, holds) {
                    (BinaryOp::And, true) | (BinaryOp::Or, false) => {
                        self.assume(&binary.first, holds);
                        operands.for_each(|operand| self.assume(operand, holds));
                    }
                    (BinaryOp::Equal, _) if binary.rest.len() == 1 => {
                        self.assume_equal(&binary.first, &binary.rest[0].value, holds);
                    }
                    (BinaryOp::NotEqual, _) if binary.rest.len() == 1 => {
                        self.assume_equal(&binary.first, &binary.rest[0].value, !holds);
                    }
                    _ => {}
                }
            }
            ExpressionKind::Name(name) => self.assume_present(&name.text, holds),
            ExpressionKind::Call(call) => self.assume_schema(call, holds),
            ExpressionKind::Postfix(postfix) if holds => self.assume_field(postfix),
            _ => {}
        }
    }

    fn assume_equal(&mut self, left: &Expression, right: &Expression, holds: bool) {
        for (subject, value) in [(left, right), (right, left)] {
            match (&subject.kind, &value.kind) {
                (ExpressionKind::Name(name), ExpressionKind::Nil) => {
                    self.assume_nil(&name.text, holds);
                }
                (ExpressionKind::Call(call), ExpressionKind::String(kind)) => {
                    if let Some(name) = type_of_variable(call)
                        && let Some(at) = KINDS.iter().position(|own| own == kind)
                    {
                        self.assume_kind(name, at, holds);
                    }
                }
                (ExpressionKind::Postfix(postfix), _) => {
                    if let (Some((object, tag)), Some(literal)) =
                        (member_of_variable(postfix), literal_type(value))
                    {
                        let chosen = |own: &Ty| (*own == literal) == holds;
                        self.narrow_tagged(object, tag, &chosen);
                    }
                }
                _ => {}
            }
        }
    }

    /// A bare variable as a condition.
    fn assume_present(&mut self, name: &str, holds: bool) {
        if let Some((_, variable)) = self.environment.variable(name)
            && matches!(&variable.state.current, Ty::Union(union) if union.members.contains(&Ty::NIL))
        {
            self.assume_nil(name, !holds);
        }
    }

    fn assume_nil(&mut self, name: &str, holds: bool) {
        let Some((_, variable)) = self.environment.variable(name) else {
            return;
        };
        let current = &variable.state.current;
        let narrowed = match current {
            Ty::Union(_) if holds => Ty::NIL,
            Ty::Union(_) => current.without(|member| *member == Ty::NIL),
            _ if *current == Ty::NIL && !holds => Ty::Never,
            _ => return,
        };
        self.narrow(name, narrowed);
    }

    /// `type_of(name)` is the kind at that place of the list, or is not.
    fn assume_kind(&mut self, name: &str, at: usize, holds: bool) {
        let Some((_, variable)) = self.environment.variable(name) else {
            return;
        };
        let current = variable.state.current.clone();
        let kind = KINDS[at];
        if current == Ty::UNKNOWN {
            if holds {
                self.narrow(name, Ty::named(kind));
            } else {
                self.rule_out(name, at);
            }
            return;
        }
        let of_kind = |member: &Ty| kind_of(member) == Some(kind);
        if !current.members().iter().any(of_kind) {
            return;
        }
        let narrowed = current.without(|member| of_kind(member) != holds);
        self.narrow(name, narrowed);
    }

    fn rule_out(&mut self, name: &str, at: usize) {
        if let Some((place, variable)) = self.environment.variable(name) {
            let mut state = variable.state.clone();
            state.ruled_out |= 1 << at;
            self.environment.set_state(place, state);
        }
    }

    /// Narrows a variable to the shapes whose tag is chosen.
    pub(super) fn narrow_tagged(&mut self, object: &str, tag: &str, chosen: &dyn Fn(&Ty) -> bool) {
        let Some((_, variable)) = self.environment.variable(object) else {
            return;
        };
        let current = variable.state.current.clone();
        let Some(tagged) = self.tagged(&current) else {
            return;
        };
        if tagged.tag != tag {
            return;
        }
        let all = tagged.variants.len();
        let kept = tagged.variants.iter().filter(|(_, own)| chosen(own));
        let kept: Vec<Ty> = kept.map(|(shape, _)| shape.clone()).collect();
        if kept.len() < all {
            self.narrow(object, Ty::union(kept));
        }
    }

    /// `x.has("k")`: the field is there.
    fn assume_field(&mut self, postfix: &Postfix) {
        let (ExpressionKind::Name(name), [suffix]) =
            (&postfix.base.kind, postfix.suffixes.as_slice())
        else {
            return;
        };
        let SuffixKind::Method {
            name: method,
            arguments,
            ..
        } = &suffix.kind
        else {
            return;
        };
        let [Argument::One(argument)] = arguments.as_slice() else {
            return;
        };
        if let ("has", ExpressionKind::String(key)) = (method.text.as_str(), &argument.kind) {
            self.require_field(&name.text, key);
        }
    }

    fn require_field(&mut self, name: &str, key: &SmolStr) {
        let Some((_, variable)) = self.environment.variable(name) else {
            return;
        };
        let Ty::Shape(shape) = &variable.state.current else {
            return;
        };
        if shape.field(key).is_some_and(|field| field.optional) {
            let fields = shape.fields.iter().map(|field| ShapeField {
                optional: field.optional && field.name != *key,
                ..field.clone()
            });
            let narrowed = Ty::shape(fields.collect());
            self.narrow(name, narrowed);
        }
    }

    /// `schema_is(x, S)` or `is_type(x, S)`
    fn assume_schema(&mut self, call: &Call, holds: bool) {
        let Some(name) = validated_variable(call) else {
            return;
        };
        if holds {
            self.mark_validated(name);
        }
        let Some(schema) = self.schema_argument(call, 1) else {
            return;
        };
        let Some((_, variable)) = self.environment.variable(name) else {
            return;
        };
        let current = variable.state.current.clone();
        if holds {
            if let Some(both) = self.intersection(&current, &schema) {
                self.narrow(name, both);
            }
        } else if let Ty::Union(_) = current {
            let rest = current.without(|member| self.intersection(member, &schema).is_some());
            if rest != Ty::Never {
                self.narrow(name, rest);
            }
        }
    }

    /// What is of both types, if there is such a type.
    fn intersection(&self, ty: &Ty, schema: &Ty) -> Option<Ty> {
        if let (Ty::Union(_), _) | (_, Ty::Union(_)) = (ty, schema) {
            let pairs = ty.members().iter();
            let pairs = pairs.flat_map(|one| schema.members().iter().map(move |two| (one, two)));
            let common = pairs.filter_map(|(one, two)| self.intersection_of_members(one, two));
            let common: Vec<Ty> = common.collect();
            return (!common.is_empty()).then(|| Ty::merged(common));
        }
        self.intersection_of_members(ty, schema)
    }

    fn intersection_of_members(&self, ty: &Ty, schema: &Ty) -> Option<Ty> {
        let (ty, schema) = (self.known.resolve(ty), self.known.resolve(schema));
        let more_specific = |wide: &Ty, narrow: &Ty| match (wide, narrow) {
            (Ty::Named(name), Ty::Shape(_)) => name == "dict",
            (Ty::Named(name), Ty::Applied(applied)) => {
                *name == applied.name && (name == "dict" || name == "list")
            }
            (Ty::Named(name), Ty::String(_)) => name == "string",
            (Ty::Named(name), Ty::Int(_)) => name == "int",
            (Ty::Named(name), _) => name == "unknown",
            (Ty::Shape(_), Ty::Shape(_)) => true,
            _ => false,
        };
        if ty == schema || more_specific(&ty, &schema) {
            Some(schema)
        } else if more_specific(&schema, &ty) && !schema.is("unknown") {
            Some(ty)
        } else {
            None
        }
    }

    /// Changes the type of a variable as long as its scope lasts.
    pub(super) fn narrow(&mut self, name: &str, ty: Ty) {
        if let Some((place, variable)) = self.environment.variable(name) {
            let state = State {
                current: ty,
                ruled_out: 0,
                ..variable.state.clone()
            };
            self.environment.set_state(place, state);
        }
    }
}

/// The kind of value a type has, if it is one that `type_of` tests narrow by.
pub(super) fn kind_of(ty: &Ty) -> Option<&'static str> {
    let name = match ty {
        Ty::Named(name) => name.as_str(),
        Ty::Applied(applied) if applied.name == "list" || applied.name == "dict" => &applied.name,
        Ty::Shape(_) => "dict",
        Ty::String(_) => "string",
        Ty::Int(_) => "int",
        Ty::Function(_) => "closure",
        _ => return None,
    };
    KINDS.into_iter().find(|kind| *kind == name)
}

/// x, if the call is `type_of(x)`.
fn type_of_variable(call: &Call) -> Option<&SmolStr> {
    match call.arguments.as_slice() {
        [Argument::One(argument)] if call.name.text == "type_of" => variable_name(argument),
        _ => None,
    }
}

/// x, if the call is `schema_is(x, …)` or `is_type(x, …)`.
pub(super) fn validated_variable(call: &Call) -> Option<&SmolStr> {
    match call.arguments.first() {
        Some(Argument::One(argument)) if matches!(&*call.name.text, "schema_is" | "is_type") => {
            variable_name(argument)
        }
        _ => None,
    }
}

/// The name, if the expression is nothing but a name.
pub(super) fn variable_name(expression: &Expression) -> Option<&SmolStr> {
    match &expression.kind {
        ExpressionKind::Name(name) => Some(&name.text),
        _ => None,
    }
}

/// `object` and `tag`, if the expression is `object.tag`.
pub(super) fn member_of_variable(postfix: &Postfix) -> Option<(&SmolStr, &SmolStr)> {
    let object = variable_name(&postfix.base)?;
    match postfix.suffixes.as_slice() {
        [suffix] => match &suffix.kind {
            SuffixKind::Member {
                name,
                optional: false,
            } => Some((object, &name.text)),
            _ => None,
        },
        _ => None,
    }
}
