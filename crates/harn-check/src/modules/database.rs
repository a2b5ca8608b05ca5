//! Asking for values, and remembering them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::inputs::{Inputs, ReadText, TextInput};
use super::memo::{Dependency, FileId, Memo, Revision};
use super::queries::{
    ExportsQuery, ImportedQuery, OutlineQuery, ParsedQuery, ProblemsQuery, ResolutionsQuery,
};

/// How often each kind of value was made. What was remembered does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Computations {
    /// Trees.
    pub parsed: u64,
    /// What modules declare.
    pub outlines: u64,
    /// Where imports lead.
    pub resolutions: u64,
    /// What modules export.
    pub exports: u64,
    /// What imports bring.
    pub imported: u64,
    /// What is wrong with imports.
    pub problems: u64,
}

/// A kind of value that each file has.
pub(super) trait Query {
    type Value: Clone + PartialEq;

    /// Where it is remembered.
    fn slot(cells: &mut Cells) -> &mut Option<Memo<Self::Value>>;

    /// What others note that were made from it; `None` if nothing is.
    fn dependency(file: FileId) -> Option<Dependency>;

    /// Where it is counted.
    fn count(computations: &mut Computations) -> &mut u64;

    /// Makes it. What it is made from is asked of the database, which notes it.
    fn compute(database: &mut Database, file: FileId) -> Self::Value;
}

/// What is remembered about a file.
pub(super) struct Cells {
    path: Arc<Path>,
    text: Option<TextInput>,
    pub(super) parsed: Option<Memo<<ParsedQuery as Query>::Value>>,
    pub(super) outline: Option<Memo<<OutlineQuery as Query>::Value>>,
    pub(super) resolutions: Option<Memo<<ResolutionsQuery as Query>::Value>>,
    pub(super) exports: Option<Memo<<ExportsQuery as Query>::Value>>,
    pub(super) imported: Option<Memo<<ImportedQuery as Query>::Value>>,
    pub(super) problems: Option<Memo<<ProblemsQuery as Query>::Value>>,
}

impl Cells {
    fn new(path: Arc<Path>) -> Self {
        Self {
            path,
            text: None,
            parsed: None,
            outline: None,
            resolutions: None,
            exports: None,
            imported: None,
            problems: None,
        }
    }
}

/// Inputs and everything made from them.
pub(super) struct Database {
    pub(super) inputs: Inputs,
    pub(super) computations: Computations,
    files: Vec<Cells>,
    numbers: HashMap<Arc<Path>, FileId>,
    /// For each value that is being made, what it was made from so far. Values are made from
    /// others in a few steps, never from themselves: what goes in circles, or is as deep as a
    /// program has modules, is walked by one query with a stack of its own.
    active: Vec<Vec<Dependency>>,
}

impl Database {
    pub(super) fn new(inputs: Inputs) -> Self {
        Self {
            inputs,
            computations: Computations::default(),
            files: Vec::new(),
            numbers: HashMap::new(),
            active: Vec::new(),
        }
    }

    /// The file of a canonical path.
    pub(super) fn file(&mut self, path: &Path) -> FileId {
        if let Some(file) = self.numbers.get(path) {
            return *file;
        }
        let number = u32::try_from(self.files.len()).expect("there is not that much memory");
        let path: Arc<Path> = Arc::from(path);
        self.files.push(Cells::new(Arc::clone(&path)));
        self.numbers.insert(path, FileId(number));
        FileId(number)
    }

    /// The file of any path.
    pub(super) fn file_at(&mut self, path: &Path) -> FileId {
        let canonical = self.inputs.canonical(path);
        self.file(&canonical)
    }

    pub(super) fn path(&self, file: FileId) -> &Arc<Path> {
        &self.files[file.0 as usize].path
    }

    fn cells(&mut self, file: FileId) -> &mut Cells {
        &mut self.files[file.0 as usize]
    }

    /// The text of a file.
    pub(super) fn text(&mut self, file: FileId) -> ReadText {
        self.note(Some(Dependency::Text(file)));
        self.text_input(file).text.clone()
    }

    fn text_input(&mut self, file: FileId) -> &TextInput {
        let revision = self.inputs.revision;
        let cells = &mut self.files[file.0 as usize];
        cells.text.get_or_insert_with(|| TextInput {
            text: self.inputs.read(&cells.path),
            changed_at: revision,
        })
    }

    /// Whether the text of a file was ever asked for.
    pub(super) fn has_read(&self, file: FileId) -> bool {
        self.files[file.0 as usize].text.is_some()
    }

    /// The files whose texts were asked for and that are, or are in, `path`.
    pub(super) fn files_read_below(&self, path: &Path) -> Vec<FileId> {
        let read = |cells: &&Cells| cells.text.is_some() && cells.path.starts_with(path);
        let cells = self.files.iter().filter(read);
        cells
            .filter_map(|cells| self.numbers.get(&cells.path).copied())
            .collect()
    }

    /// Puts a text in the place of the one that was read.
    pub(super) fn replace_text(&mut self, file: FileId, text: ReadText) {
        let before = self.text_input(file);
        if before.text == text {
            return;
        }
        let appeared = before.text.is_ok() != text.is_ok();
        let changed_at = self.inputs.text_changed();
        self.cells(file).text = Some(TextInput { text, changed_at });
        if appeared {
            self.inputs.layout_changed();
        }
    }

    /// Notes that a value is being made from which files there are.
    pub(super) fn looks_at_layout(&mut self) {
        self.note(Some(Dependency::Layout));
    }

    /// A value, from memory if it is still right.
    pub(super) fn get<Q: Query>(&mut self, file: FileId) -> Q::Value {
        self.refresh::<Q>(file);
        self.note(Q::dependency(file));
        self.remembered::<Q>(file).value.clone()
    }

    fn note(&mut self, dependency: Option<Dependency>) {
        if let (Some(active), Some(dependency)) = (self.active.last_mut(), dependency) {
            active.push(dependency);
        }
    }

    fn remembered<Q: Query>(&mut self, file: FileId) -> &mut Memo<Q::Value> {
        let memo = Q::slot(self.cells(file)).as_mut();
        memo.expect("a value was made before it is looked up")
    }

    /// Makes sure that what is remembered is right.
    fn refresh<Q: Query>(&mut self, file: FileId) {
        let now = self.inputs.revision;
        let Some(memo) = Q::slot(self.cells(file)) else {
            return self.compute::<Q>(file);
        };
        if memo.verified_at == now {
            return;
        }
        let verified_at = memo.verified_at;
        let dependencies = Arc::clone(&memo.dependencies);
        let stale = |dependency: &Dependency| self.changed_at(*dependency) > verified_at;
        if dependencies.iter().any(stale) {
            return self.compute::<Q>(file);
        }
        self.remembered::<Q>(file).verified_at = now;
    }

    fn compute<Q: Query>(&mut self, file: FileId) {
        let now = self.inputs.revision;
        *Q::count(&mut self.computations) += 1;
        self.active.push(Vec::new());
        let value = Q::compute(self, file);
        let dependencies = self.active.pop().unwrap_or_default().into();
        let slot = Q::slot(self.cells(file));
        let same = slot.take_if(|memo| memo.value == value);
        *slot = Some(match same {
            // The old value stays, so that whoever holds it can see that nothing changed.
            Some(before) => Memo {
                dependencies,
                verified_at: now,
                ..before
            },
            None => Memo {
                value,
                dependencies,
                verified_at: now,
                changed_at: now,
            },
        });
    }

    /// When something last changed, after looking whether it has.
    fn changed_at(&mut self, dependency: Dependency) -> Revision {
        match dependency {
            Dependency::Layout => self.inputs.layout_changed_at,
            Dependency::Text(file) => self.text_input(file).changed_at,
            Dependency::Parsed(file) => self.value_changed_at::<ParsedQuery>(file),
            Dependency::Outline(file) => self.value_changed_at::<OutlineQuery>(file),
            Dependency::Resolutions(file) => self.value_changed_at::<ResolutionsQuery>(file),
            Dependency::Exports(file) => self.value_changed_at::<ExportsQuery>(file),
        }
    }

    fn value_changed_at<Q: Query>(&mut self, file: FileId) -> Revision {
        self.refresh::<Q>(file);
        self.remembered::<Q>(file).changed_at
    }
}
