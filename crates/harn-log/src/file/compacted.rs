//! Up to where records have gone.

use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::error::{Damage, LogError};
use crate::log::Result;
use crate::name::{EventId, Topic};

use super::disk::{read_small, replace_file};
use super::layout::Layout;
use super::line;

/// What compaction leaves behind: the newest record it took. It is the anchor of
/// the chain, and the head of a topic without records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compacted {
    pub(super) topic: String,
    /// Records up to this one have gone.
    pub(super) before: EventId,
    /// The hash of that record.
    pub(super) hash: Option<String>,
    pub(super) updated_at_ms: i64,
}

impl Compacted {
    pub(super) fn new(topic: &Topic, before: EventId, hash: Option<String>) -> Self {
        Self {
            topic: topic.to_string(),
            before,
            hash,
            updated_at_ms: now_ms(),
        }
    }

    /// What is there; nothing has gone if nothing says so.
    pub(super) fn read(layout: &Layout, topic: &Topic) -> Result<Self> {
        let path = layout.compacted(topic);
        let Some(text) = read_small(&*layout.disk, &path)? else {
            return Ok(Self::default());
        };
        let damaged = |problem: String| {
            LogError::Damaged(Damage {
                path: path.clone(),
                offset: 0,
                length: text.len() as u64,
                problem,
            })
        };
        let read: Self = line::from_summed_json(&text).map_err(damaged)?;
        match read.topic == topic.as_str() && read.makes_sense() {
            true => Ok(read),
            false => Err(damaged(
                "it is about another topic, or makes no sense".to_owned(),
            )),
        }
    }

    /// Where nothing has gone there is no hash: the first record would be chained to it, and
    /// whoever verifies the chain would look for it in vain.
    fn makes_sense(&self) -> bool {
        let has_gone = self.before > 0 || self.hash.is_none();
        has_gone && self.before < EventId::MAX / 2
    }

    /// From now on these records are gone, whatever happens to their files.
    pub(super) fn write(&self, layout: &Layout, topic: &Topic) -> Result<()> {
        let text = line::to_summed_json(self)?;
        replace_file(&*layout.disk, &layout.compacted(topic), text.as_bytes())?;
        Ok(())
    }
}
