//! The types that schemas denote.

use harn_syntax::tree::{Argument, Call, Entry, Expression, ExpressionKind};
use smol_str::SmolStr;

use crate::types::checker::Checker;
use crate::types::environment::Found;
use crate::types::ty::{ShapeField, Ty};

impl Checker {
    /// The type denoted by the schema that is the argument of a call at that place.
    pub(in crate::types) fn schema_argument(&mut self, call: &Call, at: usize) -> Option<Ty> {
        match call.arguments.get(at)? {
            Argument::One(argument) => self.schema_type(argument),
            Argument::Spread(_) => None,
        }
    }

    /// The type denoted by a schema: the name of an alias, a variable that holds a schema, a
    /// dict, or `schema_of(Alias)`.
    pub(in crate::types) fn schema_type(&mut self, schema: &Expression) -> Option<Ty> {
        match &schema.kind {
            ExpressionKind::Name(name) => match self.environment.find(&name.text) {
                Some(Found::Variable(_, variable)) => {
                    let described = variable.state.declared.arguments_of("Schema");
                    let described = described.map(|[ty]: &[Ty; 1]| ty.clone());
                    variable.schema.clone().or(described)
                }
                Some(Found::Outer(_) | Found::Function(_)) => None,
                None => self.alias_type(&name.text),
            },
            ExpressionKind::Call(call) if call.name.text == "schema_of" => {
                match call.arguments.as_slice() {
                    [Argument::One(argument)] => match &argument.kind {
                        ExpressionKind::Name(name) => self.alias_type(&name.text),
                        _ => None,
                    },
                    _ => None,
                }
            }
            ExpressionKind::Dict(entries) => self.schema_literal(entries),
            _ => None,
        }
    }

    fn alias_type(&self, name: &SmolStr) -> Option<Ty> {
        self.known.declarations.aliases.get(name)?;
        let definition = self.known.resolve(&Ty::Named(name.clone()));
        (definition != Ty::Dynamic).then_some(definition)
    }

    fn schema_literal(&mut self, entries: &[Entry]) -> Option<Ty> {
        let ty = self.schema_without_nil(entries)?;
        let nullable = entry(entries, "nullable");
        if nullable.is_some_and(|value| matches!(value.kind, ExpressionKind::Bool(true))) {
            return Some(Ty::merged([ty, Ty::NIL]));
        }
        Some(ty)
    }

    fn schema_without_nil(&mut self, entries: &[Entry]) -> Option<Ty> {
        for name in ["union", "oneOf", "anyOf"] {
            if let Some(members) = entry(entries, name) {
                let members = list(members)?.into_iter();
                let members = members.map(|member| self.schema_type(member));
                return Some(Ty::merged(members.collect::<Option<Vec<_>>>()?));
            }
        }
        if let Some(properties) = entry(entries, "properties") {
            return self.schema_properties(entries, properties);
        }
        if let Some(items) = entry(entries, "items") {
            let element = self.schema_type(items).unwrap_or(Ty::Dynamic);
            return Some(Ty::list_of(element));
        }
        let ty = entry(entries, "type")?;
        let additional = entry(entries, "additional_properties");
        if let Some(value) = additional.and_then(|schema| self.schema_type(schema))
            && type_name(ty) == Some(Ty::DICT)
        {
            return Some(Ty::applied("dict", vec![Ty::STRING, value]));
        }
        match &ty.kind {
            ExpressionKind::List(_) => {
                let names = list(ty)?.into_iter().map(type_name);
                Some(Ty::merged(names.collect::<Option<Vec<_>>>()?))
            }
            _ => type_name(ty),
        }
    }

    fn schema_properties(&mut self, entries: &[Entry], properties: &Expression) -> Option<Ty> {
        let ExpressionKind::Dict(properties) = &properties.kind else {
            return None;
        };
        let required = entry(entries, "required").and_then(list);
        let is_required = |name: &SmolStr| {
            let mut names = required.iter().flatten();
            names.any(|one| matches!(&one.kind, ExpressionKind::String(text) if text == name))
        };
        let mut fields = Vec::with_capacity(properties.len());
        for property in properties {
            let Entry::Field(key, schema) = property else {
                return None;
            };
            let name = key.name()?.text.clone();
            fields.push(ShapeField {
                optional: !is_required(&name),
                ty: self.schema_type(schema).unwrap_or(Ty::Wildcard),
                name,
            });
        }
        Some(Ty::shape(fields))
    }
}

/// The value of an entry with that key; the last one counts.
pub(in crate::types) fn entry<'a>(entries: &'a [Entry], wanted: &str) -> Option<&'a Expression> {
    let mut values = entries.iter().rev().filter_map(|entry| match entry {
        Entry::Field(key, value) if key.name()?.text == wanted => Some(value),
        _ => None,
    });
    values.next()
}

/// The elements of a list without spreads.
fn list(expression: &Expression) -> Option<Vec<&Expression>> {
    let ExpressionKind::List(elements) = &expression.kind else {
        return None;
    };
    let elements = elements.iter().map(|element| match element {
        Argument::One(element) => Some(element),
        Argument::Spread(_) => None,
    });
    elements.collect()
}

fn type_name(expression: &Expression) -> Option<Ty> {
    let ExpressionKind::String(name) = &expression.kind else {
        return None;
    };
    Some(match name.as_str() {
        "object" => Ty::DICT,
        "array" => Ty::LIST,
        "integer" => Ty::INT,
        "number" => Ty::FLOAT,
        "boolean" => Ty::BOOL,
        "null" => Ty::NIL,
        _ => Ty::Named(name.clone()),
    })
}
