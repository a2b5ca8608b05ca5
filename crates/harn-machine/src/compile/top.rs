//! What is at the top level of a file, and from when on.
//!
//! The variables of the file that is run are registers of its `main`: nobody else sees them,
//! because functions take copies along. Everything else is a global.
//!
//! Functions at the top level can call each other whatever their order, but only once control
//! has passed their declarations. Between two declarations nothing can be called, so all
//! functions that stand side by side are there together. Each statement has a *moment*: a
//! function that is there from some moment on is certainly there at every later one.

use harn_check::resolve::{Declared, Place, Resolved, Role};
use harn_syntax::tree::EvalPackName;
use harn_syntax::tree::{ItemKind, Module, Name, Pattern, PatternKind, Statement, StatementKind};

/// What is at the top level.
#[derive(Default)]
pub(super) struct Tops {
    tops: Vec<Top>,
    /// How many variables are registers.
    pub(super) registers: u32,
    /// When what is compiled now runs at the earliest.
    pub(super) moment: u32,
}

#[derive(Clone, Copy, Default)]
struct Top {
    /// Which of the registers it is, if it is one.
    register: Option<u32>,
    /// From when on it is certainly there.
    ready: Option<u32>,
    is_function: bool,
}

impl Tops {
    pub(super) fn of(module: &Module, resolved: &Resolved, role: Role) -> Self {
        let mut tops = Self {
            tops: vec![Top::default(); resolved.top.len()],
            ..Self::default()
        };
        for statement in &module.statements {
            each_variable(statement, resolved, |declared| {
                tops.variable(declared, role);
            });
        }
        tops
    }

    fn variable(&mut self, declared: Declared, role: Role) {
        let Declared::In(Place::Top(at)) = declared else {
            return;
        };
        let Some(top) = self.tops.get_mut(at as usize) else {
            return;
        };
        top.ready = Some(0);
        if role == Role::Entry && top.register.is_none() {
            top.register = Some(self.registers);
            self.registers += 1;
        }
    }

    /// Which of the registers something is, if it is one.
    pub(super) fn register(&self, top: u32) -> Option<u32> {
        self.tops.get(top as usize)?.register
    }

    /// Whether something is there by now.
    pub(super) fn is_ready(&self, top: u32) -> bool {
        let ready = self.tops.get(top as usize).and_then(|top| top.ready);
        ready.is_some_and(|ready| ready <= self.moment)
    }

    /// A function is there from now on.
    pub(super) fn function(&mut self, top: u32) {
        if let Some(top) = self.tops.get_mut(top as usize) {
            top.ready = Some(self.moment);
            top.is_function = true;
        }
    }

    /// Whether something is a function that the file declares.
    pub(super) fn is_function(&self, top: u32) -> bool {
        let top = self.tops.get(top as usize);
        top.is_some_and(|top| top.is_function)
    }
}

/// Calls `each` for all variables that a statement binds, which functions are not.
fn each_variable(statement: &Statement, resolved: &Resolved, mut each: impl FnMut(Declared)) {
    let mut name = |name: &Name| {
        if let Some(declared) = resolved.declared(name) {
            each(declared);
        }
    };
    match &statement.kind {
        StatementKind::Binding(binding) => each_name(&binding.pattern, name),
        StatementKind::Item(item) => match &item.kind {
            ItemKind::Tool(tool) => name(&tool.name),
            ItemKind::Skill(skill) => name(&skill.name),
            ItemKind::Struct(item) => name(&item.name),
            ItemKind::EvalPack(pack) => match &pack.name {
                EvalPackName::Name(bound, _) => name(bound),
                EvalPackName::Id(id) => resolved.declared_by_id(id).into_iter().for_each(each),
            },
            _ => {}
        },
        _ => {}
    }
}

/// Calls `each` for all names that a pattern binds.
pub(super) fn each_name(pattern: &Pattern, each: impl FnMut(&Name)) {
    match &pattern.kind {
        PatternKind::Name(name) => std::iter::once(name).for_each(each),
        PatternKind::Dict { fields, rest } => {
            let bound = fields.iter().map(|field| field.bound());
            bound.chain(rest).for_each(each);
        }
        PatternKind::List { elements, rest } => {
            let bound = elements.iter().map(|element| &element.name);
            bound.chain(rest).for_each(each);
        }
    }
}

/// Whether a statement at the top level only declares, so that no code of the program runs.
pub(super) fn only_declares(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Item(item) => {
            !matches!(item.kind, ItemKind::Skill(_) | ItemKind::EvalPack(_))
                && item.attributes.is_empty()
        }
        _ => false,
    }
}
