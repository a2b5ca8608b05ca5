//! The text of the repository, read once and shared by the checks.
//!
//! We ask git, so that build output is left out and a new file is checked
//! before it is ever committed.

use std::fs;
use std::process::Command;

use crate::error::Error;
use crate::process;
use crate::repo::Repo;

/// One file of text.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// For tests: files that exist only in memory.
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_string(),
            text: text.to_string(),
        }
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.path
            .rsplit_once('.')
            .is_some_and(|(_, end)| end == extension)
    }
}

/// Every file git knows or would offer to add.
#[derive(Debug)]
pub(crate) struct Sources {
    /// Those that are text, by path.
    pub(crate) files: Vec<SourceFile>,
    /// All of them, also pictures and other bytes.
    pub(crate) paths: Vec<String>,
}

impl Sources {
    pub(crate) fn read(repo: &Repo) -> Result<Self, Error> {
        let mut paths = listed_by_git(repo)?;
        // A file that was deleted and not yet committed is still listed.
        paths.retain(|path| repo.path(path).is_file());
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in &paths {
            let full = repo.path(path);
            let bytes = fs::read(&full).map_err(Error::file(&full))?;
            if bytes.contains(&0) {
                continue;
            }
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(SourceFile {
                    path: path.clone(),
                    text,
                });
            }
        }
        Ok(Self { files, paths })
    }
}

fn listed_by_git(repo: &Repo) -> Result<Vec<String>, Error> {
    let mut git = Command::new("git");
    git.current_dir(repo.root());
    // A checkout owned by someone else, as on a build server, is only read here.
    git.args(["-c", "safe.directory=*"]);
    git.args(["ls-files", "-co", "--exclude-standard", "-z"]);
    let listing = process::capture(git)?;
    Ok(listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(ToString::to_string)
        .collect())
}
