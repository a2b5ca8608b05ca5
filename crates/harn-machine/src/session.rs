//! What is typed at a prompt, one entry after the other.
//!
//! ```text
//! entry ─► resolve after the names before ─► compile ─► run ─► its value
//!                  ▲                                     │
//!                  └──────────── names, types ───────────┘
//! ```
//!
//! Each entry is a file of its own. A name has one global for the whole session, so that a
//! function typed earlier sees what is assigned or declared again later. Modules are loaded
//! once.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use harn_check::Imported;
use harn_check::modules::{SourceFile, Workspace};
use harn_check::resolve::{Declared, Earlier, Place, Resolved, Role, resolve_typed};
use harn_syntax::tree::{Item, ItemKind, Module, Name, PatternKind, StatementKind};
use hashbrown::HashMap;
use smol_str::SmolStr;

use crate::closure::Closure;
use crate::load::{self, Action, LoadError, Loaded};
use crate::machine::Machine;
use crate::value::Value;

/// What was typed so far.
#[derive(Default)]
pub(crate) struct Session {
    /// Every name, in the order in which it came.
    names: Vec<Kept>,
    /// The types that were declared or imported; a later one replaces an earlier one.
    types: Vec<(SmolStr, Arc<Item>)>,
    /// The table of methods that all entries share.
    pub(crate) module: Option<u32>,
    loaded: HashMap<Arc<Path>, Loaded>,
}

/// A name that was declared or imported.
struct Kept {
    name: SmolStr,
    global: u32,
    is_mutable: bool,
}

impl Session {
    /// The global of a name.
    pub(crate) fn global(&self, name: &str) -> Option<u32> {
        let kept = self.names.iter().find(|kept| kept.name == name);
        kept.map(|kept| kept.global)
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|kept| kept.name.as_str())
    }

    /// What an entry finds: what it imports, and what was typed before.
    pub(crate) fn imported(&self, own: &Imported) -> Imported {
        let mut imported = own.clone();
        let earlier = self.names.iter().map(|kept| &kept.name);
        let earlier = earlier.filter(|name| !own.names.contains(name));
        imported.names.extend(earlier.cloned());
        imported
            .types
            .extend(self.types.iter().map(|(_, item)| item.clone()));
        imported
    }

    /// Compiles an entry and what it imports for the first time.
    pub(crate) fn load(
        &mut self,
        machine: &mut Machine,
        workspace: &mut Workspace,
        path: &Path,
    ) -> Result<Vec<Action>, LoadError> {
        // What failed before it had a value was never there.
        self.names.retain(|kept| {
            let value = machine.globals.get(kept.global as usize);
            !matches!(value, None | Some(Value::Absent))
        });
        let plan = workspace.load_plan(path);
        let entry = workspace.canonical(path);
        let mut actions = Vec::new();
        for (file, importer) in plan.order.iter().zip(&plan.importers) {
            if **file == *entry || self.loaded.contains_key(file) {
                continue;
            }
            if let Some(failure) = load::refused(workspace, file, importer.as_ref()) {
                let failure = load::import_failure(workspace, &failure, &entry, path);
                return Ok(vec![Action::Fail(failure)]);
            }
            let closure = load::load_file(machine, workspace, file, file, None, &mut self.loaded)?;
            actions.push(Action::Bind(load::bindings(workspace, file, &self.loaded)));
            actions.push(Action::Run(closure));
        }
        if let Some(failure) = plan.failure {
            actions.push(Action::Fail(load::import_failure(
                workspace, &failure, &entry, path,
            )));
            return Ok(actions);
        }
        self.load_entry(machine, workspace, path, &entry, &mut actions)?;
        Ok(actions)
    }

    fn load_entry(
        &mut self,
        machine: &mut Machine,
        workspace: &mut Workspace,
        path: &Path,
        entry: &Path,
        actions: &mut Vec<Action>,
    ) -> Result<(), LoadError> {
        let file = workspace.parsed(path).map_err(|error| LoadError {
            message: error.to_string(),
        })?;
        let own = workspace.imported(path);
        let imported = self.imported(&own);
        let earlier: Vec<_> = self.names.iter().map(Kept::as_earlier).collect();
        let module = &file.parsed.module;
        let seen = Imported {
            names: own.names.clone(),
            ..imported.clone()
        };
        let resolved = resolve_typed(module, &seen, &earlier);
        let mut source = load::source_of(path, &file, false);
        source.folder = entry.parent().map(PathBuf::from);
        let unit = load::new_unit(machine, source, &resolved, Role::Session, Some(self));
        let function = load::compile_unit(machine, &file, &imported, &resolved, &unit, None)?;
        self.module = Some(unit.module);
        let top = resolved.top.iter();
        let top = top.map(|top| (top.name.clone(), top.is_imported));
        let here: Arc<Path> = Arc::from(entry);
        self.loaded.insert(
            here.clone(),
            Loaded::new(unit.globals.clone(), top.collect()),
        );
        actions.push(Action::Bind(load::bindings(workspace, &here, &self.loaded)));
        self.loaded.remove(&here);
        actions.push(Action::Run(Rc::new(Closure {
            function,
            captures: Vec::new(),
        })));
        self.keep(&file, &own, &resolved, &unit.globals);
        Ok(())
    }

    /// Remembers what an entry declares and imports.
    fn keep(&mut self, file: &SourceFile, own: &Imported, resolved: &Resolved, globals: &[u32]) {
        let module = &file.parsed.module;
        let variables = variables(module, resolved);
        for (at, (top, global)) in resolved.top.iter().zip(globals).enumerate() {
            if top.is_imported && !own.names.contains(&top.name) {
                continue;
            }
            self.names.retain(|kept| kept.name != top.name);
            self.names.push(Kept {
                name: top.name.clone(),
                global: *global,
                is_mutable: variables.contains(&at),
            });
        }
        let declared = module
            .statements
            .iter()
            .filter_map(|statement| match &statement.kind {
                StatementKind::Item(item) => Some(Arc::new((**item).clone())),
                _ => None,
            });
        let types = own.types.iter().cloned().chain(declared);
        for item in types {
            if let Some(name) = type_name(&item).cloned() {
                self.types.retain(|(known, _)| *known != name);
                self.types.push((name, item));
            }
        }
    }
}

impl Kept {
    fn as_earlier(&self) -> Earlier {
        Earlier {
            name: self.name.clone(),
            is_mutable: self.is_mutable,
        }
    }
}

/// Which names at the top level were declared with `var`.
fn variables(module: &Module, resolved: &Resolved) -> Vec<usize> {
    let mut variables = Vec::new();
    let mut add = |name: &Name| {
        if let Some(Declared::In(Place::Top(at))) = resolved.declared(name) {
            variables.push(at as usize);
        }
    };
    for statement in &module.statements {
        let StatementKind::Binding(binding) = &statement.kind else {
            continue;
        };
        if !binding.mutable {
            continue;
        }
        match &binding.pattern.kind {
            PatternKind::Name(name) => add(name),
            PatternKind::Dict { fields, rest } => {
                fields
                    .iter()
                    .map(|field| field.bound())
                    .chain(rest)
                    .for_each(&mut add);
            }
            PatternKind::List { elements, rest } => {
                let names = elements.iter().map(|element| &element.name);
                names.chain(rest).for_each(&mut add);
            }
        }
    }
    variables
}

/// The name of a type that is declared.
fn type_name(item: &Item) -> Option<&SmolStr> {
    match &item.kind {
        ItemKind::Struct(item) => Some(&item.name.text),
        ItemKind::Enum(item) => Some(&item.name.text),
        ItemKind::Type(item) => Some(&item.name.text),
        ItemKind::Interface(item) => Some(&item.name.text),
        _ => None,
    }
}
