//! The machine that a command would run on, as far as rules ask.

use std::path::{Path, PathBuf};

use harn_shell::Surroundings;

use crate::real_path::resolve;

/// How many links a program is followed through.
const LINKS_MAX: usize = 40;

/// Where a command would run, and where its programs would be found.
#[derive(Clone, Debug, Default)]
pub struct CommandPlace {
    /// The folders in which commands may change files, the one they run in first.
    roots: Vec<PathBuf>,
    /// The folders in which programs are looked for.
    search: Vec<PathBuf>,
}

impl CommandPlace {
    /// A place with these folders and this value of `PATH`.
    pub fn new(roots: Vec<PathBuf>, search_path: &str) -> Self {
        let search = search_path.split(':').map(PathBuf::from);
        Self {
            roots,
            search: search.collect(),
        }
    }

    /// The folder that commands run in.
    pub fn folder(&self) -> Option<&Path> {
        self.roots.first().map(PathBuf::as_path)
    }

    fn at(&self, file: &str) -> Option<PathBuf> {
        let path = Path::new(file);
        match (path.is_absolute(), self.roots.first()) {
            (true, _) => Some(path.to_owned()),
            (false, Some(folder)) => Some(folder.join(path)),
            (false, None) => None,
        }
    }

    fn is_inside(&self, file: &Path) -> bool {
        let Some(real) = resolve(file) else {
            return false;
        };
        let mut roots = self.roots.iter();
        roots.any(|root| resolve(root).is_some_and(|root| real.path.starts_with(&root.path)))
    }
}

impl Surroundings for CommandPlace {
    fn files(&self, program: &str) -> Vec<PathBuf> {
        let found = match program.contains('/') {
            true => self.at(program).filter(|file| file.is_file()),
            false => {
                let mut found = self.search.iter().map(|folder| {
                    // An empty entry, or a relative one, starts where the command runs.
                    let folder = folder.to_string_lossy();
                    self.at(&folder).map(|folder| folder.join(program))
                });
                found.find_map(|file| file.filter(|file| file.is_file()))
            }
        };
        let mut files = Vec::from_iter(found);
        while let Some(target) = files.last().and_then(|file| linked(file)) {
            if files.len() > LINKS_MAX {
                break;
            }
            files.push(target);
        }
        if let Some(real) = files.last().and_then(|file| resolve(file)) {
            files.push(real.path);
        }
        files
    }

    fn is_writable(&self, file: &Path) -> bool {
        self.is_inside(file)
    }

    fn may_write(&self, file: &str) -> bool {
        self.at(file).is_some_and(|file| self.is_inside(&file))
    }
}

fn linked(file: &Path) -> Option<PathBuf> {
    let target = std::fs::read_link(file).ok()?;
    Some(file.parent()?.join(target))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_of_the_workspace_is_none_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/ls"), "").unwrap();
        symlink("/bin/sh", root.join("tool")).unwrap();
        let path = format!("{}:/usr/bin:/bin", root.join("bin").display());
        let place = CommandPlace::new(vec![root.clone()], &path);
        assert_eq!(place.files("ls")[0], root.join("bin/ls"));
        assert!(place.is_writable(&place.files("ls")[0]));
        assert!(!place.is_writable(&place.files("sh")[0]));
        let linked = place.files("./tool");
        assert_eq!(linked[0], root.join("./tool"));
        assert!(linked.contains(&PathBuf::from("/bin/sh")), "{linked:?}");
        assert!(place.files("no-such-program").is_empty());
    }

    #[test]
    fn only_files_below_the_roots_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("/etc", root.join("out")).unwrap();
        let place = CommandPlace::new(vec![root], "");
        for (file, expected) in [
            ("a", true),
            ("a/b", true),
            ("../a", false),
            ("out/a", false),
            ("/etc/a", false),
        ] {
            assert_eq!(place.may_write(file), expected, "{file}");
        }
        assert!(!CommandPlace::default().may_write("a"));
    }
}
