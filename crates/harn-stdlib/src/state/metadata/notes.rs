//! The notes of a run: what was read, what was added, and how it is saved.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Fault, FileRequest, Holds, Request, Value};

use super::super::kept::{Change, Kept, Trouble, as_kept, merged};
use super::super::place::{base, state_root};

/// The notes of a run.
#[derive(Default)]
pub(super) struct Notes {
    /// Whether the files were read.
    is_read: bool,
    namespaces: BTreeMap<Text, Folders>,
    /// What was noted since it was last saved.
    unsaved: BTreeMap<Text, Folders>,
}

/// Fields by folder.
type Folders = BTreeMap<Text, Dict>;

impl Holds for Notes {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        let namespaces = self.namespaces.values().chain(self.unsaved.values());
        let fields = namespaces.flat_map(BTreeMap::values);
        fields.for_each(|fields| each(&Value::Dict(fields.clone())));
    }
}

impl Notes {
    /// The notes of this run, read when they are first wanted.
    pub(super) fn of<'a>(context: &'a mut Context<'_>) -> Result<&'a mut Self, Failure> {
        if !context.holding::<Self>().is_read {
            let namespaces = read_all(context).map_err(failure)?;
            let notes = context.holding::<Self>();
            notes.namespaces = namespaces;
            notes.is_read = true;
        }
        Ok(context.holding())
    }

    /// Adds fields.
    pub(super) fn set(&mut self, folder: Text, namespace: Text, fields: &Dict) {
        let Value::Dict(fields) = as_kept(&fields.clone().into()) else {
            return;
        };
        for noted in [&mut self.namespaces, &mut self.unsaved] {
            let folders = noted.entry(namespace.clone()).or_default();
            let known = folders.remove(&folder).map(Value::Dict);
            folders.insert(folder.clone(), merged(known, &fields));
        }
    }

    /// The names of all namespaces, sorted.
    pub(super) fn namespaces(&self) -> impl Iterator<Item = &Text> {
        self.namespaces.keys()
    }

    /// The folders that something is noted about, sorted.
    pub(super) fn folders(&self, namespace: Option<&Text>) -> Vec<Text> {
        let noted = self.namespaces.iter();
        let noted = noted.filter(|(name, _)| namespace.is_none_or(|wanted| wanted == *name));
        let folders: BTreeSet<&Text> = noted.flat_map(|(_, folders)| folders.keys()).collect();
        folders.into_iter().cloned().collect()
    }

    /// The fields of a folder itself.
    pub(super) fn local(&self, folder: &Text, namespace: &Text) -> Dict {
        let folders = self.namespaces.get(namespace);
        let fields = folders.and_then(|folders| folders.get(folder));
        fields.cloned().unwrap_or_default()
    }

    /// The fields of a folder and of those around it.
    pub(super) fn resolved(&self, folder: &Text, namespace: &Text) -> Dict {
        let mut all = Dict::default();
        let Some(folders) = self.namespaces.get(namespace) else {
            return all;
        };
        for around in around(folder) {
            if let Some(fields) = folders.get(&Text::new(around)) {
                all = merged(Some(all.into()), fields);
            }
        }
        all
    }

    /// The fields of a folder itself, by namespace.
    pub(super) fn all_local(&self, folder: &Text) -> impl Iterator<Item = (Text, Dict)> {
        let all = self.namespaces.keys().map(|name| {
            let fields = self.local(folder, name);
            (name.clone(), fields)
        });
        all.filter(|(_, fields)| !fields.is_empty())
    }

    /// The fields of a folder and of those around it, by namespace.
    pub(super) fn all_resolved(&self, folder: &Text) -> impl Iterator<Item = (Text, Dict)> {
        let all = self.namespaces.keys().map(|name| {
            let fields = self.resolved(folder, name);
            (name.clone(), fields)
        });
        all.filter(|(_, fields)| !fields.is_empty())
    }
}

/// The root, the folders around a folder, and the folder itself.
fn around(folder: &str) -> impl Iterator<Item = &str> {
    let parts = folder.match_indices('/').map(|(at, _)| &folder[..at]);
    let parts = parts.filter(|part| !part.is_empty());
    let own = (!folder.is_empty()).then_some(folder);
    std::iter::once("").chain(parts).chain(own)
}

/// A folder by the name that notes know it by: from the root of the project, without dots.
pub(super) fn folder(context: &mut Context<'_>, name: &str) -> Text {
    let base = base(context);
    let path = Path::new(name);
    let path = path.strip_prefix(&base).unwrap_or(path);
    let mut parts = PathBuf::new();
    for part in path.components() {
        let ends_with_name = matches!(parts.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if ends_with_name => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Text::new(&parts.to_string_lossy())
}

/// A namespace is a folder in the folder of notes, and must not lead out of it.
pub(super) fn check_name(namespace: &str) -> Result<(), Failure> {
    let mut parts = Path::new(namespace).components();
    let is_name = matches!(parts.next(), Some(Component::Normal(name)) if name == namespace);
    if is_name && parts.next().is_none() {
        return Ok(());
    }
    let message = format!("metadata_set: '{namespace}' is not a name of a namespace");
    Err(Fault::runtime(message))
}

fn failure(Trouble(what, reason): Trouble) -> Failure {
    Fault::runtime(format!("metadata {what} error: {reason}"))
}

fn file(context: &mut Context<'_>, namespace: &str) -> PathBuf {
    let folder = state_root(context).join("metadata").join(namespace);
    folder.join("entries.json")
}

/// Everything that was saved.
fn read_all(context: &mut Context<'_>) -> Result<BTreeMap<Text, Folders>, Trouble> {
    let folder = state_root(context).join("metadata");
    let list = Request::OwnFile(FileRequest::List(folder));
    let Answer::Pairs(names) = context.perform(&list) else {
        return Ok(BTreeMap::new());
    };
    let mut namespaces = BTreeMap::new();
    for (name, _) in names.into_iter().filter(|(_, kind)| kind == "folder") {
        let path = file(context, &name);
        let kept = Kept::read(context, path)?;
        let folders: Folders = kept
            .iter()
            .filter_map(|(folder, fields)| match fields {
                Value::Dict(fields) => Some((folder.clone(), fields.clone())),
                _ => None,
            })
            .collect();
        if !folders.is_empty() {
            namespaces.insert(Text::from(name), folders);
        }
    }
    Ok(namespaces)
}

/// Writes what was noted since the last time, a file for every namespace. What others have
/// noted meanwhile stays.
pub(super) fn save(context: &mut Context<'_>) -> Result<(), Failure> {
    while let Some((namespace, folders)) = context.holding::<Notes>().unsaved.pop_first() {
        if let Err(trouble) = save_one(context, &namespace, &folders) {
            let unsaved = &mut context.holding::<Notes>().unsaved;
            unsaved.insert(namespace, folders);
            return Err(failure(trouble));
        }
    }
    Ok(())
}

fn save_one(context: &mut Context<'_>, namespace: &Text, folders: &Folders) -> Result<(), Trouble> {
    let path = file(context, namespace);
    let mut kept = Kept::read(context, path)?;
    let changes = folders.iter();
    let changes = changes.map(|(folder, fields)| Change::Merge(folder.clone(), fields.clone()));
    kept.change_all(context, &changes.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_from_the_root_and_every_folder_on_the_way() {
        let check = |folder: &str, expected: &[&str]| {
            assert_eq!(around(folder).collect::<Vec<_>>(), expected, "{folder}");
        };
        check("", &[""]);
        check("a", &["", "a"]);
        check("a/b/c", &["", "a", "a/b", "a/b/c"]);
        check("/a/b", &["", "/a", "/a/b"]);
    }

    #[test]
    fn namespaces_are_plain_names() {
        for name in ["a", "a.b", "..a", "ä b"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "/a", "../a", "a/"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_nearest_folder_counts() {
        let mut notes = Notes::default();
        let name = || Text::new("n");
        let fields = |fields: &[(&'static str, i64)]| -> Dict {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (Text::new(name), Value::Int(*value)));
            fields.collect()
        };
        notes.set(Text::new(""), name(), &fields(&[("a", 1), ("b", 1)]));
        notes.set(Text::new("x/y"), name(), &fields(&[("b", 3)]));
        notes.set(Text::new("x"), name(), &fields(&[("b", 2), ("c", 2)]));
        let resolved = |folder: &str| notes.resolved(&Text::new(folder), &name());
        let expected = fields(&[("a", 1), ("b", 3), ("c", 2)]);
        assert_eq!(Value::Dict(resolved("x/y/z")), Value::Dict(expected));
        let expected = fields(&[("a", 1), ("b", 1)]);
        assert_eq!(Value::Dict(resolved("xx")), Value::Dict(expected));
    }
}
