//! How complete and how fresh the notes are.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value};

use super::super::place::{is_folder, noted_folder};
use super::hashes::{Aspect, hash};
use super::notes::Notes;
use super::{namespace, shown};

/// Where hashes are noted.
const CLASSIFICATION: &str = "classification";
const STRUCTURE_HASH: &str = "structureHash";
const CONTENT_HASH: &str = "contentHash";

/// `metadata_status(ns?)`
pub(super) fn status(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let namespace = namespace(arguments, 0);
    let notes = Notes::of(context)?;
    let folders = notes.folders(namespace.as_ref());
    let names: Vec<Text> = match &namespace {
        Some(name) => notes
            .namespaces()
            .filter(|it| *it == name)
            .cloned()
            .collect(),
        None => notes.namespaces().cloned().collect(),
    };
    let hashed = namespace.unwrap_or_else(|| Text::new(CLASSIFICATION));
    let missing = |context: &mut Context<'_>, field: &str| -> Result<Value, Failure> {
        let mut missing = Vec::new();
        for folder in &folders {
            let fields = Notes::of(context)?.local(folder, &hashed);
            if !fields.is_empty() && !fields.contains(field) && exists(context, folder) {
                missing.push(shown(folder));
            }
        }
        Ok(Value::list(missing))
    };
    let (no_structure, no_content) = (
        missing(context, STRUCTURE_HASH)?,
        missing(context, CONTENT_HASH)?,
    );
    let stale = Stale::find(context)?;
    Ok(Value::dict([
        ("directories", folders.iter().map(shown).collect()),
        ("directory_count", folders.len().into()),
        ("missing_content_hash", no_content),
        ("missing_structure_hash", no_structure),
        ("namespace_count", names.len().into()),
        ("namespaces", names.into_iter().map(Value::Text).collect()),
        ("stale", stale.described(shown)),
    ]))
}

/// `metadata_stale()`
pub(super) fn stale(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let stale = Stale::find(context)?;
    Ok(stale.described(|folder| folder.clone().into()))
}

/// `metadata_refresh_hashes()`: notes what every folder looks like now.
pub(super) fn refresh_hashes(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    for folder in Notes::of(context)?.folders(None) {
        if !exists(context, &folder) {
            continue;
        }
        let now = now(context, &folder, Aspect::Structure);
        let fields: Dict = [(Text::new(STRUCTURE_HASH), now.into())]
            .into_iter()
            .collect();
        Notes::of(context)?.set(folder, Text::new(CLASSIFICATION), &fields);
    }
    Ok(Value::Nil)
}

/// The folders that do not look as they did when they were noted.
#[derive(Debug, Default)]
struct Stale {
    /// Entries came, went, or have another size.
    structure: Vec<Text>,
    /// Only entries were changed.
    content: Vec<Text>,
}

impl Stale {
    fn find(context: &mut Context<'_>) -> Result<Self, Failure> {
        let mut stale = Self::default();
        let classification = Text::new(CLASSIFICATION);
        for folder in Notes::of(context)?.folders(Some(&classification)) {
            let fields = Notes::of(context)?.local(&folder, &classification);
            let mut differs = |field: &str, aspect| {
                let noted = fields.get(field).filter(|noted| !noted.is_nil());
                noted.is_some_and(|noted| *noted.to_text() != *now(context, &folder, aspect))
            };
            if differs(STRUCTURE_HASH, Aspect::Structure) {
                stale.structure.push(folder);
            } else if differs(CONTENT_HASH, Aspect::Content) {
                stale.content.push(folder);
            }
        }
        Ok(stale)
    }

    fn described(&self, shown: impl Fn(&Text) -> Value) -> Value {
        let any = !self.structure.is_empty() || !self.content.is_empty();
        Value::dict([
            ("any_stale", any.into()),
            ("tier1", self.structure.iter().map(&shown).collect()),
            ("tier2", self.content.iter().map(&shown).collect()),
        ])
    }
}

fn now(context: &mut Context<'_>, folder: &Text, aspect: Aspect) -> String {
    let folder = noted_folder(context, folder);
    hash(context, folder, aspect)
}

fn exists(context: &mut Context<'_>, folder: &Text) -> bool {
    let folder = noted_folder(context, folder);
    is_folder(context, &folder)
}
