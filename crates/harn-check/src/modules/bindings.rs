//! Which functions an import binds.

use std::sync::Arc;

use smol_str::SmolStr;

use super::database::Database;
use super::exports::{ExportedFunction, exports_named};
use super::memo::FileId;
use super::queries::{ExportsQuery, OutlineQuery, ResolutionsQuery};

/// A function that an import binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundFunction {
    /// Which of the file's imports, counted from 0.
    pub import: usize,
    /// The function, by the name it has here and where it is declared.
    pub function: ExportedFunction,
}

/// The functions that the imports of a file bind, in order. What cannot be imported is
/// missing; a name that comes twice is here twice.
pub(super) fn bindings(database: &mut Database, file: FileId) -> Vec<BoundFunction> {
    let imports = database.get::<ResolutionsQuery>(file);
    let mut bound = Vec::new();
    for (import, resolved) in imports.iter().enumerate() {
        let Ok(target) = &resolved.target else {
            continue;
        };
        let target = database.file(target);
        let functions = match &resolved.import.names {
            None => database.get::<ExportsQuery>(target).functions.clone(),
            Some(names) => {
                let selected = names.iter().map(|name| select(database, target, name));
                selected.filter_map(Selected::into_function).collect()
            }
        };
        bound.extend(
            functions
                .into_iter()
                .map(|function| BoundFunction { import, function }),
        );
    }
    bound
}

/// What a name means to a selective import.
pub(super) enum Selected {
    /// A function.
    Function(ExportedFunction),
    /// A type, which only matters to the checker.
    Type,
    /// It cannot be told, because something is passed on from a module that is not to be
    /// found. That is the fault of another import.
    Unknown,
    /// Nothing.
    Nothing,
}

impl Selected {
    fn into_function(self) -> Option<ExportedFunction> {
        match self {
            Self::Function(function) => Some(function),
            Self::Type | Self::Unknown | Self::Nothing => None,
        }
    }
}

/// What a name of a module means: any function or type of its own, public or not, or
/// something it passes on.
pub(super) fn select(database: &mut Database, module: FileId, name: &SmolStr) -> Selected {
    let outline = database.get::<OutlineQuery>(module);
    if outline.has_function(name) {
        return Selected::Function(ExportedFunction {
            name: name.clone(),
            module: Arc::clone(database.path(module)),
        });
    }
    if outline.ty(name).is_some() {
        return Selected::Type;
    }
    let mut exports = exports_named(database, module, name);
    match (exports.functions.pop(), exports.types.is_empty()) {
        (Some(function), _) => Selected::Function(function),
        (None, false) => Selected::Type,
        (None, true) if !exports.complete => Selected::Unknown,
        (None, true) => Selected::Nothing,
    }
}
