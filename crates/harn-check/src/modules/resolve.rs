//! Where an import leads.
//!
//! ```text
//! "std/NAME" ─► a built-in module
//! otherwise  ─► beside the importing file ─► in a package of a directory above ─► nowhere
//! ```
//!
//! Files are looked for, not directories: a directory is never a module, so one that has the
//! name of a module does not hide it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;

use super::database::Database;
use super::error::ImportError;
use super::outline::ImportDeclaration;
use super::package;
use super::standard;

/// An import and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedImport {
    /// The import as it is written.
    pub import: ImportDeclaration,
    /// The one path of the module, or why there is none. The module may still be broken.
    pub target: Result<Arc<Path>, ImportError>,
}

/// Where an import of `importer` leads.
pub(super) fn resolve(
    database: &mut Database,
    importer: &Path,
    path: &str,
) -> Result<Arc<Path>, ImportError> {
    if let Some(name) = path.strip_prefix("std/") {
        return standard::path(name)
            .ok_or_else(|| ImportError::UnknownStandard(SmolStr::new(name)));
    }
    database.looks_at_layout();
    let directory = importer.parent().unwrap_or(Path::new(""));
    let beside = directory.join(path);
    if let Some(file) = module_file(database, &beside) {
        return Ok(database.inputs.canonical(&file).into());
    }
    if let Some(file) = package::find(database, directory, path)? {
        return Ok(file.into());
    }
    Err(unreadable(database, &beside))
}

/// The file a path means: itself, or with `.harn` after it.
pub(super) fn module_file(database: &Database, path: &Path) -> Option<PathBuf> {
    if database.inputs.is_file(path) {
        return Some(path.to_owned());
    }
    with_extension(path).filter(|path| database.inputs.is_file(path))
}

/// The path with `.harn` after it, if it has no extension.
fn with_extension(path: &Path) -> Option<PathBuf> {
    let bare = path.extension().is_none() && path.file_name().is_some();
    bare.then(|| path.with_extension("harn"))
}

/// Says why there is nothing at a path that is not the path of a module.
fn unreadable(database: &Database, beside: &Path) -> ImportError {
    let path = match database.inputs.exists(beside) {
        true => beside.to_owned(),
        false => with_extension(beside).unwrap_or_else(|| beside.to_owned()),
    };
    // It was not there a moment ago. Should it be now, the next look will find it.
    let gone = || std::io::Error::from(std::io::ErrorKind::NotFound).into();
    let reason = database.inputs.read(&path).err().unwrap_or_else(gone);
    ImportError::Unreadable { path, reason }
}
