//! The folder in which the owners of a log on a disk tell each other what they own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Owner;
use crate::file::{Disk, DiskFile, OpenFile, read_full_at, write_all_at};

/// Held by a process while it looks at the files of others or changes which there are.
const OPENING: &str = "opening.lock";

/// How the files of owners end.
const LOCK_END: &str = ".lock";

/// How long a process may hold the opening lock. It does so for a few system calls, unless it
/// was stopped in between.
const OPENING_WAIT: Duration = Duration::from_secs(5);

/// From this size on, the file of an owner is written anew when most of it is no longer true.
const REWRITE_BYTES_MIN: u64 = 64 * 1024;

/// The folder of the owners of one log.
pub(crate) struct OwnerFolder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    own: Mutex<Option<OwnFile>>,
}

/// The file of this owner.
struct OwnFile {
    path: PathBuf,
    /// Locked. Closing it gives everything back.
    file: Arc<dyn DiskFile>,
    written: u64,
    /// How long it was when it was last written anew.
    rewritten: u64,
    header: String,
}

/// The first line of an owner's file.
#[derive(Serialize, Deserialize)]
struct Header {
    owner: String,
    epoch: u64,
    process: u32,
    host: String,
    since_ms: i64,
}

/// Every other line of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Claim(String),
    Release(String),
}

/// Keeps other processes from claiming until it is dropped.
struct Opening(Option<Arc<dyn DiskFile>>);

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _it_ends_with_the_file_at_the_latest = file.unlock();
        }
    }
}

impl OwnerFolder {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        Self {
            disk,
            path,
            own: Mutex::new(None),
        }
    }

    /// Makes the file of an owner, under an id that no other has.
    pub(super) fn enter(&self, owner: &mut Owner) -> io::Result<()> {
        self.disk.create_folder(&self.path)?;
        let _opening = self.begin_opening()?;
        let id = owner.id.clone();
        let mut file = self.create(owner);
        // Several logs of one process may be opened in the same millisecond.
        for number in 2_u32.. {
            match file {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    owner.id = format!("{id}-{number}");
                    file = self.create(owner);
                }
                file => {
                    *self.own() = Some(file?);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn create(&self, owner: &Owner) -> io::Result<OwnFile> {
        let name = format!("{}.{}{LOCK_END}", owner.id, owner.epoch);
        let path = self.path.join(name);
        let file = self.disk.open(&path, OpenFile::New)?;
        match file.try_lock() {
            // Without locks nobody can tell the living from the dead, as with all else here.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => drop(locked?),
        }
        let header = Header {
            owner: owner.id.clone(),
            epoch: owner.epoch,
            process: owner.process,
            host: owner.host.clone(),
            since_ms: owner.since_ms,
        };
        let mut header = serde_json::to_string(&header)?;
        header.push('\n');
        write_all_at(&*file, header.as_bytes(), 0)?;
        Ok(OwnFile {
            path,
            file,
            written: header.len() as u64,
            rewritten: header.len() as u64,
            header,
        })
    }

    /// Claims a name, unless another process has it; that one is given then.
    pub(super) fn claim(&self, owner: &Owner, name: &str) -> io::Result<Option<Owner>> {
        let _opening = self.begin_opening()?;
        let others = self.scan(&owner.id, Dead::Remove)?;
        let mut others = others.into_iter();
        let other = others.find(|other| other.names.iter().any(|owned| owned == name));
        if other.is_none() {
            self.note_claim(name)?;
        }
        Ok(other)
    }

    /// Writes down that a name is claimed.
    pub(super) fn note_claim(&self, name: &str) -> io::Result<()> {
        match &mut *self.own() {
            Some(own) => own.add(&Line::Claim(name.to_owned())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Writes down that a name is claimed no more. If that fails, it stays claimed until this
    /// process ends: nobody else writes under it in the meantime, which is the safe side.
    pub(super) fn note_release<'a>(
        &self,
        name: &str,
        still_claimed: impl ExactSizeIterator<Item = &'a str>,
    ) {
        let mut own = self.own();
        let Some(own) = &mut *own else {
            return;
        };
        let _it_stays_claimed = own.add(&Line::Release(name.to_owned()));
        if own.is_worth_rewriting() {
            let names: Vec<&str> = still_claimed.collect();
            if let Ok(_opening) = self.begin_opening() {
                let _it_stays_claimed = own.rewrite(&names);
            }
        }
    }

    /// The other owners that live.
    pub(super) fn others(&self) -> io::Result<Vec<Owner>> {
        // A process that only looks makes no file.
        let opening = self.path.join(OPENING);
        let _opening = match self.disk.open(&opening, OpenFile::Existing) {
            Ok(file) => Some(lock(file)?),
            Err(_) => None,
        };
        let own = self.own();
        let own = own.as_ref().and_then(|own| own.path.file_name()?.to_str());
        let own = own.and_then(|name| name.strip_suffix(LOCK_END)?.rsplit_once('.'));
        self.scan(own.map_or("", |(id, _)| id), Dead::Leave)
    }

    fn scan(&self, own_id: &str, dead: Dead) -> io::Result<Vec<Owner>> {
        let mut names = self.disk.list(&self.path)?;
        names.sort();
        let mut owners = Vec::new();
        for name in names {
            let Some((id, _epoch)) = owner_of_file(&name) else {
                continue;
            };
            if id == own_id {
                continue;
            }
            owners.extend(self.look_at(&self.path.join(&name), dead)?);
        }
        Ok(owners)
    }

    /// The owner that a file is of, if its process lives.
    fn look_at(&self, path: &Path, dead: Dead) -> io::Result<Option<Owner>> {
        let file = match self.disk.open(path, OpenFile::Read) {
            Ok(file) => file,
            // It was given back just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(false) => {}
            Ok(true) => {
                if matches!(dead, Dead::Remove) {
                    let _the_next_one_removes_it = self.disk.remove(path);
                }
                let _it_ends_with_the_file_at_the_latest = file.unlock();
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
            Err(error) => return Err(error),
        }
        let length = usize::try_from(file.len()?).map_err(io::Error::other)?;
        let mut content = vec![0; length];
        let length = read_full_at(&*file, &mut content, 0)?;
        content.truncate(length);
        read(&content).map(Some).ok_or_else(|| {
            let problem = format!("{}: no file of an owner", path.display());
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })
    }

    fn begin_opening(&self) -> io::Result<Opening> {
        lock(self.disk.open(&self.path.join(OPENING), OpenFile::Write)?)
    }

    fn own(&self) -> MutexGuard<'_, Option<OwnFile>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnerFolder {
    /// Leaves no file behind. One that is left by a process that was killed is removed by the
    /// next one that claims something.
    fn drop(&mut self) {
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own.take() {
            let _the_next_one_removes_it = self.disk.remove(&own.path);
        }
    }
}

/// What becomes of the files of owners that have died.
#[derive(Clone, Copy)]
enum Dead {
    Leave,
    Remove,
}

fn lock(file: Arc<dyn DiskFile>) -> io::Result<Opening> {
    let locked = match file.try_lock() {
        Ok(false) => Arc::clone(&file).lock_within(OPENING_WAIT),
        locked => locked,
    };
    match locked {
        Ok(true) => Ok(Opening(Some(file))),
        Ok(false) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("another process has been opening a session for {OPENING_WAIT:?}"),
        )),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Opening(None)),
        Err(error) => Err(error),
    }
}

/// The id and the epoch in the name of an owner's file.
fn owner_of_file(name: &str) -> Option<(&str, u64)> {
    let (id, epoch) = name.strip_suffix(LOCK_END)?.rsplit_once('.')?;
    Some((id, epoch.parse().ok()?))
}

/// Reads the file of an owner. A line that is not whole is about to be written.
fn read(content: &[u8]) -> Option<Owner> {
    let whole = content.iter().rposition(|byte| *byte == b'\n')?;
    let mut lines = content[..whole].split(|byte| *byte == b'\n');
    let header: Header = serde_json::from_slice(lines.next()?).ok()?;
    let mut names = std::collections::BTreeSet::new();
    for line in lines {
        match serde_json::from_slice(line).ok()? {
            Line::Claim(name) => drop(names.insert(name)),
            Line::Release(name) => drop(names.remove(&name)),
        }
    }
    Some(Owner {
        id: header.owner,
        epoch: header.epoch,
        process: header.process,
        host: header.host,
        since_ms: header.since_ms,
        names: names.into_iter().collect(),
    })
}

impl OwnFile {
    fn add(&mut self, line: &Line) -> io::Result<()> {
        let mut line = serde_json::to_string(line)?;
        line.push('\n');
        write_all_at(&*self.file, line.as_bytes(), self.written)?;
        self.written += line.len() as u64;
        Ok(())
    }

    fn is_worth_rewriting(&self) -> bool {
        self.written > REWRITE_BYTES_MIN && self.written > 4 * self.rewritten
    }

    /// Says anew what is claimed. Other processes are kept out meanwhile.
    fn rewrite(&mut self, names: &[&str]) -> io::Result<()> {
        let mut content = self.header.clone();
        for name in names {
            content.push_str(&serde_json::to_string(&Line::Claim((*name).to_owned()))?);
            content.push('\n');
        }
        // Nothing is claimed for a moment, if this process dies now; then nothing is.
        self.file.truncate(0)?;
        write_all_at(&*self.file, content.as_bytes(), 0)?;
        self.written = content.len() as u64;
        self.rewritten = self.written;
        Ok(())
    }
}
