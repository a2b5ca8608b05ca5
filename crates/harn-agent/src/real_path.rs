//! Where a path really leads, and how to get there without being led astray.
//!
//! ```text
//! path as written ──► resolve ──► path without links ──► inside a root? ──► opened without links
//! ```
//!
//! A path is compared with what is allowed only after it was resolved, names byte for byte. It
//! is then opened below its root, none of its parts through a link: by one call where the system
//! has it, part by part elsewhere. Whoever replaces a part by a link in the meantime makes the
//! opening fail. On a disk that does not
//! tell case or Unicode forms apart, another spelling of an allowed folder counts as outside,
//! which errs on the safe side.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
#[cfg(target_os = "linux")]
use rustix::{fs::ResolveFlags, io::Errno};

/// How many links one path may go through; as many as Linux allows.
const LINKS_MAX: usize = 40;

/// A folder at the end of a way.
const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A folder on the way, which need not be readable.
#[cfg(target_os = "linux")]
const STEP: OFlags = FOLDER.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = FOLDER;

/// An absolute path without links, `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    /// The path.
    pub path: PathBuf,
    /// Whether there were links on the way.
    pub has_links: bool,
}

/// Follows an absolute path as the system would, also where nothing is yet. `None`: it goes in
/// circles.
pub fn resolve(path: &Path) -> Option<RealPath> {
    let mut resolved = PathBuf::from("/");
    let mut links = 0;
    // What is still to follow, the next part last.
    let mut parts: Vec<OsString> = reversed(path);
    while let Some(part) = parts.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                resolved.pop();
            }
            Some(Component::Normal(name)) => {
                resolved.push(name);
                // What is no link, or cannot be looked at, is left for the opening to judge.
                if let Ok(target) = fs::read_link(&resolved) {
                    links += 1;
                    if links > LINKS_MAX {
                        return None;
                    }
                    resolved.pop();
                    parts.extend(reversed(&target));
                }
            }
            Some(Component::RootDir) => resolved = PathBuf::from("/"),
            Some(Component::CurDir | Component::Prefix(_)) | None => {}
        }
    }
    Some(RealPath {
        path: resolved,
        has_links: links > 0,
    })
}

/// The same for something that is itself to be moved or removed: a link at the end is not
/// followed.
pub fn resolve_entry(path: &Path) -> Option<RealPath> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return resolve(path);
    };
    let mut resolved = resolve(folder)?;
    resolved.path.push(name);
    Some(resolved)
}

fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

/// What to do about folders that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They are made.
    Create,
    /// It fails.
    Fail,
}

/// Opens a folder below another, by a way that consists of names only. None of them may be a
/// link.
///
/// # Errors
/// A folder is not there, is none, or is a link.
pub fn open_below(root: &Path, inside: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let names: Vec<_> = inside.components().collect();
    let flags = |is_last| if is_last { FOLDER } else { STEP };
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    if !names.iter().all(is_name) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut folder = open_root(root, flags(names.is_empty()))?;
    if let Some(opened) = open_at_once(&folder, inside, missing) {
        return opened;
    }
    for (at, part) in names.iter().enumerate() {
        let name = part.as_os_str();
        let flags = flags(at + 1 == names.len());
        let open = |folder: &OwnedFd| rustix::fs::openat(folder, name, flags, Mode::empty());
        folder = match open(&folder) {
            Err(rustix::io::Errno::NOENT) if missing == Missing::Create => {
                create_folder(&folder, name)?;
                open(&folder)?
            }
            other => other?,
        };
    }
    Ok(folder)
}

/// Opens a root. None of the folders around it may be a link either: roots are without links,
/// and whoever may rename one of those folders could put a link there.
fn open_root(root: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let Ok(inside) = root.strip_prefix("/") else {
        return Ok(rustix::fs::open(root, flags, Mode::empty())?);
    };
    let is_last = inside.as_os_str().is_empty();
    let disk = rustix::fs::open("/", if is_last { flags } else { STEP }, Mode::empty())?;
    if is_last {
        return Ok(disk);
    }
    #[cfg(target_os = "linux")]
    match rustix::fs::openat2(&disk, inside, flags, Mode::empty(), STAYS_BELOW) {
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
        opened => return Ok(opened?),
    }
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Nothing is opened outside of the folder that one starts at, nor through a link.
#[cfg(target_os = "linux")]
const STAYS_BELOW: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_SYMLINKS);

/// Opens a folder below another by one call, where the system can do that; `None`: it has to be
/// done part by part.
#[cfg(target_os = "linux")]
fn open_at_once(folder: &OwnedFd, inside: &Path, missing: Missing) -> Option<io::Result<OwnedFd>> {
    if inside.as_os_str().is_empty() {
        return None;
    }
    match rustix::fs::openat2(folder, inside, FOLDER, Mode::empty(), STAYS_BELOW) {
        // Old kernels, filters of system calls, and a rename on the way.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        Err(Errno::NOENT) if missing == Missing::Create => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_: &OwnedFd, _: &Path, _: Missing) -> Option<io::Result<OwnedFd>> {
    None
}

/// Opens a regular file by its path, without waiting: to open a pipe would wait for a process at
/// its other end.
///
/// # Errors
/// There is no such file, it cannot be read, or it is something else: `'P' is not a file`.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let not_a_file = || io::Error::other(format!("'{}' is not a file", path.display()));
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        // Nothing can be read of a socket.
        Err(rustix::io::Errno::NXIO) => return Err(not_a_file()),
        opened => File::from(opened?),
    };
    let kind = file.metadata()?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => Ok(file),
        false => Err(not_a_file()),
    }
}

/// The text of a regular file.
///
/// # Errors
/// As for [`open_regular`], or it is no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    io::read_to_string(open_regular(path)?)
}

/// Opens a folder in a folder, unless it is a link.
///
/// # Errors
/// There is no such folder, or it cannot be read.
pub fn open_folder(folder: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(folder, name, FOLDER, Mode::empty())?)
}

fn create_folder(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        // Somebody else was faster.
        Err(rustix::io::Errno::EXIST) => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_at_the_end_is_followed_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        symlink("/etc", folder.join("link")).unwrap();
        let end = |path: &str| resolve(&folder.join(path)).unwrap().path;
        let entry = |path: &str| resolve_entry(&folder.join(path)).unwrap().path;
        assert_eq!(end("link"), Path::new("/etc"));
        assert_eq!(entry("link"), folder.join("link"));
        assert_eq!(entry("link/passwd"), Path::new("/etc/passwd"));
        assert_eq!(entry("link/.."), Path::new("/"));
        assert_eq!(resolve_entry(Path::new("/")).unwrap().path, Path::new("/"));
    }

    #[test]
    fn nothing_is_opened_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(folder.join("a/b")).unwrap();
        symlink("a", folder.join("link")).unwrap();
        let open = |inside: &str| open_below(&folder, Path::new(inside), Missing::Fail);
        assert!(open("").is_ok() && open("a/b").is_ok());
        assert!(open("link").is_err() && open("link/b").is_err());
        assert!(open("a/../a").is_err() && open("a/c").is_err());
        assert!(open_below(&folder, Path::new("a/c/d"), Missing::Create).is_ok());
        assert!(folder.join("a/c/d").is_dir());
    }
}
