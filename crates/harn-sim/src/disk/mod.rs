//! A disk that fails, forgets and dies as it is told.
//!
//! ```text
//! write ──► shown: what everybody sees ──► sync ──► durable: what is on the disk
//!                     │                                   │
//!                     └── a killed process leaves it      └── a power cut leaves this,
//!                                                             and of the rest, some
//! ```
//!
//! Every operation that changes something has a number, and a [`Fault`] says what
//! goes wrong with which. After a power cut every sector that was not synced is as it
//! was at some moment since the last sync, a file is as long as it was at one of
//! these moments, and names that were not synced come and go one by one. What was
//! synced is there. All of it is decided by the seed.

mod fault;
mod node;
mod state;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_log::{Disk, DiskFile, OpenFile};

pub use fault::{Crash, Fault, FaultKind};
use node::{NameChange, Node, NodeId};
use state::{Fate, Hold, State, failure};

/// How often those look who wait for something that may not come.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A disk in memory, as a process sees it. After a crash the process sees nothing any
/// more, and [`reboot`](Self::reboot) gives the next one its view.
pub struct SimDisk {
    shared: Arc<Shared>,
    epoch: u64,
}

struct Shared {
    state: Mutex<State>,
    /// A sync is being held back, or no longer.
    held: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_alive(&self, epoch: u64) -> io::Result<MutexGuard<'_, State>> {
        let state = self.lock();
        state.check_alive(epoch)?;
        Ok(state)
    }
}

impl SimDisk {
    /// An empty disk.
    pub fn new(seed: u64) -> Self {
        Self::of(State::new(seed))
    }

    fn of(state: State) -> Self {
        Self {
            epoch: state.epoch,
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                held: Condvar::new(),
            }),
        }
    }

    /// The same disk for a process that is started now.
    #[must_use]
    pub fn reboot(&self) -> Self {
        let epoch = self.shared.lock().epoch;
        let shared = Arc::clone(&self.shared);
        Self { shared, epoch }
    }

    /// Another disk with the same content and the same future.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::of(self.shared.lock().clone())
    }

    /// Something will go wrong.
    pub fn plan(&self, fault: Fault) {
        self.shared.lock().faults.push(fault);
    }

    /// The next operation of this name on a path with this in it will go wrong. The
    /// names are those of the story.
    pub fn plan_next(&self, operation: &str, path_part: &str, kind: FaultKind) {
        let wanted = (operation.to_owned(), path_part.to_owned(), kind);
        self.shared.lock().wanted.push(wanted);
    }

    /// From now on nothing goes wrong.
    pub fn heal(&self) {
        let mut state = self.shared.lock();
        state.faults.clear();
        state.wanted.clear();
    }

    /// Kills everything that runs.
    pub fn crash(&self, crash: Crash) {
        self.shared.lock().crash(crash);
        self.shared.held.notify_all();
    }

    /// Whether whoever sees this view is dead.
    pub fn is_dead(&self) -> bool {
        self.shared.lock().epoch != self.epoch
    }

    /// Whether a process that dies now takes a secret with it: a failed sync has lost
    /// what is still shown.
    pub fn hides_a_loss(&self) -> bool {
        self.shared.lock().nodes.iter().any(|node| match node {
            Node::File(file) => file.hides_a_loss(),
            Node::Folder(_) => false,
        })
    }

    /// How often the power has gone.
    pub fn power_cuts(&self) -> u64 {
        self.shared.lock().power_cuts
    }

    /// How many operations there have been.
    pub fn operations(&self) -> u64 {
        self.shared.lock().operations
    }

    /// What has gone wrong so far.
    pub fn faults_happened(&self) -> Vec<Fault> {
        self.shared.lock().happened.clone()
    }

    /// A number that is the same for runs that did the same.
    pub fn trace(&self) -> u64 {
        self.shared.lock().trace
    }

    /// Keeps a story of what is done.
    pub fn listen(&self) {
        self.shared.lock().story.get_or_insert_default();
    }

    /// Adds to the story.
    pub fn tell(&self, words: impl FnOnce() -> String) {
        self.shared.lock().tell(words);
    }

    /// The story so far.
    pub fn story(&self) -> Vec<String> {
        self.shared.lock().story.clone().unwrap_or_default()
    }

    /// All files as they are shown.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.shared.lock().files()
    }

    /// Puts a content in place of that of a file, on the disk for certain.
    ///
    /// # Panics
    /// There is no such file.
    pub fn tamper(&self, path: &Path, content: &[u8]) {
        let mut state = self.shared.lock();
        let node = state.find(path).expect("the file is there");
        let file = state.file(node);
        file.truncate(0);
        file.write(content, 0);
        file.sync();
    }

    /// The next sync does not end before it is released.
    pub fn hold_next_sync(&self) {
        self.shared.lock().hold = Hold::Next;
    }

    /// Waits until a sync is held back, for as long as `is_over` says that it may
    /// still come. Returns whether one is.
    pub fn wait_for_held_sync(&self, mut is_over: impl FnMut() -> bool) -> bool {
        let mut state = self.shared.lock();
        while state.hold == Hold::Next && state.epoch == self.epoch && !is_over() {
            let waited = self.shared.held.wait_timeout(state, LOOK_AGAIN);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.hold == Hold::Next {
            state.hold = Hold::Never; // It is not for whatever is synced later.
        }
        state.hold == Hold::Holding
    }

    /// Lets the sync go on that is held back, and all after it.
    pub fn release_sync(&self) {
        self.shared.lock().hold = Hold::Never;
        self.shared.held.notify_all();
    }

    fn handle(&self, state: &mut State, node: NodeId, path: &Path) -> Arc<dyn DiskFile> {
        Arc::new(SimFile {
            shared: Arc::clone(&self.shared),
            epoch: self.epoch,
            handle: state.new_handle(),
            node,
            path: path.to_owned(),
        })
    }
}

impl Disk for SimDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        if state.find(path).is_ok() {
            return Ok(());
        }
        let fate = state.begin("create folder", path, 0)?;
        if !matches!(fate, Fate::Fails | Fate::Part | Fate::Forgets) {
            state.create_folder(path)?;
        }
        state.finish(fate, ())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        match state.find(path) {
            Ok(node) => Ok(state.folder(node)?.shown.keys().cloned().collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &Path, how: OpenFile) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        let found = state.find(path);
        let node = match (found, how) {
            (Ok(_), OpenFile::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(node), _) => node,
            (Err(error), OpenFile::Read | OpenFile::Existing) => return Err(error),
            (Err(_), OpenFile::Write | OpenFile::New) => {
                let (folder, name) = state.place(path)?;
                let fate = state.begin("create", path, 0)?;
                let mut node = None;
                if !matches!(fate, Fate::Fails | Fate::Part | Fate::Forgets) {
                    node = Some(state.add(folder, &name, Node::File(Default::default()))?);
                }
                state.finish(fate, node)?.ok_or_else(failure)?
            }
        };
        Ok(self.handle(&mut state, node, path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        let node = state.find(from)?;
        let ((folder, from), (to_folder, to_name)) = (state.place(from)?, state.place(to)?);
        assert_eq!(folder, to_folder, "files are renamed within their folder");
        let fate = state.begin("rename to", to, 0)?;
        if !matches!(fate, Fate::Fails | Fate::Part | Fate::Forgets) {
            let change = NameChange::Move(from, to_name, node);
            state.folder(folder)?.change(change);
        }
        state.finish(fate, ())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        state.find(path)?;
        let (folder, name) = state.place(path)?;
        let fate = state.begin("remove", path, 0)?;
        if !matches!(fate, Fate::Fails | Fate::Part | Fate::Forgets) {
            state.folder(folder)?.change(NameChange::Remove(name));
        }
        state.finish(fate, ())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.shared.lock_alive(self.epoch)?;
        let node = state.find(path)?;
        let fate = state.begin("sync folder", path, 0)?;
        if matches!(
            fate,
            Fate::Done | Fate::DoneButFails | Fate::DoneThenCrash(_)
        ) {
            state.folder(node)?.sync();
        }
        state.finish(fate, ())
    }
}

/// An open file.
struct SimFile {
    shared: Arc<Shared>,
    epoch: u64,
    handle: u64,
    node: NodeId,
    path: PathBuf,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        self.shared.lock_alive(self.epoch)
    }

    /// Waits while the sync is held back.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> io::Result<MutexGuard<'a, State>> {
        if state.hold == Hold::Next {
            state.hold = Hold::Holding;
            self.shared.held.notify_all();
            while state.hold == Hold::Holding {
                // A crash that some other operation meets rings no bell.
                let waited = self.shared.held.wait_timeout(state, LOOK_AGAIN);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.check_alive(self.epoch)?;
        Ok(state)
    }
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state()?.file(self.node).shown.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        let shown = &state.file(self.node).shown;
        let start = position(offset).min(shown.len());
        let length = buffer.len().min(shown.len() - start);
        buffer[..length].copy_from_slice(&shown[start..start + length]);
        Ok(length)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        let fate = state.begin("write", &self.path, bytes.len() as u64)?;
        let written = match fate {
            Fate::Fails | Fate::Forgets => 0,
            Fate::Part | Fate::PartThenCrash(_) => state.part_of(bytes.len()),
            Fate::Done | Fate::DoneButFails | Fate::DoneThenCrash(_) => bytes.len(),
        };
        if written > 0 {
            let file = state.file(self.node);
            file.write(&bytes[..written], position(offset));
        }
        match fate {
            Fate::Part if written > 0 => Ok(written),
            _ => state.finish(fate, written),
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut state = self.state()?;
        let fate = state.begin("truncate", &self.path, len)?;
        if !matches!(fate, Fate::Fails | Fate::Part | Fate::Forgets) {
            state.file(self.node).truncate(position(len));
        }
        state.finish(fate, ())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state()?;
        let fate = state.begin("sync", &self.path, 0)?;
        match fate {
            Fate::Done => {
                let syncing = state.file(self.node).begin_sync();
                state = self.wait(state)?;
                state.file(self.node).end_sync(syncing);
            }
            Fate::DoneButFails | Fate::DoneThenCrash(_) => state.file(self.node).sync(),
            Fate::Forgets => state.file(self.node).forget_unsynced(),
            Fate::Fails | Fate::Part | Fate::PartThenCrash(_) => {}
        }
        state.finish(fate, ())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.state()?;
        let holder = *state.locks.entry(self.node).or_insert(self.handle);
        Ok(holder == self.handle)
    }

    fn lock_within(self: Arc<Self>, _limit: Duration) -> io::Result<bool> {
        // There is one process at a time, so nobody ever leaves.
        self.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        let mut state = self.state()?;
        if state.locks.get(&self.node) == Some(&self.handle) {
            state.locks.remove(&self.node);
        }
        Ok(())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let _closed_at_the_latest = self.unlock();
    }
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).expect("simulated files fit in memory")
}
