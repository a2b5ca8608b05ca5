//! What goes wrong when the imports of a file are executed, one after another.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use smol_str::SmolStr;

use super::bindings::{Selected, select};
use super::database::Database;
use super::error::{ImportError, ModuleFault};
use super::exports::{ExportedFunction, exports_named};
use super::load_plan::Ends;
use super::memo::FileId;
use super::outline::{Fault, ImportDeclaration, Outline};
use super::queries::{ExportsQuery, OutlineQuery, ProblemsQuery, ResolutionsQuery};
use super::standard;

/// An import that fails, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    /// Which of the file's imports, counted from 0.
    pub import: usize,
    /// Why.
    pub error: ImportError,
}

/// Everything that is wrong with the imports of a file: what fails while they are executed,
/// then what cannot be passed on. Circles and the imports of other files are not looked at:
/// whether one is a problem depends on where the program starts.
pub(super) fn problems(database: &mut Database, file: FileId) -> Vec<ImportProblem> {
    let mut scope = Scope::default();
    let count = database.get::<ResolutionsQuery>(file).len();
    let mut problems = Vec::new();
    for import in 0..count {
        let errors = bind(database, file, import, &mut scope);
        problems.extend(
            errors
                .into_iter()
                .map(|error| ImportProblem { import, error }),
        );
    }
    for import in 0..count {
        let errors = pass_on(database, file, import, |_| true);
        problems.extend(
            errors
                .into_iter()
                .map(|error| ImportProblem { import, error }),
        );
    }
    problems
}

/// The same together with what would end a program that starts with this file, wherever that
/// is. It comes first because nothing after it is executed.
pub(super) fn problems_of_entry(
    database: &mut Database,
    ends: &mut Ends,
    file: FileId,
) -> Arc<[ImportProblem]> {
    let problems = database.get::<ProblemsQuery>(file);
    match ends.failure(database, file) {
        Some(failure) if !problems.contains(&failure) => {
            let rest = problems.iter().cloned();
            std::iter::once(failure).chain(rest).collect()
        }
        _ => problems,
    }
}

/// The functions that imports have bound so far.
#[derive(Default)]
pub(super) struct Scope {
    bound: HashSet<SmolStr>,
}

/// Executes an import: binds what it brings and tells what goes wrong.
pub(super) fn bind(
    database: &mut Database,
    file: FileId,
    import: usize,
    scope: &mut Scope,
) -> Vec<ImportError> {
    let imports = database.get::<ResolutionsQuery>(file);
    let resolved = &imports[import];
    let target = match &resolved.target {
        Ok(target) => database.file(target),
        Err(error) => return vec![error.clone()],
    };
    if let Some(error) = fault(database, target) {
        return vec![error];
    }
    match &resolved.import.names {
        Some(names) => bind_selected(database, target, names, scope),
        // With nothing else to collide with, it does not matter what a module exports.
        None if imports.len() == 1 => Vec::new(),
        None => {
            let exports = database.get::<ExportsQuery>(target);
            let names = exports.functions.iter().map(|it| it.name.clone());
            let path = Arc::clone(database.path(target));
            names
                .filter_map(|name| collide(scope, name, &path))
                .collect()
        }
    }
}

/// Why a file is no module, as an import says it.
pub(super) fn fault(database: &mut Database, module: FileId) -> Option<ImportError> {
    let outline = database.get::<OutlineQuery>(module);
    let path = database.path(module);
    let in_module = |message: &String| ModuleFault {
        standard: standard::is_standard(path).then(|| path.to_path_buf()),
        message: message.clone(),
    };
    Some(match outline.fault.as_ref()? {
        Fault::Unreadable(reason) => ImportError::Unreadable {
            path: path.to_path_buf(),
            reason: reason.clone(),
        },
        Fault::Lexical(message) => ImportError::Lexical(in_module(message)),
        Fault::Syntax(message) => ImportError::Syntax(in_module(message)),
    })
}

fn bind_selected(
    database: &mut Database,
    target: FileId,
    names: &[SmolStr],
    scope: &mut Scope,
) -> Vec<ImportError> {
    let path = Arc::clone(database.path(target));
    let mut errors = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            continue;
        }
        errors.extend(match select(database, target, name) {
            Selected::Function(function) => collide(scope, function.name, &path),
            Selected::Type | Selected::Unknown => None,
            Selected::Nothing => Some(ImportError::NotDefined {
                name: name.clone(),
                module: path.to_path_buf(),
            }),
        });
    }
    errors
}

fn collide(scope: &mut Scope, name: SmolStr, module: &Path) -> Option<ImportError> {
    if scope.bound.insert(name.clone()) {
        return None;
    }
    Some(ImportError::Collision {
        name,
        module: module.to_owned(),
    })
}

/// Checks what a `pub import` passes on. Only functions for which `may_collide` holds are
/// compared with the module's own.
pub(super) fn pass_on(
    database: &mut Database,
    file: FileId,
    import: usize,
    may_collide: impl Fn(&SmolStr) -> bool,
) -> Vec<ImportError> {
    let imports = database.get::<ResolutionsQuery>(file);
    let resolved = &imports[import];
    let (true, Ok(target)) = (resolved.import.public, &resolved.target) else {
        return Vec::new();
    };
    let target = database.file(target);
    if database.get::<OutlineQuery>(target).fault.is_some() {
        return Vec::new();
    }
    let own = database.get::<OutlineQuery>(file);
    match &resolved.import.names {
        Some(names) => pass_on_selected(database, target, (file, &own), names, &resolved.import),
        None => {
            let own = own.functions.iter().map(|(name, _)| name);
            let suspects = own.filter(|name| may_collide(name));
            let collides = |name: &&SmolStr| {
                let passed_on = exports_named(database, target, name).functions;
                passed_on
                    .iter()
                    .any(|one| one.module != *database.path(file))
            };
            let colliding = suspects.filter(collides);
            colliding
                .map(|name| reexport_collision(name, &resolved.import))
                .collect()
        }
    }
}

/// What comes back to the file that declares it, along a circle, collides with nothing.
fn pass_on_selected(
    database: &mut Database,
    target: FileId,
    (file, own): (FileId, &Outline),
    names: &[SmolStr],
    import: &ImportDeclaration,
) -> Vec<ImportError> {
    let outline = database.get::<OutlineQuery>(target);
    let mut errors = Vec::new();
    for name in names {
        let passed_on = exports_named(database, target, name).functions;
        let from_others = |one: &ExportedFunction| one.module != *database.path(file);
        if own.has_function(name) && passed_on.iter().any(from_others) {
            errors.push(reexport_collision(name, import));
        } else if passed_on.is_empty() && outline.has_function(name) {
            errors.push(ImportError::NotExported {
                name: name.clone(),
                import: import.path.clone(),
            });
        }
    }
    errors
}

fn reexport_collision(name: &SmolStr, import: &ImportDeclaration) -> ImportError {
    ImportError::ReexportCollision {
        name: name.clone(),
        import: import.path.clone(),
    }
}
