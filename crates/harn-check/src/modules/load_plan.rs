//! In which order the modules of a program are loaded, and what ends it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use smol_str::SmolStr;

use super::database::Database;
use super::error::ImportError;
use super::memo::{FileId, Revision};
use super::problems::{ImportProblem, Scope, bind, fault, pass_on};
use super::queries::{OutlineQuery, ResolutionsQuery};
use super::resolve::ResolvedImport;

/// In which order the modules of a program are loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadPlan {
    /// The modules, each after those it imports. The file the program starts with is the
    /// last one, unless something fails before.
    pub order: Vec<Arc<Path>>,
    /// The import that led to each of them, by file and number. The file the program starts
    /// with has none.
    pub importers: Vec<Option<(Arc<Path>, usize)>>,
    /// Imports of a module that is itself waiting for the one that imports it, by file and
    /// number. They bind nothing until everything is loaded.
    pub circular: Vec<(Arc<Path>, usize)>,
    /// The first import that fails. What comes before it in `order` has been loaded by then.
    pub failure: Option<LoadFailure>,
}

/// An import that ends a program before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFailure {
    /// The file with the import.
    pub importer: Arc<Path>,
    /// Which of its imports, counted from 0.
    pub import: usize,
    /// Why.
    pub error: ImportError,
}

/// The plan for a program that starts with a file.
pub(super) fn load_plan(database: &mut Database, entry: FileId) -> LoadPlan {
    Loader::run(database, entry, HashMap::new()).plan
}

/// How programs end that start with one file after the other, as long as no file changes.
/// What was found out about a module is not found out again for those that import it.
#[derive(Default)]
pub(super) struct Ends {
    revision: Revision,
    known: HashMap<FileId, Option<ImportError>>,
}

impl Ends {
    /// What ends a program that starts with a file, at the import of that file which leads
    /// there.
    pub(super) fn failure(
        &mut self,
        database: &mut Database,
        entry: FileId,
    ) -> Option<ImportProblem> {
        let now = database.inputs.revision;
        if self.revision != now {
            self.known.clear();
            self.revision = now;
        }
        if let Some(None) = self.known.get(&entry) {
            return None;
        }
        let known = std::mem::take(&mut self.known);
        let loader = Loader::run(database, entry, known);
        let problem = loader.problem_of_entry();
        self.known = loader.into_known();
        problem
    }
}

/// A module whose imports are being executed.
struct Frame {
    file: FileId,
    imports: Arc<[ResolvedImport]>,
    /// The import that is next.
    next: usize,
    scope: Scope,
    /// Imports that closed a circle.
    circular: HashSet<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Loaded,
}

#[derive(Default)]
struct Loader {
    plan: LoadPlan,
    states: HashMap<FileId, State>,
    /// Each waits for the next one. A program can have many modules, so this is no recursion.
    waiting: Vec<Frame>,
    /// The functions of the modules that were loaded. What is not among them cannot be passed
    /// on, so that nobody has to look for it.
    declared: HashSet<SmolStr>,
    /// Modules about which it is known that they can be loaded, or why not. None of them is
    /// part of a circle.
    known: HashMap<FileId, Option<ImportError>>,
}

impl Loader {
    /// Loads everything, up to the first failure.
    fn run(
        database: &mut Database,
        entry: FileId,
        known: HashMap<FileId, Option<ImportError>>,
    ) -> Self {
        let mut loader = Self {
            known,
            ..Self::default()
        };
        loader.enter(database, entry);
        while loader.plan.failure.is_none() && !loader.waiting.is_empty() {
            loader.step(database);
        }
        loader
    }

    /// The failure at the import of the first module that leads to it.
    fn problem_of_entry(&self) -> Option<ImportProblem> {
        let failure = self.plan.failure.as_ref()?;
        let import = match self.waiting.as_slice() {
            [_] => failure.import,
            [first, ..] => first.next,
            [] => return None,
        };
        Some(ImportProblem {
            import,
            error: failure.error.clone(),
        })
    }

    /// What is known about modules now. How a circle ends depends on where one enters it, so
    /// after one nothing is.
    fn into_known(self) -> HashMap<FileId, Option<ImportError>> {
        let Self {
            plan,
            states,
            mut known,
            ..
        } = self;
        if plan.circular.is_empty() {
            let error = plan.failure.map(|failure| failure.error);
            known.extend(states.into_iter().map(|(file, state)| match state {
                State::Loaded => (file, None),
                State::Loading => (file, error.clone()),
            }));
        }
        known
    }

    fn enter(&mut self, database: &mut Database, file: FileId) {
        self.states.insert(file, State::Loading);
        self.waiting.push(Frame {
            file,
            imports: database.get::<ResolutionsQuery>(file),
            next: 0,
            scope: Scope::default(),
            circular: HashSet::new(),
        });
    }

    fn step(&mut self, database: &mut Database) {
        let Some(frame) = self.waiting.last_mut() else {
            return;
        };
        let import = frame.next;
        let Some(resolved) = frame.imports.get(import) else {
            return self.leave(database);
        };
        let target = match &resolved.target {
            Ok(target) => database.file(target),
            Err(error) => {
                let error = error.clone();
                return self.fail(database, import, error);
            }
        };
        let known = self.known.get(&target);
        if let Some(Some(error)) = known {
            let error = error.clone();
            return self.fail(database, import, error);
        }
        let state = known.map(|_| &State::Loaded);
        match state.or(self.states.get(&target)) {
            None => match fault(database, target) {
                Some(error) => self.fail(database, import, error),
                None => self.enter(database, target),
            },
            Some(State::Loading) => {
                frame.next += 1;
                frame.circular.insert(import);
                let importer = Arc::clone(database.path(frame.file));
                self.plan.circular.push((importer, import));
            }
            Some(State::Loaded) => {
                frame.next += 1;
                let errors = bind(database, frame.file, import, &mut frame.scope);
                if let Some(error) = errors.into_iter().next() {
                    self.fail(database, import, error);
                }
            }
        }
    }

    /// Ends the loading of the innermost module.
    fn leave(&mut self, database: &mut Database) {
        if let Some((import, error)) = self.cannot_pass_on(database) {
            return self.fail(database, import, error);
        }
        let Some(Frame { file, .. }) = self.waiting.pop() else {
            return;
        };
        self.states.insert(file, State::Loaded);
        self.plan.order.push(Arc::clone(database.path(file)));
        // The module that waits for this one is still at the import that led here.
        let waiting = self.waiting.last();
        let importer = waiting.map(|frame| (Arc::clone(database.path(frame.file)), frame.next));
        self.plan.importers.push(importer);
        let outline = database.get::<OutlineQuery>(file);
        self.declared.extend(outline.exported_functions().cloned());
    }

    /// The first thing that the innermost module cannot pass on.
    fn cannot_pass_on(&self, database: &mut Database) -> Option<(usize, ImportError)> {
        let frame = self.waiting.last()?;
        let public = |(_, it): &(usize, &ResolvedImport)| it.import.public;
        let mut imports = frame.imports.iter().enumerate().filter(public);
        imports.find_map(|(at, resolved)| {
            if frame.circular.contains(&at) {
                let import = resolved.import.path.clone();
                return Some((at, ImportError::NotLoaded { import }));
            }
            let declared = |name: &SmolStr| !self.known.is_empty() || self.declared.contains(name);
            let errors = pass_on(database, frame.file, at, declared);
            errors.into_iter().next().map(|error| (at, error))
        })
    }

    fn fail(&mut self, database: &Database, import: usize, error: ImportError) {
        let importer = self.waiting.last().map(|frame| database.path(frame.file));
        self.plan.failure = importer.map(|importer| LoadFailure {
            importer: Arc::clone(importer),
            import,
            error,
        });
    }
}
