//! Files and folders as the system shows them, and as they are on the disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::random::Random;

/// What a disk writes in one piece.
pub(super) const SECTOR_BYTES: usize = 512;
/// States of a file that are remembered for a power cut.
const STATES_MAX: usize = 48;

/// The number of a file or folder.
pub(super) type NodeId = usize;

#[derive(Clone)]
pub(super) enum Node {
    File(FileNode),
    Folder(FolderNode),
}

/// A file.
#[derive(Clone, Default)]
pub(super) struct FileNode {
    /// What everybody sees.
    pub(super) shown: Vec<u8>,
    /// What is on the disk for certain.
    durable: Vec<u8>,
    /// Sectors that have changed since, and may or may not be on the disk.
    dirty: BTreeSet<usize>,
    /// What was shown after each change since; any sector may have been written at
    /// any of these moments.
    states: Vec<Vec<u8>>,
}

/// A sync that has begun: what it promises when it ends.
pub(super) struct Syncing {
    shown: Vec<u8>,
    dirty: BTreeSet<usize>,
    states: usize,
}

impl FileNode {
    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        let from = offset.min(self.shown.len());
        if self.shown.len() < end {
            self.shown.resize(end, 0);
        }
        self.shown[offset..end].copy_from_slice(bytes);
        self.changed(from, end);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        let end = self.shown.len().max(len);
        let from = self.shown.len().min(len);
        self.shown.resize(len, 0);
        self.changed(from, end);
    }

    fn changed(&mut self, from: usize, end: usize) {
        self.dirty.extend(sectors(from, end));
        if self.states.len() == STATES_MAX {
            self.states.remove(0);
        }
        self.states.push(self.shown.clone());
    }

    pub(super) fn begin_sync(&self) -> Syncing {
        Syncing {
            shown: self.shown.clone(),
            dirty: self.dirty.clone(),
            states: self.states.len(),
        }
    }

    pub(super) fn end_sync(&mut self, syncing: Syncing) {
        self.durable.resize(syncing.shown.len(), 0);
        for at in syncing.dirty {
            copy_sector(&syncing.shown, at, &mut self.durable);
            if sector(&self.shown, at) == sector(&syncing.shown, at) {
                self.dirty.remove(&at);
            }
        }
        self.states.drain(..syncing.states.min(self.states.len()));
    }

    pub(super) fn sync(&mut self) {
        let syncing = self.begin_sync();
        self.end_sync(syncing);
    }

    /// What was to be synced never gets to the disk, and nobody remembers.
    pub(super) fn forget_unsynced(&mut self) {
        self.dirty.clear();
        self.states.clear();
    }

    /// Whether something is shown that would be gone after a power cut although the
    /// system thinks it is on the disk.
    pub(super) fn hides_a_loss(&self) -> bool {
        if self.states.is_empty() {
            return self.shown != self.durable;
        }
        let all = sectors(0, self.shown.len().max(self.durable.len()));
        all.filter(|at| !self.dirty.contains(at))
            .any(|at| sector(&self.shown, at) != sector(&self.durable, at))
    }

    /// The power goes: every sector that was not synced is as it was at some moment.
    pub(super) fn cut(&mut self, random: &mut Random) {
        if !self.states.is_empty() {
            let chance = *random.pick(&[0, 30, 60, 90, 100]);
            let lens = self.states.iter().map(Vec::len);
            let lens: Vec<_> = lens.chain([self.durable.len()]).collect();
            let len = match random.percent(50) {
                true => *random.pick(&lens),
                false => lens.iter().copied().max().unwrap_or(0),
            };
            let mut survived = self.durable.clone();
            survived.resize(len, 0);
            for at in &self.dirty {
                if !random.percent(chance) {
                    continue;
                }
                let state = match random.percent(60) {
                    true => self.states.last(),
                    false => Some(random.pick(&self.states)),
                };
                if let Some(state) = state {
                    copy_sector(state, *at, &mut survived);
                }
            }
            self.durable = survived;
        }
        self.shown.clone_from(&self.durable);
        self.forget_unsynced();
    }
}

/// The sectors of a range of bytes.
fn sectors(from: usize, end: usize) -> std::ops::Range<usize> {
    from / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES)
}

/// A sector of a file; less than one at the end.
fn sector(content: &[u8], at: usize) -> &[u8] {
    let start = (at * SECTOR_BYTES).min(content.len());
    let end = (start + SECTOR_BYTES).min(content.len());
    &content[start..end]
}

/// Copies a sector as far as there is room; what is not there is NUL.
fn copy_sector(from: &[u8], at: usize, to: &mut [u8]) {
    let start = (at * SECTOR_BYTES).min(to.len());
    let end = (start + SECTOR_BYTES).min(to.len());
    let source = sector(from, at);
    for (place, byte) in to[start..end].iter_mut().enumerate() {
        *byte = source.get(place).copied().unwrap_or(0);
    }
}

/// A folder.
#[derive(Clone, Default)]
pub(super) struct FolderNode {
    /// What everybody sees.
    pub(super) shown: BTreeMap<String, NodeId>,
    /// What is on the disk for certain.
    durable: BTreeMap<String, NodeId>,
    /// What has changed since.
    changes: Vec<NameChange>,
}

/// A change of names. Each of them is on the disk as a whole or not at all.
#[derive(Clone)]
pub(super) enum NameChange {
    Add(String, NodeId),
    Move(String, String, NodeId),
    Remove(String),
}

impl FolderNode {
    pub(super) fn change(&mut self, change: NameChange) {
        change.apply(&mut self.shown);
        self.changes.push(change);
    }

    pub(super) fn sync(&mut self) {
        self.durable.clone_from(&self.shown);
        self.changes.clear();
    }

    /// The power goes: any of the changes may be lost.
    pub(super) fn cut(&mut self, random: &mut Random) {
        let chance = *random.pick(&[0, 0, 30, 70, 100]);
        for change in self.changes.drain(..) {
            if random.percent(chance) {
                change.apply(&mut self.durable);
            }
        }
        self.shown.clone_from(&self.durable);
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, NodeId>) {
        match self {
            Self::Add(name, node) => drop(names.insert(name.clone(), *node)),
            Self::Move(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
            Self::Remove(name) => drop(names.remove(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_survives_and_what_is_longer_may() {
        for seed in 0..500 {
            let mut file = FileNode::default();
            file.write(&[1; 700], 0);
            file.sync();
            file.write(&[2; 2000], 700);
            file.write(&[3; 500], 2700);
            file.cut(&mut Random::new(seed));
            assert!(file.shown.len() >= 700 && file.shown.len() <= 3200);
            assert_eq!(file.shown[..700], [1; 700]);
            assert!(
                file.shown[700..]
                    .iter()
                    .all(|byte| [0, 2, 3].contains(byte))
            );
            assert!(!file.hides_a_loss());
        }
    }

    #[test]
    fn a_forgotten_write_is_shown_until_the_power_goes() {
        let mut file = FileNode::default();
        file.write(&[1; 600], 0);
        file.sync();
        file.write(&[2; 600], 600);
        file.forget_unsynced();
        assert!(file.hides_a_loss());
        file.write(&[3; 600], 1200);
        file.sync();
        assert_eq!(file.shown[600..1200], [2; 600]);
        file.cut(&mut Random::new(1));
        assert_eq!(file.shown[..600], [1; 600]);
        assert_eq!(
            file.shown[600..1024],
            [0; 424],
            "lost although a sync followed"
        );
        assert_eq!(file.shown[1200..], [3; 600]);
    }
}
