//! Folders and files that only their owner may read.
//!
//! What sessions said and what tools read is kept in the state of Harn, so other users of the
//! machine must not read it, and git must not take it along: the topmost folder that is made gets
//! a `.gitignore` of its own. What an earlier version left open is narrowed.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A folder that only its owner may use.
#[cfg(unix)]
const FOLDER_MODE: u32 = 0o700;

/// What a folder of the state says to git.
const IGNORE_ALL: &str = "*\n";

/// How many entries of the state are looked at when it is narrowed.
const NARROWED_MAX: usize = 10_000;

/// Folders of the state that hold what the project shares, or copies of it.
const SHARED: [&str; 3] = ["packages", "skills", "worktrees"];

/// Makes a folder for state, and those around it. If it is there, nothing changes.
///
/// # Errors
/// It cannot be made.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    create(path, false)
}

/// The same for a folder that is the root of what is kept, unless it lies in another one.
///
/// # Errors
/// It cannot be made.
pub(crate) fn create_private_root(path: &Path) -> io::Result<()> {
    create(path, true)
}

fn create(path: &Path, is_root: bool) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let missing = path.ancestors().take_while(|above| {
        let is_named = !above.as_os_str().is_empty();
        is_named && !above.exists()
    });
    let topmost = missing.last().map(Path::to_owned);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder.create(path)?;
    // A folder inside of the state needs none of its own.
    let is_whole = |topmost: &Path| {
        let is_state = |folder: &Path| folder.file_name().is_some_and(|name| name == ".harn");
        let is_ignored = |folder: &Path| {
            let ignored = fs::read_to_string(folder.join(".gitignore"));
            ignored.is_ok_and(|ignored| ignored == IGNORE_ALL)
        };
        let mut around = topmost.ancestors().skip(1);
        let is_inside = around.any(|folder| is_state(folder) || is_ignored(folder));
        !is_inside && (is_root || is_state(topmost) || topmost != path)
    };
    if let Some(topmost) = topmost.filter(|topmost| is_whole(topmost)) {
        // Another process may have been faster.
        let ignore = private_options()
            .write(true)
            .create_new(true)
            .open(topmost.join(".gitignore"));
        if let Ok(mut ignore) = ignore {
            let _git_is_told_another_time =
                io::Write::write_all(&mut ignore, IGNORE_ALL.as_bytes());
        }
    }
    Ok(())
}

/// How a file of the state is opened that may have to be made.
pub fn private_options() -> OpenOptions {
    #[allow(unused_mut, reason = "only some systems have modes")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file that others make by its name, so that it is theirs to write and not for all to
/// read. One that is there stays as it is.
///
/// # Errors
/// It cannot be made.
#[cfg_attr(
    not(feature = "sqlite"),
    allow(dead_code, reason = "only SQLite makes its files by itself")
)]
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    match private_options().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Takes from others what they may do with the state in a folder. Gives the folder if there was
/// something to take. What does not belong to us, and folders that are more than state, stay as
/// they are.
#[cfg(unix)]
pub fn narrow_private_folder(state: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let facts = fs::symlink_metadata(state).ok()?;
    let is_more = |name: &str| state.join(name).exists();
    let is_shared = facts.mode() & 0o1000 != 0;
    let is_around_us = state.canonicalize().ok().is_none_or(|state| {
        let here = fs::canonicalize(".");
        here.is_ok_and(|here| here.starts_with(state))
    });
    if !facts.is_dir() || is_shared || is_around_us || is_more("harn.toml") || is_more(".git") {
        return None;
    }
    let mut is_narrowed = false;
    let mut left = vec![state.to_owned()];
    let mut seen = 0;
    while let Some(path) = left.pop() {
        seen += 1;
        let Ok(facts) = fs::symlink_metadata(&path) else {
            continue;
        };
        if seen > NARROWED_MAX || !(facts.is_dir() || facts.is_file()) {
            continue;
        }
        if facts.mode() & 0o077 != 0 {
            let own = fs::Permissions::from_mode(facts.mode() & 0o700);
            is_narrowed |= fs::set_permissions(&path, own).is_ok();
        }
        let entries = facts.is_dir().then(|| fs::read_dir(&path).ok()).flatten();
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_shared = path == state && SHARED.iter().any(|shared| name == *shared);
            if !is_shared {
                left.push(entry.path());
            }
        }
    }
    is_narrowed.then(|| state.to_owned())
}

/// There is nothing to take where there are no modes.
#[cfg(not(unix))]
pub fn narrow_private_folder(_state: &Path) -> Option<PathBuf> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    }

    #[test]
    fn what_is_made_is_for_its_owner_and_not_for_git() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join(".harn");
        create_private_folder(&state.join("events")).unwrap();
        create_private_file(&state.join("file")).unwrap();
        assert_eq!(mode(&state), 0o700);
        assert_eq!(mode(&state.join("events")), 0o700);
        assert_eq!(mode(&state.join("file")), 0o600);
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
        assert!(!state.join("events/.gitignore").exists());
        fs::remove_file(state.join(".gitignore")).unwrap();
        create_private_folder(&state.join("more")).unwrap();
        assert!(!state.join(".gitignore").exists(), "it was there already");
    }

    #[test]
    fn what_was_open_is_narrowed_once() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join(".harn");
        fs::create_dir_all(state.join("events")).unwrap();
        fs::create_dir_all(state.join("skills")).unwrap();
        fs::write(state.join("events/a.jsonl"), "x").unwrap();
        for (path, open) in [
            ("", 0o755),
            ("events", 0o750),
            ("skills", 0o755),
            ("events/a.jsonl", 0o644),
        ] {
            fs::set_permissions(state.join(path), fs::Permissions::from_mode(open)).unwrap();
        }
        assert_eq!(narrow_private_folder(&state), Some(state.clone()));
        assert_eq!(mode(&state), 0o700);
        assert_eq!(mode(&state.join("events")), 0o700);
        assert_eq!(mode(&state.join("events/a.jsonl")), 0o600);
        assert_eq!(mode(&state.join("skills")), 0o755);
        assert_eq!(narrow_private_folder(&state), None);
        assert_eq!(narrow_private_folder(Path::new("/")), None);
        assert_eq!(narrow_private_folder(Path::new(".")), None);
    }
}
