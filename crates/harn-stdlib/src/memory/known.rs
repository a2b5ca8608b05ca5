//! What a run knows of the files of memory.
//!
//! A program that recalls something in every turn would otherwise read the whole file in every
//! turn. A file that has the size and the time that it had is the same file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Holds, Value};

use super::record::Record;

/// How many files are remembered.
const FILES_MAX: usize = 16;

/// How a file is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// In milliseconds since 1970.
    pub(super) modified: i64,
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Everything that was stored and not forgotten, in that order.
    pub(super) records: Rc<Vec<Record>>,
    forgotten: HashSet<Text>,
}

impl Known {
    /// Takes in what happened. What was forgotten once never comes back.
    pub(super) fn add_all(&mut self, events: impl IntoIterator<Item = Dict>) {
        let records = Rc::make_mut(&mut self.records);
        let mut forgets = false;
        for event in events {
            if let Some(Value::List(ids)) = event.get("forgotten_ids") {
                self.forgotten.extend(ids.iter().map(Value::to_text));
                forgets = true;
            }
            let record = Record::read(event);
            records.extend(record.filter(|record| !self.forgotten.contains(&record.id)));
        }
        if forgets {
            records.retain(|record| !self.forgotten.contains(&record.id));
        }
    }
}

/// What a run knows of some files.
#[derive(Default)]
struct Files(HashMap<PathBuf, (Stamp, Known)>);

impl Holds for Files {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        let records = self.0.values().flat_map(|(_, known)| known.records.iter());
        records.for_each(|record| each(&record.to_value()));
    }
}

/// What is known of a file that looks like this.
pub(super) fn find<'a>(
    context: &'a mut Context<'_>,
    path: &Path,
    stamp: Stamp,
) -> Option<&'a Known> {
    let (seen, known) = context.holding::<Files>().0.get(path)?;
    (*seen == stamp).then_some(known)
}

/// The same, for whoever is about to change the file.
pub(super) fn take(context: &mut Context<'_>, path: &Path, stamp: Stamp) -> Option<Known> {
    let (seen, known) = context.holding::<Files>().0.remove(path)?;
    (seen == stamp).then_some(known)
}

pub(super) fn remember(context: &mut Context<'_>, path: &Path, stamp: Stamp, known: Known) {
    let files = &mut context.holding::<Files>().0;
    if files.len() >= FILES_MAX && !files.contains_key(path) {
        files.clear();
    }
    files.insert(path.to_owned(), (stamp, known));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(id: &str) -> Dict {
        let id = Text::new(id);
        let (none, tags) = (Value::Nil, Default::default());
        let key = Text::new("k");
        let record = Record::new(id, key.clone(), key, &none, tags, Value::Nil, Value::Nil);
        record.fields().clone()
    }

    fn forgotten(id: &str) -> Dict {
        let ids = Value::list(vec![id.into()]);
        [(Text::new("forgotten_ids"), ids)].into_iter().collect()
    }

    fn ids(known: &Known) -> Vec<&str> {
        known
            .records
            .iter()
            .map(|record| record.id.as_str())
            .collect()
    }

    #[test]
    fn what_was_forgotten_once_never_comes_back() {
        let mut at_once = Known::default();
        at_once.add_all([
            stored("a"),
            stored("b"),
            forgotten("a"),
            stored("a"),
            stored("c"),
        ]);
        assert_eq!(ids(&at_once), ["b", "c"]);
        let mut one_by_one = Known::default();
        for event in [
            stored("a"),
            stored("b"),
            forgotten("a"),
            stored("a"),
            stored("c"),
        ] {
            one_by_one.add_all([event]);
        }
        assert_eq!(ids(&one_by_one), ["b", "c"]);
    }
}
