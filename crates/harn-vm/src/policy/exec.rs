//! Which programs may be run.
//!
//! A name is looked up in the `PATH` of the run, never in one that the program gives to the
//! process, so that a rule about `git` is about the same file for both. The file that was
//! found is the one that is run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Policy, Refusal};

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Policy {
    /// Whether a program may be run that is started in `folder`, and the file it is; `None` if
    /// every program may.
    ///
    /// # Errors
    /// The first rule that forbids it.
    pub(crate) fn check_program(
        &self,
        program: &str,
        folder: &Path,
        path: Option<&str>,
    ) -> Result<Option<PathBuf>, Refusal> {
        if self
            .layers
            .iter()
            .all(|layer| layer.rules.exec.is_anything())
        {
            return Ok(None);
        }
        let path = path.unwrap_or(USUAL_PATH);
        let found = located(program, folder, path);
        let is_it = |allowed: &String| match &found {
            Some(found) => located(allowed, Path::new("."), path).as_ref() == Some(found),
            // What is not there cannot be run; the error should say so.
            None => allowed == program,
        };
        self.check_each(
            |rules| &rules.exec,
            "exec",
            is_it,
            Clone::clone,
            || format!("attempted to run '{program}'"),
        )?;
        Ok(found)
    }
}

/// The file that a program is. Links in its folder are followed, but not the name itself:
/// programs that are one file under many names ask by which they were called.
fn located(program: &str, folder: &Path, path: &str) -> Option<PathBuf> {
    let candidate = match program.contains('/') {
        true => Some(folder.join(program)),
        false => {
            let folders = path.split(':').filter(|folder| folder.starts_with('/'));
            let mut candidates = folders.map(|folder| Path::new(folder).join(program));
            candidates.find(|candidate| can_be_run(candidate))
        }
    };
    let candidate = candidate?;
    let folder = fs::canonicalize(candidate.parent()?).ok()?;
    Some(folder.join(candidate.file_name()?))
}

fn can_be_run(file: &Path) -> bool {
    let facts = fs::metadata(file);
    facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}
