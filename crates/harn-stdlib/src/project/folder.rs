//! A folder that is looked at.

use std::path::{Path, PathBuf};

use harn_machine::{Answer, Context, Failure, FileRequest, Value, thrown};

use crate::files::root::resolve;
use crate::files::{perform, status};

/// What is in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_folder: bool,
}

impl Entry {
    pub(super) fn is_hidden(&self) -> bool {
        self.name.starts_with('.')
    }
}

/// The folder that a path names; for a file, the one it is in.
pub(super) fn start(
    context: &mut Context<'_>,
    function: &str,
    path: &Value,
) -> Result<PathBuf, Failure> {
    let path = match path {
        Value::Nil => ".".into(),
        path => path.to_text(),
    };
    let place = resolve(context, &path);
    let Some(found) = status(context, place.clone()) else {
        return thrown(format!("{function}: path does not exist: {path}"));
    };
    let place = match perform(context, FileRequest::Canonical(place.clone())) {
        Ok(Answer::Text(Some(canonical))) => PathBuf::from(canonical),
        Ok(_) => place,
        Err(reason) => return thrown(format!("{function}: failed to resolve path: {reason}")),
    };
    Ok(match found.is_folder {
        true => place,
        false => place.parent().unwrap_or(&place).to_owned(),
    })
}

/// What is in a folder, by name. One that cannot be read is empty. A link counts as the file
/// it names; one that names a folder is not followed, because it may lead in a circle.
pub(super) fn entries(context: &mut Context<'_>, folder: &Path) -> Vec<Entry> {
    let listed = match perform(context, FileRequest::List(folder.to_owned())) {
        Ok(Answer::Pairs(listed)) => listed,
        _ => Vec::new(),
    };
    let mut entries = Vec::new();
    for (name, kind) in listed {
        let is_wanted = match kind.as_str() {
            "folder" | "file" => true,
            "link" => status(context, folder.join(&name)).is_some_and(|found| found.is_file),
            _ => false,
        };
        if is_wanted {
            let is_folder = kind == "folder";
            entries.push(Entry { name, is_folder });
        }
    }
    entries
}

/// The version control that a folder is under: its own, or that of a folder around it.
pub(super) fn version_control(context: &mut Context<'_>, folder: &Path) -> Value {
    for place in folder.ancestors() {
        for (name, marker) in [("git", ".git"), ("hg", ".hg")] {
            if status(context, place.join(marker)).is_some() {
                return name.into();
            }
        }
    }
    Value::Nil
}

/// The extension of a name, in lower case.
pub(super) fn extension(name: &str) -> String {
    let extension = Path::new(name).extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}
