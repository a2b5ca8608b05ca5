//! Modules of packages.
//!
//! Packages are directories in `.harn/packages`, of the importing file's directory or of one
//! above it, up to the one that holds `.git`:
//!
//! ```text
//! import "pkg"       .harn/packages/pkg/lib.harn, or .harn/packages/pkg.harn
//! import "pkg/a/b"   .harn/packages/pkg/a/b.harn, or what `[exports]` in its harn.toml
//!                    says about "a/b"
//! ```
//!
//! Whatever is found must lie inside its package, links followed, so that a package cannot
//! reach for files of its user.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::database::Database;
use super::error::ImportError;
use super::resolve::module_file;

/// The module a path means in a package of `directory` or of one above it.
pub(super) fn find(
    database: &mut Database,
    directory: &Path,
    path: &str,
) -> Result<Option<PathBuf>, ImportError> {
    let Some(package) = package_name(path) else {
        return Ok(None);
    };
    for ancestor in directory.ancestors() {
        let packages = ancestor.join(".harn").join("packages");
        if database.inputs.is_dir(&packages) {
            let found = find_in(database, &packages, package, path)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        if database.inputs.exists(&ancestor.join(".git")) {
            break;
        }
    }
    Ok(None)
}

/// The first part of a path that can be in a package.
fn package_name(path: &str) -> Option<&str> {
    let plain = |component| matches!(component, Component::Normal(_));
    let fits = !path.contains('\\') && Path::new(path).components().all(plain);
    let name = path.split('/').next()?;
    (fits && !name.is_empty()).then_some(name)
}

fn find_in(
    database: &mut Database,
    packages: &Path,
    package: &str,
    path: &str,
) -> Result<Option<PathBuf>, ImportError> {
    let root = packages.join(package);
    let whole = packages.join(path);
    let file = match database.inputs.is_dir(&whole) {
        true => module_file(database, &whole.join("lib.harn")),
        false => module_file(database, &whole),
    };
    if let Some(file) = file {
        // A package may be a single file. Then there is no directory to stay in but theirs.
        let inside = if database.inputs.is_dir(&root) {
            &root
        } else {
            packages
        };
        if let Some(file) = lies_inside(database, &file, inside) {
            return Ok(Some(file));
        }
    }
    let Some(export) = path
        .strip_prefix(package)
        .and_then(|it| it.strip_prefix('/'))
    else {
        return Ok(None);
    };
    let Some(target) = exported_file(database, &root, export)? else {
        return Ok(None);
    };
    let file = module_file(database, &root.join(target));
    Ok(file.and_then(|file| lies_inside(database, &file, &root)))
}

/// The canonical path of a file, if it is inside a directory.
fn lies_inside(database: &Database, file: &Path, directory: &Path) -> Option<PathBuf> {
    let file = database.inputs.canonical(file);
    file.starts_with(database.inputs.canonical(directory))
        .then_some(file)
}

/// What the `[exports]` of a package say about a name.
fn exported_file(
    database: &mut Database,
    root: &Path,
    export: &str,
) -> Result<Option<String>, ImportError> {
    let path = root.join("harn.toml");
    if !database.inputs.is_file(&path) {
        return Ok(None);
    }
    let manifest = database.file_at(&path);
    let broken = |reason| ImportError::Unreadable {
        path: path.clone(),
        reason,
    };
    let text = database.text(manifest).map_err(broken)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        broken(io::Error::new(io::ErrorKind::InvalidData, one_line(&error)).into())
    })?;
    let target = table.get("exports").and_then(|exports| exports.get(export));
    Ok(target.and_then(toml::Value::as_str).map(str::to_owned))
}

/// What is wrong with a manifest, without the picture that goes with it.
fn one_line(error: &toml::de::Error) -> String {
    error.message().lines().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_their_place_are_in_no_package() {
        for path in ["../x", "pkg/../x", "./x", "/x", "a\\b", ""] {
            assert_eq!(package_name(path), None, "{path}");
        }
        assert_eq!(package_name("pkg"), Some("pkg"));
        assert_eq!(package_name("pkg/a/b"), Some("pkg"));
    }
}
