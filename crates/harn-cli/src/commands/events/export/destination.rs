//! A file that gets its name when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::Failure;
use crate::hidden::escaped_json;

/// A file that is being written under another name. Unless it is finished, it goes.
pub(in crate::commands) struct FileInMaking {
    file: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
    is_finished: bool,
}

impl FileInMaking {
    pub(in crate::commands) fn new(path: &Path) -> Result<Self, Failure> {
        let Some(name) = path.file_name() else {
            let shown = path.display();
            return Err(Failure::Told(format!("{shown} is not the name of a file")));
        };
        let mut partial = name.to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(partial);
        let file = File::create_new(&partial).map_err(|error| cannot_write(path, &error))?;
        Ok(Self {
            file: BufWriter::new(file),
            partial,
            path: path.to_owned(),
            is_finished: false,
        })
    }

    /// Writes a document on a line of its own.
    pub(in crate::commands) fn write(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string(document).map_err(io::Error::from);
        json.and_then(|json| self.file.write_all(escaped_json(&json).as_bytes()))
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(|error| cannot_write(&self.path, &error))
    }

    /// Writes a text as it is.
    pub(in crate::commands) fn write_text(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| cannot_write(&self.path, &error))
    }

    /// Gives it its name, once it would survive a power cut.
    pub(in crate::commands) fn finish(mut self) -> Result<(), Failure> {
        let written = self.file.flush();
        let synced = written.and_then(|()| self.file.get_ref().sync_all());
        let named = synced.and_then(|()| fs::rename(&self.partial, &self.path));
        named.map_err(|error| cannot_write(&self.path, &error))?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for FileInMaking {
    fn drop(&mut self) {
        if !self.is_finished {
            let _it_is_only_litter = fs::remove_file(&self.partial);
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Told(format!("cannot write {}: {error}", path.display()))
}
