//! The state of a check.

use std::rc::Rc;

use harn_syntax::tree::{Block, ItemKind, Module, Statement, StatementKind};
use harn_syntax::{Code, Diagnostic, Span};
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::check::Place;
use super::declarations::{Declarations, each_bound_name};
use super::environment::{Environment, Variable};
use super::known::{Known, Tagged};
use super::signature::Signature;
use super::suggest::suggest;
use super::ty::Ty;
use super::{CheckOptions, Checked};
use crate::{Imported, builtins};

/// A check under way.
pub(super) struct Checker {
    pub(super) known: Known,
    pub(super) environment: Environment,
    pub(super) options: CheckOptions,
    /// What the statement at hand belongs to.
    pub(super) body: Body,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The types of names where they stand, for editors; `None` if nobody asks for them.
    types: Option<Vec<(Span, Ty)>>,
    /// The last type whose tags were looked for, and what was found: the arms of a `match`
    /// all ask about the same one.
    tagged: Option<(Ty, Option<Rc<Tagged>>)>,
    /// Whether what is assumed comes from an operand of `&&` or `||`.
    pub(super) assumes_operand: bool,
    /// Whether variables have the types they have outside of `&&` and `||`.
    pub(super) sees_outside: bool,
    /// How many `try` blocks are being inferred, each inside the one before.
    pub(super) try_depth: u32,
    /// The types of those that are done, while the outermost is not.
    pub(super) tries: HashMap<Span, Ty>,
    /// Suggestions already looked for, each with what was in scope.
    pub(super) suggestions: HashMap<(Misspelt, SmolStr, u64), Option<SmolStr>>,
    /// How many names they have been compared with.
    candidates: usize,
}

/// What a name that nobody knows was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Misspelt {
    Call,
    Struct,
}

/// With how many names misspelt ones are compared. A file that needs more has other problems,
/// and looking through all names each time takes a while.
const CANDIDATES_MAX: usize = 2_000_000;

/// What statements belong to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// A file.
    File,
    /// A function, a closure, a tool or a pipeline.
    Function,
    /// A `gen fn`, with the type of what it emits if that is declared.
    Stream(Option<Ty>),
}

impl Checker {
    pub(super) fn new(module: &Module, imported: &Imported, options: CheckOptions) -> Self {
        let declarations = Declarations::collect(module, imported);
        let mut checker = Self {
            known: Known::new(declarations),
            environment: Environment::default(),
            options,
            body: Body::File,
            diagnostics: Vec::new(),
            types: None,
            tagged: None,
            assumes_operand: false,
            sees_outside: false,
            try_depth: 0,
            tries: HashMap::new(),
            suggestions: HashMap::new(),
            candidates: 0,
        };
        checker.declare_globals(module);
        checker
    }

    /// Remembers the types of names as well.
    pub(super) fn with_types(self) -> Self {
        Self {
            types: Some(Vec::new()),
            ..self
        }
    }

    /// Checks every item of the file.
    pub(super) fn run(mut self, module: &Module) -> Checked {
        for statement in &module.statements {
            self.scoped(|checker| match &statement.kind {
                StatementKind::Item(item) => {
                    checker.check_item(item, statement.span, Place::File);
                }
                _ => checker.check_statement(statement),
            });
        }
        let mut types = self.types.unwrap_or_default();
        types.sort_by_key(|(span, _)| span.start);
        Checked {
            diagnostics: self.diagnostics,
            types,
        }
    }

    /// Nothing is known about the variables of a file except whether they can change.
    fn declare_globals(&mut self, module: &Module) {
        let mut mutable: HashMap<SmolStr, bool> = HashMap::new();
        for statement in &module.statements {
            if let StatementKind::Binding(binding) = &statement.kind {
                each_bound_name(statement, &mut |name| {
                    *mutable.entry(name.clone()).or_default() |= binding.mutable;
                });
            }
        }
        for (name, mutable) in mutable {
            self.environment.declare(name, Variable::dynamic(mutable));
        }
        self.declare_functions(&module.statements);
        self.environment.enter_body();
    }

    /// Declares the functions of a block or a file, from Z to A as the environment wants it.
    pub(super) fn declare_functions(&mut self, statements: &[Statement]) {
        let mut declared: Vec<Rc<Signature>> = Vec::new();
        for statement in statements {
            if let StatementKind::Item(item) = &statement.kind
                && let ItemKind::Function(function) = &item.kind
            {
                declared.push(Rc::new(Signature::new(function, &item.attributes)));
            }
        }
        declared.sort_by(|one, other| other.name.cmp(&one.name));
        for signature in declared {
            self.environment.declare_function(signature);
        }
    }

    /// Declares everything a block binds as something nothing is known about.
    pub(super) fn hide_bound_names(&mut self, block: &Block) {
        for statement in &block.statements {
            each_bound_name(statement, &mut |name| {
                let unknown = Variable::dynamic(true);
                self.environment.declare(name.clone(), unknown);
            });
            if let StatementKind::Item(item) = &statement.kind
                && let ItemKind::Function(function) = &item.kind
            {
                let unknown = Variable::dynamic(false);
                self.environment
                    .declare(function.name.text.clone(), unknown);
            }
        }
    }

    /// Does something in a scope of its own.
    pub(super) fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.environment.mark();
        let result = work(self);
        self.environment.reset(mark);
        result
    }

    /// Does something as part of another body.
    pub(super) fn in_body<T>(&mut self, body: Body, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.body, body);
        let result = self.scoped(work);
        self.body = around;
        result
    }

    /// Does something where these type parameters are known.
    pub(super) fn with_type_parameters<T>(
        &mut self,
        parameters: impl IntoIterator<Item = SmolStr>,
        bounds: impl IntoIterator<Item = (SmolStr, SmolStr)>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.tagged = None;
        let learned = self.known.learn_parameters(parameters, bounds);
        let result = work(self);
        self.tagged = None;
        self.known.forget_parameters(learned);
        result
    }

    /// The type as a union of shapes that a field tells apart.
    pub(super) fn tagged(&mut self, ty: &Ty) -> Option<Rc<Tagged>> {
        if let Some((last, found)) = &self.tagged
            && last == ty
        {
            return found.clone();
        }
        let found = self.known.tagged(ty).map(Rc::new);
        self.tagged = Some((ty.clone(), found.clone()));
        found
    }

    /// Remembers that a type is the union of these distinct shapes, which is likely to be asked
    /// for next.
    pub(super) fn expect_tagged(&mut self, ty: &Ty, shapes: Vec<Ty>) {
        self.tagged = Some((ty.clone(), Tagged::of(shapes).map(Rc::new)));
    }

    /// What may have been meant by a name that nobody knows.
    pub(super) fn suggest(&mut self, misspelt: Misspelt, name: &SmolStr) -> Option<SmolStr> {
        let scope = match misspelt {
            Misspelt::Call => self.environment.functions_in_scope(),
            Misspelt::Struct => 0,
        };
        let key = (misspelt, name.clone(), scope);
        if let Some(known) = self.suggestions.get(&key) {
            return known.clone();
        }
        if self.candidates >= CANDIDATES_MAX {
            return None;
        }
        let declarations = &self.known.declarations;
        let mut compared = 0;
        let count = |_: &&str| compared += 1;
        let found = match misspelt {
            Misspelt::Call => {
                let builtins = builtins::all().iter().map(|builtin| builtin.name);
                let functions = self.environment.functions().map(SmolStr::as_str);
                let imported = declarations.imported_names.iter().map(SmolStr::as_str);
                suggest(
                    name,
                    builtins.chain(functions).chain(imported).inspect(count),
                )
            }
            Misspelt::Struct => {
                let names = declarations.struct_names.iter().map(SmolStr::as_str);
                suggest(name, names.inspect(count))
            }
        };
        let found = found.map(SmolStr::new);
        self.candidates += compared;
        self.suggestions.insert(key, found.clone());
        found
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.say(Diagnostic::error(code, span, message));
    }

    pub(super) fn warn(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.say(Diagnostic::warning(code, span, message));
    }

    pub(super) fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Remembers the type of a name for editors.
    pub(super) fn note_type(&mut self, span: Span, ty: &Ty) {
        self.note_type_with(span, |_| ty.clone());
    }

    /// The same, for a type that takes a while to find out.
    pub(super) fn note_type_with(&mut self, span: Span, find: impl FnOnce(&mut Self) -> Ty) {
        if self.types.is_none() {
            return;
        }
        let ty = find(self);
        if let Some(types) = &mut self.types
            && ty != Ty::Dynamic
        {
            types.push((span, ty));
        }
    }
}
