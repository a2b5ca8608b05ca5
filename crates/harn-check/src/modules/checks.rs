//! What was found out about files, remembered until it may be different.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::error::Unreadable;
use super::source_file::SourceFile;
use super::workspace::Workspace;
use crate::imported::Imported;

/// The results of one kind of check, by file.
///
/// A check sees a file and what its imports bring. As long as both stay the same its result
/// is remembered, so that an edit checks the edited file again, and another one only if that
/// now gets something else from it.
#[derive(Debug)]
pub struct Checks<T> {
    remembered: HashMap<Arc<Path>, Checked<T>>,
}

#[derive(Debug)]
struct Checked<T> {
    file: Arc<SourceFile>,
    imported: Arc<Imported>,
    result: Arc<T>,
}

impl<T> Default for Checks<T> {
    fn default() -> Self {
        Self {
            remembered: HashMap::new(),
        }
    }
}

impl<T> Checks<T> {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The result for a file, from memory if it is still right.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(
        &mut self,
        workspace: &mut Workspace,
        path: impl AsRef<Path>,
        check: impl FnOnce(&SourceFile, &Imported) -> T,
    ) -> Result<Arc<T>, Unreadable> {
        let file = workspace.parsed(path.as_ref())?;
        let imported = workspace.imported(path);
        if let Some(known) = self.remembered.get(&file.path)
            && Arc::ptr_eq(&known.file, &file)
            && Arc::ptr_eq(&known.imported, &imported)
        {
            return Ok(Arc::clone(&known.result));
        }
        let result = Arc::new(check(&file, &imported));
        let checked = Checked {
            imported,
            result: Arc::clone(&result),
            file: Arc::clone(&file),
        };
        self.remembered.insert(Arc::clone(&file.path), checked);
        Ok(result)
    }
}
