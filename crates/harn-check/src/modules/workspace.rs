//! The files of a program, and everything one can ask about how they belong together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_syntax::Diagnostic;

use super::bindings::{BoundFunction, bindings};
use super::database::{Computations, Database};
use super::diagnostics::diagnostics;
use super::error::Unreadable;
use super::exports::Exports;
use super::inputs::Inputs;
use super::load_plan::{Ends, LoadPlan, load_plan};
use super::problems::{ImportProblem, problems_of_entry};
use super::queries::{ExportsQuery, ImportedQuery, ParsedQuery, ResolutionsQuery};
use super::reachable::reachable;
use super::resolve::ResolvedImport;
use super::source::{FileSource, TEXT_BYTES_MAX};
use super::source_file::SourceFile;
use crate::imported::Imported;

/// The files of a program, and everything one can ask about how they belong together.
///
/// Files are read when somebody asks for them, and again when [`refresh`](Self::refresh) says
/// that they have changed. Answers are remembered. As long as an answer stays the same, so
/// does its `Arc`: what was made from one needs to be made again only if [`Arc::ptr_eq`] is
/// false.
pub struct Workspace {
    database: Database,
    ends: Ends,
}

impl Workspace {
    /// The files of a source.
    pub fn new(source: Box<dyn FileSource>) -> Self {
        Self {
            database: Database::new(Inputs::new(source)),
            ends: Ends::default(),
        }
    }

    /// Puts a text in the place of a file, as editors do. The file need not exist.
    pub fn set_text(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) {
        let text: Arc<str> = text.into();
        let file = self.database.file_at(path.as_ref());
        let canonical = Arc::clone(self.database.path(file));
        let text = match text.len() as u64 > TEXT_BYTES_MAX {
            true => Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge).into()),
            false => Ok(text),
        };
        self.database.replace_text(file, text);
        self.database.inputs.set_overridden(&canonical, true);
    }

    /// Takes a file as it is again, after [`set_text`](Self::set_text).
    pub fn remove_override(&mut self, path: impl AsRef<Path>) {
        let file = self.database.file_at(path.as_ref());
        let canonical = Arc::clone(self.database.path(file));
        self.database.inputs.set_overridden(&canonical, false);
        let text = self.database.inputs.read(&canonical);
        self.database.replace_text(file, text);
    }

    /// Looks at a file, or at everything below a directory, again, because it was written,
    /// created or removed.
    pub fn refresh(&mut self, path: impl AsRef<Path>) {
        let root = self.database.file_at(path.as_ref());
        let directory = Arc::clone(self.database.path(root));
        for file in self.database.files_read_below(&directory) {
            let canonical = Arc::clone(self.database.path(file));
            if !self.database.inputs.is_overridden(&canonical) {
                let text = self.database.inputs.read(&canonical);
                self.database.replace_text(file, text);
            }
        }
        if !self.database.has_read(root) {
            // Nobody has read it, but somebody may have looked for it.
            self.database.inputs.layout_changed();
        }
    }

    /// The one path a file is known by.
    pub fn canonical(&self, path: impl AsRef<Path>) -> PathBuf {
        self.database.inputs.canonical(path.as_ref())
    }

    /// A file as a tree.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn parsed(&mut self, path: impl AsRef<Path>) -> Result<Arc<SourceFile>, Unreadable> {
        let file = self.database.file_at(path.as_ref());
        self.database.get::<ParsedQuery>(file)
    }

    /// The imports of a file and where they lead.
    pub fn imports(&mut self, path: impl AsRef<Path>) -> Arc<[ResolvedImport]> {
        let file = self.database.file_at(path.as_ref());
        self.database.get::<ResolutionsQuery>(file)
    }

    /// What a file exports.
    pub fn exports(&mut self, path: impl AsRef<Path>) -> Arc<Exports> {
        let file = self.database.file_at(path.as_ref());
        self.database.get::<ExportsQuery>(file)
    }

    /// What the imports of a file bring into it.
    pub fn imported(&mut self, path: impl AsRef<Path>) -> Arc<Imported> {
        let file = self.database.file_at(path.as_ref());
        self.database.get::<ImportedQuery>(file)
    }

    /// The functions that the imports of a file bind, in order.
    pub fn bindings(&mut self, path: impl AsRef<Path>) -> Vec<BoundFunction> {
        let file = self.database.file_at(path.as_ref());
        bindings(&mut self.database, file)
    }

    /// What would go wrong when the imports of a file are executed, and what would end a
    /// program that starts with it. The latter is looked for each time, so the `Arc` is a new
    /// one if it lies in another file.
    pub fn import_problems(&mut self, path: impl AsRef<Path>) -> Arc<[ImportProblem]> {
        let file = self.database.file_at(path.as_ref());
        problems_of_entry(&mut self.database, &mut self.ends, file)
    }

    /// The same as diagnostics, for editors. A run does not show them: there an import fails
    /// when it is executed.
    pub fn import_diagnostics(&mut self, path: impl AsRef<Path>) -> Vec<Diagnostic> {
        let problems = self.import_problems(path.as_ref());
        match self.parsed(path) {
            Ok(file) => diagnostics(&file, &problems),
            Err(_) => Vec::new(),
        }
    }

    /// In which order the modules of a program are loaded that starts with a file, and which
    /// import ends it, if one does.
    pub fn load_plan(&mut self, path: impl AsRef<Path>) -> LoadPlan {
        let file = self.database.file_at(path.as_ref());
        load_plan(&mut self.database, file)
    }

    /// A file and every module it imports, directly or not, each after those it imports. What
    /// is broken does not hide the rest.
    pub fn reachable(&mut self, path: impl AsRef<Path>) -> Vec<Arc<Path>> {
        let file = self.database.file_at(path.as_ref());
        reachable(&mut self.database, file)
    }

    /// How often values were made so far, to see what is remembered.
    pub fn computations(&self) -> Computations {
        self.database.computations
    }
}
