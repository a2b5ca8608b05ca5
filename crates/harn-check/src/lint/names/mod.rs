//! What every name of a file means, worked out once for all rules.
//!
//! Variables are resolved to their bindings by scope. Functions, types and imported names are
//! only counted by their text: a rule that says something is unused must be sure, so every
//! mention of the text counts as a use, whatever it turns out to be.

mod collect;
mod patterns;

use std::collections::{HashMap, HashSet};

use harn_syntax::Span;
use harn_syntax::tree::{Module, Name};
use smol_str::SmolStr;

use super::facts::Kind;

/// Every name of a file.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every variable and parameter, in the order they are bound.
    pub(super) bindings: Vec<Binding>,
    /// Every function and tool with a name, methods left out.
    pub(super) functions: Vec<FunctionFacts>,
    /// Every struct, enum, alias and interface.
    pub(super) types: Vec<TypeFacts>,
    /// Every call of a name.
    pub(super) calls: Vec<Name>,
    /// Names that are declared or bound anywhere in the file.
    declared: HashSet<SmolStr>,
    /// Methods of the file's `impl`s.
    methods: HashSet<SmolStr>,
    /// Where a mention of a name begins, and the variable it means.
    resolved: HashMap<u32, usize>,
    mentions: HashMap<SmolStr, Mentions>,
    /// Strings that could be names of functions.
    strings: HashSet<SmolStr>,
    /// Functions of the file that look for secrets, by name.
    pub(super) scanners: HashSet<SmolStr>,
    /// Functions of the file that ask a person, by name.
    pub(super) askers: HashSet<SmolStr>,
    /// Names that are assigned to where we see no such variable: a pipeline sees those of the
    /// one it extends.
    assigned_elsewhere: HashSet<SmolStr>,
}

/// A variable or a parameter.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) kind: BindingKind,
    /// What its value is known to be.
    pub(super) value: Option<Kind>,
    /// Whether its type is written down, and is not just `any` or `dict`.
    pub(super) is_typed: bool,
    /// The function whose result it is, or a part of it.
    pub(super) made_by: Option<SmolStr>,
    /// Whether it is that result as it was returned.
    pub(super) is_whole: bool,
    /// The function whose result is mixed with other text in it.
    pub(super) mixes: Option<SmolStr>,
    /// Whether it is named after a field of the value it is taken from.
    pub(super) is_field: bool,
    pub(super) uses: Vec<Use>,
    pub(super) is_assigned: bool,
    /// Whether its scope binds the name more than once.
    pub(super) is_rebound: bool,
    /// The variable of an outer scope that it hides.
    pub(super) shadows: Option<Span>,
}

/// How a variable comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindingKind {
    Let,
    /// With the span of the whole statement, which other names may share.
    Var(Span),
    /// Of a function or tool, by its index in [`Names::functions`].
    Parameter(usize),
    /// Of a closure, a method, a pipeline, a loop, a `catch`, a match arm, …
    Other,
}

/// A mention of a variable.
#[derive(Debug)]
pub(super) struct Use {
    /// The function it is passed to, if that is all that is done with it.
    pub(super) passed_to: Option<SmolStr>,
}

/// A function or a tool.
#[derive(Debug)]
pub(super) struct FunctionFacts {
    pub(super) name: Name,
    /// From its name to the end of its body.
    pub(super) span: Span,
    pub(super) is_public: bool,
    pub(super) is_tool: bool,
    pub(super) is_top_level: bool,
    /// Whether an attribute may make it reachable from outside.
    pub(super) is_registered: bool,
    pub(super) is_empty: bool,
}

/// A declared type.
#[derive(Debug)]
pub(super) struct TypeFacts {
    pub(super) name: Name,
    /// From its name to its end.
    pub(super) span: Span,
    pub(super) is_public: bool,
    /// Whether modules export it without `pub`.
    pub(super) is_always_exported: bool,
}

/// Where a name is mentioned.
#[derive(Clone, Copy, Debug)]
struct Mentions {
    first: u32,
    last: u32,
    /// Whether it is anything but called: then it can go anywhere.
    as_value: bool,
}

impl Names {
    pub(super) fn of(module: &Module) -> Self {
        collect::collect(module)
    }

    /// The variable that is mentioned there.
    pub(super) fn variable(&self, mention: &Name) -> Option<&Binding> {
        let at = self.resolved.get(&mention.span.start)?;
        self.bindings.get(*at)
    }

    /// Whether the file declares or binds that name somewhere.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Whether an `impl` of the file has a method of that name.
    pub(super) fn has_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }

    pub(super) fn is_mentioned(&self, name: &str) -> bool {
        self.mentions.contains_key(name)
    }

    /// Whether it is mentioned anywhere but in the span of its own declaration.
    pub(super) fn is_mentioned_outside(&self, name: &str, own: Span) -> bool {
        let outside = |at: &Mentions| at.first < own.start || at.last >= own.end;
        self.mentions.get(name).is_some_and(outside)
    }

    /// Whether it is ever used as a value, and not only called.
    pub(super) fn is_value(&self, name: &str) -> bool {
        self.mentions.get(name).is_some_and(|at| at.as_value)
    }

    /// Whether a string is just this name: `"name"`.
    pub(super) fn is_spelled(&self, name: &str) -> bool {
        self.strings.contains(name)
    }

    /// Whether a name is assigned to where no such variable is in sight.
    pub(super) fn is_assigned_elsewhere(&self, name: &str) -> bool {
        self.assigned_elsewhere.contains(name)
    }

    /// Whether a call of `name` reaches the builtin of that name.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        !self.declares(name) && crate::builtins::find(name).is_some()
    }
}
