//! The names in scope and what is known about them.
//!
//! One stack holds every binding; a map leads from a name to its innermost binding, and
//! each binding remembers the one it hides. What narrowing changes is written to a trail.
//! So leaving a scope costs as much as what was done in it, however much is outside.

use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::HashMap;
use smol_str::SmolStr;

use super::signature::Signature;
use super::ty::Ty;

/// The names in scope.
#[derive(Debug, Default)]
pub(super) struct Environment {
    bindings: Vec<Binding>,
    /// The innermost binding of each name.
    names: HashMap<SmolStr, usize>,
    /// What the states were before they were changed.
    trail: Vec<(usize, State)>,
    /// Nothing is known about variables below it: they belong to an enclosing body.
    barrier: usize,
    /// The variables of type `unknown` for which a kind has been ruled out.
    partly_narrowed: BTreeSet<usize>,
}

/// A place in the history of an environment to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bindings: usize,
    trail: usize,
}

#[derive(Debug)]
struct Binding {
    name: SmolStr,
    kind: BindingKind,
    hides: Option<usize>,
}

#[derive(Debug)]
enum BindingKind {
    Variable(Variable),
    Function(Rc<Signature>),
}

/// A variable.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) mutable: bool,
    /// The type it denotes if it holds a schema.
    pub(super) schema: Option<Ty>,
    pub(super) state: State,
}

/// What is known about a variable at some point.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// What it can be assigned.
    pub(super) declared: Ty,
    /// What it is now.
    pub(super) current: Ty,
    /// Whether it was declared `= nil` and has not got its type yet.
    pub(super) awaits_type: bool,
    /// The kinds an `unknown` value is known not to have, a bit for each.
    pub(super) ruled_out: u16,
    /// The function it came from without having been validated since.
    pub(super) unvalidated: Option<SmolStr>,
}

impl State {
    /// A variable of that type.
    pub(super) fn of(ty: Ty) -> Self {
        Self {
            declared: ty.clone(),
            current: ty,
            awaits_type: false,
            ruled_out: 0,
            unvalidated: None,
        }
    }
}

impl Variable {
    /// An immutable variable of that type.
    pub(super) fn of(ty: Ty) -> Self {
        Self {
            mutable: false,
            schema: None,
            state: State::of(ty),
        }
    }

    /// A variable about which nothing is known.
    pub(super) fn dynamic(mutable: bool) -> Self {
        Self {
            mutable,
            ..Self::of(Ty::Dynamic)
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// A variable whose type is known, and how to change its state.
    Variable(usize, &'a Variable),
    /// A variable of an enclosing body, of which only this is known.
    Outer(&'a Variable),
    /// A function.
    Function(&'a Rc<Signature>),
}

impl Environment {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            bindings: self.bindings.len(),
            trail: self.trail.len(),
        }
    }

    /// Forgets everything since the mark.
    pub(super) fn reset(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            let Some((at, state)) = self.trail.pop() else {
                break;
            };
            self.put_state(at, state);
        }
        while self.bindings.len() > mark.bindings {
            let Some(binding) = self.bindings.pop() else {
                break;
            };
            self.partly_narrowed.remove(&self.bindings.len());
            match binding.hides {
                Some(hidden) => self.names.insert(binding.name, hidden),
                None => self.names.remove(&binding.name),
            };
        }
    }

    pub(super) fn declare(&mut self, name: SmolStr, variable: Variable) {
        if name != "_" {
            self.push(name, BindingKind::Variable(variable));
        }
    }

    pub(super) fn declare_function(&mut self, signature: Rc<Signature>) {
        self.push(signature.name.clone(), BindingKind::Function(signature));
    }

    fn push(&mut self, name: SmolStr, kind: BindingKind) {
        let hides = self.names.insert(name.clone(), self.bindings.len());
        self.bindings.push(Binding { name, kind, hides });
    }

    /// Makes everything in scope part of an enclosing body. Gives what
    /// [`leave_body`](Self::leave_body) needs to undo it.
    pub(super) fn enter_body(&mut self) -> usize {
        std::mem::replace(&mut self.barrier, self.bindings.len())
    }

    pub(super) fn leave_body(&mut self, barrier: usize) {
        self.barrier = barrier;
    }

    pub(super) fn find(&self, name: &str) -> Option<Found<'_>> {
        let at = *self.names.get(name)?;
        Some(match &self.bindings[at].kind {
            BindingKind::Function(signature) => Found::Function(signature),
            BindingKind::Variable(variable) if at >= self.barrier => Found::Variable(at, variable),
            BindingKind::Variable(variable) => Found::Outer(variable),
        })
    }

    /// The variable of that name, if its type is known, with how to change its state.
    pub(super) fn variable(&self, name: &str) -> Option<(usize, &Variable)> {
        match self.find(name)? {
            Found::Variable(at, variable) => Some((at, variable)),
            Found::Outer(_) | Found::Function(_) => None,
        }
    }

    /// Changes what is known about a variable until the scope is left.
    pub(super) fn set_state(&mut self, at: usize, state: State) {
        if let Some(before) = self.put_state(at, state) {
            self.trail.push((at, before));
        }
    }

    fn put_state(&mut self, at: usize, state: State) -> Option<State> {
        let BindingKind::Variable(variable) = &mut self.bindings.get_mut(at)?.kind else {
            return None;
        };
        if state.ruled_out == 0 {
            self.partly_narrowed.remove(&at);
        } else {
            self.partly_narrowed.insert(at);
        }
        Some(std::mem::replace(&mut variable.state, state))
    }

    /// The variables for which a kind has been ruled out, in order of declaration, each with
    /// the kinds.
    pub(super) fn partly_narrowed(&self) -> Vec<(SmolStr, u16)> {
        let known = self.partly_narrowed.range(self.barrier..);
        let narrowed = known.filter_map(|at| match &self.bindings[*at] {
            Binding {
                name,
                kind: BindingKind::Variable(variable),
                ..
            } => Some((name.clone(), variable.state.ruled_out)),
            Binding { .. } => None,
        });
        narrowed.collect()
    }

    /// The functions in scope, the last declared first. Whoever enters a scope declares its
    /// functions from Z to A, so these are the innermost scope's first, alphabetically.
    pub(super) fn functions(&self) -> impl Iterator<Item = &SmolStr> {
        let functions = self.bindings.iter().rev();
        functions.filter_map(|binding| match &binding.kind {
            BindingKind::Function(signature) => Some(&signature.name),
            BindingKind::Variable(_) => None,
        })
    }
}
