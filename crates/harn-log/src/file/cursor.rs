//! How far consumers have read: a small file each, replaced as a whole.

use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::error::{Damage, LogError};
use crate::log::Result;
use crate::name::{ConsumerId, EventId, Topic};

use super::disk::{read_small, replace_file};
use super::layout::Layout;
use super::line;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    topic: String,
    consumer_id: String,
    pub(super) cursor: EventId,
    updated_at_ms: i64,
}

pub(super) fn read(
    layout: &Layout,
    topic: &Topic,
    consumer: &ConsumerId,
) -> Result<Option<Cursor>> {
    read_file(layout, &layout.cursor(topic, consumer))
}

pub(super) fn write(
    layout: &Layout,
    topic: &Topic,
    consumer: &ConsumerId,
    cursor: EventId,
) -> Result<()> {
    let text = line::to_summed_json(&Cursor {
        topic: topic.to_string(),
        consumer_id: consumer.to_string(),
        cursor,
        updated_at_ms: now_ms(),
    })?;
    let path = layout.cursor(topic, consumer);
    replace_file(&*layout.disk, &path, text.as_bytes())?;
    Ok(())
}

/// The consumer of a topic that is furthest behind.
pub(super) fn lowest(layout: &Layout, topic: &Topic) -> Result<Option<(ConsumerId, EventId)>> {
    let folder = layout.consumers_folder();
    let start = format!("{topic}__");
    let mut lowest: Option<Cursor> = None;
    for name in layout.disk.list(&folder)? {
        if !name.starts_with(&start) || !name.ends_with(".json") {
            continue;
        }
        let Some(cursor) = read_file(layout, &folder.join(name))? else {
            continue;
        };
        let is_lower = lowest.as_ref().is_none_or(|lowest| {
            (cursor.cursor, &cursor.consumer_id) < (lowest.cursor, &lowest.consumer_id)
        });
        if cursor.topic == topic.as_str() && is_lower {
            lowest = Some(cursor);
        }
    }
    let lowest = lowest.map(|lowest| Ok((ConsumerId::new(lowest.consumer_id)?, lowest.cursor)));
    lowest.transpose()
}

fn read_file(layout: &Layout, path: &std::path::Path) -> Result<Option<Cursor>> {
    let Some(text) = read_small(&*layout.disk, path)? else {
        return Ok(None);
    };
    let cursor = line::from_summed_json(&text).map_err(|problem| {
        LogError::Damaged(Damage {
            path: path.to_owned(),
            offset: 0,
            length: text.len() as u64,
            problem,
        })
    });
    cursor.map(Some)
}
