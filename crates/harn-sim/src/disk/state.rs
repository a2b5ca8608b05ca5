//! The disk behind all its handles.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::random::Random;

use super::fault::{Crash, Fault, FaultKind};
use super::node::{FileNode, FolderNode, NameChange, Node, NodeId};

/// The folder everything is in.
const ROOT: NodeId = 0;
/// How many operations a longer failure takes.
const WHILE_OPERATIONS: u64 = 6;

#[derive(Clone)]
pub(super) struct State {
    pub(super) nodes: Vec<Node>,
    /// Which open file holds the lock of a file.
    pub(super) locks: HashMap<NodeId, u64>,
    next_handle: u64,
    /// Counts crashes. Whoever was started before one is dead.
    pub(super) epoch: u64,
    /// Counts the crashes that took the power.
    pub(super) power_cuts: u64,
    pub(super) operations: u64,
    pub(super) faults: Vec<Fault>,
    /// Faults of the next operation that is like this and is about such a path.
    pub(super) wanted: Vec<(String, String, FaultKind)>,
    /// Faults that have happened.
    pub(super) happened: Vec<Fault>,
    /// What was done, as a number: two runs with the same number did the same.
    pub(super) trace: u64,
    /// What was done, in words, for whoever wants to read it.
    pub(super) story: Option<Vec<String>>,
    random: Random,
    /// The next sync waits until it is released.
    pub(super) hold: Hold,
}

/// Whether a sync is being held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Never,
    Next,
    Holding,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is done.
    Done,
    /// It fails and does nothing.
    Fails,
    /// It is done and reported as failed.
    DoneButFails,
    /// A part of it is done.
    Part,
    /// It fails, and what was not synced is forgotten.
    Forgets,
    /// A part of it is done, and then there is a crash.
    PartThenCrash(Crash),
    /// It is done, and then there is a crash.
    DoneThenCrash(Crash),
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            nodes: vec![Node::Folder(FolderNode::default())],
            locks: HashMap::new(),
            next_handle: 0,
            epoch: 0,
            power_cuts: 0,
            operations: 0,
            faults: Vec::new(),
            wanted: Vec::new(),
            happened: Vec::new(),
            trace: 0,
            story: None,
            random: Random::new(seed),
            hold: Hold::Never,
        }
    }

    pub(super) fn new_handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    /// How much is done of something of which a part is: another one every time.
    pub(super) fn part_of(&self, length: usize) -> usize {
        let chance = Random::new(self.operations).number();
        usize::try_from(chance % (length as u64).max(1)).expect("less than a length")
    }

    /// Refuses those who are dead.
    pub(super) fn check_alive(&self, epoch: u64) -> io::Result<()> {
        match epoch == self.epoch {
            true => Ok(()),
            false => Err(io::Error::other("whoever asks is dead")),
        }
    }

    /// Counts an operation and decides what becomes of it.
    pub(super) fn begin(&mut self, what: &str, path: &Path, size: u64) -> io::Result<Fate> {
        self.operations += 1;
        self.note(what, path, size);
        let is_wanted = |(wanted, part, _): &(String, String, FaultKind)| {
            wanted == what && path.to_string_lossy().contains(part.as_str())
        };
        if let Some(wanted) = self.wanted.iter().position(is_wanted) {
            let at = self.operations;
            let (_, _, kind) = self.wanted.remove(wanted);
            self.faults.push(Fault { at, kind });
        }
        let Some(at) = self
            .faults
            .iter()
            .position(|fault| fault.at == self.operations)
        else {
            return Ok(Fate::Done);
        };
        let fault = self.faults.remove(at);
        self.happened.push(fault);
        self.tell(|| format!("      here: {:?}", fault.kind));
        Ok(match fault.kind {
            FaultKind::Fail => Fate::Fails,
            FaultKind::FailAfter => Fate::DoneButFails,
            FaultKind::Short => Fate::Part,
            FaultKind::ShortThenFail => {
                self.fail_next(1);
                Fate::Part
            }
            FaultKind::FailForAWhile => {
                self.fail_next(WHILE_OPERATIONS);
                Fate::Fails
            }
            FaultKind::FailForgetting => Fate::Forgets,
            FaultKind::CrashBefore(crash) => {
                self.crash(crash);
                return Err(io::Error::other("crashed"));
            }
            FaultKind::CrashWithin(crash) => Fate::PartThenCrash(crash),
            FaultKind::CrashAfter(crash) => Fate::DoneThenCrash(crash),
        })
    }

    fn fail_next(&mut self, operations: u64) {
        let next = self.operations + 1..=self.operations + operations;
        let kind = FaultKind::Fail;
        self.faults.extend(next.map(|at| Fault { at, kind }));
    }

    /// Ends an operation that has no parts.
    pub(super) fn finish<T>(&mut self, fate: Fate, done: T) -> io::Result<T> {
        match fate {
            Fate::Done => Ok(done),
            Fate::Fails | Fate::DoneButFails | Fate::Part | Fate::Forgets => Err(failure()),
            Fate::PartThenCrash(crash) | Fate::DoneThenCrash(crash) => {
                self.crash(crash);
                Err(io::Error::other("crashed"))
            }
        }
    }

    /// Everything that runs is dead from now on.
    pub(super) fn crash(&mut self, crash: Crash) {
        self.epoch += 1;
        self.locks.clear();
        self.hold = Hold::Never;
        self.tell(|| format!("      {crash:?} crash"));
        let hides_a_loss = self.nodes.iter().any(|node| match node {
            Node::File(file) => file.hides_a_loss(),
            Node::Folder(_) => false,
        });
        // What a failed sync has lost only the process knows that was told. If it dies,
        // nobody can know, so such a process dies by a power cut, which shows it.
        if crash == Crash::Process && !hides_a_loss {
            return;
        }
        self.power_cuts += 1;
        for node in &mut self.nodes {
            match node {
                Node::File(file) => file.cut(&mut self.random),
                Node::Folder(folder) => folder.cut(&mut self.random),
            }
        }
        for (path, content) in self.files() {
            let is_segment = path.extension().is_some_and(|end| end == "jsonl");
            self.note("left", &path, content.len() as u64);
            if is_segment {
                self.trace ^= u64::from(crc32fast::hash(&content));
            }
        }
    }

    fn note(&mut self, what: &str, path: &Path, size: u64) {
        let operation = self.operations;
        self.tell(|| format!("  {operation:4} {what} {} {size}", path.display()));
        for byte in what.bytes().chain(size.to_le_bytes()) {
            self.trace = (self.trace ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(super) fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(words());
        }
    }

    pub(super) fn file(&mut self, node: NodeId) -> &mut FileNode {
        match &mut self.nodes[node] {
            Node::File(file) => file,
            Node::Folder(_) => panic!("handles are of files only"),
        }
    }

    pub(super) fn folder(&mut self, node: NodeId) -> io::Result<&mut FolderNode> {
        match &mut self.nodes[node] {
            Node::Folder(folder) => Ok(folder),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<NodeId> {
        let mut node = ROOT;
        for name in names(path) {
            let Node::Folder(folder) = &self.nodes[node] else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            let found = folder.shown.get(name);
            node = *found.ok_or_else(|| not_found(path))?;
        }
        Ok(node)
    }

    /// The folder a path is in, and its name there.
    pub(super) fn place(&self, path: &Path) -> io::Result<(NodeId, String)> {
        let folder = self.find(path.parent().unwrap_or(path))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or(io::ErrorKind::InvalidInput)?;
        Ok((folder, name.to_owned()))
    }

    pub(super) fn add(&mut self, folder: NodeId, name: &str, node: Node) -> io::Result<NodeId> {
        let id = self.nodes.len();
        self.folder(folder)?
            .change(NameChange::Add(name.to_owned(), id));
        self.nodes.push(node);
        Ok(id)
    }

    pub(super) fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        let mut node = ROOT;
        for name in names(path) {
            node = match self.folder(node)?.shown.get(name) {
                Some(found) => *found,
                None => self.add(node, name, Node::Folder(FolderNode::default()))?,
            };
        }
        Ok(())
    }

    /// All files as they are shown.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, node)) = folders.pop() {
            match &self.nodes[node] {
                Node::File(file) => drop(files.insert(path, file.shown.clone())),
                Node::Folder(folder) => {
                    let inside = folder.shown.iter();
                    folders.extend(inside.map(|(name, node)| (path.join(name), *node)));
                }
            }
        }
        files
    }
}

/// What a broken disk answers.
pub(super) fn failure() -> io::Error {
    io::Error::other("the disk is broken")
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no {}", path.display()))
}

fn names(path: &Path) -> impl Iterator<Item = &str> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}
