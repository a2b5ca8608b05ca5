//! The file backend as its writer sees it.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use crate::error::LogError;
use crate::local::{
    Affected, Counters, CursorMove, Durability, Head, Store, StoreReader, SyncDisk,
};
use crate::log::{CompactReport, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::RECORD_HASH_HEADER;
use crate::record::{Draft, Record, Sealed};

use super::FileOptions;
use super::cursor;
use super::dirty::{Dirty, Unsynced};
use super::disk::{Disk, OpenFile};
use super::keys::Index;
use super::layout::{Layout, topic_of_lock};
use super::mark::Change;
use super::reader::{FileReader, KnownEnds};
use super::sabotage::Sabotage;
use super::segment::LINE_BYTES_MAX;
use super::topic::{Found, TopicFile};

/// Topics that are kept open.
const OPEN_TOPICS_MAX: usize = 64;
/// Files that may wait for somebody to ask for a sync; they are open.
const DIRTY_FILES_MAX: usize = 64;

/// The file backend as its writer sees it.
pub(crate) struct FileStore {
    layout: Layout,
    options: FileOptions,
    reader: Arc<FileReader>,
    counters: Arc<Counters>,
    dirty: Arc<Dirty>,
    /// Tells this writer from others in the mark.
    writer: u64,
    topics: HashMap<Topic, TopicFile>,
    /// The topic of the group under way.
    current: Option<Topic>,
    /// A write within the group under way has failed.
    failed: bool,
    /// Topics in which something has failed that nobody has looked at since.
    suspects: BTreeSet<Topic>,
    /// The topic of the last group, if others had appended to it.
    foreign: Option<Topic>,
    groups: u64,
    /// Whether the last compaction could remove its files.
    is_tidy: bool,
}

impl FileStore {
    pub(super) fn open(disk: Arc<dyn Disk>, root: &Path, options: FileOptions) -> Result<Self> {
        let layout = Layout {
            disk,
            root: root.to_owned(),
            #[cfg(feature = "sabotage")]
            sabotage: options.sabotage,
        };
        layout.create()?;
        let counters = Arc::new(Counters::default());
        let reader = FileReader {
            layout: layout.clone(),
            on_damage: options.on_damage,
            known_ends: KnownEnds::default(),
        };
        Ok(Self {
            dirty: Arc::new(Dirty::new(Arc::clone(&counters))),
            reader: Arc::new(reader),
            layout,
            options,
            counters,
            writer: RandomState::new().hash_one(std::process::id()),
            topics: HashMap::new(),
            current: None,
            failed: false,
            suspects: BTreeSet::new(),
            foreign: None,
            groups: 0,
            is_tidy: true,
        })
    }

    /// The topic of the group under way.
    fn current(&mut self) -> &mut TopicFile {
        let topic = self.current.as_ref().expect("a group is under way");
        let file = self.topics.get_mut(topic);
        file.expect("the topic of a group is open")
    }

    /// Opens a topic that is not open, and closes the one that was used least lately.
    fn open_topic(&mut self, topic: &Topic) -> Result<&mut TopicFile> {
        if !self.topics.contains_key(topic) {
            if self.topics.len() >= OPEN_TOPICS_MAX {
                let oldest = self.topics.values().min_by_key(|file| file.used);
                if let Some(topic) = oldest.map(|file| file.topic.clone()) {
                    // Synced, or opening it again would have to look further back.
                    self.dirty.sync_topic(&topic)?;
                    self.close_topic(&topic);
                }
            }
            let file = TopicFile::new(&self.layout, topic)?;
            self.topics.insert(topic.clone(), file);
        }
        Ok(self.topics.get_mut(topic).expect("it was just opened"))
    }

    fn close_topic(&mut self, topic: &Topic) {
        self.topics.remove(topic);
        self.reader.known_ends.forget(topic);
    }

    /// Writes what the group under way has appended so far.
    fn write_pending(&mut self) -> Result<()> {
        let (writer, segment_bytes_max) = (self.writer, self.options.segment_bytes_max);
        let file = self.current();
        match file.write(writer, segment_bytes_max) {
            Ok(written) if written.records == 0 => Ok(()),
            Ok(written) => {
                let (topic, end, unsynced) =
                    (file.topic.clone(), file.known_end(), file.unsynced());
                self.reader.known_ends.set(&topic, end);
                self.counters.note_records(written.records, written.bytes);
                self.note_unsynced(&topic, unsynced)
            }
            Err(error) if self.layout.breaks(Sabotage::IndexBeforeWrite) => Err(error),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// A change of the files has failed, and nobody knows what is stored now.
    fn fail(&mut self, error: LogError) -> LogError {
        self.failed = true;
        self.suspects.extend(self.current.clone());
        self.counters.poison(error)
    }

    /// Looks anew at everything that may not be what we think it is. That writes again
    /// what a failed sync may have lost, and finds what a failed write has left.
    fn look_at_suspects(&mut self) -> Result<()> {
        self.suspects.extend(self.dirty.forget());
        for topic in self.suspects.clone() {
            self.begin(&topic).and_then(|()| self.commit())?;
        }
        self.dirty.sync()?;
        self.suspects.clear();
        Ok(())
    }

    fn note_unsynced(&mut self, topic: &Topic, unsynced: Option<Unsynced>) -> Result<()> {
        let Some(unsynced) = unsynced.filter(|_| !self.layout.breaks(Sabotage::SkipSync)) else {
            return Ok(());
        };
        if self.dirty.add(topic, unsynced) > DIRTY_FILES_MAX {
            self.dirty.sync()?;
        }
        Ok(())
    }

    /// Reads a topic to the end for an index by header.
    fn build_index(&mut self, topic: &Topic, header: &str) -> Result<()> {
        const CHUNK_RECORDS: usize = 1024;
        let mut index = Index::default();
        let mut from = 0;
        loop {
            let records = self.reader.read_after(topic, from, CHUNK_RECORDS)?;
            for (id, event) in &records {
                index.note(*id, event.headers.get(header));
            }
            let Some((last, _)) = records.last() else {
                break;
            };
            from = *last;
        }
        self.current().keys.add(header, index);
        Ok(())
    }

    /// Sees to it that the next barrier covers what was found and not written by us.
    fn note_found(&mut self, topic: &Topic, found: Found) -> Result<()> {
        if let Some(repair) = found.repair {
            self.counters.note_repair(repair);
        }
        if found.is_foreign {
            self.foreign = Some(topic.clone());
        }
        let file = self.current();
        let (end, unsynced) = (file.known_end(), file.unsynced());
        self.reader.known_ends.set(topic, end);
        match found.is_unsynced {
            true => self.note_unsynced(topic, unsynced),
            false => Ok(()),
        }
    }
}

/// A line holds the payload and little else; half is generous for the rest.
const DRAFT_BYTES_MAX: usize = LINE_BYTES_MAX / 2;

impl Store for FileStore {
    type Reader = FileReader;

    const ONE_TOPIC_PER_GROUP: bool = true;

    // A commit is one write: cheap, and syncing is left to others.
    const GROUP_CHANGES_MAX: usize = 128;

    fn reader(&self) -> Arc<FileReader> {
        Arc::clone(&self.reader)
    }

    fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    fn durability(&self) -> Durability {
        Durability::BySync(Arc::clone(&self.dirty) as Arc<dyn SyncDisk>)
    }

    fn begin(&mut self, topic: &Topic) -> Result<()> {
        self.counters.check_poison()?;
        self.groups += 1;
        let used = self.groups;
        let file = self.open_topic(topic)?;
        file.used = used;
        let found = match file.enter() {
            Ok(found) => found,
            Err(error) => {
                self.close_topic(topic);
                self.counters.note_failure(&error);
                return Err(error);
            }
        };
        self.failed = false;
        self.current = Some(topic.clone());
        self.note_found(topic, found).inspect_err(|_| {
            self.current().leave();
            self.current = None;
        })
    }

    fn commit(&mut self) -> Result<()> {
        let written = match self.failed {
            false => self.write_pending(),
            true => self.counters.check_poison(),
        };
        self.current().leave();
        self.current = None;
        written
    }

    fn append_one(&mut self, _topic: &Topic, draft: Draft) -> Result<Sealed> {
        self.counters.check_poison()?;
        draft.check_size(DRAFT_BYTES_MAX)?;
        Ok(self.current().append_one(draft, 0))
    }

    fn append(&mut self, _topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<Sealed>> {
        self.counters.check_poison()?;
        for draft in &drafts {
            draft.check_size(DRAFT_BYTES_MAX)?;
        }
        Ok(self.current().append(drafts))
    }

    fn head(&mut self, _topic: &Topic) -> Result<Head> {
        Ok(self.current().head().clone())
    }

    fn find(&mut self, topic: &Topic, header: &str, value: &str) -> Result<Option<Record>> {
        if !self.current().keys.has(header) {
            self.write_pending()?;
            self.build_index(topic, header)?;
        }
        let Some(id) = self.current().keys.find(header, value) else {
            return Ok(None);
        };
        self.write_pending()?;
        let record = self.reader.read_after(topic, id - 1, 1)?.pop();
        Ok(record.filter(|(found, _)| *found == id))
    }

    fn move_cursor(
        &mut self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
        how: CursorMove,
    ) -> Result<()> {
        self.write_pending()?;
        let now = self.reader.cursor(topic, consumer)?;
        let goes_back = now.is_some_and(|now| now >= to);
        let is_refused = how == CursorMove::Forward && !self.layout.breaks(Sabotage::AckBackwards);
        if goes_back && is_refused {
            // Whoever moved it may have failed just before this.
            let folder = self.layout.consumers_folder();
            return Ok(self.layout.disk.sync_folder(&folder)?);
        }
        // After a power cut, a consumer must not be beyond the end: it would miss what
        // is appended next.
        self.dirty.sync_topic(topic)?;
        cursor::write(&self.layout, topic, consumer, to)
    }

    fn lowest_cursor(&mut self, topic: &Topic) -> Result<Option<(ConsumerId, EventId)>> {
        cursor::lowest(&self.layout, topic)
    }

    fn compact(&mut self, topic: &Topic, before: EventId) -> Result<CompactReport> {
        self.write_pending()?;
        let last = match before {
            0 => None,
            _ => self.reader.read_after(topic, before - 1, 1)?.pop(),
        };
        let last = last.filter(|(id, _)| *id == before);
        let hash = last.and_then(|(_, event)| event.headers.get(RECORD_HASH_HEADER).cloned());
        let file = self.current();
        match file.compact(before, hash) {
            Ok((report, is_tidy)) => {
                let end = file.known_end();
                self.reader.known_ends.set(topic, end);
                self.is_tidy = is_tidy;
                Ok(report)
            }
            // Half done: what we know of the segments may be wrong.
            Err(error) => Err(self.fail(error)),
        }
    }

    fn tidy(&mut self) -> Result<bool> {
        Ok(self.is_tidy) // Compaction has removed its files by itself, if it could.
    }

    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }

    fn heard(&mut self, file_name: &str) -> Affected {
        if file_name.is_empty() {
            return Affected::All;
        }
        let Some(topic) = topic_of_lock(file_name) else {
            return Affected::Nobody;
        };
        let ours = self.topics.get(&topic).map(|file| file.change.number);
        let opened = self
            .layout
            .disk
            .open(&self.layout.lock(&topic), OpenFile::Read);
        match opened.and_then(|lock| Change::read(&*lock)) {
            Ok(change) if change.writer == self.writer && Some(change.number) == ours => {
                Affected::Nobody
            }
            Ok(_) | Err(_) => Affected::One(topic),
        }
    }

    fn take_foreign(&mut self) -> Affected {
        let foreign = self.foreign.take();
        foreign.map_or(Affected::Nobody, Affected::One)
    }

    fn recover(&mut self) -> Result<()> {
        for topic in self.topics.keys().cloned().collect::<Vec<_>>() {
            self.close_topic(&topic);
        }
        self.counters.cure();
        let looked = self.look_at_suspects();
        looked.map_err(|error| self.counters.poison(error))
    }
}

impl Drop for FileStore {
    /// A log that is closed in peace leaves nothing to look for when it is opened.
    fn drop(&mut self) {
        let _nobody_is_left_to_tell = self.dirty.sync();
    }
}
