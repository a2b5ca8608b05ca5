//! Which paths tools must take care with.
//!
//! ```text
//! real path ─► state of Harn?  ─► closed: neither read nor written
//!           ─► git's own?      ─► read only
//!           ─► acted upon?     ─► guarded: a person is asked each time it is written
//!           ─► like a secret?  ─► a person is asked each time it is read or written
//! ```
//!
//! What Harn, an editor or a shell will itself act upon is guarded because a model that writes
//! it makes the next start run it. A path is judged after its links were followed; names are
//! compared as the most lenient file system would. `skills` and `packages` among the state are
//! code that the next start uses: they may be read, and are guarded.

mod names;
mod secrets;

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::real_path::resolve;
use names::{folded, folded_names};

/// Where Harn keeps what it knows, unless it is told otherwise.
const STATE_FOLDER: &str = ".harn";

/// Where git keeps what it knows.
const GIT_FOLDER: &str = ".git";

/// What of the state is code that the next start uses.
const STATE_CODE: [&str; 2] = ["skills", "packages"];

/// Where workers work on copies of a project, among the state of the project.
const WORKTREES: &str = "worktrees";

/// Places below the home folder that belong to Harn.
const HOME_PLACES: [&str; 3] = [".harn", ".config/harn", ".local/state/harn"];

/// Variables that say where state is kept.
const STATE_VARIABLES: [&str; 4] = [
    "HARN_STATE_DIR",
    "HARN_EVENT_LOG_DIR",
    "HARN_EVENT_LOG_SQLITE_PATH",
    "HARN_WORKER_STATE_DIR",
];

/// What Harn, editors, other agents and shells act upon, wherever it lies.
const GUARDED: [&str; 42] = [
    "harn.toml",
    "harn.lock",
    "agents.md",
    "claude.md",
    "gemini.md",
    ".mcp.json",
    ".envrc",
    ".gitmodules",
    ".gitattributes",
    ".githooks",
    ".husky",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".claude",
    ".cursor",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xprofile",
    ".xsession",
    ".xinitrc",
    ".config/fish",
    ".config/autostart",
    ".pam_environment",
];

/// Those of them that Harn itself acts upon.
const HARNS_OWN: [&str; 5] = [
    "harn.toml",
    "harn.lock",
    "agents.md",
    "claude.md",
    ".mcp.json",
];

/// How many files of the state are compared with one that has several names.
const LINKS_LOOKED_AT_MAX: usize = 20_000;

/// Why care has to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It is the memory of Harn: neither read nor written.
    State,
    /// It belongs to git, which is the only one to change it.
    Git,
    /// It is acted upon: by Harn itself, or by others.
    Guarded {
        /// Whether it is Harn that acts upon it.
        by_harn: bool,
    },
    /// It probably holds secrets.
    Secret,
}

/// The protected paths of a run.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPaths {
    /// Folders and files of the state, as their names are compared. Longer paths that begin
    /// with one of these names, such as the files that a database keeps beside its own, belong
    /// to it.
    closed: Vec<ClosedPlace>,
    /// The sources of the running program. They are known once it is loaded.
    sources: SourceFiles,
}

/// The files that the running program consists of, without links.
#[derive(Clone, Debug, Default)]
pub struct SourceFiles(Arc<Mutex<Vec<PathBuf>>>);

impl SourceFiles {
    /// Adds files.
    pub fn add(&self, files: impl IntoIterator<Item = PathBuf>) {
        let files = files.into_iter().filter_map(|file| {
            let absolute = std::path::absolute(file).ok()?;
            Some(resolve(&absolute)?.path)
        });
        self.known().extend(files);
    }

    fn has(&self, real: &Path) -> bool {
        let real = folded_names(real);
        self.known().iter().any(|file| folded_names(file) == real)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Debug)]
struct ClosedPlace {
    path: PathBuf,
    names: Vec<String>,
}

impl ProtectedPaths {
    /// The paths that are protected, for a program that works in `folder`, by the variables of
    /// its environment.
    pub fn of(folder: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut protected = Self::default();
        protected.add(folder, variable);
        protected
    }

    /// Adds what is protected for whoever works in another folder.
    pub fn add(&mut self, folder: &Path, variable: &dyn Fn(&str) -> Option<String>) {
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let mut folders = folder.ancestors();
        let project = folders.find(|above| above.join("harn.toml").is_file());
        for base in [Some(&*folder), project].into_iter().flatten() {
            self.close(&base.join(STATE_FOLDER));
            for name in STATE_VARIABLES {
                if let Some(place) = variable(name) {
                    self.close(&base.join(place));
                }
            }
            let config = harn_log::EventLogConfig::for_base_dir_in(base, &variable);
            if let Ok(config) = config {
                self.close(&config.file_dir);
                self.close(&config.sqlite_path);
            }
        }
        if let Some(home) = variable("HOME") {
            for place in HOME_PLACES {
                self.close(&Path::new(&home).join(place));
            }
        }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            if let Some(base) = variable(name) {
                self.close(&Path::new(&base).join("harn"));
            }
        }
    }

    fn close(&mut self, place: &Path) {
        let Some(real) = resolve(place) else {
            return;
        };
        let names = folded_names(&real.path);
        // A state root that is the whole disk would close everything.
        if !names.is_empty() && self.closed.iter().all(|known| known.names != names) {
            let path = real.path;
            self.closed.push(ClosedPlace { path, names });
        }
    }

    /// The same with the sources of the running program.
    #[must_use]
    pub fn with_sources(self, sources: SourceFiles) -> Self {
        Self { sources, ..self }
    }

    /// Why care has to be taken with a path without links. A root that lies inside the state
    /// was opened by the program itself, as the worktrees of workers are.
    pub fn protection(&self, real: &Path, root: Option<&Path>) -> Option<Protection> {
        let names = folded_names(real);
        let root = root.map(folded_names).unwrap_or_default();
        self.state(&names, &root)
            .or_else(|| git(&names))
            .or_else(|| self.guarded(real, &names))
            .or_else(|| secrets::is_like_a_secret(&names).then_some(Protection::Secret))
    }

    /// The same where one only looks around: whether a path is passed over.
    pub(crate) fn passed_over(&self, real: &Path, root: &Path) -> Option<Protection> {
        let names = folded_names(real);
        let is_secret = || secrets::is_like_a_secret(&names).then_some(Protection::Secret);
        self.state(&names, &folded_names(root)).or_else(is_secret)
    }

    fn state(&self, names: &[String], root: &[String]) -> Option<Protection> {
        let mut found = None;
        for place in &self.closed {
            // The program works inside of it, or it is all of what the program works in.
            if root.starts_with(&place.names) {
                continue;
            }
            if let Some(inside) = inside_of(names, &place.names) {
                found = stricter(found, among_state(inside));
            }
        }
        // A folder of that name below the root belongs to another project, which is as much
        // Harn's memory.
        let below = match names.starts_with(root) {
            true => root.len(),
            false => 0,
        };
        for at in below..names.len() {
            if names[at] == STATE_FOLDER && !root.starts_with(&names[..=at]) {
                found = stricter(found, among_state(&names[at + 1..]));
            }
        }
        found
    }

    fn guarded(&self, real: &Path, names: &[String]) -> Option<Protection> {
        let named = |pattern: &&str| has_part(names, pattern);
        let by_harn = HARNS_OWN.iter().any(named) || self.sources.has(real);
        let is_guarded = by_harn || GUARDED.iter().any(named);
        is_guarded.then_some(Protection::Guarded { by_harn })
    }

    /// Whether an open file is also one of the state, under another name.
    pub fn is_state_by_another_name(&self, facts: &Metadata) -> bool {
        if !facts.is_file() || facts.nlink() < 2 {
            return false;
        }
        let mut left = LINKS_LOOKED_AT_MAX;
        let mut places = self.closed.iter();
        places.any(|place| holds_inode(&place.path, (facts.dev(), facts.ino()), &mut left))
    }
}

/// Whether a path ends at, or leads through, names that follow each other.
fn has_part(names: &[String], pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let mut windows = names.windows(parts.len());
    windows.any(|window| window.iter().zip(&parts).all(|(name, part)| name == part))
}

/// The rest of a path that leads into a place, or to what lies beside it by its name.
fn inside_of<'a>(names: &'a [String], place: &[String]) -> Option<&'a [String]> {
    let (last, folders) = place.split_last()?;
    let (name, rest) = names.strip_prefix(folders)?.split_first()?;
    let beside = name
        .strip_prefix(last.as_str())
        .is_some_and(|end| end.is_empty() || (last.contains('.') && end.starts_with('-')));
    beside.then_some(rest)
}

/// What is said about a path inside a state folder.
fn among_state(inside: &[String]) -> Option<Protection> {
    match inside.first() {
        Some(first) if STATE_CODE.contains(&first.as_str()) => {
            Some(Protection::Guarded { by_harn: true })
        }
        Some(first) if first == WORKTREES && inside.len() > 1 => None,
        _ => Some(Protection::State),
    }
}

fn stricter(one: Option<Protection>, other: Option<Protection>) -> Option<Protection> {
    match (one, other) {
        (Some(Protection::State), _) | (_, Some(Protection::State)) => Some(Protection::State),
        (one, other) => one.or(other),
    }
}

fn git(names: &[String]) -> Option<Protection> {
    let is_git = names.iter().any(|name| name == GIT_FOLDER);
    is_git.then_some(Protection::Git)
}

fn holds_inode(place: &Path, inode: (u64, u64), left: &mut usize) -> bool {
    let Ok(facts) = fs::symlink_metadata(place) else {
        return false;
    };
    *left = left.saturating_sub(1);
    if facts.is_file() {
        return (facts.dev(), facts.ino()) == inode;
    }
    // What cannot be looked at to its end may hold it.
    if *left == 0 {
        return true;
    }
    let is_worktrees = place
        .file_name()
        .is_some_and(|name| folded(name) == WORKTREES);
    if !facts.is_dir() || is_worktrees {
        return false;
    }
    let Ok(entries) = fs::read_dir(place) else {
        return false;
    };
    let mut entries = entries.flatten();
    entries.any(|entry| holds_inode(&entry.path(), inode, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(folder: &Path, variables: &[(&str, &str)]) -> ProtectedPaths {
        ProtectedPaths::of(folder, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const BY_HARN: Option<Protection> = Some(Protection::Guarded { by_harn: true });
    const BY_OTHERS: Option<Protection> = Some(Protection::Guarded { by_harn: false });

    #[test]
    fn paths_are_told_apart() {
        let paths = protected(Path::new("/w"), &[("HOME", "/home/a")]);
        let root = Path::new("/w");
        for (path, expected) in [
            ("/w/.harn/events.sqlite", Some(Protection::State)),
            ("/w/sub/.HARN/x", Some(Protection::State)),
            ("/w/.harn", Some(Protection::State)),
            (
                "/home/a/.config/harn/settings.toml",
                Some(Protection::State),
            ),
            ("/home/a/.local/state/harn/keys/x", Some(Protection::State)),
            ("/w/.harn/skills/x/SKILL.md", BY_HARN),
            ("/w/.harn/packages/p/harn.toml", BY_HARN),
            ("/w/.git/hooks/pre-commit", Some(Protection::Git)),
            ("/w/sub/.git", Some(Protection::Git)),
            ("/w/harn.toml", BY_HARN),
            ("/w/Harn.TOML.", BY_HARN),
            ("/w/sub/AGENTS.md", BY_HARN),
            ("/w/.github/workflows/ci.yml", BY_OTHERS),
            ("/w/.vscode/tasks.json", BY_OTHERS),
            ("/w/.bashrc", BY_OTHERS),
            ("/w/.env", Some(Protection::Secret)),
            ("/w/.github/CODEOWNERS", None),
            ("/w/.gitignore", None),
            ("/w/harn/x", None),
            ("/w/git/x", None),
            ("/w/src/main.rs", None),
        ] {
            let found = paths.protection(Path::new(path), Some(root));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn state_that_was_moved_is_as_closed() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let manifest = "[event_log]\ndir = \"logs\"\nsqlite_path = \"db/log.sqlite\"\n";
        fs::write(base.join("harn.toml"), manifest).unwrap();
        let paths = protected(&base, &[("HARN_STATE_DIR", "memory")]);
        for (path, expected) in [
            ("memory/store.json", Some(Protection::State)),
            ("MEMORY/store.json", Some(Protection::State)),
            ("memory", Some(Protection::State)),
            ("logs/a.jsonl", Some(Protection::State)),
            ("db/log.sqlite", Some(Protection::State)),
            ("db/log.sqlite-wal", Some(Protection::State)),
            ("memory/skills/x", BY_HARN),
            ("memory2/x", None),
            ("db/other", None),
        ] {
            let found = paths.protection(&base.join(path), Some(&base));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn a_root_inside_the_state_is_worked_in() {
        let paths = protected(Path::new("/w"), &[]);
        let root = Path::new("/w/.harn/worktrees/p/one");
        let inside = |path: &str| paths.protection(&root.join(path), Some(root));
        assert_eq!(inside("src/main.rs"), None);
        assert_eq!(inside(".harn/x"), Some(Protection::State));
        assert_eq!(inside("harn.toml"), BY_HARN);
        let beside = Path::new("/w/.harn/worktrees/p/one/a");
        assert_eq!(paths.protection(beside, None), None);
        let log = Path::new("/w/.harn/events.sqlite");
        assert_eq!(paths.protection(log, None), Some(Protection::State));
    }

    #[test]
    fn the_running_program_is_guarded() {
        let sources = SourceFiles::default();
        let paths = protected(Path::new("/w"), &[]).with_sources(sources.clone());
        let main = Path::new("/w/main.harn");
        assert_eq!(paths.protection(main, None), None);
        sources.add([main.to_owned()]);
        assert_eq!(paths.protection(main, None), BY_HARN);
        assert_eq!(paths.protection(Path::new("/w/other.harn"), None), None);
    }

    #[test]
    fn a_hard_link_to_the_state_is_the_state() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join(".harn/checkpoints")).unwrap();
        fs::write(base.join(".harn/checkpoints/a.json"), "{}").unwrap();
        fs::write(base.join("mine"), "x").unwrap();
        fs::hard_link(base.join(".harn/checkpoints/a.json"), base.join("link")).unwrap();
        fs::hard_link(base.join("mine"), base.join("mine2")).unwrap();
        let paths = protected(&base, &[]);
        let is_state = |name: &str| {
            let facts = fs::metadata(base.join(name)).unwrap();
            paths.is_state_by_another_name(&facts)
        };
        assert!(is_state("link"));
        assert!(!is_state("mine2"));
    }
}
