//! Where things are.
//!
//! ```text
//! root/topics/<topic>.jsonl                       the first segment: records from 1 on
//! root/topics/<topic>.segments/<first id>.jsonl   the segments after it
//! root/compacted/<topic>.json                     up to where records have gone
//! root/consumers/<topic>__<consumer>.json         how far a consumer has read
//! root/locks/<topic>.lock                         who writes, and how much is synced
//! root/owners/<owner>.<epoch>.lock                what a process owns; see `owner`
//! ```
//!
//! A topic consists of letters, digits, `.`, `_` and `-`, so that none of these
//! names can be made by two topics.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::name::{ConsumerId, EventId, Topic, sanitize_topic_component};

use super::disk::Disk;
use super::line::ID_MAX;
use super::sabotage::Sabotage;

const SEGMENT_END: &str = ".jsonl";
const FOLDER_END: &str = ".segments";
const LOCK_END: &str = ".lock";
const COMPACTED_END: &str = ".json";

/// The places of a log on a disk.
#[derive(Clone)]
pub(super) struct Layout {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) root: PathBuf,
    #[cfg(feature = "sabotage")]
    pub(super) sabotage: Option<Sabotage>,
}

/// A file with the records of a topic from an id on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The id of its first record.
    pub(super) first: EventId,
    pub(super) path: PathBuf,
}

impl Layout {
    /// Whether a promise is to be broken; see [`Sabotage`].
    pub(super) fn breaks(&self, promise: Sabotage) -> bool {
        #[cfg(feature = "sabotage")]
        return self.sabotage == Some(promise);
        #[cfg(not(feature = "sabotage"))]
        {
            let _kept = promise;
            false
        }
    }

    /// Makes the folders that must be there, so that they survive a power cut.
    pub(super) fn create(&self) -> io::Result<()> {
        self.disk.create_folder(&self.root)?;
        // As long as nothing is in it, nobody knows whether its own name is safe.
        if self.disk.list(&self.root)?.is_empty() {
            self.sync_folders_above()?;
        }
        for folder in ["topics", "compacted", "consumers", "locks"] {
            self.disk.create_folder(&self.root.join(folder))?;
        }
        self.disk.sync_folder(&self.root)
    }

    fn sync_folders_above(&self) -> io::Result<()> {
        for folder in self.root.ancestors().skip(1) {
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            match self.disk.sync_folder(folder) {
                // We may not look into it, so we have not made anything in it either.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => break,
                synced => synced?,
            }
        }
        Ok(())
    }

    pub(super) fn topics_folder(&self) -> PathBuf {
        self.root.join("topics")
    }

    pub(super) fn locks_folder(&self) -> PathBuf {
        self.root.join("locks")
    }

    pub(super) fn consumers_folder(&self) -> PathBuf {
        self.root.join("consumers")
    }

    pub(super) fn lock(&self, topic: &Topic) -> PathBuf {
        self.locks_folder().join(format!("{topic}{LOCK_END}"))
    }

    pub(super) fn compacted_folder(&self) -> PathBuf {
        self.root.join("compacted")
    }

    pub(super) fn compacted(&self, topic: &Topic) -> PathBuf {
        let name = format!("{topic}{COMPACTED_END}");
        self.compacted_folder().join(name)
    }

    /// A cursor's file. Names that would be ambiguous get a fingerprint.
    pub(super) fn cursor(&self, topic: &Topic, consumer: &ConsumerId) -> PathBuf {
        let plain = sanitize_topic_component(consumer.as_str());
        let is_ambiguous = plain != consumer.as_str()
            || plain.contains("__")
            || plain.starts_with('_')
            || topic.as_str().contains("__")
            || topic.as_str().ends_with('_');
        let name = match is_ambiguous {
            false => format!("{topic}__{plain}.json"),
            true => {
                let short: String = plain.chars().take(64).collect();
                format!("{topic}__{short}~{}.json", fingerprint(topic, consumer))
            }
        };
        self.consumers_folder().join(name)
    }

    /// The segment that begins with this record.
    pub(super) fn segment(&self, topic: &Topic, first: EventId) -> Segment {
        let topics = self.topics_folder();
        let path = match first {
            1 => topics.join(format!("{topic}{SEGMENT_END}")),
            _ => self.segments_folder(topic).join(segment_name(first)),
        };
        Segment { first, path }
    }

    pub(super) fn segments_folder(&self, topic: &Topic) -> PathBuf {
        self.topics_folder().join(format!("{topic}{FOLDER_END}"))
    }

    /// The segments of a topic, in order. The first may be missing, and any but the
    /// last may have been compacted away since.
    pub(super) fn segments(&self, topic: &Topic) -> io::Result<Vec<Segment>> {
        let names = self.disk.list(&self.segments_folder(topic))?;
        let mut firsts: Vec<_> = names.iter().filter_map(|name| first_of(name)).collect();
        firsts.push(1);
        firsts.sort_unstable();
        let segments = firsts.into_iter();
        Ok(segments.map(|first| self.segment(topic, first)).collect())
    }

    /// All topics that left a trace, sorted.
    pub(super) fn topics(&self) -> io::Result<Vec<Topic>> {
        let mut topics = Vec::new();
        for name in self.disk.list(&self.topics_folder())? {
            let topic = name.strip_suffix(SEGMENT_END);
            topics.extend(
                topic
                    .or_else(|| name.strip_suffix(FOLDER_END))
                    .map(Topic::new),
            );
        }
        // A file somebody else has put here is not a topic.
        let mut topics: Vec<_> = topics.into_iter().flatten().collect();
        topics.sort_unstable();
        topics.dedup();
        Ok(topics)
    }
}

/// Tells names apart that look alike.
fn fingerprint(topic: &Topic, consumer: &ConsumerId) -> String {
    let digest = Sha256::digest(format!("{topic}\0{consumer}"));
    let hex = digest.iter().take(10).map(|byte| format!("{byte:02x}"));
    hex.collect()
}

/// The topic whose lock file this is.
pub(super) fn topic_of_lock(name: &str) -> Option<Topic> {
    Topic::new(name.strip_suffix(LOCK_END)?).ok()
}

fn segment_name(first: EventId) -> String {
    format!("{first:020}{SEGMENT_END}")
}

fn first_of(name: &str) -> Option<EventId> {
    let digits = name.strip_suffix(SEGMENT_END)?;
    let first = digits.parse().ok()?;
    // The first segment has a name of its own, and no record has an id beyond these.
    let is_possible = (2..ID_MAX).contains(&first);
    (is_possible && segment_name(first) == name).then_some(first)
}

/// The folder a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::super::disk::RealDisk;
    use super::*;

    fn layout() -> Layout {
        Layout {
            disk: Arc::new(RealDisk),
            root: PathBuf::from("log"),
            #[cfg(feature = "sabotage")]
            sabotage: None,
        }
    }

    #[test]
    fn segments_are_named_after_their_first_record() {
        let topic = Topic::new("a.b").unwrap();
        let path = |first| layout().segment(&topic, first).path;
        assert_eq!(path(1), Path::new("log/topics/a.b.jsonl"));
        assert_eq!(
            path(42),
            Path::new("log/topics/a.b.segments/00000000000000000042.jsonl")
        );
        assert_eq!(first_of("00000000000000000042.jsonl"), Some(42));
        assert_eq!(first_of("42.jsonl"), None);
        assert_eq!(first_of("00000000000000000000.jsonl"), None);
        assert_eq!(first_of("00000000000000000001.jsonl"), None);
        assert_eq!(first_of("18446744073709551615.jsonl"), None);
        assert_eq!(first_of("00000000000000000042.jsonl.new"), None);
    }

    #[test]
    fn no_two_cursors_share_a_file() {
        let names = [
            ("a", "b"),
            ("a", "b c"),
            ("a", "b_c"),
            ("a__b", "c"),
            ("a", "b__c"),
            ("a_", "b"),
            ("a", "_b"),
            ("a", "b/c"),
            ("a", "B"),
        ];
        let paths = names.map(|(topic, consumer)| {
            let topic = Topic::new(topic).unwrap();
            layout().cursor(&topic, &ConsumerId::new(consumer).unwrap())
        });
        for (at, path) in paths.iter().enumerate() {
            assert!(!paths[at + 1..].contains(path), "{}", path.display());
        }
        assert_eq!(paths[0], Path::new("log/consumers/a__b.json"));
    }
}
