//! What one can do with programs: `harn check`, `fmt`, `lint`, `explain`, `parse`, `run` and `test`.

mod bench;
mod check;
mod check_many;
mod conformance;
mod disasm;
mod doc;
mod explain;
mod fmt;
mod lint;
mod new;
mod new_agent;
mod notes;
mod parse;
mod permissions;
mod repl;
mod run;
mod test;
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::program::{Call, finished, program};

/// A folder with programs, gone after the test. Commands are called inside it, so that files
/// have short names.
pub(crate) struct Programs {
    folder: TempDir,
}

impl Programs {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let programs = Self { folder };
        for (name, text) in files {
            programs.add(name, text);
        }
        programs
    }

    /// Writes a file, and the folders it is in.
    pub(crate) fn add(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("it is below ours");
        fs::create_dir_all(folder).expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the folder is ours")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.current_dir(self.root()).args(arguments);
        command
    }

    pub(crate) fn harn(&self, arguments: &[&str]) -> Call {
        finished(&mut self.command(arguments))
    }
}

impl Call {
    /// Fails the test unless this is all it said.
    #[track_caller]
    pub(crate) fn says(self, stdout: &str, stderr: &str) -> Self {
        assert_eq!(
            (self.stdout.as_str(), self.stderr.as_str()),
            (stdout, stderr)
        );
        self
    }
}
