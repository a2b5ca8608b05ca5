//! From files to functions that can run.
//!
//! ```text
//! load plan of harn-check ─► for each file: resolve ─► compile ─► verify
//!                                             │
//!                                             └─► actions: bind its imports, run it
//! ```

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use harn_check::modules::{ImportError, LoadFailure, SourceFile, Workspace};
use harn_check::resolve::{Resolved, Role, resolve};
use harn_check::{Imported, refusals};
use harn_syntax::LineIndex;
use harn_syntax::tree::{ItemKind, StatementKind};
use hashbrown::HashMap;

use crate::closure::Closure;
use crate::code::{Coverage, Function, Source, verify};
use crate::compile::{self, Unit, speaks_of_tracing};
use crate::entrance::Entrance;
use crate::fault::{Failure, Fault, TraceStep};
use crate::machine::Machine;
use crate::session::Session;
use crate::value::Value;

/// Which pipeline of a file is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Entry {
    /// The one named `default`, else the first; a file without any is run as a script.
    #[default]
    Default,
    /// The one of that name.
    Named(String),
}

/// Why a program cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

/// A step of loading a program.
#[derive(Debug)]
pub(crate) enum Action {
    /// Copies functions to the files that import them: from where, to where.
    Bind(Vec<(u32, u32)>),
    /// Runs the top level of a file.
    Run(Rc<Closure>),
    /// Lets a function out: where it is, and what it is called outside.
    Offer(u32, String),
    /// Runs what the file that ran last gave.
    Enter,
    /// Fails.
    Fail(Failure),
}

/// A function that whoever runs the program wants to call: it is let out as soon as its file
/// has run, before the program itself does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// A file that imports the function.
    pub file: PathBuf,
    /// The function.
    pub function: String,
    /// What it is called outside.
    pub tag: String,
}

/// A file that is loaded: where its top level is.
pub(crate) struct Loaded {
    globals: Vec<u32>,
    top: Vec<(smol_str::SmolStr, bool)>,
}

impl Loaded {
    pub(crate) fn new(globals: Vec<u32>, top: Vec<(smol_str::SmolStr, bool)>) -> Self {
        Self { globals, top }
    }

    /// Where a name of the top level is. A function declared again is the last one.
    fn global(&self, name: &str, is_imported: bool) -> Option<u32> {
        let mut top = self.globals.iter().zip(&self.top);
        let found = top.find(|(_, (one, imported))| one == name && *imported == is_imported);
        found.map(|(at, _)| *at)
    }
}

/// Compiles a program, and the files of functions that are offered.
pub(crate) fn load(
    machine: &mut Machine,
    workspace: &mut Workspace,
    path: &Path,
    entry: &Entry,
    offers: &[Offer],
) -> Result<Vec<Action>, LoadError> {
    let mut loaded: HashMap<Arc<Path>, Loaded> = HashMap::new();
    let mut actions = Vec::new();
    for offer in offers {
        load_offer(machine, workspace, offer, &mut loaded, &mut actions)?;
    }
    let plan = workspace.load_plan(path);
    let entry_path = workspace.canonical(path);
    machine.is_traced |= plan.order.iter().any(|file| {
        let parsed = workspace.parsed(file);
        !file.starts_with("<stdlib>") && parsed.is_ok_and(|file| speaks_of_tracing(&file.text))
    });
    for (file, importer) in plan.order.iter().zip(&plan.importers) {
        let is_entry = **file == *entry_path;
        if loaded.contains_key(file) {
            continue;
        }
        if is_entry {
            // Circles are closed once everything else is loaded.
            let all = plan.order.iter().filter(|one| **one != *file);
            let pairs = all
                .flat_map(|one| bindings(workspace, one, &loaded))
                .collect();
            actions.push(Action::Bind(pairs));
        }
        if !is_entry && let Some(failure) = refused(workspace, file, importer.as_ref()) {
            let failure = import_failure(workspace, &failure, &entry_path, path);
            actions.push(Action::Fail(failure));
            return Ok(actions);
        }
        let name = if is_entry { path } else { file };
        let closure = load_file(
            machine,
            workspace,
            file,
            name,
            is_entry.then_some(entry),
            &mut loaded,
        )?;
        actions.push(Action::Bind(bindings(workspace, file, &loaded)));
        actions.push(Action::Run(closure));
    }
    match plan.failure {
        Some(failure) => {
            let fault = import_failure(workspace, &failure, &entry_path, path);
            actions.push(Action::Fail(fault));
        }
        None => actions.push(Action::Enter),
    }
    Ok(actions)
}

/// Compiles the file of a function that is offered, and everything it imports.
fn load_offer(
    machine: &mut Machine,
    workspace: &mut Workspace,
    offer: &Offer,
    loaded: &mut HashMap<Arc<Path>, Loaded>,
    actions: &mut Vec<Action>,
) -> Result<(), LoadError> {
    let plan = workspace.load_plan(&offer.file);
    let offered = workspace.canonical(&offer.file);
    for file in &plan.order {
        if loaded.contains_key(file) {
            continue;
        }
        let closure = load_file(machine, workspace, file, file, None, loaded)?;
        actions.push(Action::Bind(bindings(workspace, file, loaded)));
        actions.push(Action::Run(closure));
    }
    if let Some(failure) = plan.failure {
        let fault = import_failure(workspace, &failure, &offered, &offer.file);
        actions.push(Action::Fail(fault));
        return Ok(());
    }
    let file = loaded.get(&*offered);
    let global = file.and_then(|file| file.global(&offer.function, true));
    actions.extend(global.map(|global| Action::Offer(global, offer.tag.clone())));
    Ok(())
}

/// What keeps a file from being compiled, at the import that led to it.
pub(crate) fn refused(
    workspace: &mut Workspace,
    file: &Arc<Path>,
    importer: Option<&(Arc<Path>, usize)>,
) -> Option<LoadFailure> {
    let parsed = workspace.parsed(file).ok()?;
    let module = &parsed.parsed.module;
    let refusal = refusals(module).into_iter().next()?;
    let span = refusal.diagnostic.span;
    let is_binding = module.statements.iter().any(|statement| {
        let is_binding = matches!(statement.kind, StatementKind::Binding(_));
        is_binding && statement.span.range().contains(&(span.start as usize))
    });
    let error = ImportError::Compile {
        message: refusal.message,
        initialisation: is_binding,
    };
    let (importer, import) = importer?;
    Some(LoadFailure {
        importer: importer.clone(),
        import: *import,
        error,
    })
}

/// The error that an import fails with. The file the program starts with is called what the
/// caller calls it.
pub(crate) fn import_failure(
    workspace: &mut Workspace,
    failure: &LoadFailure,
    entry: &Path,
    shown: &Path,
) -> Failure {
    let mut fault = Fault::runtime(failure.error.to_string());
    if let Ok(file) = workspace.parsed(&failure.importer) {
        let name = match *failure.importer == *entry {
            true => shown,
            false => &failure.importer,
        };
        let source = Rc::new(source_of(name, &file, false));
        let offset = import_offset(&file, failure.import);
        let line = source.lines.position(&source.text, offset).line;
        fault.trace.push(TraceStep {
            function: None,
            source,
            offset,
        });
        fault.line = line;
        fault.annotate(0);
    }
    fault
}

/// Where an import of a file is written.
fn import_offset(file: &SourceFile, import: usize) -> u32 {
    let statements = file.parsed.module.statements.iter();
    let mut imports = statements.filter(|statement| match &statement.kind {
        StatementKind::Item(item) => matches!(item.kind, ItemKind::Import(_)),
        _ => false,
    });
    imports
        .nth(import)
        .map_or(0, |statement| statement.span.start)
}

/// The functions that a file imports: from where, to where.
pub(crate) fn bindings(
    workspace: &mut Workspace,
    file: &Arc<Path>,
    loaded: &HashMap<Arc<Path>, Loaded>,
) -> Vec<(u32, u32)> {
    let Some(importer) = loaded.get(file) else {
        return Vec::new();
    };
    let bound = workspace.bindings(file);
    let pairs = bound.iter().filter_map(|bound| {
        let exporter = loaded.get(&bound.function.module)?;
        let from = exporter.global(&bound.function.name, false)?;
        let to = importer.global(&bound.function.name, true)?;
        Some((from, to))
    });
    pairs.collect()
}

/// Copies functions to where they are imported, if they are there yet.
pub(crate) fn bind(machine: &mut Machine, pairs: &[(u32, u32)]) {
    for (from, to) in pairs {
        let value = machine.globals[*from as usize].clone();
        if !matches!(value, Value::Absent) {
            machine.globals[*to as usize] = value;
        }
    }
}

pub(crate) fn source_of(path: &Path, file: &SourceFile, is_library: bool) -> Source {
    let text: Rc<str> = Rc::from(&*file.text);
    let is_standard = path.starts_with("<stdlib>");
    Source {
        path: path.display().to_string(),
        folder: (!is_standard)
            .then(|| path.parent().map(PathBuf::from))
            .flatten(),
        lines: LineIndex::new(&text),
        text,
        is_library,
        coverage: None,
    }
}

pub(crate) fn load_file(
    machine: &mut Machine,
    workspace: &mut Workspace,
    file: &Arc<Path>,
    shown: &Path,
    entry: Option<&Entry>,
    loaded: &mut HashMap<Arc<Path>, Loaded>,
) -> Result<Rc<Closure>, LoadError> {
    let parsed = workspace.parsed(file).map_err(|error| LoadError {
        message: error.to_string(),
    })?;
    let imported = workspace.imported(file);
    let role = if entry.is_some() {
        Role::Entry
    } else {
        Role::Imported
    };
    let resolved = resolve(&parsed.parsed.module, &imported, role);
    let mut source = source_of(shown, &parsed, false);
    if let Some(entry) = entry {
        source.folder = file.parent().map(PathBuf::from);
        *machine.library.get() = Entrance::of(file, &parsed.parsed.module, entry);
    }
    if machine.covered.is_some() && source.folder.is_some() {
        source.coverage = Some(Coverage::default());
    }
    let unit = new_unit(machine, source, &resolved, role, None);
    if entry.is_some() {
        machine.entry_module = Some(unit.module);
    }
    if unit.source.coverage.is_some() {
        machine
            .covered
            .get_or_insert_default()
            .push(unit.source.clone());
    }
    let function = compile_unit(machine, &parsed, &imported, &resolved, &unit, entry)?;
    let top = resolved
        .top
        .iter()
        .map(|top| (top.name.clone(), top.is_imported));
    let file_loaded = Loaded {
        globals: unit.globals,
        top: top.collect(),
    };
    loaded.insert(file.clone(), file_loaded);
    Ok(Rc::new(Closure {
        function,
        captures: Vec::new(),
    }))
}

/// Makes room for the top level of a file. What is typed at a prompt has room already for the
/// names that were there before.
pub(crate) fn new_unit(
    machine: &mut Machine,
    source: Source,
    resolved: &Resolved,
    role: Role,
    session: Option<&Session>,
) -> Unit {
    let known = |name: &str| session.and_then(|session| session.global(name));
    let mut globals = Vec::with_capacity(resolved.top.len());
    for top in &resolved.top {
        globals.push(known(&top.name).unwrap_or_else(|| {
            machine.globals.push(Value::Absent);
            narrow(machine.globals.len() - 1)
        }));
    }
    let module = match session.and_then(|session| session.module) {
        Some(module) => module,
        None => {
            machine.names.push(HashMap::new());
            narrow(machine.names.len() - 1)
        }
    };
    let names = resolved.top.iter().zip(&globals);
    let names = names.map(|(top, at)| (top.name.to_string(), *at));
    machine.names[module as usize].extend(names);
    machine.is_traced |= !source.is_ours() && speaks_of_tracing(&source.text);
    Unit {
        is_traced: machine.is_traced && !source.is_ours(),
        source: Rc::new(source),
        role,
        globals,
        module,
    }
}

/// There are fewer names in all files than bytes.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("there are fewer than four billion names")
}

pub(crate) fn compile_unit(
    machine: &mut Machine,
    file: &SourceFile,
    imported: &Imported,
    resolved: &Resolved,
    unit: &Unit,
    entry: Option<&Entry>,
) -> Result<Rc<Function>, LoadError> {
    let entry = match entry {
        Some(Entry::Named(name)) => compile::Entry::Pipeline(name),
        Some(Entry::Default) | None => compile::Entry::Default,
    };
    let module = &file.parsed.module;
    let compiled = compile::compile(
        module,
        resolved,
        imported,
        unit,
        entry,
        &mut machine.interner,
    );
    let compiled = compiled.map_err(|error| LoadError {
        message: error.to_string(),
    })?;
    let function = compiled.main;
    verify(&function, machine.globals.len()).map_err(|message| LoadError {
        message: format!("the compiler made something that cannot run: {message}"),
    })?;
    Ok(function)
}

/// Compiles a file of the library. It has functions only, and they capture nothing, so there
/// is nothing to run.
pub(crate) fn load_library_file(machine: &mut Machine, name: &'static str) -> Result<(), Failure> {
    let Some(text) = machine.registry.file_text(name) else {
        return Err(Fault::runtime(format!("the library has no file `{name}`")));
    };
    let file = SourceFile::of_text(text);
    let imported = Imported::default();
    let resolved = resolve(&file.parsed.module, &imported, Role::Imported);
    let path = PathBuf::from(format!("<library>/{name}.harn"));
    let source = source_of(&path, &file, true);
    let unit = new_unit(machine, source, &resolved, Role::Imported, None);
    let compiled = compile_unit(machine, &file, &imported, &resolved, &unit, None);
    let main =
        compiled.map_err(|error| Fault::runtime(format!("library file `{name}`: {error}")))?;
    if let Some(error) = file.parsed.errors.first() {
        return Err(Fault::runtime(format!(
            "library file `{name}`: {}",
            error.message
        )));
    }
    for (top, at) in resolved.top.iter().zip(unit.globals) {
        let function = main
            .functions
            .iter()
            .find(|one| one.name.as_ref() == Some(&top.name));
        let Some(function) = function else {
            continue;
        };
        let closure = Rc::new(Closure {
            function: function.clone(),
            captures: Vec::new(),
        });
        machine.globals[at as usize] = Value::Closure(closure.clone());
        let name_of = machine.registry.function_name(name, &top.name);
        if let Some(function) = name_of {
            machine.library_functions.insert((name, function), closure);
        }
    }
    Ok(())
}
