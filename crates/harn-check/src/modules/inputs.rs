//! What everything is made from: the texts of files and which files there are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::clean::clean;
use super::error::Unreadable;
use super::memo::Revision;
use super::source::{FileSource, TEXT_BYTES_MAX};
use super::standard;

/// A text, or why there is none.
pub(super) type ReadText = Result<Arc<str>, Unreadable>;

/// A text that was read and when it last changed.
#[derive(Debug)]
pub(super) struct TextInput {
    pub(super) text: ReadText,
    pub(super) changed_at: Revision,
}

/// Files, and what editors have put in their place.
pub(super) struct Inputs {
    source: Box<dyn FileSource>,
    /// Files whose text is the one of an editor, by their canonical paths.
    overridden: HashSet<PathBuf>,
    /// The last change there was.
    pub(super) revision: Revision,
    /// The last change to which files there are.
    pub(super) layout_changed_at: Revision,
}

impl Inputs {
    pub(super) fn new(source: Box<dyn FileSource>) -> Self {
        Self {
            source,
            overridden: HashSet::new(),
            revision: Revision::default(),
            layout_changed_at: Revision::default(),
        }
    }

    /// The one path a file is known by. A file that does not exist has one too, so that it
    /// stays the same when the file comes into being.
    pub(super) fn canonical(&self, path: &Path) -> PathBuf {
        if standard::is_standard(path) {
            return path.to_owned();
        }
        if let Ok(canonical) = self.source.canonicalize(path) {
            return canonical;
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return clean(path);
        };
        match self.source.canonicalize(directory) {
            Ok(directory) => directory.join(name),
            Err(_) => clean(path),
        }
    }

    /// Whether there is such a file, on the disk or in an editor.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        (self.source.exists(path) && !self.source.is_dir(path))
            || self.overridden.contains(&self.canonical(path))
    }

    pub(super) fn is_dir(&self, path: &Path) -> bool {
        self.source.is_dir(path)
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.source.exists(path) || self.overridden.contains(&self.canonical(path))
    }

    /// The text as it is outside of editors.
    pub(super) fn read(&self, path: &Path) -> ReadText {
        if standard::is_standard(path) {
            return standard::read(path).map_err(Unreadable::from);
        }
        let text = self.source.read(path)?;
        match text.len() as u64 > TEXT_BYTES_MAX {
            true => Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge).into()),
            false => Ok(text),
        }
    }

    pub(super) fn is_overridden(&self, path: &Path) -> bool {
        self.overridden.contains(path)
    }

    /// Remembers whether an editor has the file. `path` is canonical.
    pub(super) fn set_overridden(&mut self, path: &Path, overridden: bool) {
        if overridden {
            self.overridden.insert(path.to_owned());
        } else {
            self.overridden.remove(path);
        }
    }

    /// Notes that some text has changed.
    pub(super) fn text_changed(&mut self) -> Revision {
        self.revision.advance()
    }

    /// Notes that there may be other files now.
    pub(super) fn layout_changed(&mut self) {
        self.layout_changed_at = self.revision.advance();
    }
}
