//! The key that proves who wrote the journals of sessions.
//!
//! It lies in the state folder of the person, outside of all projects, and is made with the
//! first session. Whoever can only write a project cannot write journals that are believed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_log::{AnyEventLog, block_on};
use harn_vm::agent::session::{JournalKey, check_journal};
use harn_vm::agent::{OpenProofs, Proofs};

use crate::environment;
use crate::output::Untrusted;

/// The file below our state folder.
const FILE: &str = "answer.key";

/// Says something to the operator.
type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Gets the key when the first session begins.
pub(super) fn opener(say: Say) -> OpenProofs {
    Arc::new(move || match proofs(false) {
        Ok(proofs) => proofs,
        Err(why) => {
            say(&format!("warning: {}", Untrusted(why)));
            None
        }
    })
}

/// The key, which is made if there is none. A journal that somebody else has changed is gone on
/// with only if the operator `accepts_changed`. Without a home there is nowhere to keep a key.
///
/// # Errors
/// It cannot be read or made; says why and what that means.
pub(super) fn proofs(accepts_changed: bool) -> Result<Option<Proofs>, String> {
    let Some(path) = path() else {
        return Ok(None);
    };
    let made = |key| Proofs {
        key,
        accept_changed: accepts_changed,
    };
    let failed = |error| format!("journals are not proved: {}: {error}", path.display());
    read_or_make(&path).map(made).map(Some).map_err(failed)
}

/// Where somebody without the key has changed the journal of a session; `None` also where
/// nobody can say.
pub(super) fn changed_at(log: &AnyEventLog, session_id: &str) -> Option<u64> {
    let key = read(&path()?).ok()?;
    let checked = block_on(check_journal(log, session_id, key));
    checked.ok().flatten()
}

fn path() -> Option<PathBuf> {
    environment::state_folder().map(|folder| folder.join(FILE))
}

fn read_or_make(path: &Path) -> io::Result<JournalKey> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        read => read,
    }
}

fn read(path: &Path) -> io::Result<JournalKey> {
    let text = fs::read_to_string(path)?;
    let octets = octets(text.trim()).ok_or_else(|| {
        let problem = "it has to hold 64 hexadecimal digits";
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })?;
    Ok(JournalKey::new(octets))
}

fn octets(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    let pairs = digits.chunks_exact(2);
    let octet = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let octets: Option<Vec<u8>> = pairs.map(octet).collect();
    octets?.try_into().ok()
}

/// Makes a key. Of several processes that do so at once, one gives it to all.
fn make(path: &Path) -> io::Result<JournalKey> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut octets = [0; 32];
    getrandom::fill(&mut octets).map_err(io::Error::other)?;
    let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    // It appears with all of its digits, or not at all.
    let whole = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&whole)?;
    file.write_all(format!("{digits}\n").as_bytes())?;
    file.sync_all()?;
    let linked = fs::hard_link(&whole, path);
    fs::remove_file(&whole)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read(path),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/harn").join(FILE);
        let made = read_or_make(&path).unwrap();
        assert!(made == read_or_make(&path).unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_holds_no_key_is_told_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        fs::write(&path, "short\n").unwrap();
        let error = read_or_make(&path).err().unwrap();
        assert_eq!(error.to_string(), "it has to hold 64 hexadecimal digits");
        assert_eq!(fs::read_to_string(&path).unwrap(), "short\n");
    }
}
