//! What the imports of a file bring into it, for the checker.

use std::collections::HashSet;
use std::sync::Arc;

use harn_syntax::tree::{Type, TypeKind};
use harn_syntax::visit::{Visit, walk_type};
use smol_str::SmolStr;

use super::database::Database;
use super::exports::{ExportedType, exports_named};
use super::memo::FileId;
use super::queries::{ExportsQuery, OutlineQuery, ResolutionsQuery};
use super::resolve::ResolvedImport;
use crate::imported::Imported;

/// Types that are declared nowhere, so that nobody has to look for them.
const BUILT_IN: &[&str] = &[
    "any",
    "bool",
    "bytes",
    "closure",
    "dict",
    "duration",
    "float",
    "int",
    "iter",
    "list",
    "never",
    "range",
    "set",
    "string",
    "unknown",
    "Generator",
    "Result",
    "Schema",
    "Stream",
];

/// What the imports of a file bring.
pub(super) fn imported(database: &mut Database, file: FileId) -> Imported {
    let mut gathering = Gathering::default();
    for import in &*database.get::<ResolutionsQuery>(file) {
        gathering.import(database, import);
    }
    gathering.finish(database, file)
}

#[derive(Default)]
struct Gathering {
    imported: Imported,
    names: HashSet<SmolStr>,
    types: Vec<ExportedType>,
    type_names: HashSet<SmolStr>,
}

impl Gathering {
    fn import(&mut self, database: &mut Database, import: &ResolvedImport) {
        let Ok(target) = &import.target else {
            self.imported.unresolved = true;
            self.names(import.import.names.iter().flatten().cloned());
            return;
        };
        let target = database.file(target);
        match &import.import.names {
            None => self.everything(database, target),
            Some(names) => self.selected(database, target, names),
        }
    }

    fn everything(&mut self, database: &mut Database, target: FileId) {
        let exports = database.get::<ExportsQuery>(target);
        self.imported.unresolved |= !exports.complete;
        self.names(exports.functions.iter().map(|it| it.name.clone()));
        self.names(exports.types.iter().map(|it| it.name.clone()));
        self.names(exports.others.iter().cloned());
        exports.types.iter().for_each(|ty| self.ty(ty.clone()));
    }

    /// A selective import may name any type of the module, exported or not.
    fn selected(&mut self, database: &mut Database, target: FileId, names: &[SmolStr]) {
        let outline = database.get::<OutlineQuery>(target);
        self.imported.unresolved |= outline.fault.is_some();
        self.names(names.iter().cloned());
        for name in names {
            if let Some(ty) = outline.ty(name) {
                let module = Arc::clone(database.path(target));
                self.ty(ExportedType::new(module, ty));
            } else if !outline.has_function(name) {
                let exports = exports_named(database, target, name);
                exports.types.into_iter().for_each(|ty| self.ty(ty));
            }
        }
    }

    fn names(&mut self, names: impl Iterator<Item = SmolStr>) {
        let new = names.filter(|name| self.names.insert(name.clone()));
        self.imported.names.extend(new);
    }

    fn ty(&mut self, ty: ExportedType) {
        if self.type_names.insert(ty.name.clone()) {
            self.types.push(ty);
        }
    }

    /// Adds the types that the imported ones are made of. Without them an alias that mentions
    /// another one of its module would mean nothing here.
    fn finish(mut self, database: &mut Database, file: FileId) -> Imported {
        let outline = database.get::<OutlineQuery>(file);
        let own = outline.types.iter().map(|ty| ty.name.clone());
        let mut looked_up: HashSet<_> = own.chain(self.type_names.iter().cloned()).collect();
        let mut at = 0;
        while let Some(ty) = self.types.get(at).cloned() {
            for name in mentioned(&ty) {
                if looked_up.insert(name.clone()) {
                    let found = type_in_scope(database, &ty, &name);
                    self.types.extend(found);
                }
            }
            at += 1;
        }
        self.imported.types = self.types.into_iter().map(|ty| ty.item).collect();
        self.imported
    }
}

/// The names of types that a type is made of.
fn mentioned(ty: &ExportedType) -> Vec<SmolStr> {
    struct Mentions(Vec<SmolStr>);

    impl Visit for Mentions {
        fn ty(&mut self, ty: &Type) {
            if let TypeKind::Named(name, _) = &ty.kind
                && !BUILT_IN.contains(&name.text.as_str())
            {
                self.0.push(name.text.clone());
            }
            walk_type(self, ty);
        }
    }

    let mut mentions = Mentions(Vec::new());
    mentions.item(&ty.item);
    mentions.0
}

/// The type a name means where another one is declared.
fn type_in_scope(
    database: &mut Database,
    user: &ExportedType,
    name: &SmolStr,
) -> Option<ExportedType> {
    let module = database.file(&user.module);
    let outline = database.get::<OutlineQuery>(module);
    if let Some(ty) = outline.ty(name) {
        return Some(ExportedType::new(Arc::clone(&user.module), ty));
    }
    let imports = database.get::<ResolutionsQuery>(module);
    imports.iter().find_map(|resolved| {
        let names = resolved.import.names.as_ref();
        let brings_it = names.is_none_or(|names| names.contains(name));
        let target = resolved.target.as_ref().ok().filter(|_| brings_it)?;
        let target = database.file(target);
        exports_named(database, target, name).types.pop()
    })
}
