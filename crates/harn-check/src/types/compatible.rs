//! Whether a value of one type may stand where another type is expected.
//!
//! The rules are tried in the order of the specification. Aliases and interfaces can
//! refer to themselves, so every pair that leads through one is remembered: while it is being
//! compared it counts as compatible, and afterwards its answer is not worked out again.
//! A comparison that takes too many steps all the same ends as compatible.

use harn_syntax::tree::Variance;
use hashbrown::{HashMap, HashSet};

use super::known::Known;
use super::lower::container_name;
use super::ty::{Applied, FunctionTy, Shape, Ty, Union};

/// How many steps one comparison may take.
const STEPS_MAX: u64 = 50_000;
/// How many steps the comparisons of a file may take before they are cut short earlier.
const FILE_STEPS_MAX: u64 = 20_000_000;
/// How many steps each may take from then on.
const SHORT_STEPS_MAX: u64 = 500;
/// How deeply a comparison may lead, aliases included.
const DEPTH_MAX: u32 = 150;

impl Known {
    /// Whether a value of type `actual` may stand where `expected` is asked for.
    pub(super) fn compatible(&self, actual: &Ty, expected: &Ty) -> bool {
        let compare = || Comparison::new(self).holds(actual, expected);
        if !self.is_remembered(actual, expected) {
            return compare();
        }
        let pair = (actual.clone(), expected.clone());
        if let Some(answer) = self.answers.borrow().get(&pair) {
            return *answer;
        }
        let answer = compare();
        self.answers.borrow_mut().insert(pair, answer);
        answer
    }

    /// Whether the answer is worth remembering: a short question about a declared type that
    /// means the same everywhere.
    fn is_remembered(&self, actual: &Ty, expected: &Ty) -> bool {
        const WEIGHT_SMALL: u64 = 32;
        let is_declared = |ty: &Ty| {
            let declarations = &self.declarations;
            ty.head().is_some_and(|name| {
                declarations.aliases.contains_key(name)
                    || declarations.interfaces.contains_key(name)
            })
        };
        self.type_parameters.is_empty()
            && actual.weight() + expected.weight() <= WEIGHT_SMALL
            && (is_declared(actual) || is_declared(expected))
    }
}

/// A comparison under way.
pub(super) struct Comparison<'a> {
    pub(super) known: &'a Known,
    /// Answers for pairs that lead through an alias or an interface.
    answers: HashMap<(Ty, Ty), bool>,
    steps_left: u64,
    depth: u32,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(known: &'a Known) -> Self {
        let spent = known.steps.get() >= FILE_STEPS_MAX;
        Self {
            known,
            answers: HashMap::new(),
            steps_left: if spent { SHORT_STEPS_MAX } else { STEPS_MAX },
            depth: 0,
        }
    }

    /// Whether `actual` is compatible with `expected`.
    pub(super) fn holds(&mut self, actual: &Ty, expected: &Ty) -> bool {
        if actual.is_unknown_part()
            || expected.is_unknown_part()
            || self.known.is_parameter(actual)
            || self.known.is_parameter(expected)
        {
            return true;
        }
        self.spend(1);
        if self.steps_left == 0 || self.depth >= DEPTH_MAX {
            return true;
        }
        self.depth += 1;
        let answer = self.compare_names(actual, expected);
        self.depth -= 1;
        answer
    }

    fn spend(&mut self, steps: u64) {
        self.steps_left = self.steps_left.saturating_sub(steps);
        self.known.steps.set(self.known.steps.get() + steps);
    }

    /// Whether each is compatible with the other.
    pub(super) fn both(&mut self, one: &Ty, other: &Ty) -> bool {
        self.holds(one, other) && self.holds(other, one)
    }

    /// Replaces aliases and asks interfaces, and compares the rest by structure.
    fn compare_names(&mut self, actual: &Ty, expected: &Ty) -> bool {
        if same_name(actual, expected) {
            return true;
        }
        let definitions = (self.known.expand(actual), self.known.expand(expected));
        let interface = expected.head();
        let interface = interface.filter(|name| self.is_interface(name)).is_some();
        if definitions == (None, None) && !interface {
            return self.compare(actual, expected);
        }
        let pair = (actual.clone(), expected.clone());
        if let Some(answer) = self.answers.get(&pair) {
            return *answer;
        }
        self.answers.insert(pair.clone(), true);
        let built = [&definitions.0, &definitions.1];
        for definition in built.into_iter().flatten() {
            self.spend(definition.weight());
        }
        let answer = match definitions {
            (None, None) => {
                self.satisfies(actual, expected).is_ok() || self.compare(actual, expected)
            }
            (actual_definition, expected_definition) => self.holds(
                &actual_definition.unwrap_or(pair.0.clone()),
                &expected_definition.unwrap_or(pair.1.clone()),
            ),
        };
        self.answers.insert(pair, answer);
        answer
    }

    fn is_interface(&self, name: &str) -> bool {
        self.known.declarations.interfaces.contains_key(name)
    }

    fn compare(&mut self, actual: &Ty, expected: &Ty) -> bool {
        match (actual, expected) {
            (Ty::Never, _) => true,
            (_, Ty::Never) => false,
            _ if actual.is("any") || expected.is("any") || expected.is("unknown") => true,
            (Ty::Union(one), Ty::Union(other)) => self.compare_unions(one, other, expected),
            (Ty::Union(union), _) => {
                let mut members = union.members.iter();
                members.all(|member| self.holds(member, expected))
            }
            (_, Ty::Union(union)) => {
                // Most of the time it is simply one of them.
                let mut members = union.members.iter();
                union.members.contains(actual) || members.any(|one| self.holds(actual, one))
            }
            (Ty::Named(one), Ty::Named(other)) => names_fit(one, other),
            (Ty::Applied(applied), Ty::Named(name)) | (Ty::Named(name), Ty::Applied(applied)) => {
                bare_name_of(name, &applied.name)
            }
            (Ty::Applied(one), Ty::Applied(other)) => self.compare_applied(one, other),
            (Ty::Shape(one), Ty::Shape(other)) => self.compare_shapes(one, other),
            (Ty::Function(one), Ty::Function(other)) => self.compare_functions(one, other),
            _ => self.compare_kinds(actual, expected),
        }
    }

    /// The rules that hold between types of different structure.
    fn compare_kinds(&mut self, actual: &Ty, expected: &Ty) -> bool {
        match (actual, expected) {
            (Ty::Shape(_), Ty::Named(name)) | (Ty::Named(name), Ty::Shape(_)) => name == "dict",
            (Ty::Applied(applied), Ty::Shape(_)) => {
                applied.name == "dict" && applied.arguments.len() == 2
            }
            (Ty::Shape(shape), Ty::Applied(_)) => match expected.arguments_of("dict") {
                Some([key, value]) if key.is("string") => {
                    let mut fields = shape.fields.iter();
                    fields.all(|field| self.holds(&field.ty, value))
                }
                _ => false,
            },
            (Ty::Function(_), Ty::Named(name)) | (Ty::Named(name), Ty::Function(_)) => {
                name == "closure"
            }
            (Ty::String(one), Ty::String(other)) => one == other,
            (Ty::Int(one), Ty::Int(other)) => one == other,
            (Ty::String(_), Ty::Named(name)) | (Ty::Named(name), Ty::String(_)) => name == "string",
            (Ty::Int(_), Ty::Named(name)) => name == "int" || name == "float",
            (Ty::Named(name), Ty::Int(_)) => name == "int",
            _ => false,
        }
    }

    fn compare_applied(&mut self, actual: &Applied, expected: &Applied) -> bool {
        if actual.name != expected.name || actual.arguments.len() != expected.arguments.len() {
            return false;
        }
        let declared = self.known.declarations.variances(&actual.name);
        let pairs = actual.arguments.iter().zip(&expected.arguments);
        pairs.enumerate().all(|(at, (one, other))| {
            let declared = declared.as_ref().and_then(|all| all.get(at));
            match declared.copied().unwrap_or(own_variance(&actual.name)) {
                Variance::Covariant => self.holds(one, other),
                Variance::Contravariant => self.holds(other, one),
                Variance::Invariant => self.both(one, other),
            }
        })
    }

    /// Members that both have in common are found at once, however many there are.
    fn compare_unions(&mut self, actual: &Union, expected: &Union, whole: &Ty) -> bool {
        let accepted: HashSet<&Ty> = expected.members.iter().collect();
        let mut members = actual.members.iter();
        members.all(|member| accepted.contains(member) || self.holds(member, whole))
    }

    fn compare_shapes(&mut self, actual: &Shape, expected: &Shape) -> bool {
        let mut needed = expected.fields.iter().filter(|field| !field.optional);
        needed.all(|wanted| {
            let field = actual.field(&wanted.name);
            field.is_some_and(|field| self.holds(&field.ty, &wanted.ty))
        })
    }

    fn compare_functions(&mut self, actual: &FunctionTy, expected: &FunctionTy) -> bool {
        let mut parameters = actual.parameters.iter().zip(&expected.parameters);
        actual.parameters.len() == expected.parameters.len()
            && parameters.all(|(one, other)| self.holds(other, one))
            && self.holds(&actual.result, &expected.result)
    }
}

fn same_name(one: &Ty, other: &Ty) -> bool {
    one.name().is_some() && one == other
}

fn names_fit(actual: &str, expected: &str) -> bool {
    actual == expected
        || (actual == "int" && expected == "float")
        || container_name(actual).is_some_and(|name| container_name(expected) == Some(name))
}

/// Whether the name without arguments is that of the type with arguments.
fn bare_name_of(name: &str, applied: &str) -> bool {
    name == applied || container_name(name).is_some_and(|own| container_name(applied) == Some(own))
}

/// How the arguments of built-in types vary.
pub(super) fn own_variance(name: &str) -> Variance {
    match name {
        "iter" | "Generator" | "Stream" => Variance::Covariant,
        _ => Variance::Invariant,
    }
}
