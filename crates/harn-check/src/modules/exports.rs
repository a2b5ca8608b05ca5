//! What a module exports, its own and what it passes on.
//!
//! `pub import` can pass things on through any number of modules and in circles. So exports
//! are found by one walk that begins at the module that is asked for, goes along its `pub
//! import`s, and never looks at the same thing twice:
//!
//! ```text
//! wants everything of a ──► pub import "b"        ──► wants everything of b
//!                      └──► pub import {x} from "c" ─► wants x of c
//! ```

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use harn_syntax::tree::Item;
use smol_str::SmolStr;

use super::database::Database;
use super::memo::FileId;
use super::outline::{DeclaredType, Outline};
use super::queries::{OutlineQuery, ResolutionsQuery};

/// What a module exports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exports {
    /// Its functions, no name twice: its own first, then what it passes on.
    pub functions: Vec<ExportedFunction>,
    /// Its types, for the checker.
    pub types: Vec<ExportedType>,
    /// The names of its pipelines, tools and skills, for the checker.
    pub others: Vec<SmolStr>,
    /// Whether this is all. It is not if something would be passed on from a module that
    /// cannot be found or read.
    pub complete: bool,
}

/// A function that a module exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFunction {
    /// Its name.
    pub name: SmolStr,
    /// The module that declares it.
    pub module: Arc<Path>,
}

/// A type that a module exports.
#[derive(Clone, Debug)]
pub struct ExportedType {
    /// Its name.
    pub name: SmolStr,
    /// The module that declares it.
    pub module: Arc<Path>,
    /// Its declaration, as it stood when its text last changed. So where it stands may be out
    /// of date.
    pub item: Arc<Item>,
    declaration: Arc<str>,
}

impl PartialEq for ExportedType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.module == other.module
            && self.declaration == other.declaration
    }
}

impl ExportedType {
    pub(super) fn new(module: Arc<Path>, ty: &DeclaredType) -> Self {
        Self {
            name: ty.name.clone(),
            module,
            item: Arc::clone(&ty.item),
            declaration: Arc::clone(&ty.declaration),
        }
    }
}

/// Everything a module exports.
pub(super) fn exports(database: &mut Database, module: FileId) -> Exports {
    let mut walk = Walk::new(module, Want::Everything);
    walk.run(database);
    walk.found
}

/// What a module exports under a name.
pub(super) fn exports_named(database: &mut Database, module: FileId, name: &SmolStr) -> Exports {
    let mut walk = Walk::new(module, Want::Name(name.clone()));
    walk.run(database);
    walk.found
}

/// What is wanted of a module.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Want {
    Everything,
    Name(SmolStr),
}

impl Want {
    fn includes(&self, name: &SmolStr) -> bool {
        match self {
            Self::Everything => true,
            Self::Name(wanted) => wanted == name,
        }
    }
}

struct Walk {
    /// What remains to be looked at; the last comes first.
    open: Vec<(FileId, Want)>,
    seen: HashSet<(FileId, Want)>,
    names: HashSet<SmolStr>,
    found: Exports,
}

impl Walk {
    fn new(module: FileId, want: Want) -> Self {
        Self {
            open: vec![(module, want)],
            seen: HashSet::new(),
            names: HashSet::new(),
            found: Exports {
                complete: true,
                ..Exports::default()
            },
        }
    }

    fn run(&mut self, database: &mut Database) {
        while let Some((module, want)) = self.open.pop() {
            let all_seen = self.seen.contains(&(module, Want::Everything));
            if !all_seen && self.seen.insert((module, want.clone())) {
                self.visit(database, module, &want);
            }
        }
    }

    fn visit(&mut self, database: &mut Database, module: FileId, want: &Want) {
        let outline = database.get::<OutlineQuery>(module);
        if outline.fault.is_some() {
            self.found.complete = false;
            return;
        }
        let path = Arc::clone(database.path(module));
        let found_it = self.collect(&outline, &path, want);
        if found_it && *want != Want::Everything {
            return;
        }
        if outline.imports.iter().any(|import| import.public) {
            self.follow(database, module, want);
        }
    }

    /// Takes what the module itself has, and tells whether that is something.
    fn collect(&mut self, outline: &Outline, path: &Arc<Path>, want: &Want) -> bool {
        let mut found = false;
        for name in outline
            .exported_functions()
            .filter(|name| want.includes(name))
        {
            found = true;
            if self.names.insert(name.clone()) {
                self.found.functions.push(ExportedFunction {
                    name: name.clone(),
                    module: Arc::clone(path),
                });
            }
        }
        let exported = outline.types.iter().filter(|ty| ty.exported);
        for ty in exported.filter(|ty| want.includes(&ty.name)) {
            found = true;
            if self.names.insert(ty.name.clone()) {
                let ty = ExportedType::new(Arc::clone(path), ty);
                self.found.types.push(ty);
            }
        }
        for name in outline.others.iter().filter(|name| want.includes(name)) {
            found = true;
            if self.names.insert(name.clone()) {
                self.found.others.push(name.clone());
            }
        }
        found
    }

    /// Goes on to the modules that something is passed on from.
    fn follow(&mut self, database: &mut Database, module: FileId, want: &Want) {
        let imports = database.get::<ResolutionsQuery>(module);
        for resolved in imports.iter().rev().filter(|it| it.import.public) {
            let wants = passed_on(resolved.import.names.as_deref(), want);
            match &resolved.target {
                _ if wants.is_empty() => {}
                Ok(target) => {
                    let target = database.file(target);
                    let wants = wants.into_iter().rev();
                    self.open.extend(wants.map(|want| (target, want)));
                }
                Err(_) => self.found.complete = false,
            }
        }
    }
}

/// What of `want` an import with these names can satisfy.
fn passed_on(names: Option<&[SmolStr]>, want: &Want) -> Vec<Want> {
    match names {
        None => vec![want.clone()],
        Some(names) => {
            let names = names.iter().filter(|name| want.includes(name));
            names.cloned().map(Want::Name).collect()
        }
    }
}
